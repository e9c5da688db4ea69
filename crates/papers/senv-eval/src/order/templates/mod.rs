//! English sentences that differ in word order, in a negation or in a number, by phenomenon.
//!
//! An item is an anchor, a sentence with the same meaning and one with a different meaning. Shared words do not
//! distinguish them: in nearly all items the two have the same words, each equally often, so every bag of words scores
//! both the same. Where that is impossible (negation against an antonym, a number in digits), half of the items share
//! more words with one and half with the other. The order of the parts does not distinguish them either. In half of the
//! items the sentence with the same meaning keeps the order of the anchor, and in the other half it reverses it.
//! Conjunct items swap two words in both sentences.
//!
//! The sentences are built from the lists in this folder and are always the same.

mod attributes;
mod comparisons;
mod conjuncts;
mod contractions;
mod negation;
mod numbers;
mod roles;
mod times;
mod words;

use serde::Serialize;

/// The difference between the sentences of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OrderPhenomenon {
    /// Who does something to whom.
    SwappedRoles,
    /// Whether something is denied, or about whom.
    Negation,
    /// How many there are of each of two things.
    Numbers,
    /// Who or what has more.
    MoreAndLess,
    /// Which event comes first.
    BeforeAndAfter,
    /// Which adjective belongs to which noun.
    Attributes,
    /// Swapped conjuncts keep the meaning; swapping one with a word elsewhere in the sentence does not.
    Conjuncts,
    /// Whether `n't` is read as `not` in each way to type it. Not about order, so it is not in
    /// [`OrderPhenomenon::ALL`] and in no mean.
    Contractions,
}

impl OrderPhenomenon {
    /// All phenomena of order and meaning, in the order of tables.
    pub const ALL: [Self; 7] = [
        Self::SwappedRoles,
        Self::Negation,
        Self::Numbers,
        Self::MoreAndLess,
        Self::BeforeAndAfter,
        Self::Attributes,
        Self::Conjuncts,
    ];

    /// Returns its name in tables: `swapped roles`, `negation`, `numbers`, `more and less`, `before and after`,
    /// `attributes`, `conjuncts exchanged` or `contractions`.
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
            Self::Contractions => "contractions",
        }
    }
}

/// A sentence, one with the same meaning, and one with a different meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrderItem {
    /// The sentence that the others are compared with.
    pub anchor: String,
    /// A sentence with the same meaning.
    pub same: String,
    /// A sentence with a different meaning.
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
    /// Returns the 120 built-in items of a phenomenon, always the same.
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
            OrderPhenomenon::Contractions => contractions::items(),
        };
        Self { phenomenon, items }
    }

    /// Returns the built-in items of every phenomenon in [`OrderPhenomenon::ALL`].
    #[must_use]
    pub fn all_built_in() -> Vec<Self> {
        OrderPhenomenon::ALL.into_iter().map(Self::built_in).collect()
    }

    /// Iterates over all sentences, with repetitions.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        self.items.iter().flat_map(|item| [&item.anchor[..], &item.same, &item.different])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    /// The items of every phenomenon.
    fn all() -> Vec<OrderTemplates> {
        let contractions = OrderTemplates::built_in(OrderPhenomenon::Contractions);
        OrderTemplates::all_built_in().into_iter().chain([contractions]).collect()
    }

    /// Returns the words of a sentence in lower case, sorted.
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
        for OrderTemplates { phenomenon, items } in all() {
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
        for OrderTemplates { phenomenon, items } in all() {
            let equal = items.iter().filter(|item| bag(&item.same) == bag(&item.different)).count();
            let expected = match phenomenon {
                OrderPhenomenon::Negation | OrderPhenomenon::Numbers => 60,
                OrderPhenomenon::Contractions => 0,
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

    /// Returns whether the words that two sentences share have the same order in both.
    fn keeps_order(anchor: &str, other: &str) -> bool {
        let words = |s: &str| s.split(' ').map(|w| w.trim_matches(['.', ',']).to_lowercase()).collect::<Vec<_>>();
        let (anchor, other) = (words(anchor), words(other));
        let once = |word: &&String| [&anchor, &other].iter().all(|of| of.iter().filter(|w| w == word).count() == 1);
        let of = |list: &[String]| list.iter().filter(once).cloned().collect::<Vec<_>>();
        of(&anchor) == of(&other)
    }

    /// Otherwise word order alone would reveal the answer.
    #[test]
    fn half_of_the_sentences_of_the_same_meaning_keep_the_order_of_the_words() {
        for phenomenon in [OrderPhenomenon::SwappedRoles, OrderPhenomenon::MoreAndLess, OrderPhenomenon::BeforeAndAfter]
        {
            let items = OrderTemplates::built_in(phenomenon).items;
            let kept = items.iter().filter(|item| keeps_order(&item.anchor, &item.same)).count();
            assert_eq!(kept, 60, "{phenomenon:?}");
        }
    }

    /// Sentences have the same meaning if one item, or a chain of items, says so.
    #[test]
    fn no_item_contradicts_another() {
        let templates = all();
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
