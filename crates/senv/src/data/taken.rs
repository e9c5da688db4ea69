//! What was read of a file of pairs so far.

use std::path::Path;

use senv_core::{Result as CoreResult, TokenId, corpus::SentencesWriter};

use super::{
    anchors::{Anchors, Relation},
    input::{Draft, SourceReport},
    kind::PairKind,
    numbers::Numbers,
    source::{Groups, ListsWriter},
};

/// The limits of a part of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartLimits {
    /// Distinct sentences.
    pub(super) sentences: usize,
    pub(super) pairs: usize,
}

impl PartLimits {
    /// As many sentences as a table of four million places can store without growing.
    pub(super) const LARGEST: Self = Self { sentences: 7 << 19, pairs: 1 << 22 };
}

/// The sentences and groups of the records read so far. Words have provisional numbers.
pub(super) struct Taken {
    pub(super) sentences: SentencesWriter,
    pub(super) anchors: Anchors,
    pub(super) images: Images,
    pub(super) report: SourceReport,
    numbers: Numbers,
    /// The first sentence of the current part of the file.
    pub(super) part_start: usize,
    /// The number of records read from the file, and of bytes.
    pub(super) n_records: u64,
    pub(super) bytes_read: u64,
}

/// Images with their captions.
pub(super) struct Images {
    pub(super) closed: ListsWriter,
    /// The current image, its captions, and whether one of them is held out.
    pub(super) name: String,
    pub(super) members: Vec<u32>,
    pub(super) is_spoilt: bool,
}

impl Taken {
    /// Creates an empty state; `group` as in [`PairOptions::group`](super::PairOptions::group).
    pub(super) fn new(folder: Option<&Path>, group: bool, part: PartLimits) -> CoreResult<Self> {
        Ok(Self {
            sentences: SentencesWriter::new(folder)?,
            anchors: Anchors::new(folder, group, part.pairs),
            images: Images {
                closed: ListsWriter::new(folder),
                name: String::new(),
                members: Vec::new(),
                is_spoilt: false,
            },
            report: SourceReport::default(),
            numbers: Numbers::new(part.sentences),
            part_start: 0,
            n_records: 0,
            bytes_read: 0,
        })
    }

    /// Returns the number of the sentence with these tokens.
    pub(super) fn number_of(&mut self, tokens: &[TokenId]) -> CoreResult<u32> {
        self.numbers.of(tokens, &mut self.sentences)
    }

    /// Adds to the group of an anchor. After the last pair of a part of the file, starts another part.
    pub(super) fn add(&mut self, anchor: u32, relation: Relation, other: u32) -> CoreResult<()> {
        self.anchors.add(anchor, relation, other);
        if self.numbers.are_many() || self.anchors.are_many() {
            self.end_part();
            self.anchors.end_part()?;
        }
        Ok(())
    }

    /// Ends the part: later sentences never equal earlier ones.
    fn end_part(&mut self) {
        self.numbers.forget();
        self.part_start = self.sentences.len();
    }

    /// Starts the captions of this image.
    pub(super) fn open_image(&mut self, name: &str) -> CoreResult<()> {
        if name != self.images.name {
            self.close_image()?;
            name.clone_into(&mut self.images.name);
            if self.numbers.are_many() {
                self.end_part();
            }
        }
        Ok(())
    }

    /// Adds a caption of the image. A repeated one is counted and left out.
    pub(super) fn add_caption(&mut self, caption: u32) {
        if self.images.members.contains(&caption) {
            self.report.identical += 1;
        } else {
            self.images.members.push(caption);
        }
    }

    fn close_image(&mut self) -> CoreResult<()> {
        let Self { images: Images { closed, members, is_spoilt, .. }, report, .. } = self;
        if *is_spoilt {
            report.contaminated += 1;
        } else if members.len() > 1 {
            closed.push(members.iter().copied())?;
        } else if !members.is_empty() {
            report.singletons += 1;
        }
        members.clear();
        *is_spoilt = false;
        Ok(())
    }

    /// Returns the result for a file of this kind.
    pub(super) fn finish(mut self, kind: PairKind) -> CoreResult<Draft> {
        let groups = if kind == PairKind::Captions {
            self.close_image()?;
            Groups::Cliques(self.images.closed.finish()?)
        } else {
            self.anchors.finish()?
        };
        Ok(Draft { sentences: self.sentences.finish()?, groups, report: self.report })
    }
}
