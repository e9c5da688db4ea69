//! Swapped roles: active against passive sentences, and against cleft sentences.

use super::{OrderItem, words::DEEDS};

/// Two people who may act on each other.
const PAIRS: [(&str, &str); 15] = [
    ("teacher", "student"),
    ("doctor", "nurse"),
    ("lawyer", "judge"),
    ("boy", "girl"),
    ("actor", "singer"),
    ("soldier", "officer"),
    ("manager", "secretary"),
    ("farmer", "hunter"),
    ("king", "queen"),
    ("driver", "cyclist"),
    ("guest", "waiter"),
    ("player", "coach"),
    ("author", "editor"),
    ("painter", "musician"),
    ("mayor", "reporter"),
];

pub(super) fn items() -> Vec<OrderItem> {
    let combinations = (0..PAIRS.len()).flat_map(|pair| (0..DEEDS.len()).map(move |deed| (pair, deed)));
    combinations.map(|(pair, deed)| item(pair, deed)).collect()
}

fn item(pair: usize, deed: usize) -> OrderItem {
    // Each of the two is the agent in half of the items.
    let (a, b) = if deed < DEEDS.len() / 2 { PAIRS[pair] } else { (PAIRS[pair].1, PAIRS[pair].0) };
    let did = DEEDS[deed];
    let (passive, cleft) = (
        |a: &str, b: &str| format!("The {b} was {did} by the {a}."),
        |a: &str, b: &str| format!("It was the {a} who {did} the {b}."),
    );
    let anchor = format!("The {a} {did} the {b}.");
    if (pair + deed).is_multiple_of(2) {
        OrderItem::new(anchor, passive(a, b), passive(b, a))
    } else {
        OrderItem::new(anchor, cleft(a, b), cleft(b, a))
    }
}
