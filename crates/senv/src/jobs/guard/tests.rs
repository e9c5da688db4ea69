//! What the guard takes for the same, and what for different.

use senv_core::{Coverage, Scratch, SentenceEncoder, Vocabulary};

use super::Guard;

/// Common words, words that are neither common nor rare, and rare ones, with counts of a corpus of 20 million.
fn vocabulary() -> Vocabulary {
    let common = ["the", "a", "is", "to", "for", "of", "in", "and", "on", "with", "it", "was", "are"];
    let content =
        ["train", "late", "door", "open", "log", "client", "package", "united", "nations", "york", "new", "tom"];
    let middle = ["provider", "management", "ticket", "physician", "doctor", "skeptic", "harbour"];
    let rare = ["concave", "colander"];
    let more: Vec<String> = (0..400).map(letters).collect();
    let counts = common.iter().map(|word| (*word, 400_000));
    let counts = counts.chain(content.iter().map(|word| (*word, 4_000)));
    let counts = counts.chain(middle.iter().map(|word| (*word, 200)));
    let counts = counts.chain(more.iter().map(|word| (&**word, 100)));
    Vocabulary::from_counts(counts.chain(rare.iter().map(|word| (*word, 20))), 20_000_000).unwrap()
}

/// Gives each word a direction of its own, except that "doctor" has that of "physician".
struct Directions;

impl SentenceEncoder for Directions {
    fn dim(&self) -> usize {
        64
    }

    fn encode_sentence(&self, word: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        let word = if word == "doctor" { "physician" } else { word };
        out.fill(0.0);
        senv_core::words::add_signs(word, 1.0, out);
        Coverage::new(1, 1)
    }
}

fn difference(a: &str, b: &str) -> Option<(String, String)> {
    let vocabulary = vocabulary();
    let guard = Guard::new(&Directions, &vocabulary, &[] as &[&str]);
    let found = guard.difference(a, b).map(|found| (found.first.join(" "), found.second.join(" ")));
    let turned = guard.difference(b, a).map(|found| (found.second.join(" "), found.first.join(" ")));
    assert_eq!(found, turned, "{a} | {b}");
    found
}

#[test]
fn another_number_code_name_or_rare_word_is_a_difference() {
    for (a, b, first, second) in [
        ("Provider package for openfaas", "Provider package for postgres", "openfaas", "postgres"),
        (
            "Storagecache Management Client",
            "Domainregistration Management Client",
            "storagecache",
            "domainregistration",
        ),
        ("FizzBuzz", "fibonacci", "fizzbuzz", "fibonacci"),
        ("the train of 12:30 is late", "the train of 12:45 is late", "30", "45"),
        ("two trains are late", "three trains are late", "two", "three"),
        ("ticket T-1234 is open", "ticket T-1235 is open", "1234", "1235"),
        ("version 3.1 of the package", "version 3.10 of the package", "3.1", "3.10"),
        ("it is late on Monday", "it is late on Tuesday", "monday", "tuesday"),
        ("hepatitis B is late", "hepatitis C is late", "b", "c"),
        ("the client getUserName is late", "the client getUserId is late", "getusername", "getuserid"),
        ("a concave door is open", "a door is open", "concave", ""),
        ("the train is late in Tom and York", "the train is late in Tom", "york", ""),
        ("the door is open", "the door isn't open", "", "not"),
        ("the train is -5 late", "the train is 5 late", "-5", "5"),
        ("the door is -$40", "the door is $40", "-40", "40"),
        ("the train of 03/04/2023 is late", "the train of 04/03/2023 is late", "03 04 2023", "04 03 2023"),
        ("the train is 10-20 late", "the train is 20-10 late", "10 20", "20 10"),
        ("the door of \u{20AC}1000 is open", "the door of $1000 is open", "\u{20AC}", "$"),
        ("the train is > 5 late", "the train is < 5 late", ">", "<"),
        ("5 kg of the train", "5 lb of the train", "kg", "lb"),
        ("the train is 5% late", "the train is 5 late", "%", ""),
        ("the client S23+ is open", "the client S23 is open", "s23+", "s23"),
        ("the door of New York Zero is open", "the door of New York is open", "zero", ""),
    ] {
        assert_eq!(difference(a, b), Some((first.to_owned(), second.to_owned())), "{a} | {b}");
    }
}

#[test]
fn another_spelling_of_the_same_is_none() {
    for (a, b) in [
        ("log in to the client", "Log-in to the CLIENT!"),
        ("log in to postgres", "login to Postgres"),
        ("1,000 trains are late", "1000 trains are late"),
        ("1 000 trains are late", "1000 trains are late"),
        ("version 3.0 of openfaas", "openfaas, version 3"),
        ("two trains of openfaas", "2 train of Openfaas"),
        ("part II of a package", "part 2 of the package"),
        ("skeptics of the door", "the skeptical door"),
        ("the postgres door", "the postgers door"),
        ("the United Nations are late", "the UN are late"),
        ("it isn't open", "it is not open"),
        ("it isn\u{2019}t \u{201C}caf\u{e9}\u{201D}", "it isn't \"cafe\u{301}\""),
        ("a open\u{200B}faas door", "a openfaas door"),
        ("the physician is late in the train", "the physician is late in the train of the provider"),
        ("the U.S. train is late", "the US train is late"),
        ("one of the trains is late", "the trains is late"),
        ("the train is 5% late", "the train is 5 percent late"),
        ("the train is 5 % late", "the train is 5 per cent late"),
        ("the door of $5 is open", "the door of 5 dollars is open"),
        ("5kg of the train", "5 kilograms of the train"),
        ("the train of 10-20 is late", "the train of 10\u{2013}20 is late"),
        ("the caf\u{e9} is open", "the cafe is open"),
        ("the door dont open", "the door does not open"),
        ("the train of 12 January is late", "the train of Jan 12 is late"),
        ("", ""),
        ("", "the"),
    ] {
        assert_eq!(difference(a, b), None, "{a} | {b}");
    }
}

#[test]
fn a_word_that_is_not_rare_may_be_missing_but_not_exchanged() {
    assert_eq!(difference("the provider is late in the train", "it is late in the train"), None);
    let exchanged = Some(("provider".to_owned(), "physician".to_owned()));
    assert_eq!(difference("the provider is late", "the physician is late"), exchanged);
    assert_eq!(difference("the doctor is late", "the physician is late"), None, "they mean the same");
    assert!(difference("Doctor of trains is late", "Physician of trains is late").is_some(), "names are no synonyms");
    let exchanged = Some(("provider".to_owned(), String::new()));
    assert_eq!(difference("the train of the provider is late", "the train of the it is late"), exchanged);
    let part = Some((String::new(), "management".to_owned()));
    assert_eq!(difference("the train of the late door", "the train of the late door - management"), part);
    assert_eq!(difference("the train of the late door", "the train of the late management door"), None);
    assert_eq!(
        difference("management client", "client"),
        Some(("management".to_owned(), String::new())),
        "short texts"
    );
}

#[test]
fn without_counts_the_order_of_the_vocabulary_tells_what_is_rare_and_without_words_the_texts() {
    let words: Vec<String> = (0..30_000).map(letters).collect();
    let vocabulary = Vocabulary::from_counts(words.iter().map(|word| (word, 1)), 0).unwrap();
    let guard = Guard::new(&Directions, &vocabulary, &[] as &[&str]);
    let with = |i: usize| format!("{} {}", [10, 11, 12, 13].map(|i| &*words[i]).join(" "), words[i]);
    assert!(guard.difference(&with(20), &with(30)).is_none(), "function words");
    let and = |i: usize| format!("{} {}", with(20), words[i]);
    assert!(guard.difference(&with(20), &and(25_000)).is_some(), "a rare word");
    assert!(guard.difference(&with(20), &and(2_000)).is_none(), "a word that is not rare");
    let none: [(&str, u64); 0] = [];
    let empty = Vocabulary::from_counts(none, 0).unwrap();
    let mut texts = vec!["the train is late again today".to_owned(); 2_000];
    texts.extend(["the train of zunwald is late".to_owned(), "the train of brexel is late".to_owned()]);
    let guard = Guard::new(&Directions, &empty, &texts);
    assert!(guard.difference(&texts[2_000], &texts[2_001]).is_some());
    assert!(guard.difference("the train is late", "the train is late today").is_none());
    let few = Guard::new(&Directions, &empty, &texts[2_000..]);
    assert!(few.difference(&texts[2_000], &texts[2_001]).is_none(), "two texts do not tell what is rare");
}

/// A word for each number.
fn letters(mut i: usize) -> String {
    let mut text = String::new();
    for _ in 0..5 {
        text.push(char::from(b'a' + (i % 10) as u8));
        text.push('k');
        i /= 10;
    }
    text
}
