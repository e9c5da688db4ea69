//! Swapped conjuncts: "A and B" means "B and A", but swapping one of them with a third word changes the meaning.

use super::{
    OrderItem,
    words::{DEEDS, names},
};

const ACTIVITIES: [&str; 10] =
    ["sang", "danced", "laughed", "cooked", "painted", "slept", "worked", "studied", "prayed", "swam"];

pub(super) fn items() -> Vec<OrderItem> {
    (0..120).map(item).collect()
}

fn item(i: usize) -> OrderItem {
    let [a, b, c] = names(i);
    let did = DEEDS[i / 3 % DEEDS.len()];
    // Selects which of the two conjuncts is swapped with the third word.
    let is_second = (i / 3).is_multiple_of(2);
    match i % 3 {
        0 => {
            let subject = |a: &str, b: &str, c: &str| format!("{a} and {b} {did} {c}.");
            let different = if is_second { subject(a, c, b) } else { subject(c, b, a) };
            OrderItem::new(subject(a, b, c), subject(b, a, c), different)
        }
        1 => {
            let object = |a: &str, b: &str, c: &str| format!("{c} {did} {a} and {b}.");
            let different = if is_second { object(a, c, b) } else { object(c, b, a) };
            OrderItem::new(object(a, b, c), object(b, a, c), different)
        }
        _ => {
            let n = ACTIVITIES.len();
            let step = 1 + i / 30;
            let [x, y, z] = [i, i + step, i + 2 * step].map(|place| ACTIVITIES[place % n]);
            let verbs = |x: &str, y: &str, z: &str| format!("{a} {x} and {y} while {b} {z}.");
            let different = if is_second { verbs(x, z, y) } else { verbs(z, y, x) };
            OrderItem::new(verbs(x, y, z), verbs(y, x, z), different)
        }
    }
}
