//! Groups of sentences that mean the same, and the pairs drawn from them.

use rand::RngExt;
use senv_core::{Error as CoreError, Sentences, TokenId, files::StoredList, rng::Stream};

use super::kind::PairKind;
use crate::{base::fingerprint::Fingerprint, error::Result};

/// A pair drawn from a group: indices of sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampledPair {
    /// The first member.
    pub first: u32,
    /// The second member, another sentence.
    pub second: u32,
    /// A sentence that contradicts the first, where the group has one.
    pub hard: Option<u32>,
}

/// One source of pairs.
#[derive(Debug, Clone)]
pub struct PairSource {
    pub(super) name: String,
    pub(super) kind: PairKind,
    pub(super) weight: Option<f64>,
    pub(super) sentences: Sentences,
    pub(super) groups: Groups,
}

/// How the sentences of a source belong together. Numbers are those of sentences; lists of all groups lie back to back.
#[derive(Debug, Clone)]
pub(super) enum Groups {
    /// Group i: the anchor, the sentences that mean the same, those that contradict it.
    Anchored { anchors: Vec<u32>, entailed: Lists, contradicted: Lists },
    /// Group i: sentences of which any two mean the same.
    Cliques(Lists),
    /// Group i: the sentence `starts[i]` and the one after it.
    Neighbours { starts: StoredList<u32> },
}

/// Lists of numbers, back to back.
#[derive(Debug, Clone)]
pub(super) struct Lists {
    values: Vec<u32>,
    ends: Vec<usize>,
}

impl Default for Lists {
    fn default() -> Self {
        Self { values: Vec::new(), ends: vec![0] }
    }
}

impl Lists {
    pub(super) fn push(&mut self, list: &[u32]) {
        self.values.extend_from_slice(list);
        self.ends.push(self.values.len());
    }

    fn get(&self, i: usize) -> &[u32] {
        &self.values[self.ends[i]..self.ends[i + 1]]
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len() - 1
    }
}

impl Groups {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Anchored { anchors, .. } => anchors.len(),
            Self::Cliques(lists) => lists.len(),
            Self::Neighbours { starts } => starts.len(),
        }
    }

    /// Drops sentences for which `keep` is false, and groups that have no pair without them.
    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let kept = |list: &[u32]| list.iter().copied().filter(|&i| keep(i)).collect::<Vec<_>>();
        match self {
            Self::Anchored { anchors, entailed, contradicted } => {
                let (mut new_anchors, mut new_entailed, mut new_contradicted) =
                    (vec![], Lists::default(), Lists::default());
                for (i, &anchor) in anchors.iter().enumerate() {
                    let agreeing = kept(entailed.get(i));
                    if keep(anchor) && !agreeing.is_empty() {
                        new_anchors.push(anchor);
                        new_entailed.push(&agreeing);
                        new_contradicted.push(&kept(contradicted.get(i)));
                    }
                }
                (*anchors, *entailed, *contradicted) = (new_anchors, new_entailed, new_contradicted);
            }
            Self::Cliques(lists) => {
                let mut new = Lists::default();
                for i in 0..lists.len() {
                    let members = kept(lists.get(i));
                    if members.len() > 1 {
                        new.push(&members);
                    }
                }
                *lists = new;
            }
            Self::Neighbours { starts } => {
                if !starts.iter().all(|&i| keep(i) && keep(i + 1)) {
                    starts.to_mut().retain(|&i| keep(i) && keep(i + 1));
                }
            }
        }
    }
}

impl PairSource {
    /// A source of pairs that a program brings itself: indices of two sentences each.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if a number is of no sentence or of one without a word, or a pair is twice
    /// the same sentence.
    pub fn from_pairs(name: impl Into<String>, sentences: Sentences, pairs: &[[u32; 2]]) -> Result<Self> {
        let (mut anchors, mut entailed, mut contradicted) = (Vec::new(), Lists::default(), Lists::default());
        for (i, &[first, second]) in pairs.iter().enumerate() {
            let fits = |n: u32| (n as usize) < sentences.len() && !sentences.get(n as usize).is_empty();
            if !fits(first) || !fits(second) || sentences.get(first as usize) == sentences.get(second as usize) {
                let got = format!("sentences {first} and {second} of {} in pair {i}", sentences.len());
                let requirement = "two different sentences with words";
                return Err(CoreError::InvalidParameter { name: "pair", requirement, got }.into());
            }
            anchors.push(first);
            entailed.push(&[second]);
            contradicted.push(&[]);
        }
        Ok(Self {
            name: name.into(),
            kind: PairKind::Pairs,
            weight: None,
            sentences,
            groups: Groups::Anchored { anchors, entailed, contradicted },
        })
    }

    pub(super) fn add_to(&self, sum: Fingerprint) -> Fingerprint {
        let sum = sum.sentences(&self.sentences).number(self.weight.unwrap_or(0.0).to_bits());
        let list = |sum: Fingerprint, list: &[u32]| {
            sum.number(list.len() as u64).numbers(list.iter().map(|&number| u64::from(number)))
        };
        let lists = |sum, lists: &Lists| (0..lists.len()).fold(sum, |sum, i| list(sum, lists.get(i)));
        match &self.groups {
            Groups::Anchored { anchors, entailed, contradicted } => {
                lists(lists(list(sum, anchors), entailed), contradicted)
            }
            Groups::Cliques(cliques) => lists(sum, cliques),
            Groups::Neighbours { starts } => list(sum, starts),
        }
    }

    /// The name of the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it was read from.
    #[must_use]
    pub fn kind(&self) -> PairKind {
        self.kind
    }

    /// Its share of the batches, as given.
    #[must_use]
    pub fn weight(&self) -> Option<f64> {
        self.weight
    }

    /// Number of groups.
    #[must_use]
    pub fn n_groups(&self) -> usize {
        self.groups.len()
    }

    /// Its sentences.
    #[must_use]
    pub fn sentences(&self) -> &Sentences {
        &self.sentences
    }

    /// Of running text the sentences whose next one is their pair, in order; `None` for pairs of any other origin.
    #[must_use]
    pub fn neighbours(&self) -> Option<&[u32]> {
        match &self.groups {
            Groups::Neighbours { starts } => Some(starts),
            Groups::Anchored { .. } | Groups::Cliques(_) => None,
        }
    }

    /// Sentence `i`.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn sentence(&self, i: u32) -> &[TokenId] {
        self.sentences.get(i as usize)
    }

    /// A pair of group `i`, each equally likely.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn draw(&self, i: u32, rng: &mut Stream) -> SampledPair {
        let i = i as usize;
        let any = |list: &[u32], rng: &mut Stream| match list {
            [] => None,
            [one] => Some(*one),
            _ => Some(list[rng.random_range(0..list.len())]),
        };
        match &self.groups {
            Groups::Anchored { anchors, entailed, contradicted } => SampledPair {
                first: anchors[i],
                second: any(entailed.get(i), rng).unwrap_or(anchors[i]),
                hard: any(contradicted.get(i), rng),
            },
            Groups::Cliques(lists) => {
                let members = lists.get(i);
                let first = rng.random_range(0..members.len());
                let other = rng.random_range(0..members.len() - 1);
                let second = if other >= first { other + 1 } else { other };
                SampledPair { first: members[first], second: members[second], hard: None }
            }
            Groups::Neighbours { starts } => SampledPair { first: starts[i], second: starts[i] + 1, hard: None },
        }
    }

    /// All pairs of different sentences that mean the same, in both orders.
    #[must_use]
    pub(crate) fn ordered_pairs(&self) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        for i in 0..self.groups.len() {
            match &self.groups {
                Groups::Anchored { anchors, entailed, .. } => {
                    pairs.extend(entailed.get(i).iter().flat_map(|&other| [[anchors[i], other], [other, anchors[i]]]));
                }
                Groups::Cliques(lists) => {
                    let members = lists.get(i);
                    let others = |&first: &u32| members.iter().map(move |&second| [first, second]);
                    pairs.extend(members.iter().flat_map(others).filter(|[first, second]| first != second));
                }
                Groups::Neighbours { starts } => pairs.extend([[starts[i], starts[i] + 1], [starts[i] + 1, starts[i]]]),
            }
        }
        pairs
    }

    /// Drops the groups that have no pair without the sentences for which `keep` is false.
    pub(crate) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        self.groups.retain(keep);
    }

    /// Whether some group has sentences that contradict its anchor.
    #[must_use]
    pub fn has_contradictions(&self) -> bool {
        matches!(&self.groups, Groups::Anchored { contradicted, .. } if !contradicted.values.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::rng::stream;

    fn source(groups: Groups) -> PairSource {
        let mut sentences = Sentences::new();
        (0..6).for_each(|i| sentences.push([TokenId(i)]));
        PairSource { name: "test".into(), kind: PairKind::Pairs, weight: None, sentences, groups }
    }

    #[test]
    fn every_ordered_pair_of_a_clique_comes_equally_often() {
        let mut lists = Lists::default();
        lists.push(&[1, 3, 5]);
        let source = source(Groups::Cliques(lists));
        let mut rng = stream(1, "cliques", &[]);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let drawn = source.draw(0, &mut rng);
            *seen.entry((drawn.first, drawn.second)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.iter().all(|((a, b), n)| a != b && (850..1150).contains(n)), "{seen:?}");
    }

    #[test]
    fn anchors_come_with_one_that_agrees_and_one_that_contradicts() {
        let (mut entailed, mut contradicted) = (Lists::default(), Lists::default());
        entailed.push(&[1, 2]);
        contradicted.push(&[]);
        entailed.push(&[4]);
        contradicted.push(&[5]);
        let source = source(Groups::Anchored { anchors: vec![0, 3], entailed, contradicted });
        assert!(source.has_contradictions() && source.n_groups() == 2);
        let mut rng = stream(1, "anchors", &[]);
        let second: std::collections::BTreeSet<u32> = (0..50).map(|_| source.draw(0, &mut rng).second).collect();
        assert_eq!(second.into_iter().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(source.draw(1, &mut rng), SampledPair { first: 3, second: 4, hard: Some(5) });
        assert_eq!(source.draw(0, &mut rng).hard, None);
    }

    #[test]
    fn pairs_of_a_program_are_checked() {
        let mut sentences = Sentences::new();
        [vec![1], vec![2, 3], vec![], vec![1]].into_iter().for_each(|ids| sentences.push(ids.into_iter().map(TokenId)));
        let source = PairSource::from_pairs("own", sentences.clone(), &[[0, 1], [1, 3]]).unwrap();
        assert_eq!(source.draw(1, &mut stream(1, "own", &[])), SampledPair { first: 1, second: 3, hard: None });
        for bad in [[0, 0], [0, 2], [0, 4], [0, 3]] {
            assert!(PairSource::from_pairs("own", sentences.clone(), &[bad]).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn neighbours_follow() {
        let source = source(Groups::Neighbours { starts: vec![0, 1, 4].into() });
        let drawn = source.draw(2, &mut stream(1, "neighbours", &[]));
        assert_eq!((drawn.first, drawn.second), (4, 5));
        assert!(!source.has_contradictions());
    }
}
