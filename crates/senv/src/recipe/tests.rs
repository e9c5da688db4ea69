use super::*;
use crate::recipe::StartKind;

fn chosen(lines: &[String]) -> (Recipe, crate::recipe::StartChoice) {
    let options = TrainOptions::default();
    let text = MemoryText::new(lines).unwrap();
    let sample = TextSample::read(&[&text]);
    let recipe = Recipe::choose_by(&sample, &[&text], &[] as &[&Path], &options).unwrap();
    recipe.choose_start(&sample, &crate::english().unwrap(), crate::MIN_KNOWN_SHARE_ENGLISH, &options).unwrap()
}

#[test]
fn too_few_pairs_for_a_trial_fine_tune_english() {
    let lines = ["The train was late, so we walked home in the rain.", "Nobody had an umbrella.", "The dog was wet."];
    let (recipe, choice) = chosen(&lines.map(str::to_owned));
    assert_eq!((choice.start, choice.trial.as_ref(), choice.lr_factor), (StartKind::FineTuned, None, 1.0));
    assert!(matches!(recipe, Recipe::Neighbours(recipe) if recipe.start.is_some()));
    assert_eq!(choice.to_string(), "start: fine-tuned from English, without a trial");
}

/// English sentences with words of a subject that the model does not know.
fn of_subject(n_unknown: usize) -> Vec<String> {
    let unknown = ["qwzortlin", "vorplaxine", "zmbrolium", "brindqate", "kwarpomax", "flozbirt"];
    let known = ["the", "doctor", "said", "that", "patient", "in", "house", "was", "old", "and"];
    let words = |i: usize| {
        let of = |at: usize| if at < n_unknown { unknown[(at + i) % 6] } else { known[(at + 3 * i) % 10] };
        (0..10).map(of).collect::<Vec<_>>().join(" ")
    };
    (0..40).map(words).collect()
}

#[test]
fn english_of_a_subject_is_tried_down_to_six_known_words_of_ten() {
    for (n_unknown, expected) in [(2, true), (4, true), (5, false)] {
        let (_, choice) = chosen(&of_subject(n_unknown));
        assert_eq!(choice.known_words, Some(1.0 - n_unknown as f64 / 10.0));
        assert_eq!(choice.start != StartKind::Scratch, expected, "{n_unknown}: {choice}");
    }
    // Names have no grammar. With the grammar of another language, as many known words do not help.
    let list = |last: &str| vec![format!("qwzortlin garden train house doctor music {last}"); 40];
    assert_ne!(chosen(&list("river")).1.start, StartKind::Scratch);
    assert_eq!(chosen(&list("und")).1.start, StartKind::Scratch);
}

#[test]
fn other_languages_and_empty_lines_start_from_scratch() {
    for line in [
        "Der Zug kam zu spät, also gingen wir im Regen nach Hause.",
        "Le train était en retard, alors nous sommes rentrés à pied sous la pluie.",
        "El tren llegó tarde y volvimos a casa bajo la lluvia sin paraguas.",
        "电车晚点了，我们冒雨走回家。",
        "zqx vkj qqwz xkcd zzyzx",
    ] {
        let (_, choice) = chosen(&vec![line.to_owned(); 4]);
        assert_eq!(choice.start, StartKind::Scratch, "{line}");
    }
}

#[test]
fn what_is_good_as_it_is_is_not_trained() {
    let english = crate::english().unwrap();
    let mut recipe = Recipe::Unchanged(english.clone());
    recipe.set_dim(3);
    recipe.set_seed(3);
    recipe.fine_tune_from(&english, &senv_core::NoObserver).unwrap();
    let model = recipe.fit(&TrainOptions::default()).unwrap();
    assert_eq!(model.encode_one("a cat sat"), english.encode_one("a cat sat"));
    assert!(model.terms().unwrap().starts_with("CC BY-SA 4.0"));
}
