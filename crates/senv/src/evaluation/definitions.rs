//! Definitions for the evaluation of a reverse dictionary.

use std::collections::HashMap;

use senv_data::Definition;
use senv_eval::DictionarySet;

use crate::model::reverse_dictionary::ReverseDictionary;

/// Splits definitions into those of words that a reverse dictionary was trained on (`seen`) and of words that were held
/// out (`unseen`), as [`senv_eval::evaluate_dictionary`] takes them. Also returns how many are left out because their
/// words are not among the words to search.
#[must_use]
pub fn definition_sets<'a>(
    dictionary: &dyn ReverseDictionary,
    definitions: impl IntoIterator<Item = &'a Definition>,
) -> ([DictionarySet; 2], usize) {
    let words = dictionary.target_words();
    let places: HashMap<&str, usize> = words.iter().enumerate().map(|(i, (word, _))| (word, i)).collect();
    let [mut seen, mut unseen] =
        ["seen", "unseen"].map(|name| DictionarySet { name: name.into(), definitions: vec![] });
    let mut left_out = 0;
    for Definition { word, text, .. } in definitions {
        // As in training: the word unchanged, or else in lower case.
        match places.get(&word[..]).or_else(|| places.get(&word.to_lowercase()[..])) {
            Some(&place) => {
                let set = if dictionary.is_held_out(place) { &mut unseen } else { &mut seen };
                set.definitions.push((place, text.clone()));
            }
            None => left_out += 1,
        }
    }
    ([seen, unseen], left_out)
}
