//! The noise distribution of each system's negatives. Each system is rebuilt from its parts with the power that its
//! paper states. It must give the same bits, and with another power it must not.

use senv::{Sent2VecParams, TextSystem, TrainOptions, Word2VecParams, average::UnknownWords};
use senv_core::{
    Corpus, CorpusOptions, FeatureList, NoObserver, RowId, Rows, RunOptions, Table, TokenId, Tokenizer, Vocabulary,
    init, rng::Stream,
};
use senv_negative_sampling::{
    ContinuousBagOfWords, Examples, MaskedFeatures, MaskedTargets, NegativeSamplingParams, Noise, Subsampling, Tables,
    fit,
};

const DIM: usize = 8;

/// A corpus with very different word counts.
fn corpus() -> (Vocabulary, Corpus) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.txt");
    let line = |i: usize| format!("the a{} b{} c{} d{}\n", i % 3, i % 17, i % 101, i * i % 211);
    std::fs::write(&path, (0..600).map(line).collect::<String>()).unwrap();
    let options = CorpusOptions { tokenizer: Tokenizer::whitespace(), min_count: 1, ..CorpusOptions::default() };
    Corpus::read(&[path], &options, &NoObserver).unwrap()
}

fn training() -> NegativeSamplingParams {
    NegativeSamplingParams { epochs: Some(2), negatives: 5, lr: Some(0.1), ..NegativeSamplingParams::default() }
}

/// The rows after training with noise of this power.
fn rows(corpus: &Corpus, vocabulary: &Vocabulary, examples: &impl Examples, power: f64, start: f32) -> Table {
    let noise = Noise::new(vocabulary.counts(), power).unwrap();
    let (n, params) = (vocabulary.len(), training());
    let initial = || {
        let mut source = Table::zeros(n, DIM)?;
        init::uniform_rows(&mut source, 0..n, start, params.seed)?;
        Ok(Tables { source, target: Table::zeros(n, DIM)? })
    };
    fit(corpus, examples, &noise, &params, "", initial, &RunOptions::default()).unwrap().tables.source
}

fn same_bits(a: &Table, b: &Table) -> bool {
    assert_eq!((a.n_rows(), a.dim()), (b.n_rows(), b.dim()));
    (0..a.n_rows()).all(|i| a.row(i).iter().zip(b.row(i)).all(|(a, b)| a.to_bits() == b.to_bits()))
}

fn keep_all(vocabulary: &Vocabulary) -> Subsampling {
    Subsampling::new(vocabulary.counts(), vocabulary.corpus_tokens(), f64::INFINITY, 1).unwrap()
}

/// One row per word, without the target.
struct Words(usize);

impl MaskedFeatures for Words {
    type Drawn = ();

    fn n_rows(&self) -> usize {
        self.0
    }

    fn max_span(&self) -> usize {
        1
    }

    fn draw_into(&self, tokens: &[TokenId], _: &mut Stream, (): &mut (), out: &mut FeatureList) {
        out.clear();
        for (i, token) in tokens.iter().enumerate() {
            out.start_token();
            out.push(RowId(token.0), i);
        }
    }

    fn placeholders(&self, _: &[TokenId], _: usize, (): &(), _: &mut dyn FnMut(RowId)) {}
}

#[test]
fn sent2vec_draws_negatives_by_the_square_root_of_their_counts() {
    let (vocabulary, corpus) = corpus();
    let params = Sent2VecParams {
        dim: DIM,
        min_count: Some(1),
        min_target_count: Some(1),
        subsample: Some(f64::INFINITY),
        word_ngrams: 1,
        placeholder: false,
        training: training(),
        initial_length: None,
        weighting: None,
        unknown_words: UnknownWords::Skip,
        ..Sent2VecParams::default()
    };
    let model = params.fit(vocabulary.clone(), &corpus, &TrainOptions::default()).unwrap().model;
    let n = vocabulary.len();
    let examples = MaskedTargets::new(Words(n), keep_all(&vocabulary), n);
    let with = |power| rows(&corpus, &vocabulary, &examples, power, 1.0 / DIM as f32);
    assert!(same_bits(model.encoder().rows(), &with(0.5)));
    assert!(!same_bits(model.encoder().rows(), &with(0.75)));
}

#[test]
fn word2vec_draws_negatives_by_the_power_three_quarters_of_their_counts() {
    let (vocabulary, corpus) = corpus();
    let params = Word2VecParams {
        dim: DIM,
        min_count: Some(1),
        subsample: Some(f64::INFINITY),
        window: 3,
        training: training(),
        ..Word2VecParams::paper()
    };
    let model = params.fit(vocabulary.clone(), &corpus, &TrainOptions::default()).unwrap().model;
    let examples = ContinuousBagOfWords::new(3, keep_all(&vocabulary), vocabulary.len());
    let with = |power| rows(&corpus, &vocabulary, &examples, power, 0.5 / DIM as f32);
    assert!(same_bits(model.encoder().rows(), &with(0.75)));
    assert!(!same_bits(model.encoder().rows(), &with(0.5)));
}
