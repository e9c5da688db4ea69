//! Pairs that share their first sentence become groups.

use std::{
    collections::{HashMap, hash_map::Entry},
    path::Path,
};

use senv_core::Result;

use super::source::{AnchoredWriter, Groups};

/// What a sentence is to the anchor of its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Agrees,
    Contradicts,
}

/// The groups of a part of a file, in the order of their first pairs, and those of the parts before.
pub(super) struct Anchors {
    place: HashMap<u32, u32>,
    anchors: Vec<u32>,
    /// Of each pair, in the order of the file: the place of its group, what the other sentence is to the anchor, and
    /// that sentence.
    pairs: Vec<(u32, Relation, u32)>,
    /// Whether all pairs with the same first sentence are one group; otherwise each is one.
    group: bool,
    /// Pairs of a part of the file at most.
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

    /// The pairs of the part, in the order of the file: an anchor, 0 for what agrees with it and 1 for what contradicts
    /// it, and that.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.pairs.iter().map(|&(place, relation, other)| [self.anchors[place as usize], relation as u32, other])
    }

    /// Whether the part has as many pairs as it may.
    pub(super) fn are_many(&self) -> bool {
        self.pairs.len() >= self.most
    }

    /// Writes the groups, and forgets their anchors.
    pub(super) fn end_part(&mut self) -> Result<()> {
        // Stable: the pairs of a group stay in the order of the file.
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
