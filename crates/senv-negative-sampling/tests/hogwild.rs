//! Hogwild with several threads: rows that every sentence moves end where one thread alone leaves them. A binary of its
//! own, which
//! `.ci/unsafe` runs under ThreadSanitizer.

use rand::RngExt;
use senv_core::{
    Corpus, FeatureList, RowId, Rows, RunOptions, Sentences, Table, TokenId, init, kernels,
    rng::{Stream, stream},
};
use senv_negative_sampling::{
    MaskedFeatures, MaskedTargets, NegativeSamplingParams, Noise, Schedule, Subsampling, Tables, fit,
};

const DIM: usize = 16;
/// So many that sentences hardly share a target, as in the vocabulary of a real corpus.
const N_TOKENS: usize = 30_000;

/// One row per token, after row 0, which replaces every target.
struct WithPlaceholder;

impl MaskedFeatures for WithPlaceholder {
    type Drawn = ();

    fn n_rows(&self) -> usize {
        N_TOKENS + 1
    }

    fn max_span(&self) -> usize {
        1
    }

    fn draw_into(&self, tokens: &[TokenId], _: &mut Stream, (): &mut (), out: &mut FeatureList) {
        out.clear();
        for (i, token) in tokens.iter().enumerate() {
            out.start_token();
            out.push(RowId(token.0 + 1), i);
        }
    }

    fn placeholders(&self, _: &[TokenId], _: usize, (): &(), each: &mut dyn FnMut(RowId)) {
        each(RowId(0));
    }
}

/// Row 0 before training, and after it with so many threads.
fn placeholder(corpus: &Corpus, threads: usize) -> [Vec<f32>; 2] {
    let counts = [4; N_TOKENS];
    let subsampling = Subsampling::new(&counts, 4 * N_TOKENS as u64, f64::INFINITY, 1).unwrap();
    let examples = MaskedTargets::new(WithPlaceholder, subsampling, N_TOKENS);
    let noise = Noise::new(&counts, 0.5).unwrap();
    let params = NegativeSamplingParams {
        schedule: Schedule::Hogwild,
        lr: Some(0.02),
        negatives: 5,
        ..NegativeSamplingParams::default()
    };
    let mut before = Vec::new();
    let initial = || {
        let mut source = Table::zeros(N_TOKENS + 1, DIM)?;
        init::uniform_rows(&mut source, 0..N_TOKENS + 1, 1.0 / DIM as f32, 1)?;
        before = source.row(0).to_vec();
        // Targets that agree on a direction from the start: the placeholder takes it up.
        let mut target = Table::zeros(N_TOKENS, DIM)?;
        init::uniform_rows(&mut target, 0..N_TOKENS, 0.5, 2)?;
        (0..N_TOKENS).for_each(|i| target.row_mut(i)[0] += 0.5);
        Ok(Tables { source, target })
    };
    let options = RunOptions { threads, ..Default::default() };
    let outcome = fit(corpus, &examples, &noise, &params, "", initial, &options).unwrap();
    [before, outcome.tables.source.row(0).to_vec()]
}

#[test]
fn a_row_that_all_threads_move_ends_where_one_thread_leaves_it() {
    let mut rng = stream(6, "corpus", &[]);
    let mut sentences = Sentences::new();
    for _ in 0..12_000 {
        sentences.push((0..10).map(|_| TokenId(rng.random_range(0..N_TOKENS as u32))));
    }
    let corpus = Corpus::from_sentences(sentences);
    let difference = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt();
    let [before, one] = placeholder(&corpus, 1);
    let moved = difference(&before, &one);
    for threads in [2, 4] {
        let [_, more] = placeholder(&corpus, threads);
        let apart = difference(&one, &more);
        assert!(apart < 0.1 * moved, "{threads} threads: {apart} apart, where one thread moved it by {moved}");
        assert!(kernels::cosine(&one, &more) > 0.99, "{threads} threads");
    }
}
