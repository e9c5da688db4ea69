//! What people do with a text: near-duplicates, pairs, odd sentences, samples, groups, what another text has.

pub(crate) mod compare;
pub(crate) mod distinct;
pub(crate) mod duplicates;
pub(crate) mod encode_lines;
#[cfg(feature = "arrow")]
pub(crate) mod encode_table;
pub(crate) mod encoded_rows;
pub(crate) mod folder;
pub(crate) mod groups;
pub(crate) mod join_vectors;
pub(crate) mod mine;
pub(crate) mod nearest;
pub(crate) mod outliers;
pub(crate) mod query_file;
pub(crate) mod sample;

#[cfg(test)]
mod tests;
