//! What word order is judged on.

use senv_data::{NliSet, ParaphraseSet};

use super::templates::OrderTemplates;

/// What word order is judged on; any part may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderData {
    /// Pairs of sentences with nearly the same words that mean the same or do not, as those of PAWS.
    pub pairs: Vec<ParaphraseSet>,
    /// Premises and hypotheses: entailment should have the higher cosine, contradiction the lower.
    pub nli: Vec<NliSet>,
    /// Sentences by phenomenon.
    pub templates: Vec<OrderTemplates>,
}

impl OrderData {
    /// All sentences, some of them more than once.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        let pairs = self.pairs.iter().flat_map(|set| &set.pairs);
        let pairs = pairs.flat_map(|pair| [&pair.first[..], &pair.second]);
        let nli = self.nli.iter().flat_map(|set| &set.pairs);
        let nli = nli.flat_map(|pair| [&pair.premise[..], &pair.hypothesis]);
        pairs.chain(nli).chain(self.templates.iter().flat_map(OrderTemplates::sentences))
    }
}
