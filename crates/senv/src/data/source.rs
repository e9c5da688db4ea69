//! Groups of sentences that mean the same thing, and the pairs drawn from them.

use std::path::{Path, PathBuf};

use rand::RngExt;
use senv_core::{
    Error as CoreError, Result as CoreResult, Sentences, TokenId,
    corpus::{StoredList, StoredListWriter},
    rng::Stream,
};

use super::kind::PairKind;
use crate::{base::fingerprint::Fingerprint, error::Result};

/// A pair drawn from a group, as sentence numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampledPair {
    /// The first member.
    pub first: u32,
    /// The second member, another sentence.
    pub second: u32,
    /// A sentence that contradicts the first, if the group has one.
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
    /// The folder of the temporary files for large numbers of groups; `None` for the system's.
    pub(super) scratch_dir: Option<PathBuf>,
}

/// How the sentences of a source are grouped, by their numbers. Long lists are stored in temporary files.
#[derive(Debug, Clone)]
pub(super) enum Groups {
    /// Group i: the anchor, the sentences that mean the same thing, and those that contradict it.
    Anchored { anchors: StoredList<u32>, entailed: Lists, contradicted: Lists },
    /// Group i: sentences of which any two mean the same thing.
    Cliques(Lists),
    /// Group i: the sentence `starts[i]` and the one after it.
    Neighbours { starts: StoredList<u32> },
}

/// Lists of numbers, stored consecutively.
#[derive(Debug, Clone)]
pub(super) struct Lists {
    values: StoredList<u32>,
    /// Where each list ends.
    ends: StoredList<u64>,
}

impl Lists {
    pub(super) fn get(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.values[start as usize..self.ends[i] as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }
}

/// Writes [`Lists`].
pub(super) struct ListsWriter {
    values: StoredListWriter<u32>,
    ends: StoredListWriter<u64>,
}

impl ListsWriter {
    pub(super) fn new(folder: Option<&Path>) -> Self {
        Self { values: StoredListWriter::new(folder), ends: StoredListWriter::new(folder) }
    }

    pub(super) fn push(&mut self, list: impl IntoIterator<Item = u32>) -> CoreResult<()> {
        self.values.extend(list)?;
        self.ends.push(self.values.len() as u64)
    }

    pub(super) fn finish(self) -> CoreResult<Lists> {
        Ok(Lists { values: self.values.finish()?, ends: self.ends.finish()? })
    }
}

/// Writes [`Groups::Anchored`].
pub(super) struct AnchoredWriter {
    pub(super) anchors: StoredListWriter<u32>,
    pub(super) entailed: ListsWriter,
    pub(super) contradicted: ListsWriter,
}

impl AnchoredWriter {
    pub(super) fn new(folder: Option<&Path>) -> Self {
        Self {
            anchors: StoredListWriter::new(folder),
            entailed: ListsWriter::new(folder),
            contradicted: ListsWriter::new(folder),
        }
    }

    /// Adds a group.
    pub(super) fn push(
        &mut self,
        anchor: u32,
        entailed: impl IntoIterator<Item = u32>,
        contradicted: impl IntoIterator<Item = u32>,
    ) -> CoreResult<()> {
        self.anchors.push(anchor)?;
        self.entailed.push(entailed)?;
        self.contradicted.push(contradicted)
    }

    pub(super) fn finish(self) -> CoreResult<Groups> {
        Ok(Groups::Anchored {
            anchors: self.anchors.finish()?,
            entailed: self.entailed.finish()?,
            contradicted: self.contradicted.finish()?,
        })
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

    /// Drops sentences for which `keep` is false, and groups that then have no pair.
    pub(super) fn retain(&mut self, folder: Option<&Path>, keep: impl Fn(u32) -> bool) -> CoreResult<()> {
        match self {
            Self::Anchored { anchors, entailed, contradicted } => {
                let lists = [&entailed.values, &contradicted.values];
                if anchors.iter().chain(lists.iter().flat_map(|list| list.iter())).all(|&i| keep(i)) {
                    return Ok(());
                }
                let mut new = AnchoredWriter::new(folder);
                for (i, &anchor) in anchors.iter().enumerate() {
                    let kept = |lists: &Lists| lists.get(i).iter().copied().filter(|&i| keep(i)).collect::<Vec<_>>();
                    let agreeing = kept(entailed);
                    if keep(anchor) && !agreeing.is_empty() {
                        new.push(anchor, agreeing, kept(contradicted))?;
                    }
                }
                *self = new.finish()?;
            }
            Self::Cliques(lists) => {
                let mut new = ListsWriter::new(folder);
                for i in 0..lists.len() {
                    let members: Vec<u32> = lists.get(i).iter().copied().filter(|&i| keep(i)).collect();
                    if members.len() > 1 {
                        new.push(members)?;
                    }
                }
                *lists = new.finish()?;
            }
            Self::Neighbours { starts } => {
                let mut new = StoredListWriter::new(folder);
                new.extend(starts.iter().copied().filter(|&i| keep(i) && keep(i + 1)))?;
                *starts = new.finish()?;
            }
        }
        Ok(())
    }
}

impl PairSource {
    /// Creates a source from a program's own pairs of sentence indices.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if an index is out of range, its sentence has no words, or a pair
    /// repeats one sentence.
    pub fn from_pairs(name: impl Into<String>, sentences: Sentences, pairs: &[[u32; 2]]) -> Result<Self> {
        let mut groups = AnchoredWriter::new(None);
        for (i, &[first, second]) in pairs.iter().enumerate() {
            let fits = |n: u32| (n as usize) < sentences.len() && !sentences.get(n as usize).is_empty();
            if !fits(first) || !fits(second) || sentences.get(first as usize) == sentences.get(second as usize) {
                let got = format!("sentences {first} and {second} of {} in pair {i}", sentences.len());
                let requirement = "two different sentences with words";
                return Err(CoreError::InvalidParameter { name: "pair", requirement, got }.into());
            }
            groups.push(first, [second], [])?;
        }
        let (kind, groups) = (PairKind::Pairs, groups.finish()?);
        Ok(Self { name: name.into(), kind, weight: None, sentences, groups, scratch_dir: None })
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

    /// Returns the name of the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the kind of the file.
    #[must_use]
    pub fn kind(&self) -> PairKind {
        self.kind
    }

    /// Returns its share of the batches, as given.
    #[must_use]
    pub fn weight(&self) -> Option<f64> {
        self.weight
    }

    /// Returns the number of groups.
    #[must_use]
    pub fn n_groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns its sentences.
    #[must_use]
    pub fn sentences(&self) -> &Sentences {
        &self.sentences
    }

    /// Returns the sentences of running text that form a pair with the next one, in order; `None` for other kinds.
    #[must_use]
    pub fn neighbours(&self) -> Option<&[u32]> {
        match &self.groups {
            Groups::Neighbours { starts } => Some(starts),
            Groups::Anchored { .. } | Groups::Cliques(_) => None,
        }
    }

    /// Returns sentence `i`.
    ///
    /// # Panics
    /// If there is no such sentence.
    #[must_use]
    pub fn sentence(&self, i: u32) -> &[TokenId] {
        self.sentences.get(i as usize)
    }

    /// Draws a pair of group `i`, all with equal probability.
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

    /// Returns all pairs of different sentences that mean the same thing, in both orders.
    pub(crate) fn ordered_pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        (0..self.groups.len()).flat_map(|i| {
            let mut pairs = Vec::new();
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
            pairs
        })
    }

    /// Drops the groups that have no pair without the sentences for which `keep` is false.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if a temporary file cannot be written.
    pub(crate) fn retain(&mut self, keep: impl Fn(u32) -> bool) -> CoreResult<()> {
        self.groups.retain(self.scratch_dir.as_deref(), keep)
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
        PairSource { name: "test".into(), kind: PairKind::Pairs, weight: None, sentences, groups, scratch_dir: None }
    }

    #[test]
    fn every_ordered_pair_of_a_clique_comes_equally_often() {
        let mut lists = ListsWriter::new(None);
        lists.push([1, 3, 5]).unwrap();
        let source = source(Groups::Cliques(lists.finish().unwrap()));
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
        let mut groups = AnchoredWriter::new(None);
        groups.push(0, [1, 2], []).unwrap();
        groups.push(3, [4], [5]).unwrap();
        let source = source(groups.finish().unwrap());
        assert!(source.has_contradictions() && source.n_groups() == 2);
        let mut rng = stream(1, "anchors", &[]);
        let second: std::collections::BTreeSet<u32> = (0..50).map(|_| source.draw(0, &mut rng).second).collect();
        assert_eq!(second.into_iter().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(source.draw(1, &mut rng), SampledPair { first: 3, second: 4, hard: Some(5) });
        assert_eq!(source.draw(0, &mut rng).hard, None);
    }

    #[test]
    fn groups_without_a_pair_are_dropped() {
        let kept = |groups: &mut Groups, without: u32| {
            groups.retain(None, |i| i != without).unwrap();
            groups.len()
        };
        let anchored = || {
            let mut groups = AnchoredWriter::new(None);
            groups.push(0, [1, 2], [5]).unwrap();
            groups.push(3, [4], [5]).unwrap();
            groups.finish().unwrap()
        };
        for (without, left) in [(0, 1), (1, 2), (4, 1), (5, 2), (9, 2)] {
            assert_eq!(kept(&mut anchored(), without), left, "without {without}");
        }
        let mut groups = anchored();
        groups.retain(None, |i| i != 5 && i != 1).unwrap();
        let source = source(groups);
        assert!(!source.has_contradictions() && source.ordered_pairs().eq([[0, 2], [2, 0], [3, 4], [4, 3]]));
        let cliques = || {
            let mut lists = ListsWriter::new(None);
            [&[0, 1][..], &[2, 3, 4]].into_iter().for_each(|list| lists.push(list.iter().copied()).unwrap());
            Groups::Cliques(lists.finish().unwrap())
        };
        for (without, left) in [(0, 1), (3, 2), (9, 2)] {
            assert_eq!(kept(&mut cliques(), without), left, "without {without}");
        }
        for (without, left) in [(0, 2), (1, 1), (5, 2), (9, 3)] {
            assert_eq!(kept(&mut Groups::Neighbours { starts: vec![0, 1, 4].into() }, without), left);
        }
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
