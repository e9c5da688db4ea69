//! Chooses the tokenizer by the share of letters from scripts without spaces between words.

use std::path::Path;

use super::Tokenizer;
use crate::beginnings;
use senv_base::Observer;

/// At this share or above, the `unicode` tokenizer is chosen. A letter of these scripts corresponds to about one word,
/// and five Latin letters do. So a tenth of the letters is about a third of the words.
const MIN_SHARE: f64 = 0.1;

/// Letters of scripts without spaces between words, or with a separator that only `unicode` recognizes.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF // Thai, Lao
        | 0x0F00..=0x0FFF // Tibetan
        | 0x1000..=0x109F | 0xA9E0..=0xA9FF | 0xAA60..=0xAA7F // Myanmar
        | 0x1200..=0x139F | 0x2D80..=0x2DDF | 0xAB00..=0xAB2F // Ethiopic, whose words end with a mark
        | 0x1780..=0x17FF // Khmer
        | 0x1950..=0x19DF | 0x1A20..=0x1AAF | 0xAA80..=0xAADF // Tai Le, New Tai Lue, Tai Tham, Tai Viet
        | 0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3038..=0x303B // Han
        | 0x3041..=0x312F | 0x31A0..=0x31BF | 0x31F0..=0x31FF | 0xFF66..=0xFF9F | 0x1B000..=0x1B16F // Kana, Bopomofo
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF // Han
    )
}

/// Counts of letters by kind.
#[derive(Debug, Clone, Copy, Default)]
struct Letters {
    all: u64,
    unspaced: u64,
}

impl Letters {
    fn add(&mut self, text: &str) {
        let letters = text.chars().filter(|c| c.is_alphabetic());
        letters.for_each(|c| {
            self.all += 1;
            self.unspaced += u64::from(!c.is_ascii() && is_unspaced(c));
        });
    }

    fn share(self) -> f64 {
        self.unspaced as f64 / self.all.max(1) as f64
    }
}

impl Tokenizer {
    /// Chooses the tokenizer for a text from some of its lines. Returns [`Tokenizer::unicode`] if at least a tenth of
    /// the letters are from scripts that `words` cannot tokenize (Chinese, Japanese, Thai, Lao, Khmer, Myanmar,
    /// Tibetan, Ethiopic), otherwise [`Tokenizer::words`]. The tokenizer does not lower-case.
    ///
    /// ```
    /// use senv_core::Tokenizer;
    /// assert_eq!(Tokenizer::for_text(["今日は雨です。", "It rains."]), Tokenizer::unicode());
    /// assert_eq!(Tokenizer::for_text(["Rain is 雨 in Japanese.", ""]), Tokenizer::words());
    /// ```
    #[must_use]
    pub fn for_text<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        let mut letters = Letters::default();
        lines.into_iter().for_each(|line| letters.add(line));
        Self::for_letters(letters)
    }

    fn for_letters(letters: Letters) -> Self {
        if letters.share() >= MIN_SHARE { Self::unicode() } else { Self::words() }
    }

    /// [`Tokenizer::for_text`] for files, based on their [`beginnings`]. Notifies the observer if `unicode` is chosen.
    #[must_use]
    pub fn for_files<P: AsRef<Path>>(paths: &[P], observer: &dyn Observer) -> Self {
        Self::automatic().fitted_to_files(paths, observer)
    }

    /// Replaces [`Tokenizer::automatic`] by [`Tokenizer::for_files`] with the same lower-casing; returns other
    /// tokenizers unchanged.
    #[must_use]
    pub fn fitted_to_files<P: AsRef<Path>>(&self, paths: &[P], observer: &dyn Observer) -> Self {
        if !self.automatic {
            return self.clone();
        }
        let files = beginnings(paths, &crate::TextOptions::default());
        self.fitted_to_text(files.iter().flat_map(|(_, lines)| lines).map(String::as_str), observer)
    }

    /// Replaces [`Tokenizer::automatic`] by [`Tokenizer::for_text`] with the same lower-casing; returns other
    /// tokenizers unchanged.
    #[must_use]
    pub fn fitted_to_text<'a>(&self, lines: impl IntoIterator<Item = &'a str>, observer: &dyn Observer) -> Self {
        if !self.automatic {
            return self.clone();
        }
        let mut letters = Letters::default();
        lines.into_iter().for_each(|line| letters.add(line));
        let fitting = Self::for_letters(letters);
        if fitting == Self::unicode() {
            observer.note(&format!(
                "{:.0} % of the letters are of scripts without spaces between words, so the tokenizer is unicode",
                100.0 * letters.share()
            ));
        }
        Self { rule: fitting.rule, automatic: false, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, sync::Mutex};

    use super::*;
    use senv_base::{Control, Progress};

    /// Stores the notes.
    #[derive(Default)]
    struct Notes(Mutex<Vec<String>>);

    impl Observer for Notes {
        fn progress(&self, _: &Progress) -> Control {
            Control::Continue
        }

        fn note(&self, message: &str) {
            self.0.lock().unwrap().push(message.into());
        }
    }

    #[test]
    fn the_tokenizer_follows_the_script_of_the_text() {
        for text in
            ["我们明天去北京。", "今日はいい天気ですね", "วันนี้ฝนตก", "ວັນນີ້ຝົນຕົກ", "ថ្ងៃនេះភ្លៀង", "ဒီနေ့မိုးရွာတယ်", "ሰላም፡ለሁሉም።"]
        {
            assert_eq!(Tokenizer::for_text([text]), Tokenizer::unicode(), "{text}");
        }
        for text in [
            "The cat sat.",
            "Кошка спит.",
            "Η γάτα κοιμάται.",
            "القطة نائمة",
            "बिल्ली सो रही है।",
            "고양이가 자고 있다.",
            "3 < 4",
            "",
        ] {
            assert_eq!(Tokenizer::for_text([text]), Tokenizer::words(), "{text}");
        }
        // One letter in ten is enough, one in eleven is not.
        assert_eq!(Tokenizer::for_text(["猫 abcdef", "ghi 123 ..."]), Tokenizer::unicode());
        assert_eq!(Tokenizer::for_text(["猫 abcdef", "ghij"]), Tokenizer::words());
    }

    #[test]
    fn files_are_examined_at_their_beginnings_and_the_choice_is_noted() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let notes = Notes::default();
        let cats = "\n猫坐在垫子上。\n".repeat(20);
        let chinese = file("chinese", &cats);
        let english = file("english", &"A cat sits on the mat.\n".repeat(40));
        assert_eq!(Tokenizer::for_files(&[&english], &notes), Tokenizer::words());
        assert!(notes.0.lock().unwrap().is_empty(), "there is no note about the usual tokenizer");
        assert_eq!(Tokenizer::for_files(&[&english, &chinese], &notes), Tokenizer::unicode());
        let told = notes.0.lock().unwrap().concat();
        // 20 lines of 6 letters, compared with 40 of 16.
        assert!(told.starts_with("16 % of the letters") && told.contains("unicode"), "{told}");
        // Lines after the first 10,000 are not examined; blank lines do not count.
        let late = file("late", &(format!("{}{}", "\n\na b\n".repeat(10_000), cats.repeat(10_000))));
        assert_eq!(Tokenizer::for_files(&[&late], &notes), Tokenizer::words());
        let sooner = file("sooner", &(format!("{}{}", "\n\na b\n".repeat(9_000), cats.repeat(10_000))));
        assert_eq!(Tokenizer::for_files(&[&sooner], &notes), Tokenizer::unicode());
        // Of many files, an evenly spread sample is examined; unreadable files are skipped.
        let many: Vec<_> = (0..1000).map(|i| if i < 500 { &english } else { &chinese }).collect();
        assert_eq!(Tokenizer::for_files(&many, &notes), Tokenizer::unicode());
        let missing = folder.path().join("missing");
        assert_eq!(Tokenizer::for_files(&[&missing, &folder.path().into(), &chinese], &notes), Tokenizer::unicode());
        assert_eq!(Tokenizer::for_files(&[missing], &notes), Tokenizer::words());
        assert_eq!(Tokenizer::for_files::<PathBuf>(&[], &notes), Tokenizer::words());
    }
}
