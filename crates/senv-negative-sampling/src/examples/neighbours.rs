//! FastSent: the sum of a sentence's words predicts the words of the sentences before and after it.
//!
//! Equation: `fast-sent-context`

use senv_core::{RowId, TokenId, corpus::BlockBuffer, rng::Stream};

use super::Examples;
use crate::{plan::Plan, subsampling::Subsampling};

/// Examples in which a sentence predicts the words of its neighbors.
///
/// ```text
/// s_i = Σ_{w in S_i} v_w        targets: the words of S_{i−1} and S_{i+1}; with autoencoding those of S_i as well
/// v_w += 1/|S_i| Σ_t g_t        the gradient of the sum is divided by its words, as the release does it
/// ```
///
/// F. Hill, K. Cho and A. Korhonen, "Learning Distributed Representations of Sentences from Unlabelled Data", NAACL
/// 2016. The release approximates the softmax with a tree over the vocabulary; senv uses negative sampling. Neighbors
/// are in the same document and in the same block of the corpus (about 4,000 tokens).
#[derive(Debug, Clone)]
pub struct NeighbouringSentences {
    subsampling: Subsampling,
    n_tokens: usize,
    autoencode: bool,
}

impl NeighbouringSentences {
    /// Creates examples over a vocabulary of `n_tokens`; with `autoencode` (FastSent+AE) a sentence also predicts its
    /// own words.
    #[must_use]
    pub fn new(subsampling: Subsampling, n_tokens: usize, autoencode: bool) -> Self {
        Self { subsampling, n_tokens, autoencode }
    }

    fn predict<'s>(
        &self,
        sentence: &[TokenId],
        others: impl IntoIterator<Item = &'s [TokenId]>,
        rng: &mut Stream,
        plan: &mut Plan,
    ) {
        if sentence.is_empty() {
            return;
        }
        plan.open_group(sentence.iter().map(|token| RowId(token.0)));
        for token in others.into_iter().flatten() {
            if self.subsampling.keeps(token.0, rng) {
                plan.push_target_of_sum(RowId(token.0));
            }
        }
    }
}

impl Examples for NeighbouringSentences {
    type Scratch = ();

    fn n_source_rows(&self) -> usize {
        self.n_tokens
    }

    fn n_target_rows(&self) -> usize {
        self.n_tokens
    }

    /// Plans a sentence without neighbors, which predicts at most itself.
    fn plan(&self, sentence: &[TokenId], _number: u64, rng: &mut Stream, (): &mut (), plan: &mut Plan) {
        self.predict(sentence, self.autoencode.then_some(sentence), rng, plan);
    }

    fn plan_in_block(&self, block: &BlockBuffer, i: usize, rng: &mut Stream, (): &mut (), plan: &mut Plan) {
        let before = i.checked_sub(1).filter(|&before| !block.ends_document(before));
        let after = Some(i + 1).filter(|&after| after < block.n_sentences() && !block.ends_document(i));
        let own = Some(i).filter(|_| self.autoencode);
        let others = [before, after, own].into_iter().flatten().map(|other| block.sentence(other));
        self.predict(block.sentence(i), others, rng, plan);
    }
}

#[cfg(test)]
mod tests {
    use senv_core::{Corpus, CorpusOptions, NoObserver, Tokenizer, rng::stream};

    use super::*;

    /// The source rows and targets of each sentence of "a b / c / d e // f g", by name.
    fn examples(autoencode: bool) -> Vec<(String, String)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text.txt");
        std::fs::write(&path, "a b\nc\nd e\n\nf g\n").unwrap();
        let options = CorpusOptions { min_count: 1, tokenizer: Tokenizer::whitespace(), ..CorpusOptions::default() };
        let (vocabulary, corpus) = Corpus::read(&[path], &options, &NoObserver).unwrap();
        let everything = Subsampling::new(vocabulary.counts(), 7, f64::INFINITY, 1).unwrap();
        let examples = NeighbouringSentences::new(everything, vocabulary.len(), autoencode);
        let mut block = BlockBuffer::default();
        corpus.read_block(0, &mut block).unwrap();
        let name = |row: u32| vocabulary.token(TokenId(row)).to_owned();
        let of = |i| {
            let mut plan = Plan::default();
            examples.plan_in_block(&block, i, &mut stream(1, "test", &[]), &mut (), &mut plan);
            let rows = plan.rows.iter().map(|&row| name(row)).collect();
            (rows, plan.targets.iter().map(|target| name(target.row)).collect())
        };
        (0..block.n_sentences()).map(of).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect()
    }

    #[test]
    fn a_sentence_predicts_its_neighbours_in_the_document_and_itself_if_asked() {
        assert_eq!(examples(false), pairs(&[("ab", "c"), ("c", "abde"), ("de", "c"), ("fg", "")]));
        assert_eq!(examples(true), pairs(&[("ab", "cab"), ("c", "abdec"), ("de", "cde"), ("fg", "fg")]));
    }

    #[test]
    fn the_representation_is_a_sum_and_its_gradient_is_shared_out() {
        let mut plan = Plan::default();
        plan.open_group([RowId(1), RowId(2), RowId(2), RowId(3)]);
        plan.push_target_of_sum(RowId(5));
        assert_eq!((plan.targets[0].mean, plan.targets[0].share), (1.0, 0.25));
    }

    #[test]
    fn a_sentence_without_a_block_predicts_itself_if_asked() {
        let everything = || Subsampling::new(&[5; 4], 20, f64::INFINITY, 1).unwrap();
        for (autoencode, expected) in [(false, &[][..]), (true, &[3, 1])] {
            let examples = NeighbouringSentences::new(everything(), 4, autoencode);
            assert_eq!((examples.n_source_rows(), examples.n_target_rows()), (4, 4));
            let mut plan = Plan::default();
            examples.plan(&[3, 1].map(TokenId), 0, &mut stream(1, "test", &[]), &mut (), &mut plan);
            assert_eq!(plan.targets.iter().map(|t| t.row).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn the_last_sentence_of_a_block_within_a_document_has_its_neighbour_before_alone() {
        let mut sentences = senv_core::Sentences::new();
        (0..9000).for_each(|i| sentences.push([TokenId(i % 4)]));
        let corpus = Corpus::from_sentences(sentences);
        let mut block = BlockBuffer::default();
        corpus.read_block(0, &mut block).unwrap();
        let last = block.n_sentences() - 1;
        assert!(corpus.n_blocks() > 1 && !block.ends_document(last));
        let everything = Subsampling::new(&[5; 4], 20, f64::INFINITY, 1).unwrap();
        let examples = NeighbouringSentences::new(everything, 4, false);
        let mut plan = Plan::default();
        examples.plan_in_block(&block, last, &mut stream(1, "test", &[]), &mut (), &mut plan);
        assert_eq!(plan.targets.iter().map(|t| t.row).collect::<Vec<_>>(), [(last as u32 - 1) % 4]);
    }
}
