//! Systems trained by negative sampling, starting from given word vectors.

use std::path::PathBuf;

use senv::{
    CheckpointPlan, Error, Model, PvDbowParams, Sent2Vec, Sent2VecParams, TextSystem, TrainOptions, Trained,
    Word2VecParams, forms::NegativeSamplingParams, system::InitialVectorReport,
};
use senv_core::{Corpus, CorpusOptions, NoObserver, Observer, SentenceEncoder, Table, Vocabulary, kernels};
use senv_store::Embeddings;
use tempfile::TempDir;

const DIM: usize = 4;

/// A text in which "hat" is new, and without "dog", which the vectors contain.
fn text() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.txt");
    std::fs::write(&path, "the cat sat on the mat\na hat lay on the mat\n".repeat(40)).unwrap();
    (folder, path)
}

fn vectors() -> Embeddings {
    let words = ["dog", "cat", "mat", "the"];
    let vocabulary = Vocabulary::from_counts(words.map(|word| (word, 0)), 0).unwrap();
    let values = (0..words.len() * DIM).map(|i| (i as f32 - 7.5) / 4.0).collect();
    Embeddings::new(vocabulary, Table::from_vec(words.len(), DIM, values).unwrap()).unwrap()
}

/// The corpus of the text, in which the words of the vectors are kept.
fn corpus() -> (Vocabulary, Corpus) {
    let keep = vectors().vocabulary().iter().map(|(_, word, _)| word.to_owned()).collect();
    let options = CorpusOptions { min_count: 1, keep, ..CorpusOptions::default() };
    let (_folder, path) = text();
    Corpus::read(&[path], &options, &NoObserver).unwrap()
}

/// The learning rate is so low that no value changes by more than a millionth.
fn training() -> NegativeSamplingParams {
    NegativeSamplingParams { lr: Some(1e-9), epochs: Some(1), ..NegativeSamplingParams::default() }
}

fn sent2vec(word_ngrams: usize) -> Sent2VecParams {
    let params =
        Sent2VecParams { dim: DIM, word_ngrams, buckets: Some(100), min_count: Some(1), ..Sent2VecParams::default() };
    let params = Sent2VecParams { min_target_count: Some(1), subsample: Some(1.0), training: training(), ..params };
    Sent2VecParams { placeholder: true, initial_length: None, weighting: None, ..params }
}

fn from(vectors: &Embeddings) -> TrainOptions<'_> {
    TrainOptions { vectors: Some(vectors), ..Default::default() }
}

fn start(params: &Sent2VecParams) -> Model {
    let (vocabulary, corpus) = corpus();
    let trained = params.fit(vocabulary, &corpus, &from(&vectors())).unwrap();
    Model::from(trained.model)
}

/// All three systems, starting from the vectors.
fn started() -> Vec<Model> {
    let (training, subsample) = (training(), Some(1.0));
    let word2vec = Word2VecParams { dim: DIM, min_count: Some(1), subsample, training, ..Word2VecParams::paper() };
    let pv_dbow = PvDbowParams {
        dim: DIM,
        min_count: Some(1),
        subsample,
        training: word2vec.training.clone(),
        ..PvDbowParams::large_text()
    };
    let (vectors, (vocabulary, corpus)) = (vectors(), corpus());
    let word2vec = word2vec.fit(vocabulary.clone(), &corpus, &from(&vectors)).unwrap().model;
    let pv_dbow = pv_dbow.fit(vocabulary, &corpus, &from(&vectors)).unwrap().model;
    vec![start(&sent2vec(1)), start(&sent2vec(2)), Model::from(word2vec), Model::from(pv_dbow)]
}

fn spread(row: &[f32]) -> f32 {
    kernels::norm(row) / (row.len() as f32).sqrt()
}

#[test]
fn known_words_start_from_their_vectors_and_new_words_are_drawn_as_long() {
    for model in started() {
        let words = model.to_embeddings().unwrap();
        for word in ["dog", "cat", "mat", "the"] {
            let (got, expected) = (words.get(word).unwrap(), vectors().get(word).unwrap().to_vec());
            let far = got.iter().zip(&expected).any(|(x, y)| (x - y).abs() > 1e-5);
            assert!(!far, "{}: {word:?} is {got:?} instead of {expected:?}", model.kind());
        }
        assert_eq!(words.table().n_rows(), 9, "dog, and the eight words of the text");
        let drawn = spread(words.get("hat").unwrap());
        assert!((0.2..3.0).contains(&drawn), "{}: {drawn}", model.kind());
    }
}

#[test]
fn words_that_the_text_lacks_still_encode() {
    for model in started() {
        let (vector, coverage) = model.encode_batch(&["dog"]).unwrap();
        assert_eq!((coverage[0].known, coverage[0].tokens), (1, 1), "{}", model.kind());
        if model.kind() != "pv-dbow" {
            let vector = vector.row(0).to_vec();
            let expected = vectors().get("dog").unwrap().to_vec();
            assert!(vector.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-5), "{vector:?}");
        }
    }
}

#[test]
fn n_grams_start_anew() {
    let model = start(&sent2vec(2));
    let model: &Sent2Vec = model.downcast_ref().unwrap();
    let encoder = model.encoder();
    let rows = (0..encoder.features().n_tokens() + 1).map(|row| encoder.rows().iter().nth(row).unwrap().to_vec());
    assert!(rows.flatten().any(|x| x.abs() > 0.1));
    let buckets = encoder.rows().iter().skip(encoder.features().n_tokens() + 1);
    assert!(buckets.flatten().all(|x| x.abs() < 1e-5));
}

#[test]
fn training_goes_on_from_the_vectors() {
    let moved = Sent2VecParams {
        training: NegativeSamplingParams { epochs: Some(5), ..NegativeSamplingParams::default() },
        ..sent2vec(1)
    };
    let words = start(&moved).to_embeddings().unwrap();
    let far = |word: &str| {
        let (now, before) = (words.get(word).unwrap().to_vec(), vectors().get(word).unwrap().to_vec());
        now.iter().zip(&before).any(|(x, y)| (x - y).abs() > 1e-2)
    };
    assert!(far("cat") && far("mat") && !far("dog"), "a word that the text lacks does not move");
}

#[test]
fn another_dimension_is_an_error_that_names_both() {
    let (vectors, (vocabulary, corpus)) = (vectors(), corpus());
    let wider = Sent2VecParams { dim: 7, ..sent2vec(1) };
    let error = wider.fit(vocabulary, &corpus, &from(&vectors)).unwrap_err().to_string();
    assert!(error.contains("initial vectors") && error.contains('7') && error.contains('4'), "{error}");
}

#[test]
fn found_words_are_counted() {
    assert_eq!(InitialVectorReport::count(&corpus().0, &vectors()), InitialVectorReport { words: 9, found: 4 });
}

#[test]
fn a_checkpoint_of_other_vectors_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let run = |vectors: Option<&Embeddings>, resume: bool, observer: &dyn Observer| {
        // Training would take hours if it were not stopped.
        let training =
            NegativeSamplingParams { epochs: Some(10_000_000), lr: Some(0.01), ..NegativeSamplingParams::default() };
        let (vocabulary, corpus) = corpus();
        let checkpoint = Some(CheckpointPlan { path: folder.path().join("c"), every: None, resume });
        let options = TrainOptions { checkpoint, observer, vectors, ..Default::default() };
        Sent2VecParams { training, ..sent2vec(1) }
            .fit(vocabulary, &corpus, &options)
            .map(|_: Trained<_>| panic!("it takes hours"))
            .or_else(|error| if error.is_interrupted() { Ok(true) } else { Err(error) })
    };
    struct Stops;
    impl Observer for Stops {
        fn progress(&self, _: &senv_core::Progress) -> senv_core::Control {
            senv_core::Control::Stop
        }
    }
    assert!(run(Some(&vectors()), false, &Stops).unwrap(), "interrupted");
    let error = run(None, true, &Stops).unwrap_err();
    assert!(matches!(&error, Error::Training(error) if error.to_string().contains("parameters")), "{error}");
    assert!(run(Some(&vectors()), true, &Stops).unwrap());
}
