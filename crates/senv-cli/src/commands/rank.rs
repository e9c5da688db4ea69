//! How what is found is ranked.

use clap::ValueEnum;

/// How it is ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rank {
    /// The cosine; for a document, the cosine of its nearest sentence.
    Meaning,
    /// The words of the query (BM25).
    Words,
    /// Both, and for documents also the cosine of the whole text.
    Hybrid,
}

/// The arguments that choose it.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct RankArgs {
    /// How to rank [default: hybrid for documents, meaning for sentences]
    #[arg(long, value_name = "HOW")]
    rank: Option<Rank>,
    /// Match the words of the query as well as its meaning.
    ///
    /// The same as --rank hybrid. It finds names and numbers that the model does not know.
    #[arg(long, conflicts_with = "rank")]
    hybrid: bool,
}

impl RankArgs {
    /// The ranking, if one is given.
    pub(crate) fn given(self) -> Option<Rank> {
        self.rank.or(self.hybrid.then_some(Rank::Hybrid))
    }
}
