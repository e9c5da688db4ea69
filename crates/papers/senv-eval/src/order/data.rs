//! Data for evaluating word order.

use senv_data::{NliSet, ParaphraseSet};

use super::templates::OrderTemplates;

/// Data for evaluating word order. Any part may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderData {
    /// Pairs of sentences with nearly the same words, such as those of PAWS, labeled as paraphrases or not.
    pub pairs: Vec<ParaphraseSet>,
    /// Premises and hypotheses: entailments should have higher cosines than contradictions.
    pub nli: Vec<NliSet>,
    /// Sentences by phenomenon.
    pub templates: Vec<OrderTemplates>,
}

impl OrderData {
    /// Iterates over all sentences, with repetitions.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        let pairs = self.pairs.iter().flat_map(|set| &set.pairs);
        let pairs = pairs.flat_map(|pair| [&pair.first[..], &pair.second]);
        let nli = self.nli.iter().flat_map(|set| &set.pairs);
        let nli = nli.flat_map(|pair| [&pair.premise[..], &pair.hypothesis]);
        pairs.chain(nli).chain(self.templates.iter().flat_map(OrderTemplates::sentences))
    }
}
