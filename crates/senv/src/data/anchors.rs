//! Groups pairs that share their first sentence.

use std::{
    collections::{HashMap, hash_map::Entry},
    path::Path,
};

use senv_core::Result;

use super::source::{AnchoredWriter, Groups};

/// The relation of a sentence to the anchor of its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Agrees,
    Contradicts,
}

/// The groups of a part of a file, in the order of their first pairs, and those of earlier parts.
pub(super) struct Anchors {
    place: HashMap<u32, u32>,
    anchors: Vec<u32>,
    /// For each pair, in file order: the position of its group, the relation of the other sentence to the anchor, and
    /// that sentence.
    pairs: Vec<(u32, Relation, u32)>,
    /// Whether all pairs with the same first sentence form one group; otherwise each pair does.
    group: bool,
    /// The maximum number of pairs in a part of the file.
    most: usize,
    pub(super) written: AnchoredWriter,
}

impl Anchors {
    pub(super) fn new(folder: Option<&Path>, group: bool, most: usize) -> Self {
        let written = AnchoredWriter::new(folder);
        Self { place: HashMap::new(), anchors: Vec::new(), pairs: Vec::new(), group, most, written }
    }

    pub(super) fn add(&mut self, anchor: u32, relation: Relation, other: u32) {
        let place = match self.place.entry(anchor) {
            Entry::Occupied(place) => *place.get(),
            Entry::Vacant(place) => {
                self.anchors.push(anchor);
                *place.insert(self.anchors.len() as u32 - 1)
            }
        };
        self.pairs.push((place, relation, other));
    }

    /// Returns the pairs of the part, in file order: an anchor, 0 for entailment or 1 for contradiction, and the other
    /// sentence.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.pairs.iter().map(|&(place, relation, other)| [self.anchors[place as usize], relation as u32, other])
    }

    /// Whether the part has the maximum number of pairs.
    pub(super) fn are_many(&self) -> bool {
        self.pairs.len() >= self.most
    }

    /// Writes the groups and forgets their anchors.
    pub(super) fn end_part(&mut self) -> Result<()> {
        // The sort is stable, so the pairs of a group stay in file order.
        self.pairs.sort_by_key(|&(place, ..)| place);
        for group in self.pairs.chunk_by(|a, b| a.0 == b.0) {
            let anchor = self.anchors[group[0].0 as usize];
            let those = |wanted| group.iter().filter(move |pair| pair.1 == wanted).map(|&(_, _, other)| other);
            if self.group {
                if those(Relation::Agrees).next().is_some() {
                    self.written.push(anchor, those(Relation::Agrees), those(Relation::Contradicts))?;
                }
            } else {
                for one in those(Relation::Agrees) {
                    self.written.push(anchor, [one], those(Relation::Contradicts))?;
                }
            }
        }
        self.place.clear();
        self.anchors.clear();
        self.pairs.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Groups> {
        self.end_part()?;
        self.written.finish()
    }
}
