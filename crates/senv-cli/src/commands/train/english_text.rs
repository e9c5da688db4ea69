//! Whether the model that is part of senv knows a text already: then it may be the better one.

use senv::{KnownWords, TextSample};

/// Words of text up to which the model was compared with what the text alone gives (`docs/results.md`).
const COMPARED: u64 = 60_000_000;

/// What to say of a text that the model knows, and how to go on from that model; `None` of other texts.
pub(super) fn note(sample: &TextSample) -> Option<String> {
    if sample.size().words > COMPARED {
        return None;
    }
    let share = known_share(sample).filter(|&share| share >= senv_english::MIN_KNOWN_SHARE)?;
    let percent = 100.0 * share;
    Some(format!(
        "the text is English, and {percent:.0} % of its words are known to the model that is part of senv: on general English that one \
         is better than what a text of this size gives (use it by omitting --model); --init-model english goes on from it, adds \
         the words of the text, and is often better still on its subject"
    ))
}

/// The share of the words of the first lines that have a row in the English model.
fn known_share(sample: &TextSample) -> Option<f64> {
    let lines = sample.lines().take(KnownWords::SAMPLE);
    senv_english::model().ok()?.known_words(lines).share()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note_of(text: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text.txt");
        std::fs::write(&path, text).unwrap();
        note(&TextSample::read(&[path]))
    }

    #[test]
    fn english_is_told_from_other_text() {
        let english = "The train was late, so we walked home in the rain.\nNobody had an umbrella.\n";
        let said = note_of(english).unwrap();
        assert!(said.contains("100 %") && said.contains("--init-model english"), "{said}");
        for other in [
            "Der Zug kam zu spät, also gingen wir im Regen nach Hause.\nNiemand hatte einen Schirm dabei.\n",
            "Le train était en retard, alors nous sommes rentrés à pied sous la pluie.\n",
            "El tren llegó tarde y volvimos a casa bajo la lluvia sin paraguas.\n",
            "电车晚点了，我们冒雨走回家。\n",
            "",
        ] {
            assert_eq!(note_of(other), None, "{other}");
        }
        assert_eq!(note(&TextSample::read(&["no such file"])), None);
    }
}
