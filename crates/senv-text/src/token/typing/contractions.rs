//! English contractions that were typed without their apostrophe.

use std::cell::OnceCell;

use super::with_plain;
use crate::token::{
    classes::{CLASS, PUNCT},
    words,
};

/// The second parts of contractions, in lower and upper case, with a space on both sides. Tokens are ranges of one
/// text, so these precede the text in its buffer.
pub(in crate::token) const CLITICS: &str = " n't 's 'm 'd 're 've 'll N'T 'S 'M 'D 'RE 'VE 'LL ";

/// Where the parts in lower case start in [`CLITICS`], and where those in upper case do.
const CASES: [usize; 2] = [1, 26];

/// A second part: its letters, and the position of the part with its apostrophe.
struct Clitic {
    bare: usize,
    at: usize,
    length: usize,
}

const fn clitic(at: usize, length: usize) -> Clitic {
    Clitic { bare: length - 1, at, length }
}

const NOT: Clitic = clitic(0, 3);
const IS: Clitic = clitic(4, 2);
const AM: Clitic = clitic(7, 2);
const WOULD: Clitic = clitic(10, 2);
const ARE: Clitic = clitic(13, 3);
const HAVE: Clitic = clitic(17, 3);
const WILL: Clitic = clitic(21, 3);

/// The length of the longest listed word.
const LONGEST: usize = 8;

/// The ends of listed words of three letters and more. A row has the letters third from the end, those before the last
/// one, the last one, and the lengths as one bit each.
const ENDS: [(&[u8], &[u8], u8, u16); 6] = [
    (b"adeiost", b"n", b't', 0b1_1111_0000),
    (b"ahor", b"etow", b's', 0b0_0111_1000),
    (b"eio", b"uyt", b'd', 0b0_0011_1000),
    (b"uy", b"r", b'e', 0b0_0110_0000),
    (b"deituy", b"v", b'e', 0b1_1111_1000),
    (b"tuy", b"l", b'l', 0b0_0111_0000),
];

/// For each of the last three bytes and each length, the rows of [`ENDS`] that have it, as one bit each.
struct Ends {
    third: [u8; 256],
    before: [u8; 256],
    last: [u8; 256],
    length: [u8; LONGEST + 1],
}

/// Sets a bit for these letters in both cases.
const fn mark(rows: &mut [u8; 256], letters: &[u8], row: u8) {
    let mut k = 0;
    while k < letters.len() {
        rows[letters[k] as usize] |= row;
        rows[letters[k].to_ascii_uppercase() as usize] |= row;
        k += 1;
    }
}

static ROWS: Ends = {
    let mut rows = Ends { third: [0; 256], before: [0; 256], last: [0; 256], length: [0; LONGEST + 1] };
    let mut i = 0;
    while i < ENDS.len() {
        let (third, before, last, lengths) = ENDS[i];
        let row = 1 << i;
        mark(&mut rows.third, third, row);
        mark(&mut rows.before, before, row);
        mark(&mut rows.last, &[last], row);
        let mut length = 0;
        while length <= LONGEST {
            rows.length[length] |= if lengths >> length & 1 == 1 { row } else { 0 };
            length += 1;
        }
        i += 1;
    }
    rows
};

/// Whether a word has the end and the length of a listed one. Few others have.
#[inline]
pub(in crate::token) fn may_be_listed(word: &[u8]) -> bool {
    let Some(length) = ROWS.length.get(word.len()) else { return false };
    let [.., third, before, last] = word else { return matches!(word, [b'i' | b'I', b'm' | b'M']) };
    let [third, before, last] = [third, before, last].map(|&byte| usize::from(byte));
    length & ROWS.third[third] & ROWS.before[before] & ROWS.last[last] != 0
}

/// The second part of a bare contraction, in any case. No word here is an English word of its own, except the rare
/// `cant`.
fn listed(word: &[u8]) -> Option<&'static Clitic> {
    let mut lower = [0; LONGEST];
    let lower = &mut lower[..word.len()];
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    Some(match &*lower {
        b"aint" | b"arent" | b"cant" | b"couldnt" | b"darent" | b"didnt" | b"doesnt" | b"dont" | b"hadnt"
        | b"hasnt" | b"havent" | b"isnt" | b"mightnt" | b"mustnt" | b"neednt" | b"shant" | b"shouldnt" | b"wasnt"
        | b"werent" | b"wouldnt" => &NOT,
        b"hes" | b"shes" | b"thats" | b"whats" | b"whos" | b"hows" | b"wheres" | b"heres" | b"theres" => &IS,
        b"im" => &AM,
        b"youd" | b"theyd" | b"itd" => &WOULD,
        b"youre" | b"theyre" => &ARE,
        b"ive" | b"youve" | b"weve" | b"theyve" | b"couldve" | b"mightve" | b"mustve" | b"wouldve" | b"shouldve" => {
            &HAVE
        }
        b"youll" | b"theyll" | b"itll" | b"thatll" => &WILL,
        _ => return None,
    })
}

/// Words of English that German texts do not have, not even as ends of addresses or as abbreviations. `im` counts as
/// `I'm` beside one of them.
const ENGLISH: &[&str] = &[
    "the", "you", "your", "my", "this", "that", "of", "and", "not", "have", "is", "are", "for", "with", "we", "they",
    "going", "gonna", "trying", "looking", "sorry", "sure", "glad", "happy", "just", "still", "getting", "having",
    "using", "working", "from", "here", "but", "very", "really", "about", "too",
];

/// Words of French and its neighbors. `dont` beside one of them stays.
const FRENCH: &[&str] = &[
    "la", "le", "les", "des", "du", "une", "un", "est", "et", "que", "qui", "il", "elle", "ils", "elles", "nous",
    "vous", "sont", "dans", "pour", "sur", "avec", "ce", "cette", "ces", "ont", "aux", "par", "je",
];

/// Finds bare contractions among the tokens of a text.
pub(in crate::token) struct Contractions<'t> {
    text: &'t str,
    is_english: OnceCell<bool>,
    is_french: OnceCell<bool>,
}

impl<'t> Contractions<'t> {
    pub(in crate::token) const fn of(text: &'t str) -> Self {
        Self { text, is_english: OnceCell::new(), is_french: OnceCell::new() }
    }

    /// For a token that is a bare contraction, the length of its second part, and the range of that part in
    /// [`CLITICS`].
    #[inline]
    pub(in crate::token) fn find(&self, start: usize, end: usize) -> Option<(usize, (usize, usize))> {
        let word = &self.text.as_bytes()[start..end];
        if may_be_listed(word) { self.find_listed(start, end) } else { None }
    }

    #[inline(never)]
    fn find_listed(&self, start: usize, end: usize) -> Option<(usize, (usize, usize))> {
        let (word, after) = (&self.text.as_bytes()[start..end], &self.text.as_bytes()[end..]);
        let clitic = listed(word)?;
        // With the apostrophe, `dont.a` would be one word.
        if after.first() == Some(&b'.')
            && after.get(1).is_some_and(|&byte| CLASS[usize::from(byte)] != PUNCT && byte > b' ')
        {
            return None;
        }
        if word.eq_ignore_ascii_case(b"im") && !*self.is_english.get_or_init(|| has_word(self.text, ENGLISH)) {
            return None;
        }
        if word.eq_ignore_ascii_case(b"dont") && *self.is_french.get_or_init(|| has_word(self.text, FRENCH)) {
            return None;
        }
        let at = CASES[usize::from(word[word.len() - 1].is_ascii_uppercase())] + clitic.at;
        Some((clitic.bare, (at, at + clitic.length)))
    }
}

/// Whether a text has one of these words, in any typing. A word with an apostrophe is another word.
fn has_word(text: &str, list: &[&str]) -> bool {
    with_plain(text, |text| {
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '\''));
        words.filter(|word| word.len() <= 7).any(|word| list.iter().any(|listed| listed.eq_ignore_ascii_case(word)))
    })
}

/// Appends a text with apostrophes in its bare contractions, or returns false if there are none.
pub(in crate::token) fn expand_into(text: &str, to: &mut String) -> bool {
    let contractions = Contractions::of(text);
    let mut copied = 0;
    words::for_each(text, |_, start, end| {
        if let Some((bare, (from, until))) = contractions.find(start, end) {
            to.push_str(&text[copied..end - bare]);
            to.push_str(&CLITICS[from..until]);
            copied = end;
        }
    });
    let any = copied > 0;
    if any {
        to.push_str(&text[copied..]);
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_listed_word_passes_the_test_of_its_length_and_has_its_part() {
        for (word, expected) in [
            ("aint", "ai n't"),
            ("cant", "ca n't"),
            ("dont", "do n't"),
            ("isnt", "is n't"),
            ("arent", "are n't"),
            ("darent", "dare n't"),
            ("doesnt", "does n't"),
            ("wouldnt", "would n't"),
            ("mightnt", "might n't"),
            ("shouldnt", "should n't"),
            ("hes", "he 's"),
            ("shes", "she 's"),
            ("thats", "that 's"),
            ("wheres", "where 's"),
            ("theres", "there 's"),
            ("youd", "you 'd"),
            ("itd", "it 'd"),
            ("theyd", "they 'd"),
            ("youre", "you 're"),
            ("theyre", "they 're"),
            ("ive", "i 've"),
            ("weve", "we 've"),
            ("theyve", "they 've"),
            ("shouldve", "should 've"),
            ("itll", "it 'll"),
            ("thatll", "that 'll"),
            ("DONT", "DO N'T"),
            ("Youre", "You 're"),
            ("WEVE", "WE 'VE"),
            ("THATLL", "THAT 'LL"),
            ("HES", "HE 'S"),
            ("YOUD", "YOU 'D"),
            ("YOURE", "YOU 'RE"),
        ] {
            let (bare, (from, until)) = Contractions::of(word).find(0, word.len()).unwrap();
            assert_eq!(format!("{} {}", &word[..word.len() - bare], &CLITICS[from..until]), expected);
        }
        for (text, expected) in
            [("im at the door", Some(" 'm")), ("Im sorry", Some(" 'm")), ("im IT-Haus", None), ("im", None)]
        {
            let found =
                Contractions::of(text).find(0, 2).map(|(_, (from, until))| format!(" {}", &CLITICS[from..until]));
            assert_eq!(found.as_deref(), expected, "{text}");
        }
        assert!(Contractions::of("dont la mer").find(0, 4).is_none());
        assert!(Contractions::of("dont.a").find(0, 4).is_none());
        assert!(Contractions::of("dont. a").find(0, 4).is_some());
    }

    #[test]
    fn words_of_their_own_are_no_contractions() {
        for word in [
            "wont", "its", "well", "were", "id", "ill", "lets", "shell", "hell", "wed", "shed", "want", "went", "i", "",
        ] {
            assert!(Contractions::of(word).find(0, word.len()).is_none(), "{word}");
        }
    }
}
