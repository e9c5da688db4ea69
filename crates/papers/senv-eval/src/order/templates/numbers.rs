//! Numbers: counts of two things, and numbers in words and in digits.

use super::{OrderItem, words::names};

/// Number words from 2.
const WORDS: [&str; 19] = [
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];

/// An owner and two things that they own.
const OWNERS: [(&str, &str, &str); 10] = [
    ("farmer", "horses", "cows"),
    ("teacher", "pens", "books"),
    ("girl", "brothers", "sisters"),
    ("baker", "shops", "ovens"),
    ("student", "hats", "scarves"),
    ("doctor", "sons", "daughters"),
    ("driver", "trucks", "vans"),
    ("painter", "brushes", "pencils"),
    ("hunter", "dogs", "knives"),
    ("sailor", "boats", "maps"),
];

/// A place and two things in it.
const PLACES: [(&str, &str, &str); 10] = [
    ("room", "chairs", "tables"),
    ("garden", "roses", "tulips"),
    ("kitchen", "plates", "cups"),
    ("zoo", "lions", "tigers"),
    ("office", "desks", "lamps"),
    ("drawer", "forks", "spoons"),
    ("garage", "cars", "bicycles"),
    ("park", "benches", "trees"),
    ("museum", "paintings", "statues"),
    ("basket", "apples", "pears"),
];

/// A thing to buy, and two quantities of it.
const BOUGHT: [(&str, usize, usize); 15] = [
    ("eggs", 10, 12),
    ("apples", 3, 5),
    ("books", 4, 7),
    ("tickets", 6, 9),
    ("stamps", 8, 20),
    ("chairs", 11, 14),
    ("roses", 13, 15),
    ("candles", 16, 18),
    ("plates", 17, 19),
    ("shirts", 2, 4),
    ("pencils", 5, 6),
    ("lemons", 7, 8),
    ("cups", 9, 10),
    ("postcards", 12, 20),
    ("balloons", 3, 15),
];

pub(super) fn items() -> Vec<OrderItem> {
    let owned = (0..30).map(|i| of_owner(i, OWNERS[i % 10]));
    let placed = (0..30).map(|i| of_place(i, PLACES[i % 10]));
    let written = BOUGHT.iter().enumerate().flat_map(|(i, of)| written(i, of));
    owned.chain(placed).chain(written).collect()
}

/// Returns two different number words up to twelve.
fn two_numbers(i: usize) -> [&'static str; 2] {
    let n = 11;
    let step = 1 + i / 10 + i % 3;
    [i, i + step].map(|place| WORDS[place % n])
}

fn of_owner(i: usize, (owner, dogs, cats): (&str, &str, &str)) -> OrderItem {
    let [three, two] = two_numbers(i);
    let has = |x: &str, a: &str, y: &str, b: &str| format!("The {owner} has {x} {a} and {y} {b}.");
    // Swap either the numbers or the things.
    let different = if i.is_multiple_of(2) { has(two, dogs, three, cats) } else { has(three, cats, two, dogs) };
    OrderItem::new(has(three, dogs, two, cats), has(two, cats, three, dogs), different)
}

fn of_place(i: usize, (place, chairs, tables): (&str, &str, &str)) -> OrderItem {
    let [three, two] = two_numbers(i + 5);
    let has = |x: &str, y: &str| format!("The {place} has {x} {chairs} and {y} {tables}.");
    let anchor = format!("There are {three} {chairs} and {two} {tables} in the {place}.");
    OrderItem::new(anchor, has(three, two), has(two, three))
}

/// Words against digits and digits against words, for both numbers. A rule that prefers the rarer form is right as
/// often as wrong.
fn written(i: usize, &(things, n, m): &(&str, usize, usize)) -> [OrderItem; 4] {
    let [who, ..] = names(5 * i);
    let in_words = |n: usize| format!("{who} bought {} {things}.", WORDS[n - 2]);
    let in_digits = |n: usize| format!("{who} bought {n} {things}.");
    [
        OrderItem::new(in_digits(n), in_words(n), in_words(m)),
        OrderItem::new(in_digits(m), in_words(m), in_words(n)),
        OrderItem::new(in_words(n), in_digits(n), in_digits(m)),
        OrderItem::new(in_words(m), in_digits(m), in_digits(n)),
    ]
}
