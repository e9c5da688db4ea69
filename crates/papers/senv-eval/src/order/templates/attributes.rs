//! Attributes: which adjective belongs to which noun.

use super::{OrderItem, words::names};

const THINGS: [&str; 12] =
    ["car", "bicycle", "house", "boat", "chair", "table", "hat", "scarf", "bag", "box", "lamp", "clock"];

const ADJECTIVES: [&str; 10] = ["red", "blue", "green", "yellow", "white", "black", "small", "big", "cheap", "heavy"];

pub(super) fn items() -> Vec<OrderItem> {
    (0..120).map(item).collect()
}

fn item(i: usize) -> OrderItem {
    let step = i / THINGS.len();
    let (car, house) = (THINGS[i % THINGS.len()], THINGS[(i + 1 + step) % THINGS.len()]);
    let (red, blue) = (ADJECTIVES[i % ADJECTIVES.len()], ADJECTIVES[(i + 1 + step % 9) % ADJECTIVES.len()]);
    let [who, ..] = names(i);
    let list = |first: (&str, &str), second: (&str, &str)| {
        format!("a {} {} and a {} {}", first.0, first.1, second.0, second.1)
    };
    match (i + step) % 4 {
        form @ (0 | 2) => {
            let bought = |first, second| format!("{who} bought {}.", list(first, second));
            // Swap either the adjectives or the nouns.
            let different =
                if form == 0 { bought((blue, car), (red, house)) } else { bought((red, house), (blue, car)) };
            OrderItem::new(bought((red, car), (blue, house)), bought((blue, house), (red, car)), different)
        }
        _ => {
            let there = |first, second| format!("There was {}.", list(first, second));
            let anchor = format!("The {car} was {red} and the {house} was {blue}.");
            OrderItem::new(anchor, there((red, car), (blue, house)), there((blue, car), (red, house)))
        }
    }
}
