//! PV-DBOW: a sentence's own row predicts each of its words.
//!
//! Equation: `pv-dbow-context`
//!
//! ```text
//! context {d_S}, the row of sentence S      targets: the words of S that subsampling keeps
//! ```
//!
//! Le and Mikolov, "Distributed Representations of Sentences and Documents", 2014, section 2.3, with negative
//! sampling for the softmax.

use senv_core::{RowId, Stream, TokenId};

use super::Examples;
use crate::{plan::Plan, subsampling::Subsampling};

/// A row a sentence, which predicts the sentence's words.
#[derive(Debug, Clone)]
pub struct DistributedBagOfWords {
    n_sentences: usize,
    n_tokens: usize,
    subsampling: Subsampling,
}

impl DistributedBagOfWords {
    /// Examples for a corpus of `n_sentences` over a vocabulary of `n_tokens`.
    #[must_use]
    pub fn new(n_sentences: usize, subsampling: Subsampling, n_tokens: usize) -> Self {
        Self { n_sentences, n_tokens, subsampling }
    }
}

impl Examples for DistributedBagOfWords {
    type Scratch = ();

    fn n_source_rows(&self) -> usize {
        self.n_sentences
    }

    fn n_target_rows(&self) -> usize {
        self.n_tokens
    }

    fn plan(&self, sentence: &[TokenId], number: u64, rng: &mut Stream, (): &mut (), plan: &mut Plan) {
        // Sentence numbers are below the number of sentences, which a table can only have 2^32 of.
        let Ok(row) = u32::try_from(number) else { return };
        plan.open_group([RowId(row)]);
        for token in sentence {
            if self.subsampling.keeps(token.0, rng) {
                plan.push_target(RowId(token.0), true);
            }
        }
    }
}
