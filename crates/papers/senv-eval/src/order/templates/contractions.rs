//! Contractions: `wasn't` and its forms mean `was not`, however the apostrophe is typed.

use super::{OrderItem, negation::STATES};

/// The ways in which people type the contraction: on a keyboard, on a phone, on a keyboard with dead keys, in a hurry.
const TYPINGS: [&str; 4] = ["wasn't", "wasn’t", "wasn`t", "wasnt"];

/// In half of the items the sentence with a different meaning shares more words with the anchor, and in the others the
/// one with the same meaning does.
pub(super) fn items() -> Vec<OrderItem> {
    STATES.iter().flat_map(|state| TYPINGS.map(|was_not| typed(state, was_not))).flatten().collect()
}

fn typed(&(door, open, _): &(&str, &str, &str), was_not: &str) -> [OrderItem; 2] {
    ["The", "In fact, the"].map(|the| {
        let sentence = |verb: &str| format!("{the} {door} {verb} {open}.");
        OrderItem::new(sentence(was_not), sentence("was not"), format!("The {door} was {open}."))
    })
}
