//! Negation: `not` against antonyms and against plain statements, and about whom something is denied.

use super::{OrderItem, words::names};

/// A noun, a state and its opposite.
pub(super) const STATES: [(&str, &str, &str); 15] = [
    ("door", "open", "closed"),
    ("baby", "awake", "asleep"),
    ("bottle", "full", "empty"),
    ("floor", "wet", "dry"),
    ("answer", "right", "wrong"),
    ("story", "true", "false"),
    ("shirt", "clean", "dirty"),
    ("bridge", "safe", "dangerous"),
    ("king", "alive", "dead"),
    ("actor", "married", "single"),
    ("student", "present", "absent"),
    ("driver", "guilty", "innocent"),
    ("road", "straight", "curved"),
    ("plan", "legal", "illegal"),
    ("room", "dark", "bright"),
];

const MOODS: [&str; 10] = ["late", "hungry", "tired", "ready", "angry", "alone", "busy", "famous", "nervous", "lucky"];

pub(super) fn items() -> Vec<OrderItem> {
    let denied = STATES.iter().flat_map(denied);
    denied.chain((0..60).map(of_whom)).collect()
}

/// In the first two, the sentence with a different meaning shares more words with the anchor; in the others, the one
/// with the same meaning does.
fn denied(&(door, open, closed): &(&str, &str, &str)) -> [OrderItem; 4] {
    let [is_open, is_not, is_closed] =
        [open, &format!("not {open}"), closed].map(|state| format!("The {door} was {state}."));
    let [indeed_open, indeed_not] =
        [open, &format!("not {open}")].map(|state| format!("In fact, the {door} was {state}."));
    [
        OrderItem::new(is_not.clone(), is_closed.clone(), is_open.clone()),
        OrderItem::new(is_closed, is_not.clone(), is_open.clone()),
        OrderItem::new(is_not, indeed_not.clone(), indeed_open.clone()),
        OrderItem::new(is_open, indeed_open, indeed_not),
    ]
}

fn of_whom(i: usize) -> OrderItem {
    let [a, b, _] = names(i);
    let late = MOODS[i % MOODS.len()];
    let anchor = format!("{a} was {late} but {b} was not.");
    if (i + i / MOODS.len()).is_multiple_of(2) {
        let turned = |a: &str, b: &str| format!("{b} was not {late} but {a} was.");
        OrderItem::new(anchor, turned(a, b), turned(b, a))
    } else {
        let unlike = |a: &str, b: &str| format!("{a}, unlike {b}, was {late}.");
        OrderItem::new(anchor, unlike(a, b), unlike(b, a))
    }
}
