//! Settings of a file that was written before a hyperparameter existed: it has its default.

use serde::{Serialize, de::DeserializeOwned};

fn each_key_may_be_missing<P: Default + Serialize + DeserializeOwned>() {
    let name = std::any::type_name::<P>();
    let whole = serde_json::to_value(P::default()).unwrap();
    let keys: Vec<String> = whole.as_object().unwrap().keys().cloned().collect();
    assert!(!keys.is_empty(), "{name}");
    for key in keys {
        let mut older = whole.clone();
        older.as_object_mut().unwrap().remove(&key);
        if let Err(error) = serde_json::from_value::<P>(older) {
            panic!("{name} without {key}: {error}");
        }
    }
}

macro_rules! each {
    ($($params:ident),+) => { $(each_key_may_be_missing::<senv::$params>());+ };
}

#[test]
fn files_of_before_a_hyperparameter_open() {
    senv::text_systems!(each);
    senv::pair_systems!(each);
    senv::running_text_systems!(each);
    each!(SnliParams, PThoughtParams, DictRepParams, CaptionRepParams, OrderParams, RelatednessParams, RandomBowParams);
}
