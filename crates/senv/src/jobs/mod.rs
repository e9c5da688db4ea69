//! Tasks on a text: near-duplicates, pairs, outliers, samples, groups, comparison with another text.

pub(crate) mod compare;
pub(crate) mod distinct;
pub(crate) mod duplicates;
pub(crate) mod encode_lines;
#[cfg(feature = "arrow")]
pub(crate) mod encode_table;
pub(crate) mod encoded_rows;
pub(crate) mod folder;
pub(crate) mod groups;
pub(crate) mod guard;
pub(crate) mod join_vectors;
pub(crate) mod mine;
pub(crate) mod nearest;
pub(crate) mod outliers;
pub(crate) mod query_file;
pub(crate) mod ranked;
pub(crate) mod sample;

#[cfg(test)]
mod tests;

#[cfg(feature = "arrow")]
pub use encode_table::{EncodeTableParams, encode_table};
pub use {
    compare::{CompareParams, Comparison, Counterpart, compare},
    duplicates::{DuplicateParams, FoundDuplicates, duplicates, duplicates_to},
    encode_lines::{CoverageCounts, LineEncoding, VectorFormat},
    encoded_rows::EncodedRows,
    folder::{
        ClaimParams, FileState, FolderContent, FolderEvent, FolderJob, FolderOutcome, FolderParams, SkipReason,
        SkippedFile, TextFiles, files_of_pattern,
    },
    groups::{Group, GroupBy, GroupParams, Grouping, TextGroups, group_sentences},
    guard::{Difference, Guard},
    join_vectors::join_vectors,
    mine::{MineParams, MinedPair, mine},
    nearest::{NearSentence, NearestSentences, SentencePlace, nearest_sentences},
    outliers::outliers,
    query_file::QueryFile,
    ranked::ranked_sentences,
    sample::{diverse_sample, random_sample},
};
