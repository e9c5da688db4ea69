//! Weights and common components in averaging models: the equations, files, and text to vectors and back.

use std::path::{Path, PathBuf};

use ndarray::Array2;
use senv::{
    Model, PairSystem, Pp, PpParams, RelatednessParams, Sent2Vec, Sent2VecParams, SiameseCbow, SiameseCbowParams,
    System, TextSystem, TrainOptions, WeightedParams, Word2Vec, Word2VecParams,
    average::{AverageEncoder, UnknownWords, WeightScheme},
    data::{PairData, PairInput, PairKind, PairOptions},
    forms::NegativeSamplingParams,
    gradient::{FitParams, ScoredPairs},
    system::{Averaged, AveragedSystem},
};
use senv_core::{
    Corpus, CorpusOptions, NoObserver, Rows, Scratch, SentenceEncoder, Table, Tokenizer, Vocabulary, kernels,
};
use senv_store::{ModelFile, ModelWriter};
use tempfile::TempDir;

const SENTENCES: [&str; 5] =
    ["the cat sat on the mat", "a dog lay", "rain on the town", "snow", "the zebra and the cat"];

/// Words of different frequencies, in sentences of different lengths.
fn lines() -> Vec<String> {
    let nouns = ["cat", "dog", "town", "mat", "rug", "hill"];
    let rest =
        ["sat on a mat", "lay on the rug and slept", "ran to the quiet town", "saw snow", "heard rain on the hill"];
    let line = |i: usize| {
        format!("the {} {}{}", nouns[i * i % 7 % 6], rest[i * 3 % 5], if i.is_multiple_of(4) { " today" } else { "" })
    };
    (0..150).map(line).collect()
}

struct Text {
    folder: TempDir,
    path: PathBuf,
}

impl Text {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text.txt");
        std::fs::write(&path, lines().join("\n") + "\n").unwrap();
        Self { folder, path }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn corpus(&self, tokenizer: &Tokenizer) -> (Vocabulary, Corpus) {
        let options = CorpusOptions { tokenizer: tokenizer.clone(), min_count: 1, ..CorpusOptions::default() };
        Corpus::read(std::slice::from_ref(&self.path), &options, &NoObserver).unwrap()
    }

    fn sent2vec(&self, word_ngrams: usize, weighting: Option<WeightScheme>) -> Sent2Vec {
        let training = NegativeSamplingParams { epochs: Some(3), lr: Some(0.2), ..NegativeSamplingParams::default() };
        let params = Sent2VecParams {
            dim: 12,
            word_ngrams,
            buckets: Some(500),
            min_count: Some(1),
            min_target_count: Some(1),
            subsample: Some(1e-2),
            weighting,
            training,
            placeholder: true,
            initial_length: None,
            unknown_words: UnknownWords::Skip,
            ..Sent2VecParams::default()
        };
        params.fit_files([&self.path], &TrainOptions::default()).unwrap().model
    }

    fn word2vec(&self, weighting: Option<WeightScheme>) -> Word2Vec {
        let params = Word2VecParams { dim: 12, min_count: Some(1), weighting, ..Word2VecParams::paper() };
        params.fit_files([&self.path], &TrainOptions::default()).unwrap().model
    }

    fn siamese_cbow(&self, weighting: Option<WeightScheme>) -> SiameseCbow {
        let params =
            SiameseCbowParams { dim: 12, min_count: Some(1), weighting, ..SiameseCbowParams::paper().with_adam() };
        params.fit_files([&self.path], &TrainOptions::default()).unwrap().model
    }

    fn pp(&self, weighting: Option<WeightScheme>) -> Pp {
        let input = PairInput { path: self.path.clone(), kind: PairKind::Neighbours, weight: None };
        let data = PairData::read(&[input], &PairOptions::default(), &NoObserver).unwrap();
        let fit = FitParams { epochs: Some(1), batch: 20, ..PpParams::default().fit };
        let params = PpParams { dim: 12, weighting, fit, ..PpParams::default() };
        params.fit(&data, &TrainOptions::default()).unwrap().model
    }
}

fn vectors(encoder: &dyn SentenceEncoder, sentences: &[&str]) -> Array2<f32> {
    encoder.encode_batch(sentences).unwrap().0
}

/// The vector of a sentence by the equations in f64, before components are removed.
fn plain_reference(encoder: &AverageEncoder, scheme: WeightScheme, sentence: &str) -> Vec<f64> {
    let vocabulary = encoder.vocabulary();
    let total = vocabulary.corpus_tokens() as f64;
    let n_words = vocabulary.len() as f64;
    let weight = |token: &str| {
        let p = vocabulary.count(vocabulary.id(token).unwrap()) as f64 / total;
        match scheme {
            WeightScheme::Sif { a } => a / (a + p),
            WeightScheme::Usif { mean_length } => {
                let threshold = 1.0 - (1.0 - 1.0 / n_words).powf(mean_length);
                let n_above = vocabulary.counts().iter().filter(|&&n| n as f64 / total > threshold).count().max(1);
                let alpha = n_above as f64 / n_words;
                let a = (1.0 - alpha) / (alpha * n_words / 2.0);
                a / (a / 2.0 + p)
            }
        }
    };
    let tokens: Vec<String> = encoder.tokenizer().tokens(sentence);
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).filter(|token| vocabulary.id(token).is_some()).collect();
    let mut features: Vec<(f64, usize)> = Vec::new();
    for n in 1..=encoder.features().params().max_n {
        for gram in tokens.windows(n) {
            let ids: Vec<_> = gram.iter().map(|token| vocabulary.id(token).unwrap()).collect();
            let weight = gram.iter().map(|token| weight(token)).fold(f64::INFINITY, f64::min);
            features.push((weight, encoder.features().n_gram_row(&ids).unwrap().index()));
        }
    }
    let value = |row: usize, j: usize| f64::from(encoder.rows().row(row)[j]);
    let dimension = |j: usize| {
        let sum: f64 = features.iter().map(|&(weight, row)| weight * value(row, j)).sum();
        let squares: f64 = features.iter().map(|&(_, row)| value(row, j) * value(row, j)).sum();
        let norm = if matches!(scheme, WeightScheme::Usif { .. }) { squares.sqrt() } else { 1.0 };
        if sum == 0.0 { 0.0 } else { sum / features.len() as f64 / norm }
    };
    (0..encoder.dim()).map(dimension).collect()
}

#[test]
fn sentence_vectors_are_weighted_means_without_common_components_as_the_equations_have_it() {
    let text = Text::new();
    for (scheme, n_components) in [(WeightScheme::SIF, 1), (WeightScheme::Sif { a: 0.1 }, 1), (WeightScheme::USIF, 5)] {
        for word_ngrams in [1, 2, 3] {
            let model = text.sent2vec(word_ngrams, Some(scheme));
            let encoder = model.encoder();
            let components = encoder.weighting().unwrap().components().unwrap();
            assert_eq!(components.lambdas().len(), n_components);
            for sentence in SENTENCES {
                let mut expected = plain_reference(encoder, scheme, sentence);
                for (i, lambda) in components.lambdas().iter().enumerate() {
                    let u = components.vectors().row(i);
                    let along: f64 = u.iter().zip(&expected).map(|(u, x)| f64::from(*u) * x).sum();
                    expected.iter_mut().zip(u).for_each(|(x, u)| *x -= f64::from(*lambda) * along * f64::from(*u));
                }
                let got = vectors(encoder, &[sentence]);
                let largest = expected.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                for (got, expected) in got.iter().zip(&expected) {
                    assert!((f64::from(*got) - expected).abs() < 1e-5 * largest, "{sentence}: {got} {expected}");
                }
            }
        }
    }
}

#[test]
fn the_common_component_is_the_strongest_direction_of_the_weighted_sentences() {
    let text = Text::new();
    for word_ngrams in [1, 2] {
        let model = text.sent2vec(word_ngrams, Some(WeightScheme::SIF));
        let sentences: Vec<Vec<f64>> =
            lines().iter().map(|line| plain_reference(model.encoder(), WeightScheme::SIF, line)).collect();
        // Power iteration, starting from a vector that is not an eigenvector.
        let mut u: Vec<f64> = (0..model.dim()).map(|i| 1.0 + i as f64).collect();
        for _ in 0..2000 {
            let mut next = vec![0.0; u.len()];
            for v in &sentences {
                let along: f64 = v.iter().zip(&u).map(|(a, b)| a * b).sum();
                next.iter_mut().zip(v).for_each(|(next, v)| *next += along * v);
            }
            let norm = next.iter().map(|x| x * x).sum::<f64>().sqrt();
            u = next.iter().map(|x| x / norm).collect();
        }
        let found = model.encoder().weighting().unwrap().components().unwrap().vectors().row(0);
        let cosine: f64 = u.iter().zip(found).map(|(a, b)| a * f64::from(*b)).sum();
        assert!(cosine.abs() > 1.0 - 1e-6, "{cosine}");
    }
}

/// Saves and opens a model. Vectors, weights and parameters must be bit-identical.
fn check_round_trip<P: AveragedSystem>(model: &Averaged<P>, path: &Path, scheme: WeightScheme) {
    model.save(path).unwrap();
    let opened = Averaged::<P>::open(path).unwrap();
    assert_eq!(opened.params(), model.params());
    assert_eq!(*opened.params().clone().weights().0, Some(scheme));
    let weighting = opened.encoder().weighting().unwrap();
    assert_eq!((weighting.scheme(), weighting.words()), (scheme, model.encoder().weighting().unwrap().words()));
    assert!(opened.encoder().rows().is_mapped());
    let unknown: Model = Model::open(path).unwrap();
    assert_eq!(vectors(&opened, &SENTENCES), vectors(model, &SENTENCES));
    assert_eq!(vectors(&unknown, &SENTENCES), vectors(model, &SENTENCES));
    assert_eq!(vectors(&opened, &["unheard of", ""]).iter().filter(|x| **x != 0.0).count(), 0);
}

#[test]
fn every_averaging_system_keeps_its_weights_in_its_file() {
    let text = Text::new();
    let path = text.file("model.senv");
    for scheme in [WeightScheme::SIF, WeightScheme::USIF] {
        for n in [1, 2, 3] {
            check_round_trip(&text.sent2vec(n, Some(scheme)), &path, scheme);
        }
        check_round_trip(&text.word2vec(Some(scheme)), &path, scheme);
        check_round_trip(&text.siamese_cbow(Some(scheme)), &path, scheme);
        check_round_trip(&text.pp(Some(scheme)), &path, scheme);
    }
}

/// Adding weights to an unweighted model gives the weights of training. Rows do not change, and weights can be removed
/// again.
fn check_weighting_afterwards<P: AveragedSystem>(plain: Averaged<P>, trained: &Averaged<P>, corpus: &Corpus) {
    let scheme = *trained.params().clone().weights().0;
    let before = vectors(&plain, &SENTENCES);
    let weighted = plain.clone().with_weighting(scheme, corpus).unwrap();
    assert_eq!(weighted.params(), trained.params());
    assert_eq!(vectors(&weighted, &SENTENCES), vectors(trained, &SENTENCES));
    assert_eq!(weighted.encoder().rows().values(), plain.encoder().rows().values());
    assert_ne!(vectors(&weighted, &SENTENCES), before);
    let texts = plain.clone().with_weighting_on(scheme, &lines()).unwrap();
    assert_eq!(vectors(&texts, &SENTENCES), vectors(trained, &SENTENCES));
    let again = weighted.with_weighting(None, corpus).unwrap();
    assert_eq!((vectors(&again, &SENTENCES), again.params()), (before, plain.params()));
}

#[test]
fn a_trained_model_can_be_given_weights_and_is_then_as_if_trained_with_them() {
    let text = Text::new();
    let (_, corpus) = text.corpus(text.sent2vec(1, None).encoder().tokenizer());
    for scheme in [Some(WeightScheme::SIF), Some(WeightScheme::USIF)] {
        check_weighting_afterwards(text.sent2vec(1, None), &text.sent2vec(1, scheme), &corpus);
        check_weighting_afterwards(text.sent2vec(2, None), &text.sent2vec(2, scheme), &corpus);
        check_weighting_afterwards(text.word2vec(None), &text.word2vec(scheme), &corpus);
        check_weighting_afterwards(text.siamese_cbow(None), &text.siamese_cbow(scheme), &corpus);
    }
}

#[test]
fn word_rows_for_other_systems_carry_no_weights() {
    let text = Text::new();
    let rows = |model: Sent2Vec| Model::from(model).to_embeddings().unwrap();
    let (plain, weighted) = (rows(text.sent2vec(2, None)), rows(text.sent2vec(2, Some(WeightScheme::SIF))));
    assert_eq!(plain.table().values(), weighted.table().values());
}

#[test]
fn weighting_a_model_of_bigrams_by_a_text_keeps_its_n_grams() {
    let text = Text::new();
    for n in [1, 2] {
        let base = Model::from(text.sent2vec(n, None));
        let weighted = WeightedParams::sif().fit_files(&base, [&text.path], &TrainOptions::default()).unwrap();
        // The text is the same, so counts and components equal those of training with weights.
        let trained = text.sent2vec(n, Some(WeightScheme::SIF));
        assert_eq!(vectors(&weighted, &SENTENCES), vectors(&trained, &SENTENCES));
        let path = text.file("weighted.senv");
        weighted.save(&path).unwrap();
        let opened = Model::open(&path).unwrap();
        assert_eq!((opened.kind(), vectors(&opened, &SENTENCES)), ("weighted", vectors(&trained, &SENTENCES)));
        let rows_of_words = opened.vocabulary().len();
        assert_eq!(opened.rows().unwrap().n_rows(), if n == 1 { rows_of_words } else { 1 + rows_of_words + 500 });
    }
}

#[test]
fn a_weighted_model_whose_kind_had_another_name_opens() {
    let text = Text::new();
    let base = Model::from(text.word2vec(None));
    let weighted = WeightedParams::sif().fit_files(&base, [&text.path], &TrainOptions::default()).unwrap();
    let (path, former) = (text.file("weighted.senv"), text.file("former.senv"));
    weighted.save(&path).unwrap();
    let file = ModelFile::open(&path).unwrap();
    let vocabulary = file.vocabulary().unwrap();
    let (mut tables, mut lists) = (Vec::new(), Vec::new());
    for (name, _, shape, _) in file.tensors().filter(|(_, dtype, ..)| *dtype == "F32") {
        match shape.len() {
            2 => tables.push((name, file.table(name).unwrap())),
            _ => lists.push((name, file.f32s(name).unwrap())),
        }
    }
    let writer = ModelWriter::new("weighted-average").config(file.config().unwrap()).vocabulary(&vocabulary);
    let writer = tables.iter().fold(writer, |writer, (name, table)| writer.table(name, table));
    let writer = lists.iter().fold(writer, |writer, (name, values)| writer.f32s(name, values));
    writer.save(&former).unwrap();
    assert_eq!(ModelFile::open(&former).unwrap().kind(), "weighted-average");
    let opened = Model::open(&former).unwrap();
    assert_eq!((opened.kind(), vectors(&opened, &SENTENCES)), ("weighted", vectors(&weighted, &SENTENCES)));
}

#[test]
fn damaged_weights_and_components_are_refused_by_name() {
    let text = Text::new();
    let (path, model) = (text.file("bad.senv"), text.word2vec(Some(WeightScheme::SIF)));
    let config = serde_json::to_string(model.params()).unwrap();
    let weighting = model.encoder().weighting().unwrap();
    let (weights, n) = (weighting.words().to_vec(), model.encoder().vocabulary().len());
    let component = weighting.components().unwrap().vectors().row(0).to_vec();
    let save = |weights: Option<&[f32]>, vectors: Option<Vec<f32>>, dim: usize, lambdas: &[f32]| {
        let table = vectors.map(|vectors| Table::from_vec(vectors.len() / dim, dim, vectors).unwrap());
        let encoder = model.encoder();
        let mut writer = ModelWriter::new("word2vec").config(&config).vocabulary(encoder.vocabulary());
        writer = writer.table("rows", encoder.rows());
        if let Some(weights) = weights {
            writer = writer.f32s("word_weights", weights);
        }
        if let Some(table) = &table {
            writer = writer.table("common_components.vectors", table).f32s("common_components.lambdas", lambdas);
        }
        writer.save(&path).unwrap();
        Model::open(&path).map(drop).map_err(|error| error.to_string())
    };
    let one = [1.0];
    save(Some(&weights), Some(component.clone()), 12, &one).unwrap();
    let refused = |result: Result<(), String>, name: &str| {
        let message = result.unwrap_err();
        assert!(message.contains(name) && message.contains("bad.senv"), "{message}");
    };
    refused(save(None, Some(component.clone()), 12, &one), "word_weights");
    refused(save(Some(&weights[1..]), Some(component.clone()), 12, &one), &format!("{} weights for {n}", n - 1));
    refused(save(Some(&weights), None, 12, &one), "common_components.vectors");
    refused(save(Some(&weights), Some(component[1..].to_vec()), 11, &one), "common_components.vectors");
    refused(save(Some(&weights), Some(vec![0.5; 12]), 12, &one), "common_components.vectors");
    refused(save(Some(&weights), Some(component.clone()), 12, &[2.0]), "common_components.lambdas");
    let mut broken = weights.clone();
    broken[3] = f32::NAN;
    refused(save(Some(&broken), Some(component.clone()), 12, &one), "word_weights");

    // The checksum of the components detects a changed byte.
    save(Some(&weights), Some(component.clone()), 12, &one).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let needle = component[4].to_le_bytes();
    let at = bytes.windows(4).position(|window| window == needle).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    refused(Model::open(&path).map(drop).map_err(|error| error.to_string()), "common_components.vectors");
}

#[test]
fn weights_that_cannot_be_are_refused_before_training() {
    let text = Text::new();
    for a in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let params = Word2VecParams { weighting: Some(WeightScheme::Sif { a }), ..Word2VecParams::paper() };
        assert!(params.check().unwrap_err().to_string().starts_with("sif_a must be finite and above 0"), "{a}");
    }
    let params = PpParams { weighting: Some(WeightScheme::Usif { mean_length: 0.5 }), ..PpParams::default() };
    assert!(params.check().is_err());
    // A vocabulary without counts, as with word vectors.
    let (counted, corpus) = text.corpus(&Tokenizer::words().lowercase(true));
    let uncounted = Vocabulary::from_counts(counted.iter().map(|(_, word, _)| (word, 0)), 0).unwrap();
    let params = SiameseCbowParams { dim: 4, weighting: Some(WeightScheme::SIF), ..SiameseCbowParams::paper() };
    let error = params.fit(uncounted, &corpus, &TrainOptions::default()).unwrap_err().to_string();
    assert!(error.contains("no counts"), "{error}");
}

#[test]
fn encoding_with_weights_leaves_no_trace_of_the_sentence_before() {
    let text = Text::new();
    let model = text.sent2vec(2, Some(WeightScheme::USIF));
    let mut scratch = Scratch::default();
    for sentence in SENTENCES.iter().chain(&SENTENCES[..2]) {
        let (mut warm, mut cold) = (vec![7.0; 12], vec![0.0; 12]);
        model.encode_into(sentence, &mut scratch, &mut warm);
        model.encode_into(sentence, &mut Scratch::default(), &mut cold);
        assert_eq!(warm, cold);
    }
}

#[test]
fn tuning_starts_from_the_weighted_row_of_each_word() {
    let text = Text::new();
    let dev = text.file("dev.tsv");
    std::fs::write(&dev, "5\tthe cat sat\tthe cat sat\n1\ta dog lay\tsnow\n3\tthe mat\tthe rug\n").unwrap();
    let pairs = ScoredPairs::read(&dev).unwrap();
    let fit = FitParams { epochs: Some(1), lr: Some(1e-9), ..RelatednessParams::default().fit };
    let params = RelatednessParams { fit, ..RelatednessParams::default() };
    // In Sent2Vec, the row of the placeholder comes before the words.
    for weighting in [None, Some(WeightScheme::Sif { a: 0.01 })] {
        let base = text.sent2vec(1, weighting);
        let tuned = params.fit(&Model::from(base.clone()), &pairs, &TrainOptions::default()).unwrap().model;
        let tuned = Model::from(tuned);
        let mut scales = Vec::new();
        for (i, (_, _, row)) in base.encoder().words().enumerate() {
            let weight = base.encoder().weighting().map_or(1.0, |weighting| weighting.words()[i]);
            assert!(kernels::cosine(row, tuned.rows().unwrap().row(i)) > 0.9999, "word {i}");
            scales.push(kernels::norm(tuned.rows().unwrap().row(i)) / kernels::norm(row) / weight);
        }
        assert!(scales.iter().all(|scale| (scale / scales[0] - 1.0).abs() < 1e-3), "{scales:?}");
    }
}
