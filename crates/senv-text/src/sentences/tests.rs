use proptest::prelude::*;

use super::*;

#[test]
fn sentences_end_where_readers_end_them() {
    for (text, expected) in [
        ("", &[][..]),
        (" \n \n", &[]),
        ("One.  Two! Three?", &["One.", "Two!", "Three?"]),
        (
            "Dr. Smith and Prof. Jones met (see Fig. 3). They left.",
            &["Dr. Smith and Prof. Jones met (see Fig. 3).", "They left."],
        ),
        ("So did I. Then we left.", &["So did I.", "Then we left."]),
        ("Version 2.0 is out, e.g. on the site.", &["Version 2.0 is out, e.g. on the site."]),
        ("A line\nthat goes on. Another\r\none.\n\nNext", &["A line\nthat goes on.", "Another\r\none.", "Next"]),
        ("\"Stop!\" he said. \"Why?\"", &["\"Stop!\" he said.", "\"Why?\""]),
        ("Ends with Mr.", &["Ends with Mr."]),
        ("it works . so does this ! or 3 .5 . end", &["it works .", "so does this !", "or 3 .5 .", "end"]),
        ("well . . . he said . so", &["well . . . he said .", "so"]),
        ("He said no. Fig. 3 and No. 7 show it.", &["He said no.", "Fig. 3 and No. 7 show it."]),
        ("Sold by Acme Inc. The price fell.", &["Sold by Acme Inc.", "The price fell."]),
        (
            "The U.S. Senate met at 9 a.m. Sunday. It is in the U.S. He left Sept. 29-Oct. 8.",
            &["The U.S. Senate met at 9 a.m. Sunday.", "It is in the U.S.", "He left Sept. 29-Oct. 8."],
        ),
        ("By D.W. Griffith and the ex-Mrs. Manville.", &["By D.W. Griffith and the ex-Mrs. Manville."]),
        ("यह एक है। यह दो है।", &["यह एक है।", "यह दो है।"]),
    ] {
        assert_eq!(sentences(text), expected, "{text:?}");
    }
}

#[test]
fn quoted_lines_without_text_are_in_no_sentence() {
    for (text, expected) in [
        ("> The mill is old\n>\n> The barn is new", &["> The mill is old", "> The barn is new"][..]),
        ("> The mill is old\n> \n>\t\r\n> The barn", &["> The mill is old", "> The barn"]),
        ("> The mill is old\n>\n\nI know", &["> The mill is old", "I know"]),
        ("> - a rope\n> - a lamp\n>\n> That is all.", &["> - a rope", "> - a lamp", "> That is all."]),
        (">\n> > The mill\n> >\n>", &["> > The mill"]),
        (">", &[]),
        ("The mill\n>\nThe barn", &["The mill", "The barn"]),
    ] {
        assert_eq!(sentences(text), expected, "{text:?}");
    }
}

/// Uses no clock: if one of these took quadratic time, the test would not finish in reasonable time.
#[test]
fn a_line_of_any_run_is_cut_in_steps_that_grow_with_its_length() {
    let n = 900_000;
    let run = |unit: &str| unit.repeat(n / unit.len());
    for (text, expected) in [
        (format!("a{}b", run(" ")), Some(1)),
        (format!("a{}b", run("\t")), Some(1)),
        (format!("ab .{}b", run(" ")), Some(2)),
        (format!("ab.{}B", run(" ")), Some(2)),
        (format!("Ab.{}b", run(" \u{200b}")), Some(1)),
        (format!("ab.{} B", run(")")), Some(2)),
        (format!("ab.{} B", run("\u{201d}")), Some(2)),
        (format!("ab.{} B", run("\u{201d}\u{301}")), None),
        (format!("ab.{}B", run("\u{2028}")), Some(2)),
        (format!("a{}b", run("\u{2028}")), Some(1)),
        (format!("a{}.{}b", run(" "), run("\u{2028}")), None),
        (format!("{}{}", run("("), run("A. ")), None),
        (format!("{}{}", run("\""), run("A. ")), None),
        (format!("~~~\n{}", run("```\na\n")), None),
        (run(")\n"), Some(1)),
        (run("\u{1c90}."), None),
        (run("a!"), None),
        (run("a!Aa"), None),
        (run("1!Aa"), None),
        (run("a…A…"), None),
        (run("a。"), None),
        (run(" . "), None),
        (run("A. "), None),
        (run("A. \""), None),
        (run(" \" "), None),
        (run(". \" "), None),
        (run(".\" Aa\n"), None),
        (run("a. 😀"), None),
        (run("a. [4]"), None),
        (run("`a. B"), None),
        (run("###"), None),
        (run("#\n"), None),
        (run("=\n"), None),
        (run("1.\n"), None),
        (run("```\n"), None),
        (run("| "), None),
        (run(">\n"), Some(0)),
        (run("> "), Some(0)),
        (run("> a\n"), Some(1)),
        (run("> a\n>> b\n"), None),
        (run("    a\n"), None),
        (run("a\n\n    b\n"), None),
        (run("a\n\n").replace('a', "\tb"), None),
        (format!("```a{}", run("\n```a")), None),
        (format!("```{}", run("a`")), None),
        (run("1. "), None),
        (run("1. A 2. "), None),
        (run("1) A 2) "), None),
        (format!("1) A{}", run(" 2)")), Some(1)),
        (run("At 8 a.m. "), None),
        (run("Title\n-----\n"), None),
        (run("A\n~~~~\n"), None),
        (run("5 ft. 5 "), None),
        (run("etc. ("), None),
    ] {
        let found = sentences(&text);
        let head: String = text.chars().take(8).collect();
        assert!(expected.is_none_or(|n| found.len() == n), "{head:?}: {}", found.len());
        assert!(found.iter().map(|sentence| sentence.len()).sum::<usize>() <= text.len(), "{head:?}");
    }
}

/// Pieces of text that rules react to.
const PIECES: &[&str] = &[
    " ",
    " ",
    " ",
    "\n",
    "\n\n",
    "\t",
    "a",
    "The",
    "it",
    "Ann",
    "said",
    "I",
    "A",
    "S",
    "Mr",
    "No",
    "no",
    "U.S",
    "p.m",
    "etc",
    "Inc",
    "Fig",
    "5",
    "20",
    "ft",
    "in",
    ".",
    ".",
    ".",
    "!",
    "?",
    "…",
    "...",
    ",",
    ":",
    ";",
    "\"",
    "'",
    "“",
    "”",
    "(",
    ")",
    "[4]",
    "[",
    "]",
    "`",
    "```",
    "# ",
    "- ",
    "1. ",
    "2.",
    "| ",
    "~~~",
    "---",
    "*",
    "😀",
    ":)",
    "。",
    "と",
    "я",
    "Я",
    "é",
    "\u{301}",
    "\u{200b}",
    "\u{2028}",
    "\u{ad}",
    "·",
    "&",
    "\r",
    "www.a.b",
    "4 It",
    ">",
    "\n> ",
    "\n> > ",
    "\n>\n",
    "\n    ",
    "\n\n    ",
    "\n\n\t",
    "````",
    "x = 1;",
    "~~~~~",
    "Title",
    "-----",
    "1) A",
    "2) B",
    "2. ",
    "3. ",
    "At",
    "8",
    "a.m",
    "In",
    "Dec",
    "[^2]",
    "(4)",
    "<sup>",
    "＂",
    "Subject: ",
];

/// Text of these pieces.
fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(PIECES), 0..1200).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn sentences_have_all_that_is_not_white_space(text in text()) {
        // Quoted lines of mail without text have marks that are in no sentence.
        let without_blanks = |text: &str| text.chars().filter(|&c| !is_blank(c) && c != '>').collect::<String>();
        prop_assert_eq!(without_blanks(&sentences(&text).concat()), without_blanks(&text));
    }

    #[test]
    fn a_text_in_two_parts_has_the_sentences_of_the_whole(text in text()) {
        let (mut parts, from, state) = first_sentences(&text, State::default());
        parts.extend(last_sentences(&text[from..], state).0);
        prop_assert_eq!(parts, sentences(&text));
    }
}
