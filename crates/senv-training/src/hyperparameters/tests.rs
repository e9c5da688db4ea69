use super::*;
use crate::optim::{AdamParams, AdamVariant, UpdateRule};
use senv_text::{Normalization, Tokenizer};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Pooling {
    Mean,
    Sum,
}
named_values!(Pooling { Mean = "mean": "The mean of the words", Sum = "sum": "Their sum" });

hyperparameters! {
    /// Hyperparameters of a loop.
    #[derive(Debug, Clone, PartialEq)]
    #[allow(unreachable_pub)]
    pub struct Loop {
        /// Passes over the text.
        pub epochs: u32 = 10 => Training[at_least 1];
        /// Steps, instead
        /// of epochs.
        ///
        /// Nothing of this is help.
        pub steps: Option<u64> = None => Training[at_least 1];
        /// Longest gradient.
        pub clip: Option<f64> = None => Training[above 0 or_infinite];
        /// Threads.
        pub threads: usize = 0 => skip;
    }
}

hyperparameters! {
    /// Hyperparameters of a system.
    #[derive(Debug, Clone, PartialEq)]
    #[allow(unreachable_pub)]
    pub struct System {
        /// How words are pooled.
        pub pooling: Pooling = Pooling::Mean => Training;
        /// Share of words that are dropped.
        pub dropout as word_dropout: f64 = 0.0 => Training[from 0 below 1];
        /// Sizes.
        pub windows: Vec<usize> = vec![1, 2] => Training;
        /// How text is tokenized.
        pub tokenizer: Tokenizer = Tokenizer::words() => group;
        /// The loop.
        pub fit: Loop = Loop { epochs: 3, ..Loop::default() } => group;
    }
}

#[test]
fn a_declaration_gives_defaults_listing_and_values_by_name() {
    let mut system = System::default();
    let values = |system: &System| -> Vec<(&'static str, Option<String>)> {
        system.hyperparameters().into_iter().map(|h| (h.name, h.value)).collect()
    };
    let some = |text: &str| Some(text.to_owned());
    let expected = [
        ("pooling", some("mean")),
        ("word_dropout", some("0")),
        ("windows", some("1,2")),
        ("tokenizer", some("words")),
        ("lowercase", some("false")),
        ("strip_hashtags", some("false")),
        ("normalize", some("none")),
        ("epochs", some("3")),
        ("steps", None),
        ("clip", None),
    ];
    assert_eq!(values(&system), expected);
    for (name, text) in [
        ("pooling", "sum"),
        ("word_dropout", "0.25"),
        ("windows", "3,1"),
        ("tokenizer", "whitespace"),
        ("lowercase", "yes"),
        ("strip_hashtags", "true"),
        ("normalize", "typing"),
        ("steps", "70"),
        ("clip", "inf"),
    ] {
        assert!(system.set(name, text).unwrap(), "{name}");
    }
    let fit = Loop { epochs: 3, steps: Some(70), clip: Some(f64::INFINITY), threads: 0 };
    let tokenizer = Tokenizer::whitespace().lowercase(true).strip_hashtags(true);
    let tokenizer = tokenizer.normalize(Normalization::Typing);
    assert_eq!(system, System { pooling: Pooling::Sum, dropout: 0.25, windows: vec![3, 1], tokenizer, fit });
    system.check_ranges().unwrap();
    // Printed values can be parsed again.
    let mut copy = System::default();
    for (name, value) in values(&system) {
        assert!(copy.set(name, &value.unwrap()).unwrap(), "{name}");
    }
    assert_eq!(copy, system);
}

#[test]
fn help_is_the_first_paragraph_with_the_range() {
    let help: Vec<String> = Loop::default().hyperparameters().iter().map(Hyperparameter::help).collect();
    let expected = [
        "Passes over the text, at least 1",
        "Steps, instead of epochs, at least 1",
        "Longest gradient, above 0; inf for no limit",
    ];
    assert_eq!(help, expected);
    let all = System::default().hyperparameters();
    assert_eq!(all[0].choices.len(), 2);
    assert_eq!((all[0].placeholder, all[1].placeholder, all[2].placeholder), ("NAME", "X", "N,N"));
    assert_eq!((all[0].section, all[3].section), (Section::Training, Section::Text));
}

#[test]
fn bad_values_names_and_ranges_are_named() {
    let mut system = System::default();
    assert!(!system.set("threads", "2").unwrap(), "not a hyperparameter");
    assert!(!system.set("dropout", "0.5").unwrap(), "known by its other name");
    for (name, text, reason) in [
        ("pooling", "max", "mean, sum"),
        ("epochs", "-1", "epochs"),
        ("lowercase", "perhaps", "true or false"),
        ("windows", "1,,2", "windows"),
        ("tokenizer", "byte", "unicode"),
        ("normalize", "nfc", "typing, none"),
    ] {
        let error = system.set(name, text).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains(name), "{error}");
    }
    assert_eq!(system, System::default(), "an error changes nothing");
    for (name, text) in [
        ("epochs", "0"),
        ("steps", "0"),
        ("clip", "0"),
        ("clip", "NaN"),
        ("word_dropout", "1"),
        ("word_dropout", "-0.1"),
        ("word_dropout", "NaN"),
    ] {
        let mut system = System::default();
        system.set(name, text).unwrap();
        let error = system.check_ranges().unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
    }
}

#[test]
fn numbers_are_printed_as_people_write_them() {
    assert_eq!([1e-6, 0.001, 0.3, 20.0].map(|x: f64| x.print().unwrap()), ["1e-6", "0.001", "0.3", "20"]);
    assert_eq!(0.05_f32.print().unwrap(), "0.05");
}

#[test]
fn optimizers_have_names() {
    for choice in UpdateRule::CHOICES {
        assert_eq!(UpdateRule::parse(choice.name).unwrap().print().unwrap(), choice.name);
    }
    let own = AdamParams::default().variant(AdamVariant::Folded).beta1(0.5);
    assert_eq!(UpdateRule::Adam(own).print().unwrap(), "adam-folded", "what has no name is not shown");
    assert!(UpdateRule::parse("lbfgs").is_err());
}
