//! Settings as JSON, partial or complete, train the same model.

use senv::{Sent2VecParams, TextSystem, TrainOptions, model::SavedModel};
use senv_core::hyperparameters::Hyperparameters;
use serde::{Serialize, de::DeserializeOwned};

/// Missing settings have their defaults, and unknown ones are rejected.
fn may_be_given_in_part<P: Default + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned>() {
    let name = std::any::type_name::<P>();
    assert_eq!(serde_json::from_str::<P>("{}").unwrap(), P::default(), "{name}");
    let mut whole = serde_json::to_value(P::default()).unwrap();
    let fields = whole.as_object_mut().unwrap();
    assert!(!fields.is_empty(), "{name}");
    for field in fields.keys().cloned().collect::<Vec<_>>() {
        let mut rest = fields.clone();
        rest.remove(&field);
        assert_eq!(serde_json::from_value::<P>(rest.into()).unwrap(), P::default(), "{name} without {field}");
    }
    fields.insert("colour".into(), "red".into());
    let error = serde_json::from_value::<P>(whole).unwrap_err().to_string();
    assert!(error.contains("colour"), "{name}: {error}");
}

macro_rules! each {
    ($($params:ident),+) => { $(may_be_given_in_part::<senv::$params>());+ };
}

#[test]
fn settings_may_be_given_in_part_and_refuse_what_they_do_not_know() {
    senv::text_systems!(each);
    senv::pair_systems!(each);
    senv::running_text_systems!(each);
    each!(SnliParams, PThoughtParams, DictRepParams, CaptionRepParams, StudentParams);
    each!(OrderParams, RelatednessParams, RandomBowParams);
}

/// Settings survive a round trip through JSON, with any value that a hyperparameter accepts.
fn comes_back<P>()
where
    P: Default + Clone + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned + Hyperparameters,
{
    let back = |params: &P| -> P { serde_json::from_str(&serde_json::to_string(params).unwrap()).unwrap() };
    let default = P::default();
    assert_eq!(format!("{:?}", back(&default)), format!("{default:?}"));
    for parameter in default.hyperparameters() {
        for value in ["inf", "0", "1", "3", "0.1", "1e-300", "whitespace", "unicode", "true", "false"] {
            let mut params = default.clone();
            // JSON has no infinity; "no limit" trains the same.
            let is_no_limit = (parameter.name, value) == ("clip", "inf");
            if !is_no_limit && params.set(parameter.name, value).is_ok() && params.check_ranges().is_ok() {
                let name = parameter.name;
                assert_eq!(back(&params), params, "{}: {name} {value}", std::any::type_name::<P>());
            }
        }
    }
}

macro_rules! each_comes_back {
    ($($params:ident),+) => { $(comes_back::<senv::$params>());+ };
}

#[test]
fn settings_come_back_from_json_as_they_were() {
    senv::text_systems!(each_comes_back);
    senv::pair_systems!(each_comes_back);
    senv::running_text_systems!(each_comes_back);
    each_comes_back!(SnliParams, PThoughtParams, DictRepParams, CaptionRepParams, StudentParams, OrderParams);
}

#[test]
fn settings_from_json_train_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.txt");
    let words = ["我们", "明天", "去", "北京", "今天", "下雨", "了", "吗"];
    let text = (0..400).map(|i| format!("{}{}{}。\n", words[i % 8], words[i * 3 % 7], words[i * 5 % 8]));
    std::fs::write(&path, text.collect::<String>()).unwrap();
    let params = Sent2VecParams { dim: 8, ..Sent2VecParams::default() };
    let json = serde_json::to_string(&params).unwrap();
    let back: Sent2VecParams = serde_json::from_str(&json).unwrap();
    let train = |params: Sent2VecParams| params.fit_files([&path], &TrainOptions::default()).unwrap().model;
    let (first, second) = (train(params), train(back));
    assert!(first.vocabulary().id("北").is_some(), "characters are words here");
    let words =
        |model: &senv::Sent2Vec| model.vocabulary().iter().map(|(_, word, _)| word.to_owned()).collect::<Vec<_>>();
    assert_eq!(words(&first), words(&second));
    assert_eq!(first.encode_one("明天下雨"), second.encode_one("明天下雨"));
}
