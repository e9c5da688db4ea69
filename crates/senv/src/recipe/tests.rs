use std::sync::Mutex;

use super::*;
use crate::{StaticModel, recipe::StartKind};

/// The English model, under other terms.
fn english_under(terms: &str) -> Model {
    StaticModel::from(senv_english::model().unwrap().with_terms(terms)).into()
}

fn chosen_from(english: &Model, lines: &[String]) -> (Recipe, StartChoice) {
    let options = TrainOptions::default();
    let text = MemoryText::new(lines).unwrap();
    let sample = TextSample::read(&[&text]);
    let recipe = Recipe::choose_by(&sample, &[&text], &[] as &[&Path], &options).unwrap();
    recipe.choose_start(&sample, english, crate::MIN_KNOWN_SHARE_ENGLISH, &options).unwrap()
}

fn chosen(lines: &[String]) -> (Recipe, StartChoice) {
    chosen_from(&english_under("CC BY 4.0: for a test"), lines)
}

#[test]
fn too_few_pairs_for_a_trial_fine_tune_english() {
    let lines = ["The train was late, so we walked home in the rain.", "Nobody had an umbrella.", "The dog was wet."];
    let (recipe, choice) = chosen(&lines.map(str::to_owned));
    assert_eq!((choice.start, choice.trial.as_ref(), choice.lr_factor), (StartKind::FineTuned, None, 1.0));
    assert!(matches!(recipe, Recipe::Neighbours(recipe) if recipe.start.is_some()));
    assert_eq!(choice.to_string(), "start: fine-tuned from English (CC BY 4.0), without a trial");
}

/// The terms alone decide: the same model is tried under one license and not under another.
#[test]
fn training_starts_without_being_asked_only_under_permissive_terms() {
    let lines = of_subject(0);
    for (terms, is_tried) in [
        ("MIT OR Apache-2.0: as the code", true),
        ("CC0 1.0", true),
        ("CC BY-SA 4.0: made from an encyclopedia", false),
        ("CC BY-NC 4.0", false),
        ("Ask the author.", false),
    ] {
        let (recipe, choice) = chosen_from(&english_under(terms), &lines);
        assert_eq!(choice.start != StartKind::Scratch, is_tried, "{terms}: {choice}");
        assert_eq!((choice.terms_decided, choice.terms.as_deref()), (!is_tried, Some(terms)));
        let license = senv_core::Terms::new(terms).license();
        assert!(choice.to_string().contains(license), "{choice}");
        if !is_tried {
            assert!(match recipe {
                Recipe::Neighbours(recipe) => recipe.start.is_none(),
                Recipe::Words(_) => true,
                Recipe::Unchanged(_) => false,
            });
            assert!(choice.to_string().starts_with("start: from scratch; senv's English model is under "), "{choice}");
        }
    }
    // In another language the terms do not matter.
    let german = vec!["Der Zug kam zu spät, also gingen wir im Regen nach Hause.".to_owned(); 4];
    let (_, choice) = chosen_from(&english_under("CC BY-SA 4.0"), &german);
    assert!(!choice.terms_decided && choice.to_string().contains("knows"), "{choice}");
}

/// Keeps what training says.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn progress(&self, _: &senv_core::Progress) -> senv_core::Control {
        senv_core::Control::Continue
    }

    fn note(&self, note: &str) {
        self.0.lock().unwrap().push(note.to_owned());
    }
}

#[test]
fn training_says_what_it_starts_from_and_inherits_terms_only_if_it_may() {
    let lines = of_subject(0);
    let notes = Notes::default();
    let model = train_sentences_with(&lines, &TrainOptions { observer: &notes, ..TrainOptions::default() }).unwrap();
    let notes = notes.0.into_inner().unwrap();
    let starts: Vec<&String> = notes.iter().filter(|note| note.starts_with("start: ")).collect();
    assert_eq!(starts.len(), 1, "{notes:?}");
    let is_permissive = senv_core::Terms::new(senv_english::TERMS).is_permissive();
    assert_eq!(starts[0].starts_with("start: from scratch"), !is_permissive, "{starts:?}");
    assert_eq!(model.terms(), Some(senv_english::TERMS).filter(|_| is_permissive));

    // Asked for, any model is a start, and passes its terms on.
    let notes = Notes::default();
    let english = english_under("CC BY-SA 4.0: made from an encyclopedia");
    let options = TrainOptions { observer: &notes, ..TrainOptions::default() };
    let tuned = MemoryText::lend(&lines, |text| fine_tune_with(&english, text, &options)).unwrap();
    assert_eq!(tuned.terms(), english.terms());
    let notes = notes.0.into_inner().unwrap();
    assert!(notes.iter().any(|note| note.ends_with(": CC BY-SA 4.0: made from an encyclopedia")), "{notes:?}");
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
    assert_eq!(model.terms(), Some(senv_english::TERMS));
}
