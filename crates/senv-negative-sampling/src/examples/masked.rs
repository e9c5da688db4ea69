//! Sent2Vec: each word kept as a target is predicted from the rest of its sentence.
//!
//! Equation: `sent2vec-context`

use senv_core::{FeatureList, RowId, TokenId, rng::Stream};

use super::Examples;
use crate::{plan::Plan, subsampling::Subsampling};

/// The maximum number of tokens in a sentence.
const LONGEST: usize = 1024;

/// The features of a sentence in training, for [`MaskedTargets`].
///
/// ```
/// use senv_core::{FeatureList, RowId, TokenId, rng::Stream};
/// use senv_negative_sampling::MaskedFeatures;
///
/// /// Each word is a feature, and nothing is dropped.
/// struct Words(usize);
///
/// impl MaskedFeatures for Words {
///     type Drawn = ();
///
///     fn n_rows(&self) -> usize {
///         self.0
///     }
///
///     fn max_span(&self) -> usize {
///         1
///     }
///
///     fn draw_into(&self, tokens: &[TokenId], _: &mut Stream, _: &mut (), out: &mut FeatureList) {
///         out.clear();
///         for (position, token) in tokens.iter().enumerate() {
///             out.start_token();
///             out.push(RowId(token.0), position);
///         }
///     }
///
///     fn placeholders(&self, _: &[TokenId], _: usize, _: &(), _: &mut dyn FnMut(RowId)) {}
/// }
/// ```
pub trait MaskedFeatures: Send + Sync {
    /// The state that a draw leaves for [`MaskedFeatures::placeholders`], such as which tokens were dropped.
    type Drawn: Default + Send;

    /// The number of rows the features can name.
    fn n_rows(&self) -> usize;

    /// The longest feature in tokens.
    fn max_span(&self) -> usize;

    /// Writes the features of `tokens` to `out` (cleared first), with dropout, processing every token once.
    fn draw_into(&self, tokens: &[TokenId], rng: &mut Stream, drawn: &mut Self::Drawn, out: &mut FeatureList);

    /// Draws for the next target of a sentence of `n_tokens` tokens, if dropout is drawn for each target. Appends the
    /// positions, ascending, of the tokens whose n-grams (features of several tokens) its context lacks. Does nothing
    /// by default.
    fn drop_for_target(&self, n_tokens: usize, rng: &mut Stream, drawn: &mut Self::Drawn, dropped: &mut Vec<usize>) {
        let _ = (n_tokens, rng, drawn, dropped);
    }

    /// Calls `each` with the rows that replace the features touching `position` when its token is replaced by the
    /// placeholder. Without a placeholder, those features disappear and nothing is called.
    fn placeholders(&self, tokens: &[TokenId], position: usize, drawn: &Self::Drawn, each: &mut dyn FnMut(RowId));
}

/// The examples of Sent2Vec, over any features.
///
/// ```text
/// R(S)            the words of S and the n-grams over them, after dropout
/// R(S \ {w_t})    the features of R(S) that do not touch position t          (the paper)
///                 the features of S with position t replaced by a placeholder (the release), after its own dropout
/// ```
///
/// Pagliardini, Gupta and Jaggi, "Unsupervised Learning of Sentence Embeddings using Compositional n-Gram Features",
/// 2018, section 2.1, equations 2 and 3, and appendix B, equation 4. Equations 3 and 4 disagree on what the keep
/// probability multiplies; sampling implements 4. Contexts are never subsampled, and a sentence with fewer than two
/// known tokens is skipped. A sentence of more than 1,024 tokens is split into parts of up to 1,024, since the work
/// grows with the square of the length. The release does not limit the length.
#[derive(Debug, Clone)]
pub struct MaskedTargets<F> {
    features: F,
    subsampling: Subsampling,
    n_target_rows: usize,
}

/// Scratch memory for planning.
#[derive(Debug, Default)]
pub struct MaskedScratch<D> {
    features: FeatureList,
    kept: Vec<u32>,
    dropped: Vec<usize>,
    starts: Vec<usize>,
    drawn: D,
}

impl<F: MaskedFeatures> MaskedTargets<F> {
    /// Creates examples over these features; `subsampling` decides which tokens become targets, out of `n_target_rows`.
    pub fn new(features: F, subsampling: Subsampling, n_target_rows: usize) -> Self {
        Self { features, subsampling, n_target_rows }
    }
}

impl<F: MaskedFeatures> Examples for MaskedTargets<F> {
    type Scratch = MaskedScratch<F::Drawn>;

    fn n_source_rows(&self) -> usize {
        self.features.n_rows()
    }

    fn n_target_rows(&self) -> usize {
        self.n_target_rows
    }

    fn plan(&self, sentence: &[TokenId], _number: u64, rng: &mut Stream, scratch: &mut Self::Scratch, plan: &mut Plan) {
        sentence.chunks(LONGEST).for_each(|part| self.plan_part(part, rng, scratch, plan));
    }
}

impl<F: MaskedFeatures> MaskedTargets<F> {
    fn plan_part(
        &self,
        sentence: &[TokenId],
        rng: &mut Stream,
        MaskedScratch { features, kept, dropped, starts, drawn }: &mut MaskedScratch<F::Drawn>,
        plan: &mut Plan,
    ) {
        if sentence.len() < 2 {
            return;
        }
        kept.clear();
        kept.extend((0..sentence.len() as u32).filter(|&p| self.subsampling.keeps(sentence[p as usize].0, rng)));
        if kept.is_empty() {
            return;
        }
        self.features.draw_into(sentence, rng, drawn, features);
        plan.open_group(features.rows().iter().copied());
        let reach = self.features.max_span().saturating_sub(1);
        for &position in kept.iter() {
            let position = position as usize;
            dropped.clear();
            self.features.drop_for_target(sentence.len(), rng, drawn, dropped);
            starts.clear();
            starts.extend(position.saturating_sub(reach)..=position);
            if !dropped.is_empty() {
                starts.extend(dropped.iter().flat_map(|&token| token.saturating_sub(reach)..=token));
                starts.sort_unstable();
                starts.dedup();
            }
            let is_out = |start: usize, end: usize| {
                (start..=end).contains(&position)
                    // The first dropped token at or after the start of the feature.
                    || (start < end && dropped.get(dropped.partition_point(|&t| t < start)).is_some_and(|&t| t <= end))
            };
            plan.push_masked_target(
                RowId(sentence[position].0),
                true,
                |exclude| {
                    for &start in starts.iter() {
                        features
                            .starting_at(start)
                            .filter(|&i| is_out(start, features.end_of(i)))
                            .for_each(&mut *exclude);
                    }
                },
                |add| self.features.placeholders(sentence, position, drawn, add),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use senv_core::rng::stream;

    use super::*;

    /// Words and word pairs: token t has the row t and, with the next token, 10 + t. No placeholder.
    struct WordsAndPairs;

    impl MaskedFeatures for WordsAndPairs {
        type Drawn = ();

        fn n_rows(&self) -> usize {
            20
        }

        fn max_span(&self) -> usize {
            2
        }

        fn draw_into(&self, tokens: &[TokenId], _rng: &mut Stream, (): &mut (), out: &mut FeatureList) {
            out.clear();
            for (i, token) in tokens.iter().enumerate() {
                out.start_token();
                out.push(RowId(token.0), i);
                if i + 1 < tokens.len() {
                    out.push(RowId(10 + token.0), i + 1);
                }
            }
        }

        fn placeholders(&self, _tokens: &[TokenId], _position: usize, (): &(), _each: &mut dyn FnMut(RowId)) {}
    }

    /// Words, and a placeholder for the predicted word. Without a check of the sentence length, the placeholder would
    /// be the whole context of a single word.
    struct WordsAndPlaceholder;

    impl MaskedFeatures for WordsAndPlaceholder {
        type Drawn = ();

        fn n_rows(&self) -> usize {
            20
        }

        fn max_span(&self) -> usize {
            1
        }

        fn draw_into(&self, tokens: &[TokenId], _rng: &mut Stream, (): &mut (), out: &mut FeatureList) {
            out.clear();
            for (i, token) in tokens.iter().enumerate() {
                out.start_token();
                out.push(RowId(token.0), i);
            }
        }

        fn placeholders(&self, _tokens: &[TokenId], _position: usize, (): &(), each: &mut dyn FnMut(RowId)) {
            each(RowId(19));
        }
    }

    #[test]
    fn a_sentence_of_one_token_is_skipped_even_where_a_placeholder_would_predict_it() {
        let subsampling = Subsampling::new(&[5; 10], 50, f64::INFINITY, 1).unwrap();
        let examples = MaskedTargets::new(WordsAndPlaceholder, subsampling, 10);
        for (sentence, n_targets) in [(&[][..], 0), (&[TokenId(3)], 0), (&[TokenId(3), TokenId(3)], 2)] {
            let mut plan = Plan::default();
            examples.plan(sentence, 0, &mut stream(1, "test", &[]), &mut MaskedScratch::default(), &mut plan);
            assert_eq!(plan.targets.len(), n_targets, "{sentence:?}");
        }
    }

    /// Like `WordsAndPairs`, but a target's context lacks the pairs of some tokens: those of the next list in `drawn`.
    struct DroppingPairs;

    impl MaskedFeatures for DroppingPairs {
        type Drawn = std::vec::IntoIter<Vec<usize>>;

        fn n_rows(&self) -> usize {
            20
        }

        fn max_span(&self) -> usize {
            2
        }

        fn draw_into(&self, tokens: &[TokenId], rng: &mut Stream, drawn: &mut Self::Drawn, out: &mut FeatureList) {
            *drawn = vec![vec![3], vec![], vec![0, 2], vec![0, 1, 2]].into_iter();
            WordsAndPairs.draw_into(tokens, rng, &mut (), out);
        }

        fn drop_for_target(&self, n: usize, _rng: &mut Stream, drawn: &mut Self::Drawn, dropped: &mut Vec<usize>) {
            assert_eq!((n, dropped.len()), (4, 0));
            dropped.extend(drawn.next().unwrap());
        }

        fn placeholders(&self, _: &[TokenId], _: usize, _: &Self::Drawn, _: &mut dyn FnMut(RowId)) {}
    }

    /// The row and the context of each target of the only sentence.
    fn contexts(plan: &Plan) -> Vec<(u32, Vec<u32>)> {
        let context = |t: &crate::plan::Target| -> Vec<u32> {
            let excluded = &plan.excluded[t.excluded.clone()];
            assert!(excluded.windows(2).all(|pair| pair[0] < pair[1]), "rising, each once: {excluded:?}");
            let positions = (0..plan.rows.len() as u32).filter(|position| !excluded.contains(position));
            positions.map(|position| plan.rows[position as usize]).collect()
        };
        plan.targets.iter().map(|t| (t.row, context(t))).collect()
    }

    #[test]
    fn n_grams_that_are_dropped_for_a_target_are_missing_from_its_context_alone() {
        let subsampling = Subsampling::new(&[5; 10], 50, f64::INFINITY, 1).unwrap();
        let examples = MaskedTargets::new(DroppingPairs, subsampling, 10);
        let mut plan = Plan::default();
        let sentence = [1, 2, 3, 4].map(TokenId);
        examples.plan(&sentence, 0, &mut stream(1, "test", &[]), &mut MaskedScratch::default(), &mut plan);
        assert_eq!(
            contexts(&plan),
            [(1, vec![2, 12, 3, 4]), (2, vec![1, 3, 13, 4]), (3, vec![1, 2, 4]), (4, vec![1, 2, 3])],
            "words stay, pairs with a dropped token go"
        );
        let means: Vec<f32> = plan.targets.iter().map(|t| t.mean).collect();
        assert_eq!(means, [0.25, 0.25, 1.0 / 3.0, 1.0 / 3.0]);
    }

    #[test]
    fn a_target_is_predicted_from_exactly_the_features_that_do_not_touch_it() {
        let subsampling = Subsampling::new(&[5; 10], 50, f64::INFINITY, 1).unwrap();
        let examples = MaskedTargets::new(WordsAndPairs, subsampling, 10);
        let mut plan = Plan::default();
        let sentence = [1, 2, 3, 4].map(TokenId);
        examples.plan(&sentence, 0, &mut stream(1, "test", &[]), &mut MaskedScratch::default(), &mut plan);
        assert_eq!(plan.rows, [1, 11, 2, 12, 3, 13, 4]);
        assert_eq!(
            contexts(&plan),
            [(1, vec![2, 12, 3, 13, 4]), (2, vec![1, 3, 13, 4]), (3, vec![1, 11, 2, 4]), (4, vec![1, 11, 2, 12, 3]),]
        );
        let means: Vec<f32> = plan.targets.iter().map(|t| t.mean).collect();
        assert_eq!(means, [0.2, 0.25, 0.25, 0.2]);
    }

    #[test]
    fn a_sentence_of_more_than_1024_tokens_is_planned_as_several() {
        let subsampling = Subsampling::new(&[5; 10], 50, f64::INFINITY, 1).unwrap();
        let examples = MaskedTargets::new(WordsAndPairs, subsampling, 10);
        let sentence: Vec<TokenId> = (0..2 * 1024 + 1).map(|i| TokenId(i % 10)).collect();
        let mut plans = [(); 2].map(|()| Plan::default());
        let plan = |sentence: &[TokenId], plan: &mut Plan| {
            examples.plan(sentence, 0, &mut stream(1, "test", &[]), &mut MaskedScratch::default(), plan);
        };
        plan(&sentence, &mut plans[0]);
        [&sentence[..1024], &sentence[1024..2048]].iter().for_each(|part| plan(part, &mut plans[1]));
        let [whole, parts] = plans.map(|plan| (plan.rows, plan.groups.len(), plan.targets.len(), plan.excluded));
        assert_eq!(whole, parts, "the last token is alone, and is skipped");
        assert_eq!((whole.1, whole.2), (2, 2048));
    }

    #[test]
    fn the_tables_have_a_row_for_each_feature_and_each_target() {
        let subsampling = Subsampling::new(&[5; 10], 50, f64::INFINITY, 1).unwrap();
        let examples = MaskedTargets::new(WordsAndPlaceholder, subsampling, 10);
        assert_eq!((examples.n_source_rows(), examples.n_target_rows()), (WordsAndPlaceholder.n_rows(), 10));
    }
}
