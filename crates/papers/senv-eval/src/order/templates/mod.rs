//! English sentences that differ in the order of their words, in a negation or in a number, by phenomenon.
//!
//! An item is an anchor, a sentence of the same meaning and one of a different meaning. Shared words do not tell them
//! apart: in nearly all items the two have the same words, each as often, so that every bag of words has both equally
//! near. Where they cannot (negation against an antonym, a number in digits), half of the items share more words with
//! the one and half with the other. Nor does the order of the parts: in half of the items the sentence of the same
//! meaning keeps that of the anchor, in the other half it turns it around; conjuncts exchange two words in either
//! sentence.
//!
//! The sentences are put together of the lists of this folder, always in the same way.

mod attributes;
mod comparisons;
mod conjuncts;
mod negation;
mod numbers;
mod roles;
mod times;
mod words;

use serde::Serialize;

/// What the sentences of a template differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OrderPhenomenon {
    /// Who does it to whom.
    SwappedRoles,
    /// Whether, or of whom, it is denied.
    Negation,
    /// How many there are of each.
    Numbers,
    /// Who or what has more.
    MoreAndLess,
    /// What comes first.
    BeforeAndAfter,
    /// Which adjective belongs to which noun.
    Attributes,
    /// Conjuncts that are exchanged mean the same; exchanged with a word elsewhere in the sentence they do not.
    Conjuncts,
}

impl OrderPhenomenon {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 7] = [
        Self::SwappedRoles,
        Self::Negation,
        Self::Numbers,
        Self::MoreAndLess,
        Self::BeforeAndAfter,
        Self::Attributes,
        Self::Conjuncts,
    ];

    /// Its name in tables: `swapped roles`, `negation`, `numbers`, `more and less`, `before and after`, `attributes` or
    /// `conjuncts exchanged`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SwappedRoles => "swapped roles",
            Self::Negation => "negation",
            Self::Numbers => "numbers",
            Self::MoreAndLess => "more and less",
            Self::BeforeAndAfter => "before and after",
            Self::Attributes => "attributes",
            Self::Conjuncts => "conjuncts exchanged",
        }
    }
}

/// A sentence with one of the same and one of a different meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrderItem {
    /// The sentence that the others are compared with.
    pub anchor: String,
    /// A sentence of the same meaning.
    pub same: String,
    /// A sentence of a different meaning.
    pub different: String,
}

impl OrderItem {
    fn new(anchor: String, same: String, different: String) -> Self {
        Self { anchor, same, different }
    }
}

/// The items of a phenomenon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrderTemplates {
    /// The phenomenon.
    pub phenomenon: OrderPhenomenon,
    /// Its items.
    pub items: Vec<OrderItem>,
}

impl OrderTemplates {
    /// The 120 items of a phenomenon that are built in, the same every time.
    ///
    /// ```
    /// use senv_eval::{OrderPhenomenon, OrderTemplates};
    /// let roles = OrderTemplates::built_in(OrderPhenomenon::SwappedRoles);
    /// let first = &roles.items[0];
    /// assert_eq!(first.anchor, "The teacher thanked the student.");
    /// assert_eq!(first.same, "The student was thanked by the teacher.");
    /// assert_eq!(first.different, "The teacher was thanked by the student.");
    /// ```
    #[must_use]
    pub fn built_in(phenomenon: OrderPhenomenon) -> Self {
        let items = match phenomenon {
            OrderPhenomenon::SwappedRoles => roles::items(),
            OrderPhenomenon::Negation => negation::items(),
            OrderPhenomenon::Numbers => numbers::items(),
            OrderPhenomenon::MoreAndLess => comparisons::items(),
            OrderPhenomenon::BeforeAndAfter => times::items(),
            OrderPhenomenon::Attributes => attributes::items(),
            OrderPhenomenon::Conjuncts => conjuncts::items(),
        };
        Self { phenomenon, items }
    }

    /// The built-in items of every phenomenon.
    #[must_use]
    pub fn all_built_in() -> Vec<Self> {
        OrderPhenomenon::ALL.into_iter().map(Self::built_in).collect()
    }

    /// All sentences, some of them more than once.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        self.items.iter().flat_map(|item| [&item.anchor[..], &item.same, &item.different])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    /// The words of a sentence in lower case, sorted.
    fn bag(sentence: &str) -> Vec<String> {
        let word = |word: &str| word.trim_matches(['.', ',']).to_lowercase();
        let mut words: Vec<String> = sentence.split(' ').map(word).collect();
        words.sort_unstable();
        words
    }

    fn jaccard(a: &str, b: &str) -> f64 {
        senv_metrics::WordOverlap::of(bag(a), bag(b)).jaccard()
    }

    #[test]
    fn every_phenomenon_has_120_items_that_differ_from_each_other_and_in_themselves() {
        for OrderTemplates { phenomenon, items } in OrderTemplates::all_built_in() {
            assert_eq!(items.len(), 120, "{phenomenon:?}");
            let distinct: HashSet<_> = items.iter().map(|item| (&item.anchor, &item.same, &item.different)).collect();
            assert_eq!(distinct.len(), items.len(), "{phenomenon:?}");
            for item in &items {
                let sentences = [&item.anchor, &item.same, &item.different];
                assert_eq!(sentences.iter().collect::<HashSet<_>>().len(), 3, "{item:?}");
                for sentence in sentences {
                    assert!(sentence.starts_with(char::is_uppercase) && sentence.ends_with('.'), "{sentence}");
                    assert!(!sentence.contains("  ") && sentence.split(' ').count() >= 4, "{sentence}");
                }
            }
        }
    }

    #[test]
    fn shared_words_tell_nothing() {
        for OrderTemplates { phenomenon, items } in OrderTemplates::all_built_in() {
            let equal = items.iter().filter(|item| bag(&item.same) == bag(&item.different)).count();
            let expected = match phenomenon {
                OrderPhenomenon::Negation | OrderPhenomenon::Numbers => 60,
                _ => 120,
            };
            assert_eq!(equal, expected, "{phenomenon:?}");
            let (mut same, mut different) = (0, 0);
            for item in &items {
                let [of_same, of_different] = [&item.same, &item.different].map(|other| jaccard(&item.anchor, other));
                same += usize::from(of_same > of_different);
                different += usize::from(of_different > of_same);
            }
            assert_eq!(same, different, "{phenomenon:?}");
        }
    }

    /// Whether two sentences have the words that they share in the same order.
    fn keeps_order(anchor: &str, other: &str) -> bool {
        let words = |s: &str| s.split(' ').map(|w| w.trim_matches(['.', ',']).to_lowercase()).collect::<Vec<_>>();
        let (anchor, other) = (words(anchor), words(other));
        let once = |word: &&String| [&anchor, &other].iter().all(|of| of.iter().filter(|w| w == word).count() == 1);
        let of = |list: &[String]| list.iter().filter(once).cloned().collect::<Vec<_>>();
        of(&anchor) == of(&other)
    }

    /// Otherwise the order of words as such would give the answer away.
    #[test]
    fn half_of_the_sentences_of_the_same_meaning_keep_the_order_of_the_words() {
        for phenomenon in [OrderPhenomenon::SwappedRoles, OrderPhenomenon::MoreAndLess, OrderPhenomenon::BeforeAndAfter]
        {
            let items = OrderTemplates::built_in(phenomenon).items;
            let kept = items.iter().filter(|item| keeps_order(&item.anchor, &item.same)).count();
            assert_eq!(kept, 60, "{phenomenon:?}");
        }
    }

    /// Sentences are of one meaning if an item says so, or some items in a row.
    #[test]
    fn no_item_contradicts_another() {
        let templates = OrderTemplates::all_built_in();
        let items: Vec<&OrderItem> = templates.iter().flat_map(|of| &of.items).collect();
        let mut meaning: HashMap<&str, usize> = HashMap::new();
        for (i, item) in items.iter().enumerate() {
            let [anchor, same] = [&item.anchor, &item.same].map(|s| meaning.get(&s[..]).copied());
            let kept = anchor.or(same).unwrap_or(i);
            let other = same.unwrap_or(kept);
            meaning.values_mut().filter(|of| **of == other).for_each(|of| *of = kept);
            meaning.insert(&item.anchor, kept);
            meaning.insert(&item.same, kept);
        }
        for item in items {
            assert_ne!(meaning.get(&item.anchor[..]), meaning.get(&item.different[..]), "{item:?}");
        }
    }
}
