//! PV-DBOW: the row of a sentence predicts each of its words.
//!
//! Equation: `pv-dbow-context`

use senv_core::{RowId, TokenId, rng::Stream};

use super::Examples;
use crate::{plan::Plan, subsampling::Subsampling};

/// Examples with one row per sentence, which predicts the sentence's words.
///
/// ```text
/// context {d_S}, the row of sentence S      targets: the words of S that subsampling keeps
/// ```
///
/// Le and Mikolov, "Distributed Representations of Sentences and Documents", 2014, section 2.3, with negative sampling
/// instead of the softmax.
#[derive(Debug, Clone)]
pub struct DistributedBagOfWords {
    n_sentences: usize,
    n_tokens: usize,
    subsampling: Subsampling,
}

impl DistributedBagOfWords {
    /// Creates examples for a corpus of `n_sentences` over a vocabulary of `n_tokens`.
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
        // Sentence numbers are below the number of sentences, and a table has at most 2^32 of them.
        let Ok(row) = u32::try_from(number) else { return };
        plan.open_group([RowId(row)]);
        for token in sentence {
            if self.subsampling.keeps(token.0, rng) {
                plan.push_target(RowId(token.0), true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use senv_core::rng::stream;

    use super::*;

    #[test]
    fn the_row_of_a_sentence_predicts_the_words_that_are_kept() {
        // Token 2 is too rare to be kept.
        let subsampling = Subsampling::new(&[9, 9, 1, 9], 28, f64::INFINITY, 2).unwrap();
        let examples = DistributedBagOfWords::new(7, subsampling, 4);
        assert_eq!((examples.n_source_rows(), examples.n_target_rows()), (7, 4));
        let mut plan = Plan::default();
        examples.plan(&[3, 2, 0, 3].map(TokenId), 5, &mut stream(1, "test", &[]), &mut (), &mut plan);
        assert_eq!(plan.rows, [5]);
        let targets: Vec<(u32, f32, f32)> = plan.targets.iter().map(|t| (t.row, t.mean, t.share)).collect();
        assert_eq!(targets, [(3, 1.0, 1.0), (0, 1.0, 1.0), (3, 1.0, 1.0)]);
    }
}
