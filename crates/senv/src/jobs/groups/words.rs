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
    text::{TextMarks, is_english_function_word},
};

/// The minimum ratio of a word's frequency to that elsewhere.
const LIFT: f64 = 1.5;
/// A word is common in a group if it is in one of this many of its sentences, and in two sentences.
const COMMON: u32 = 50;
/// The minimum number of groups to tell that a word is common in most.
const MIN_GROUPS: usize = 6;

/// The `n` words with the highest weight of each group, highest first, then alphabetically. Words are lowercase and
/// have a letter, or two if the first is ASCII. In a group of more than three distinct sentences, they occur in at
/// least two. Words of grammar are left out.
pub(super) fn telling_words(texts: &[&str], group_of: &[Option<u32>], n_groups: usize, n: usize) -> Vec<Vec<String>> {
    let tokenizer = Tokenizer::words().lowercase(true);
    let (mut numbers, mut scratch): (HashMap<String, u32>, _) = (HashMap::new(), String::new());
    let mut counts: Vec<HashMap<u32, (u32, u32)>> = vec![HashMap::new(); n_groups];
    let mut n_texts = vec![0_u32; n_groups];
    let mut of_text = Vec::new();
    for (text, group) in texts.iter().zip(group_of) {
        let Some(group) = group.map(|group| group as usize) else { continue };
        of_text.clear();
        tokenizer.for_each(text, &mut scratch, |word| {
            if !is_telling(word) {
                return;
            }
            let next = numbers.len() as u32;
            let number = match numbers.get(word) {
                Some(&number) => number,
                None => *numbers.entry(word.to_owned()).or_insert(next),
            };
            of_text.push(number);
            counts[group].entry(number).or_default().0 += 1;
        });
        n_texts[group] += 1;
        of_text.sort_unstable();
        of_text.dedup();
        of_text.iter().for_each(|number| counts[group].entry(*number).or_default().1 += 1);
    }
    let mut totals = vec![0_u64; numbers.len()];
    counts.iter().flatten().for_each(|(&number, &(count, _))| totals[number as usize] += u64::from(count));
    let of_groups = counts.iter().map(|counts| counts.values().map(|&(count, _)| u64::from(count)).sum::<u64>());
    let of_groups: Vec<u64> = of_groups.collect();
    let all = of_groups.iter().sum::<u64>() as f64;
    let mut names = vec![""; numbers.len()];
    numbers.iter().for_each(|(word, &number)| names[number as usize] = word);
    let is_english = TextMarks::of(texts).is_english();
    let in_most = common_in_most(&counts, &n_texts, numbers.len());
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
            (share * (share / of_all).ln(), names[number as usize])
        };
        let mut words: Vec<(f64, &str)> = kept.map(weight).filter(|(weight, _)| *weight > 1e-12).collect();
        words.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        words.into_iter().take(n).map(|(_, word)| word.to_owned()).collect()
    };
    (0..n_groups).map(of_group).collect()
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
        let words = telling_words(&texts, &groups, 2, 3);
        // Six words of group 0, seven of group 1. cat: 2/6 ln(2/6 / (2/13)) = 0.26; ran: 1/6 ln(13/6) = 0.13; the:
        // ln(2/6 / (4/13)) / 3 = 0.03.
        assert_eq!(words, [vec!["cat", "ran", "sat"], vec!["rain", "fell", "sea"]]);
        let share = |count: f64, n: f64, all: f64| count / n * (count / n / (all / 13.0)).ln();
        assert!(share(2.0, 6.0, 2.0) > share(1.0, 6.0, 1.0) && share(1.0, 6.0, 1.0) > share(2.0, 6.0, 4.0));
        // With one group, no word is more frequent than elsewhere.
        assert_eq!(telling_words(&texts, &[Some(0); 4], 1, 3), [[""; 0]]);
        assert_eq!(telling_words(&texts, &[None; 4], 1, 3), [[""; 0]]);
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
        let words = telling_words(&texts, &groups, nouns.len(), 8);
        for (words, noun) in words.iter().zip(nouns) {
            assert_eq!(words, &[noun], "lak is in every group once, na and vu in most groups");
        }
        // With few groups the share of groups says nothing.
        let words = telling_words(&texts[..24], &groups[..24], 2, 8);
        assert!(words[0].contains(&"na".to_owned()), "{words:?}");
    }

    #[test]
    fn english_function_words_are_left_out_of_english_text_only() {
        let texts =
            ["This is to be in it: cats", "This is to be in it: cats too", "A dog of the house", "A dog of a man"];
        let groups = [Some(0), Some(0), Some(1), Some(1)];
        let words = telling_words(&texts, &groups, 2, 8);
        assert_eq!(words, [vec!["cats"], vec!["dog", "house", "man"]]);
        let texts = ["in den bergen", "in den tälern", "der hund und die katze", "der hund und das haus"];
        let words = telling_words(&texts, &groups, 2, 8);
        assert!(words[0].contains(&"in".to_owned()), "{words:?}");
    }
}
