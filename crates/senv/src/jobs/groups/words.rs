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
//! least 1.5 times as often as elsewhere are selected. The class TF-IDF of Grootendorst 2022 is tf(w, g) ln(1 + A /
//! f(w)), with A the mean number of words of a group. It selects "the", "to" and "of" if groups are few and large.

use std::collections::HashMap;

use senv_core::Tokenizer;

/// The minimum ratio of a word's frequency to that elsewhere.
const LIFT: f64 = 1.5;

/// The `n` words with the highest weight of each group, highest first, then alphabetically. Words are lowercase and
/// have a letter, or two if the first is ASCII. In a group of more than three distinct sentences, they occur in at
/// least two.
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
    let of_group = |group: usize| {
        let (counts, n_texts, n_words) = (&counts[group], n_texts[group], of_groups[group]);
        let least = if n_texts > 3 { 2 } else { 1 };
        let stands_out = |number: u32, count: u32| {
            let elsewhere = totals[number as usize] as f64 - f64::from(count);
            f64::from(count) * (all - n_words as f64) >= LIFT * elsewhere * n_words as f64
        };
        let kept = counts.iter().filter(|&(&number, &(count, n_texts))| n_texts >= least && stands_out(number, count));
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
        assert_eq!(words, [vec!["cat", "ran", "sat"], vec!["rain", "fell", "on"]]);
        let share = |count: f64, n: f64, all: f64| count / n * (count / n / (all / 13.0)).ln();
        assert!(share(2.0, 6.0, 2.0) > share(1.0, 6.0, 1.0) && share(1.0, 6.0, 1.0) > share(2.0, 6.0, 4.0));
        // With one group, no word is more frequent than elsewhere.
        assert_eq!(telling_words(&texts, &[Some(0); 4], 1, 3), [[""; 0]]);
        assert_eq!(telling_words(&texts, &[None; 4], 1, 3), [[""; 0]]);
    }
}
