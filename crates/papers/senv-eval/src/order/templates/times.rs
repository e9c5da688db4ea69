//! Before and after: which of two actions came first.

use super::{OrderItem, words::people};

const ACTIONS: [&str; 16] = [
    "washed the dishes",
    "fed the cat",
    "called a friend",
    "read the newspaper",
    "cleaned the kitchen",
    "wrote a letter",
    "took a shower",
    "watered the plants",
    "paid the bills",
    "cooked dinner",
    "bought some bread",
    "went for a walk",
    "watched the news",
    "made the bed",
    "drank some coffee",
    "locked the door",
];

pub(super) fn items() -> Vec<OrderItem> {
    (0..120).map(item).collect()
}

fn item(i: usize) -> OrderItem {
    let n = ACTIONS.len();
    let (a, b) = (ACTIONS[i % n], ACTIONS[(i + 1 + i / n) % n]);
    let [who, ..] = people(i);
    let (name, pronoun) = (who.name, who.pronoun);
    let form = (i + i / n) % 4;
    let (this, other) = if form < 2 { ("before", "after") } else { ("after", "before") };
    let anchor = format!("{name} {a} {this} {pronoun} {b}.");
    if form.is_multiple_of(2) {
        let turned = |a: &str, b: &str| format!("{name} {b} {other} {pronoun} {a}.");
        OrderItem::new(anchor, turned(a, b), turned(b, a))
    } else {
        let first = if other == "after" { "After" } else { "Before" };
        let fronted = |a: &str, b: &str| format!("{first} {name} {a}, {pronoun} {b}.");
        OrderItem::new(anchor, fronted(a, b), fronted(b, a))
    }
}
