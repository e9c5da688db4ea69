//! More and less: comparatives for people, `more` and `less` for things, `more` and `fewer` for what people own.

use super::{OrderItem, words::names};

/// A comparative, its opposite, and the opposite's base form.
const DEGREES: [(&str, &str, &str); 12] = [
    ("taller", "shorter", "short"),
    ("older", "younger", "young"),
    ("faster", "slower", "slow"),
    ("stronger", "weaker", "weak"),
    ("richer", "poorer", "poor"),
    ("louder", "quieter", "quiet"),
    ("shorter", "taller", "tall"),
    ("younger", "older", "old"),
    ("slower", "faster", "fast"),
    ("weaker", "stronger", "strong"),
    ("poorer", "richer", "rich"),
    ("quieter", "louder", "loud"),
];

/// Two things and an adjective that fits both.
const THINGS: [(&str, &str, &str); 15] = [
    ("sofa", "armchair", "comfortable"),
    ("train", "bus", "expensive"),
    ("novel", "film", "interesting"),
    ("river", "lake", "dangerous"),
    ("museum", "zoo", "popular"),
    ("exam", "essay", "difficult"),
    ("hotel", "cottage", "modern"),
    ("garden", "park", "beautiful"),
    ("hammer", "saw", "useful"),
    ("bridge", "tunnel", "important"),
    ("lecture", "debate", "boring"),
    ("soup", "salad", "delicious"),
    ("bank", "shop", "profitable"),
    ("rope", "chain", "reliable"),
    ("dress", "coat", "elegant"),
];

const BELONGINGS: [&str; 15] = [
    "books", "friends", "coins", "photos", "shoes", "stamps", "plants", "toys", "cousins", "hats", "songs", "maps",
    "pens", "cups", "chairs",
];

pub(super) fn items() -> Vec<OrderItem> {
    let degrees = (0..5).flat_map(|round| (0..DEGREES.len()).map(move |place| degree(round, place)));
    let things = THINGS.iter().enumerate().flat_map(|(i, of)| more_of_things(i, of));
    let belongings = BELONGINGS.iter().enumerate().flat_map(|(i, of)| more_belongings(i, of));
    degrees.chain(things).chain(belongings).collect()
}

fn degree(round: usize, place: usize) -> OrderItem {
    let (more, less, base) = DEGREES[place];
    let [a, b, _] = names(12 * round + place);
    let anchor = format!("{a} is {more} than {b}.");
    if (round + place).is_multiple_of(2) {
        let turned = |a: &str, b: &str| format!("{b} is {less} than {a}.");
        OrderItem::new(anchor, turned(a, b), turned(b, a))
    } else {
        let denied = |a: &str, b: &str| format!("{a} is not as {base} as {b}.");
        OrderItem::new(anchor, denied(a, b), denied(b, a))
    }
}

fn more_of_things(i: usize, &(a, b, adjective): &(&str, &str, &str)) -> [OrderItem; 2] {
    let than = |a: &str, how: &str, b: &str| format!("The {a} is {how} {adjective} than the {b}.");
    let (this, other) = if i.is_multiple_of(2) { ("more", "less") } else { ("less", "more") };
    let so = |a: &str, b: &str| format!("The {a} is {adjective} and the {b} less so.");
    [
        OrderItem::new(than(a, this, b), than(b, other, a), than(a, other, b)),
        OrderItem::new(than(b, "more", a), so(b, a), so(a, b)),
    ]
}

fn more_belongings(i: usize, things: &str) -> [OrderItem; 2] {
    let (this, other) = if i.is_multiple_of(2) { ("more", "fewer") } else { ("fewer", "more") };
    let [a, b, c] = names(7 * i);
    let than = |a: &str, how: &str, b: &str| format!("{a} has {how} {things} than {b}.");
    let both = |a: &str, b: &str| format!("{a} has {other} {things} and {b} has {this}.");
    [
        OrderItem::new(than(a, this, b), than(b, other, a), than(a, other, b)),
        OrderItem::new(than(b, other, c), both(b, c), both(c, b)),
    ]
}
