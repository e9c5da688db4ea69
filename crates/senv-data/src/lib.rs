//! Readers of sentence data sets.
//!
//! | data set | start with |
//! | --- | --- |
//! | STS 2012-2016, STS benchmark: pairs with gold scores | [`StsTask::read`], [`StsTask::read_stsb`] |
//! | SICK: pairs with gold scores and labels | [`SickSet::read`] |
//! | pairs with scores on any scale, or SICK, for training and model selection | [`ScoredPairs::read`] |
//! | SNLI: premise, hypothesis, label | [`NliSet::read`] |
//! | MSRP: pairs that are or are not paraphrases | [`ParaphraseSet::read`] |
//! | captions and other groups of sentences | [`SentenceGroups::read`], [`Captions`] |
//! | dictionaries: words with definitions | [`Definitions::read`] |
//! | MR, CR, SUBJ, MPQA, TREC: classified sentences | [`LabeledSet::read`] |
//! | parsed sentences in Penn Treebank brackets | [`TreeReader`] |
//!
//! Each reader takes the published layout, lines of tab-separated cells and, for data sets of MTEB, one JSON object per
//! line. Captions can also be COCO's JSON. Quotes are ordinary characters. Files are UTF-8, plain or compressed with
//! gzip or Zstandard. Any line ends, a byte-order mark and empty lines at the end are accepted. A bad line is an error
//! that gives file and line.
//!
//! ```
//! use senv_data::StsTask;
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("images.tsv");
//! std::fs::write(&path, "4.4\tTwo trains on tracks.\tTrains on the tracks.\n")?;
//! assert_eq!(StsTask::read(&path)?.pairs[0].relatedness, 4.4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod captions;
mod definitions;
mod error;
mod groups;
mod labeled;
mod lines;
mod nli;
mod objects;
mod paraphrases;
mod retrieval;
mod scale;
mod scored_pairs;
mod sentence_groups;
mod sick;
mod sts;
mod stsb;
mod trees;

pub use captions::{Captions, MAX_JSON_BYTES};
pub use definitions::{Definition, Definitions};
pub use error::{Error, Result};
pub use labeled::{LabeledSentence, LabeledSet};
pub use nli::{NliLayout, NliPair, NliSet};
pub use paraphrases::{ParaphrasePair, ParaphraseSet};
pub use retrieval::{Document, JudgedQuery, RetrievalSet, UnknownJudgements};
pub use scale::Scale;
pub use scored_pairs::ScoredPairs;
pub use sentence_groups::{SentenceGroup, SentenceGroups};
pub use sick::{Entailment, SickSet};
pub use sts::{StsPair, StsTask, task_label};
pub use trees::{Tree, TreeReader};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
