use std::ptr;

use proptest::prelude::*;

use super::{super::Tokenizer, *};

fn typed() -> Tokenizer {
    Tokenizer::words().normalize(Normalization::Typing)
}

fn plain(text: &str) -> String {
    typed().normalized(text, &mut String::new()).to_owned()
}

#[test]
fn every_form_of_typing_becomes_the_plain_one() {
    for (forms, expected) in [
        (&["can’t", "can‘t", "canʼt", "can′t", "can`t", "can´t", "can＇t", "can\u{92}t", "cant", "can‛t"][..], "can't"),
        (&["DON’T", "DONT", "DON´T"], "DON'T"),
        (&["dogs’ ’tis ‘90s", "dogs´ ‘tis ’90s"], "dogs' 'tis '90s"),
        (
            &[
                "“so”",
                "„so“",
                "”so”",
                "«so»",
                "»so«",
                "``so''",
                "''so''",
                ",,so”",
                "〝so〞",
                "＂so＂",
                "\u{93}so\u{94}",
            ],
            "\"so\"",
        ),
        (&["‘so’", "‚so‘", "‹so›", "´so´"], "'so'"),
        (&["5′ 10″", "5' 10''"], "5' 10\""),
        (&["well-known", "well‐known", "well‑known", "well–known", "well−known", "well‒known"], "well-known"),
        (&["so - it is", "so – it is", "so -- it is", "so --- it is", "so −− it is"], "so - it is"),
        (&["so—it is", "so--it is", "so---it is", "so――it is", "so⸺it is"], "so - it is"),
        (&["1914-18", "1914–18", "1914—18", "1914--18", "1914‒18"], "1914-18"),
        (&["wait…", "wait...", "wait....", "wait..", "wait‥", "wait⋯", "wait．．．"], "wait."),
        (&["well…then", "well...then", "well..then"], "well. then"),
        (&["no!!!", "no!!", "no！", "no‼", "no!."], "no!"),
        (&["why???", "why?!", "why!?", "why?!?!", "why‽", "why⁉", "why？", "why...?", "why?..."], "why?"),
        (
            &[
                "scr\u{200B}een",
                "scr\u{AD}een",
                "scr\u{2060}een",
                "\u{FEFF}screen",
                "screen\u{200E}",
                "scr\u{200C}een",
                "s\u{202A}creen",
                "screen\u{FE0F}",
            ],
            "screen",
        ),
        (&["cafe\u{301}", "café", "ｃａｆé"], "café"),
        (&["ﬁne ﬂow oﬃce", "𝗳𝗶𝗻𝗲 𝑓low oﬃce"], "fine flow office"),
        (&["a\u{A0}b", "a\u{2009}b", "a\u{3000}b", "a\u{202F}b", "a\u{2028}b"], "a b"),
        (&["1½ 1⁄2 ½", "1½ 1∕2 ½"], "1 1/2 1/2 1/2"),
        (&["20º 20˚ 20°"], "20° 20° 20°"),
        (&["5 µg"], "5 μg"),
        (&["I´m sure youre late, thats all, weve won"], "I'm sure you're late, that's all, we've won"),
    ] {
        for form in forms {
            assert_eq!(plain(form), expected, "{form:?}");
        }
    }
}

#[test]
fn what_is_no_form_of_typing_stays() {
    for text in [
        "3.14 1,000 1..10 0..n ..5 .5 -5 1/2 10:30 2-3",
        "../a ./b /usr/.../lib C:\\..\\x",
        "https://a.org/b--c/..?x=1&&y#!!z www.a.org/d--e",
        "see (http://a.org/a..b), www.b.org/x--y.",
        "--help -x i--; <!-- --> (--all) `a` ```b``` a?.b",
        "C++ C# :-) ;-) :'( <3 @a #b a_b __init__ ***",
        "O'Brien rock'n'roll 'tis dogs'",
        "wont its well were id ill lets shell",
        "Le livre dont je parle est ici",
        "Hotel im Zentrum",
        "「はい」と言った、東京・大阪",
        "می\u{200C}خواهم क्\u{200D}ष 👩\u{200D}🚀 🇩🇪 👍🏽",
        "x² ½x",
        "naïve Ærø Straße",
        "tab\there  two",
        "",
    ] {
        let expected = text.replace('½', "1/2");
        assert_eq!(plain(text), expected);
        if text == expected {
            assert!(ptr::eq(typed().normalized(text, &mut String::new()), text), "{text}: not copied");
        }
    }
}

#[test]
fn contractions_are_those_of_english_words_and_of_one_rule() {
    let of = |tokenizer: Tokenizer| tokenizer.normalize(Normalization::Typing).tokens("It isnt DONT").join(" ");
    assert_eq!(of(Tokenizer::words()), "It is n't DO N'T");
    assert_eq!(of(Tokenizer::words().lowercase(true)), "it is n't do n't");
    assert_eq!(of(Tokenizer::whitespace()), "It isnt DONT");
    assert_eq!(of(Tokenizer::unicode()), "It isnt DONT");
}

#[test]
fn characters_that_are_called_plain_stay_wherever_they_stand() {
    for c in (0..=0x0010_FFFF).filter_map(char::from_u32).filter(|&c| !c.is_ascii() && characters::is_plain(c)) {
        // A character that is not plain makes the text be examined.
        for text in [format!("{c}\u{AD}"), format!("a{c}\u{AD}b"), format!("1{c}{c}\u{AD}1")] {
            assert_eq!(plain(&text), text.replace('\u{AD}', ""), "{c:?}");
        }
    }
}

#[test]
fn no_character_comes_back_after_it_was_replaced() {
    for c in (0..0x2_0000).chain(0xE_0000..0xE_0200).filter_map(char::from_u32) {
        for text in [format!("a{c}b"), format!("1{c}2"), format!("{c}{c} {c}")] {
            let once = plain(&text);
            assert_eq!(plain(&once), once, "{c:?}");
        }
    }
}

#[test]
fn runs_are_found_at_every_position_of_a_block() {
    for n in 0..70 {
        let letters = "x".repeat(n);
        for (run, short) in [("..", "."), ("!?", "?"), ("’", "'"), ("``", "\""), ("''", "\"")] {
            for after in ["", " y", " yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"] {
                assert_eq!(plain(&format!("{letters} {run}{after}")), format!("{letters} {short}{after}"));
            }
        }
        assert!(is_plain(letters.as_bytes()) && is_plain(format!("{letters}.").as_bytes()));
    }
}

#[test]
fn time_is_linear() {
    for unit in
        ["a...", "--", "a--", "''a", "www.a...", "…", "—", "\u{200D}", "e\u{301}", "dont ", "`", "im ", ",,a", "a?!"]
    {
        let text = unit.repeat(400_000 / unit.len());
        let mut n = 0;
        typed().for_each(&text, &mut String::new(), |_| n += 1);
        assert!(n > 0 || unit == "\u{200D}", "{unit}");
    }
}

/// Text that combines all forms.
fn tangled() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-zA-Z]{1,4}",
        1 => "[0-9]{1,3}",
        3 => "[-'’`´.!?,/\\\\\"“”«»–—…‑ ]{1,3}",
        2 => prop::sample::select(vec![
            " ", "dont", "cant", "im", "youre", "the", "la", "n't", "'s", "http://", "www.", "--", "...", "''", ",,", "½", "º",
            "ﬁ", "Ａ", "．", "！", "\u{A0}", "\u{AD}", "\u{200B}", "\u{200D}", "\u{200C}", "\u{FE0F}", "\u{301}", "é", "e\u{301}",
            "👍", "\u{212A}", "\u{3F4}", "ی", "क", "「", "。", "か", "\u{3099}", "ｶ", "ﾞ", "İ", "\u{0}", "\t", "Σ", "한", "\u{1100}", "\u{1161}", "?.", "::",
        ])
        .prop_map(String::from),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// What `is_plain` says, by pairs of bytes.
fn is_plain_by_pairs(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte < 0x80 && byte != b'`')
        && bytes.windows(2).all(|pair| !pair.iter().all(|byte| b",-.!?'".contains(byte)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn normalizing_twice_is_normalizing_once(text in tangled()) {
        for tokenizer in [typed(), Tokenizer::unicode().normalize(Normalization::Typing)] {
            let mut buffer = String::new();
            let once = tokenizer.normalized(&text, &mut buffer).to_owned();
            prop_assert_eq!(tokenizer.normalized(&once, &mut buffer), &once);
        }
    }

    #[test]
    fn tokens_are_those_of_the_normalized_text(text in tangled(), lowercase: bool) {
        for without in [Tokenizer::words(), Tokenizer::unicode(), Tokenizer::whitespace()] {
            let without = without.lowercase(lowercase);
            let with = without.clone().normalize(Normalization::Typing);
            let mut buffer = String::new();
            let normalized = with.normalized(&text, &mut buffer).to_owned();
            prop_assert_eq!(with.tokens(&text), without.tokens(&normalized));
            prop_assert_eq!(with.tokens(&normalized), without.tokens(&normalized));
        }
    }

    #[test]
    fn the_fast_test_is_that_of_pairs_of_bytes(text in "[ a.,!?'`/é-]{0,80}|[ -~]{0,40}") {
        prop_assert_eq!(is_plain(text.as_bytes()), is_plain_by_pairs(text.as_bytes()));
    }

    #[test]
    fn text_without_runs_is_not_copied(text in "([a-z]{1,6}[ .,!?']){0,12}") {
        let contracted = ["im", "ive", "dont", "cant", "aint"];
        prop_assume!(!text.split(|c: char| !c.is_ascii_lowercase()).any(|word| {
            contracted.contains(&word) || contractions::Contractions::of(word).find(0, word.len()).is_some()
        }));
        prop_assert!(ptr::eq(typed().normalized(&text, &mut String::new()), text.as_str()));
    }
}
