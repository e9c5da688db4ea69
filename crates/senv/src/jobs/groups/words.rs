//! The distinctive words of a group.
//!
//! Equation: `telling-word`
//!
//! ```text
//! weight(w, g) = p(w | g) ln( p(w | g) / p(w) )
//! ```
//!
//! p(w | g) is the share of w among the words of the group, p(w) its share among those of all groups. The weight is the
//! contribution of the word to the relative entropy of the group (Kullback and Leibler 1951). Only words that occur at
//! least 1.5 times as often as elsewhere are selected. Words of grammar are not: those of English in an English text,
//! and in any language the words that are in one of fifty sentences in most groups. The class TF-IDF of Grootendorst
//! 2022 is tf(w, g) ln(1 + A / f(w)), with A the mean number of words of a group. It selects "the", "to" and "of" if
//! groups are few and large.

use std::collections::HashMap;

use senv_core::{
    Tokenizer,
    text::{Normalization, TextMarks, is_english_function_word},
};

/// The minimum ratio of a word's frequency to that elsewhere.
const LIFT: f64 = 1.5;
/// A word is common in a group if it is in one of this many of its sentences, and in two sentences.
const COMMON: u32 = 50;
/// The minimum number of groups to tell that a word is common in most.
const MIN_GROUPS: usize = 6;

/// The `n` words with the highest weight of each group, highest first, then alphabetically. `lines` has the number of
/// lines of each text, which all count. In a group of more than three lines, words occur in at least two. Words have a
/// letter, or two if the first is ASCII. Words of grammar are left out.
///
/// Differences of typing and of case do not count ([`Normalization::Typing`]). A word is shown as it is written most
/// often. The first word of a text is in lower case if only its first letter is a capital.
pub(super) fn telling_words(
    texts: &[&str],
    lines: &[u32],
    group_of: &[Option<u32>],
    n_groups: usize,
    n: usize,
) -> Vec<Vec<String>> {
    let tokenizer = Tokenizer::words().normalize(Normalization::Typing);
    let (mut forms, mut scratch) = (Forms::default(), String::new());
    let mut counts: Vec<HashMap<u32, (u32, u32)>> = vec![HashMap::new(); n_groups];
    let mut n_texts = vec![0_u32; n_groups];
    let (mut of_text, mut negated) = (Vec::new(), Vec::new());
    for ((text, &n_lines), group) in texts.iter().zip(lines).zip(group_of) {
        let Some(group) = group.map(|group| group as usize) else { continue };
        of_text.clear();
        negated.clear();
        let mut last = None;
        tokenizer.for_each(text, &mut scratch, |word| {
            if is_of_contraction(word) {
                // `ca` of `can't` is no word.
                negated.extend(last.take().filter(|_| !word.starts_with(['\'', '’'])));
                return;
            }
            last = is_telling(word).then(|| forms.number(word, of_text.is_empty(), n_lines));
            of_text.extend(last);
        });
        for word in negated.drain(..) {
            if let Some(place) = of_text.iter().position(|&of| of == word) {
                of_text.remove(place);
            }
        }
        of_text.iter().for_each(|&number| add(&mut counts[group].entry(number).or_default().0, n_lines));
        add(&mut n_texts[group], n_lines);
        of_text.sort_unstable();
        of_text.dedup();
        of_text.iter().for_each(|&number| add(&mut counts[group].entry(number).or_default().1, n_lines));
    }
    let (names, shown) = (forms.names(), forms.shown());
    let mut totals = vec![0_u64; names.len()];
    counts.iter().flatten().for_each(|(&number, &(count, _))| totals[number as usize] += u64::from(count));
    let of_groups = counts.iter().map(|counts| counts.values().map(|&(count, _)| u64::from(count)).sum::<u64>());
    let of_groups: Vec<u64> = of_groups.collect();
    let all = of_groups.iter().sum::<u64>() as f64;
    let is_english = TextMarks::of(texts).is_english();
    let in_most = common_in_most(&counts, &n_texts, names.len());
    let is_grammar =
        |number: u32| in_most[number as usize] || is_english && is_english_function_word(names[number as usize]);
    let of_group = |group: usize| {
        let (counts, n_texts, n_words) = (&counts[group], n_texts[group], of_groups[group]);
        let least = if n_texts > 3 { 2 } else { 1 };
        let stands_out = |number: u32, count: u32| {
            let elsewhere = totals[number as usize] as f64 - f64::from(count);
            f64::from(count) * (all - n_words as f64) >= LIFT * elsewhere * n_words as f64
        };
        let kept = counts.iter().filter(|&(&number, &(count, n_texts))| {
            n_texts >= least && stands_out(number, count) && !is_grammar(number)
        });
        let weight = |(&number, &(count, _)): (&u32, &(u32, u32))| {
            let (share, of_all) = (f64::from(count) / n_words as f64, totals[number as usize] as f64 / all);
            (share * (share / of_all).ln(), number as usize)
        };
        let mut words: Vec<(f64, usize)> = kept.map(weight).filter(|(weight, _)| *weight > 1e-12).collect();
        words.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| names[a.1].cmp(names[b.1])));
        words.into_iter().take(n).map(|(_, number)| shown[number].to_owned()).collect()
    };
    (0..n_groups).map(of_group).collect()
}

/// Adds lines to a count, which stays at its maximum.
fn add(count: &mut u32, n_lines: u32) {
    *count = count.saturating_add(n_lines);
}

/// The words of the texts, and the forms in which they are written.
#[derive(Default)]
struct Forms {
    /// The number of each word in lower case.
    numbers: HashMap<String, u32>,
    /// The word of each form, and its lines.
    forms: HashMap<String, (u32, u32)>,
    lower: String,
}

impl Forms {
    /// The number of a word, of which a form is counted.
    fn number(&mut self, word: &str, is_first: bool, n_lines: u32) -> u32 {
        let is_capital = || word.chars().skip(1).all(|c| !c.is_uppercase()) && word.starts_with(char::is_uppercase);
        let is_lower = is_first && is_capital();
        if let Some((number, count)) = self.forms.get_mut(word).filter(|_| !is_lower) {
            add(count, n_lines);
            return *number;
        }
        self.lower.clear();
        self.lower.extend(word.chars().flat_map(char::to_lowercase));
        let next = self.numbers.len() as u32;
        let number = match self.numbers.get(&self.lower) {
            Some(&number) => number,
            None => *self.numbers.entry(self.lower.clone()).or_insert(next),
        };
        let form = if is_lower { &self.lower } else { word };
        let count = match self.forms.get_mut(form) {
            Some((_, count)) => count,
            None => &mut self.forms.entry(form.to_owned()).or_insert((number, 0)).1,
        };
        add(count, n_lines);
        number
    }

    /// The words in lower case, by number.
    fn names(&self) -> Vec<&str> {
        let mut names = vec![""; self.numbers.len()];
        self.numbers.iter().for_each(|(word, &number)| names[number as usize] = word);
        names
    }

    /// The commonest form of each word by lines, and the one in lower case of equally common ones.
    fn shown(&self) -> Vec<&str> {
        let mut best = vec![(0, ""); self.numbers.len()];
        for (form, &(number, count)) in &self.forms {
            let best = &mut best[number as usize];
            *best = (*best).max((count, &form[..]));
        }
        best.into_iter().map(|(_, form)| form).collect()
    }
}

/// Whether a token is a part of a contraction after its word: `n't`, `'s`.
fn is_of_contraction(word: &str) -> bool {
    word.starts_with(['\'', '’']) || word.eq_ignore_ascii_case("n't")
}

/// Which words are common in more than half of the groups. The counts of a group are those of a word and of the
/// sentences with it.
fn common_in_most(counts: &[HashMap<u32, (u32, u32)>], n_texts: &[u32], n_words: usize) -> Vec<bool> {
    let n_groups = n_texts.iter().filter(|&&n| n > 0).count();
    let mut n_common = vec![0_usize; n_words];
    for (counts, &n) in counts.iter().zip(n_texts) {
        let common = counts.iter().filter(|(_, (_, with))| *with >= 2 && with.saturating_mul(COMMON) >= n);
        common.for_each(|(&number, _)| n_common[number as usize] += 1);
    }
    n_common.iter().map(|&n| n_groups >= MIN_GROUPS && 2 * n > n_groups).collect()
}

/// Whether a word can be distinctive.
fn is_telling(word: &str) -> bool {
    let mut letters = word.chars().filter(|c| c.is_alphabetic());
    letters.next().is_some_and(|first| !first.is_ascii() || letters.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_ranked_by_the_equation() {
        let texts = ["the cat sat", "the cat ran, 12", "the rain fell", "rain on the sea a"];
        let groups = [Some(0), Some(0), Some(1), Some(1)];
        let words = telling_words(&texts, &[1; 4], &groups, 2, 3);
        // Six words of group 0, seven of group 1. cat: 2/6 ln(2/6 / (2/13)) = 0.26; ran: 1/6 ln(13/6) = 0.13; the:
        // ln(2/6 / (4/13)) / 3 = 0.03.
        assert_eq!(words, [vec!["cat", "ran", "sat"], vec!["rain", "fell", "sea"]]);
        let share = |count: f64, n: f64, all: f64| count / n * (count / n / (all / 13.0)).ln();
        assert!(share(2.0, 6.0, 2.0) > share(1.0, 6.0, 1.0) && share(1.0, 6.0, 1.0) > share(2.0, 6.0, 4.0));
        // With one group, no word is more frequent than elsewhere.
        assert_eq!(telling_words(&texts, &[1; 4], &[Some(0); 4], 1, 3), [[""; 0]]);
        assert_eq!(telling_words(&texts, &[1; 4], &[None; 4], 1, 3), [[""; 0]]);
    }

    #[test]
    fn words_of_grammar_are_no_labels_in_any_language() {
        // An invented language: every sentence has "na", most often in the first group, and "vu" is in most groups.
        let nouns = ["selmo", "kirat", "bonu", "tarli", "fesko", "dumar", "pelin", "gorth"];
        let (mut texts, mut groups) = (Vec::new(), Vec::new());
        for (group, noun) in nouns.iter().enumerate() {
            for i in 0..12 {
                let again = if group == 0 { " na na na" } else { "" };
                let vu = if i % 2 == 0 && group != 3 { " vu" } else { "" };
                texts.push(format!("na {noun}{again}{vu} lak{i}"));
                groups.push(Some(group as u32));
            }
        }
        let texts: Vec<&str> = texts.iter().map(|text| &text[..]).collect();
        let words = telling_words(&texts, &[1; 96], &groups, nouns.len(), 8);
        for (words, noun) in words.iter().zip(nouns) {
            assert_eq!(words, &[noun], "lak is in every group once, na and vu in most groups");
        }
        // With few groups the share of groups says nothing.
        let words = telling_words(&texts[..24], &[1; 24], &groups[..24], 2, 8);
        assert!(words[0].contains(&"na".to_owned()), "{words:?}");
    }

    #[test]
    fn english_function_words_are_left_out_of_english_text_only() {
        let texts =
            ["This is to be in it: cats", "This is to be in it: cats too", "A dog of the house", "A dog of a man"];
        let groups = [Some(0), Some(0), Some(1), Some(1)];
        let words = telling_words(&texts, &[1; 4], &groups, 2, 8);
        assert_eq!(words, [vec!["cats"], vec!["dog", "house", "man"]]);
        let texts = ["in den bergen", "in den tälern", "der hund und die katze", "der hund und das haus"];
        let words = telling_words(&texts, &[1; 4], &groups, 2, 8);
        assert!(words[0].contains(&"in".to_owned()), "{words:?}");
    }

    #[test]
    fn words_of_different_typing_are_one_and_shown_as_they_are_written_most_often() {
        let texts = [
            "a caf\u{e9} in M\u{fc}nchen with an iPhone",
            "the cafe\u{301} in Mu\u{308}nchen with an iPhone",
            "Caf\u{e9} and pas\u{200b}try, IPHONE",
            "pastry can\u{2019}t be warm; Can't it? It cant",
            "a dog's house won't do",
            "dogs don't bark",
        ];
        let groups = [Some(0), Some(0), Some(0), Some(0), Some(1), Some(1)];
        let words = telling_words(&texts, &[1; 6], &groups, 2, 20);
        assert_eq!(words[0][..4], ["caf\u{e9}", "iPhone", "M\u{fc}nchen", "pastry"], "{words:?}");
        let all: Vec<&String> = words.iter().flatten().collect();
        assert!(all.iter().all(|word| !["ca", "wo", "try", "pas", "n't"].contains(&&word[..])), "{words:?}");
        // A capital at the start of a text alone says nothing about a word.
        let words = telling_words(
            &["Rain fell", "Rain came", "NASA flew", "NASA rose"],
            &[1; 4],
            &[Some(0), Some(0), Some(1), Some(1)],
            2,
            1,
        );
        assert_eq!(words, [["rain"], ["NASA"]]);
    }

    #[test]
    fn all_lines_of_equal_texts_count() {
        let texts = ["red kite", "blue lamp", "green vase", "old door", "rain", "snow"];
        let groups = [Some(0), Some(0), Some(0), Some(0), Some(1), Some(1)];
        let words = |lines: [u32; 6]| telling_words(&texts, &lines, &groups, 2, 2).swap_remove(0);
        assert_eq!(words([1; 6]), Vec::<String>::new(), "each word is in one of four lines");
        assert_eq!(words([30, 1, 1, 1, 1, 1]), ["kite", "red"]);
    }
}
