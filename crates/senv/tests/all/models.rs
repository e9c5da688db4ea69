//! The models from text to vectors, through files and back.

use std::path::{Path, PathBuf};

use senv::{
    Architecture, Error, Model, NgramStart, Preset, PvDbow, PvDbowParams, Sent2Vec, Sent2VecParams, SiameseCbow,
    SkipThoughtParams, System, TextSystem, TrainOptions, Word2Vec, Word2VecParams, average::UnknownWords,
    data::TextSize,
};
use senv_core::{Rows, Scratch, SentenceEncoder, SentenceEncoderExt, Tokenizer, text::Normalization};
use senv_negative_sampling::{NegativeSamplingParams, NegativeSharing, TextOrder};
use senv_ngram::{DropoutScheme, NgramScheme};
use tempfile::TempDir;

use crate::write_anew;

fn folder_with_text() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.txt");
    let lines =
        ["the cat sat on the mat", "a dog lay on the rug", "rain fell on the quiet town", "snow fell on the hills"];
    std::fs::write(&path, (lines.join("\n") + "\n").repeat(30)).unwrap();
    (folder, path)
}

fn sent2vec(word_ngrams: usize) -> Sent2VecParams {
    Sent2VecParams {
        dim: 20,
        word_ngrams,
        buckets: Some(500),
        min_count: Some(1),
        min_target_count: Some(1),
        subsample: Some(1e-2),
        training: NegativeSamplingParams { epochs: Some(3), lr: Some(0.2), ..NegativeSamplingParams::default() },
        placeholder: true,
        initial_length: None,
        weighting: None,
        unknown_words: UnknownWords::Skip,
        ..Sent2VecParams::default()
    }
}

fn train(params: &Sent2VecParams, text: &Path) -> Sent2Vec {
    params.fit_files([text], &TrainOptions::default()).unwrap().model
}

fn vector(model: &dyn SentenceEncoder, sentence: &str) -> Vec<f32> {
    let mut out = vec![f32::NAN; model.dim()];
    model.encode_into(sentence, &mut Scratch::default(), &mut out);
    out
}

#[test]
fn a_sentence_is_the_mean_of_its_words_and_bigrams() {
    let (_folder, text) = folder_with_text();
    let model = train(&sent2vec(2), &text);
    let encoder = model.encoder();
    let ids: Vec<_> = ["the", "cat", "sat"].map(|w| encoder.vocabulary().id(w).unwrap()).into();
    let mut rows: Vec<usize> = ids.iter().map(|&id| encoder.features().token_row(id).index()).collect();
    rows.extend(ids.windows(2).map(|pair| encoder.features().n_gram_row(pair).unwrap().index()));
    let got = vector(&model, "The cat, unheard of, sat");
    // The comma is also unknown: n-grams bridge dropped tokens.
    for (j, got) in got.iter().enumerate() {
        let mean = rows.iter().map(|&r| encoder.rows().row(r)[j]).sum::<f32>() / rows.len() as f32;
        assert!((got - mean).abs() < 1e-5 * (1.0 + mean.abs()), "{got} {mean}");
    }
}

#[test]
fn unknown_sentences_are_zero_and_say_so() {
    let (_folder, text) = folder_with_text();
    let model = train(&sent2vec(1), &text);
    let mut out = vec![1.0; 20];
    let coverage = model.encode_into("zebra xylophone", &mut Scratch::default(), &mut out);
    assert!(coverage.is_empty() && coverage.tokens == 2);
    assert_eq!(out, [0.0; 20]);
    assert_eq!(model.similarity("zebra", "the cat"), 0.0);
}

#[test]
fn every_kind_of_model_reads_back_to_the_same_vectors() {
    let (folder, text) = folder_with_text();
    let options = TrainOptions::default();
    let training =
        NegativeSamplingParams { epochs: Some(2), lr: Some(0.2), negatives: 5, ..NegativeSamplingParams::default() };
    let path = |name: &str| folder.path().join(name);
    let sentences = ["the cat sat", "rain fell on the town", "zebra", ""];
    let check = |original: &dyn SentenceEncoder, file: &Path, kind: &str| {
        let opened = Model::open(file).unwrap();
        assert_eq!((opened.kind(), opened.dim()), (kind, original.dim()));
        assert!(opened.rows().unwrap().is_mapped());
        for sentence in sentences {
            assert_eq!(vector(original, sentence), vector(&opened, sentence), "{kind}: {sentence}");
        }
    };
    for n in [1, 2, 3] {
        for placeholder in [true, false] {
            let params = Sent2VecParams { placeholder, ngram_start: NgramStart::Uniform, ..sent2vec(n) };
            let model = train(&params, &text);
            model.save(path("s2v")).unwrap();
            check(&model, &path("s2v"), "sent2vec");
            let opened = Sent2Vec::open(path("s2v")).unwrap();
            assert_eq!(opened.params(), model.params());
            assert_eq!((opened.params().placeholder, opened.params().word_ngrams), (placeholder, params.word_ngrams));
        }
    }
    for architecture in [Architecture::Cbow, Architecture::SkipGram] {
        let params = Word2VecParams {
            dim: 12,
            architecture,
            min_count: Some(1),
            training: training.clone(),
            ..Default::default()
        };
        let model = params.fit_files([&text], &options).unwrap().model;
        model.save(path("w2v")).unwrap();
        check(&model, &path("w2v"), "word2vec");
        let opened = Word2Vec::open(path("w2v")).unwrap();
        assert_eq!(opened.params(), model.params());
        assert_eq!((opened.params().architecture, &opened.params().training), (architecture, &training));
    }
    let params = PvDbowParams { dim: 12, min_count: Some(1), training: training.clone(), ..Default::default() };
    let model = params.fit_files([&text], &options).unwrap().model;
    model.save(path("dbow")).unwrap();
    check(&model, &path("dbow"), "pv-dbow");
    let opened = PvDbow::open(path("dbow")).unwrap();
    assert_eq!(opened.params(), model.params());
    assert_eq!(opened.params().training, training);
}

#[test]
fn the_same_seed_makes_the_same_file_at_any_number_of_threads() {
    let (folder, text) = folder_with_text();
    let files: Vec<Vec<u8>> = [1, 2, 5]
        .map(|threads| {
            let path = folder.path().join(format!("model{threads}"));
            let options = TrainOptions { threads, ..Default::default() };
            sent2vec(2).fit_files([&text], &options).unwrap().model.save(&path).unwrap();
            std::fs::read(path).unwrap()
        })
        .into();
    assert!(files[0] == files[1] && files[0] == files[2]);
}

#[test]
fn a_batch_is_its_sentences_in_order() {
    let (_folder, text) = folder_with_text();
    let model = train(&sent2vec(2), &text);
    let sentences: Vec<String> = (0..300).map(|i| format!("the cat sat {}", ["on", "rain", "hills"][i % 3])).collect();
    let batch = model.encode(&sentences).unwrap();
    for (sentence, row) in sentences.iter().zip(batch.rows()) {
        assert_eq!(row.to_vec(), vector(&model, sentence));
    }
    assert_eq!(model.encode::<&str>(&[]).unwrap().dim(), (0, 20));
}

#[test]
fn word_vectors_of_other_programs_become_an_encoder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vectors.txt");
    std::fs::write(&path, "2 3\ncat 1 2 3\nsat 3 2 1\n").unwrap();
    let model = Model::open(&path).unwrap();
    assert_eq!(vector(&model, "Cat sat"), [2.0, 2.0, 2.0]);
    let words = model.to_embeddings().unwrap();
    assert_eq!(words.get("sat"), Some([3.0, 2.0, 1.0].as_slice()));
}

#[test]
fn words_leave_a_model_without_its_placeholder() {
    let (_folder, text) = folder_with_text();
    let model = train(&sent2vec(2), &text);
    let row = model.encoder().word("cat").unwrap().to_vec();
    assert_eq!(row, vector(&model, "cat"));
    let (folder, path) = folder_with_text();
    model.save(folder.path().join("m")).unwrap();
    let words = Model::open(folder.path().join("m")).unwrap().to_embeddings().unwrap();
    assert_eq!(words.get("cat"), Some(row.as_slice()));
    assert_eq!(words.len(), model.encoder().vocabulary().len());
    drop(path);
}

#[test]
fn parameters_out_of_range_are_named() {
    let bad = |change: &dyn Fn(&mut Sent2VecParams)| {
        let mut params = Sent2VecParams::default();
        change(&mut params);
        params.check().unwrap_err().to_string()
    };
    assert!(bad(&|p| p.dim = 0).contains("dim must be from 1 to 65536, got 0"));
    assert!(bad(&|p| p.dim = 65_537).contains("dim"));
    assert!(bad(&|p| p.word_ngrams = 0).contains("word_ngrams must be from 1 to 255, got 0"));
    assert!(bad(&|p| p.training.lr = Some(f32::NAN)).contains("lr must be finite and above 0, got NaN"));
    assert!(bad(&|p| p.subsample = Some(0.0)).contains("subsample must be above 0"));
    assert!(bad(&|p| p.subsample = Some(f64::NAN)).contains("subsample"));
    assert!(bad(&|p| (p.word_ngrams, p.buckets) = (2, Some(0))).contains("buckets must be at least 1"));
    assert!(Word2VecParams { window: 0, ..Default::default() }.check().is_err());
    assert!(PvDbowParams { dim: 0, ..Default::default() }.check().is_err());
}

/// The settings with a name, and the default ones, of a system.
fn normalizations<S: System>() -> (Normalization, Vec<(&'static str, Normalization)>) {
    let of = |mut params: S| params.common().tokenizer.normalization();
    (of(S::default()), S::NAMED_SETTINGS.iter().map(|named| (named.name, of((named.settings)()))).collect())
}

macro_rules! check_normalizations {
    ($($params:ident),+ $(,)?) => { $(
        let (default, named) = normalizations::<senv::$params>();
        assert_eq!(default, Normalization::Typing, "{}", stringify!($params));
        for (name, normalization) in named {
            // No paper prints settings for large text.
            let expected = if name == "large-text" { Normalization::Typing } else { Normalization::None };
            assert_eq!(normalization, expected, "{} {name}", stringify!($params));
        }
    )+ };
}

#[test]
fn defaults_normalize_text_and_settings_of_papers_leave_it() {
    senv::text_systems!(check_normalizations);
    senv::pair_systems!(check_normalizations);
    senv::running_text_systems!(check_normalizations);
    check_normalizations!(SnliParams, PThoughtParams, DictRepParams, CaptionRepParams, StudentParams);
    assert_eq!(senv::RandomBowParams::default().tokenizer.normalization(), Normalization::Typing);
}

/// Table 5 in appendix A of Pagliardini, Gupta and Jaggi, 2018, row by row. Models of unigrams drop no bigrams.
#[test]
fn presets_are_the_published_settings() {
    // n, dimension, minimum counts of words and of targets, epochs, subsampling, dropped bigrams
    let published = [
        (Preset::BooksUni, (1, 700, 5, 8, 13, 1e-5, 0)),
        (Preset::BooksBi, (2, 700, 5, 5, 12, 5e-6, 7)),
        (Preset::BooksBiL1, (2, 700, 5, 5, 12, 5e-6, 7)),
        (Preset::WikiUni, (1, 600, 8, 20, 9, 1e-5, 0)),
        (Preset::WikiBi, (2, 700, 8, 20, 9, 5e-6, 4)),
        (Preset::WikiBiL1, (2, 700, 8, 20, 9, 5e-6, 4)),
        (Preset::TwitterUni, (1, 700, 20, 20, 3, 1e-6, 0)),
        (Preset::TwitterBi, (2, 700, 20, 20, 3, 1e-6, 3)),
    ];
    for (preset, settings) in published {
        let p = Sent2VecParams::preset(preset);
        let ours = (p.word_ngrams, p.dim, p.min_count, p.min_target_count, p.training.epochs, p.subsample, p.dropout);
        let (n, dim, min_count, min_target, epochs, subsample, dropout) = settings;
        let settings = (n, dim, Some(min_count), Some(min_target), Some(epochs), Some(subsample), dropout);
        assert_eq!(ours, settings, "{preset:?}");
        assert_eq!((p.training.lr, p.training.negatives), (Some(0.2), 10), "{preset:?}");
        // From appendix B; table 5 does not state it.
        let l1 = if matches!(preset, Preset::BooksBiL1 | Preset::WikiBiL1) { 5e-4 } else { 0.0 };
        assert_eq!(p.training.l1, l1, "{preset:?}");
        p.check().unwrap();
        // The models were trained with the authors' program, so the rest is its default, except that the text was
        // already tokenized.
        let release = Sent2VecParams::preset(Preset::Release);
        let training =
            NegativeSamplingParams { epochs: p.training.epochs, lr: p.training.lr, l1, ..release.training.clone() };
        let rest = Sent2VecParams {
            dim: p.dim,
            word_ngrams: p.word_ngrams,
            min_count: p.min_count,
            min_target_count: p.min_target_count,
            subsample: p.subsample,
            dropout: p.dropout,
            tokenizer: p.tokenizer.clone(),
            training,
            ..release
        };
        assert_eq!(p, rest, "{preset:?}");
    }
}

/// `src/args.cc` of epfml/sent2vec (9efbc2d) for `fasttext sent2vec` without options, and the behavior of
/// `dictionary.cc`, `fasttext.cc` and `matrix.cc`.
#[test]
fn the_release_preset_is_the_program_without_options() {
    let p = Sent2VecParams::preset(Preset::Release);
    let counts = (p.dim, p.word_ngrams, p.min_count, p.min_target_count, p.buckets, p.dropout);
    assert_eq!(counts, (100, 1, Some(5), Some(0), Some(2_000_000), 2));
    let NegativeSamplingParams { epochs, lr, negatives, negatives_shared, text_order, l1, .. } = p.training;
    assert_eq!((epochs, lr, negatives, p.subsample, l1), (Some(5), Some(0.05), 10, Some(1e-4), 0.0));
    assert_eq!((negatives_shared, text_order), (NegativeSharing::None, TextOrder::Given));
    assert_eq!((p.dropout_scheme, p.hashing), (DropoutScheme::Release, NgramScheme::TokenIds));
    assert_eq!((p.placeholder, p.ngram_start, p.initial_length), (true, NgramStart::Uniform, None));
    assert_eq!((p.tokenizer, p.weighting), (Tokenizer::whitespace().lowercase(false), None));
    assert_eq!(p.unknown_words, UnknownWords::Skip);
}

/// As printed in the paper: equation 4 with R(S \ {w}), sections 2.2 and 2.4, table 5.
#[test]
fn the_paper_preset_is_the_method_as_printed() {
    let p = Sent2VecParams::preset(Preset::Paper);
    let books = Sent2VecParams::preset(Preset::BooksUni);
    assert_eq!((p.placeholder, p.dropout_scheme, p.dropout), (false, DropoutScheme::Paper, 7));
    assert_eq!((p.hashing, p.training.text_order), (NgramScheme::TokenHashes, TextOrder::Shuffled));
    assert_eq!(p.training.negatives_shared, NegativeSharing::None);
    let (placeholder, dropout_scheme, dropout, hashing) = (true, DropoutScheme::Release, 0, NgramScheme::TokenIds);
    let training = NegativeSamplingParams { text_order: TextOrder::Given, ..p.training.clone() };
    assert_eq!(books, Sent2VecParams { placeholder, dropout_scheme, dropout, hashing, training, ..p });
}

#[test]
fn dropout_of_the_release_is_drawn_for_each_target_and_leaves_words_alone() {
    let (_folder, text) = folder_with_text();
    let rows = |dropout_scheme, dropout, word_ngrams| {
        let params = Sent2VecParams { dropout_scheme, dropout, ..sent2vec(word_ngrams) };
        train(&params, &text).encoder().rows().values().to_vec()
    };
    use DropoutScheme::{Paper, Release, Tokens};
    // Without anything to drop, all schemes are the same.
    for scheme in [Tokens, Paper] {
        assert_eq!(rows(Release, 0, 2), rows(scheme, 0, 2));
        assert_eq!(rows(Release, 2, 1), rows(scheme, 2, 1));
    }
    assert_ne!(rows(Release, 2, 2), rows(Tokens, 2, 2));
    assert_ne!(rows(Release, 2, 2), rows(Paper, 2, 2));
    assert_ne!(rows(Release, 2, 2), rows(Release, 0, 2));
}

#[test]
fn damaged_and_foreign_files_are_errors_and_never_a_panic() {
    let (folder, text) = folder_with_text();
    let path = folder.path().join("model");
    train(&Sent2VecParams { dim: 2, buckets: Some(3), ..sent2vec(2) }, &text).save(&path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged");
    let rows = whole.len() - Sent2Vec::open(&path).unwrap().encoder().rows().values().len() * 4;
    for end in 0..whole.len() {
        write_anew(&damaged, &whole[..end]);
        assert!(Model::open(&damaged).is_err(), "cut at byte {end}");
    }
    for i in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[i] ^= 1 << (i % 8);
        write_anew(&damaged, &bytes);
        // Opening finds damage outside the rows, and `ModelFile::verify` finds damage inside them.
        match Model::open(&damaged) {
            Ok(model) => {
                let mut out = vec![0.0; model.dim()];
                model.encode_into("the cat sat", &mut Scratch::default(), &mut out);
                assert!(i >= rows.min(whole.len() / 4), "byte {i} of {}", whole.len());
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    std::fs::write(&damaged, b"\x89PNG\r\n\x1a\n and so on").unwrap();
    assert!(Model::open(&damaged).is_err());
    assert!(Model::open(folder.path().join("nowhere")).is_err());
    assert!(
        matches!(Word2Vec::open(&path), Err(Error::Core(senv_core::Error::WrongKind { .. }))),
        "a model of a different kind"
    );
}

#[test]
fn the_tokenizer_travels_with_the_model() {
    let (folder, text) = folder_with_text();
    let params = Sent2VecParams { tokenizer: Tokenizer::whitespace().lowercase(false), ..sent2vec(1) };
    let model = train(&params, &text);
    model.save(folder.path().join("m")).unwrap();
    let opened = Model::open(folder.path().join("m")).unwrap();
    assert_eq!(vector(&opened, "Cat"), [0.0; 20]);
    assert_ne!(vector(&opened, "cat"), [0.0; 20]);
}

#[test]
fn text_decides_the_number_of_buckets_where_nothing_was_said() {
    let (folder, text) = folder_with_text();
    let fit = |word_ngrams, buckets| {
        let params = Sent2VecParams { dim: 4, word_ngrams, buckets, min_count: Some(1), ..Sent2VecParams::default() };
        params.fit_files([&text], &TrainOptions::default()).unwrap().model
    };
    let model = fit(2, None);
    assert_eq!(model.params().buckets, Some(1000), "the text has fewer than a thousand bigrams");
    assert_eq!(model.encoder().rows().n_rows(), model.encoder().vocabulary().len() + 1000);
    assert_eq!(vector(&model, "the cat sat"), vector(&fit(2, Some(1000)), "the cat sat"));
    let path = folder.path().join("m.senv");
    model.save(&path).unwrap();
    assert_eq!(Sent2Vec::open(&path).unwrap().params(), model.params());
    assert_eq!(fit(1, None).encoder().rows().n_rows(), model.encoder().vocabulary().len());
    assert_eq!(Sent2VecParams::preset(Preset::WikiBi).buckets, Some(2_000_000));
}

/// With a memory map, this test would end with SIGBUS when the file gets shorter.
#[test]
fn a_model_that_was_copied_does_not_follow_its_file() {
    let (folder, text) = folder_with_text();
    let path = folder.path().join("m.senv");
    train(&sent2vec(1), &text).save(&path).unwrap();
    let expected = vector(&Model::open(&path).unwrap(), "the cat sat");
    let copies = [false, true].map(|verify| Model::open_copied(&path, verify).unwrap());
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(100).unwrap();
    for copy in copies {
        assert_eq!(vector(&copy, "the cat sat"), expected);
    }
    assert!(Model::open_copied(&path, false).is_err());
}

/// The same sentences, from memory and from a file.
#[test]
fn sentences_in_memory_give_the_bits_of_a_file_with_these_lines() {
    let (_folder, text) = folder_with_text();
    let lines = std::fs::read_to_string(&text).unwrap();
    let sentences = || lines.lines();
    assert_eq!(TextSize::of_sentences(sentences()), TextSize::of_files(&[&text]));
    let vectors = |model: &dyn SentenceEncoder| model.encode(&["the cat sat", "a dog"]).unwrap();
    let params = sent2vec(1);
    assert_eq!(vectors(&params.train_sentences(sentences()).unwrap()), vectors(&params.train(&text).unwrap()));
    assert_eq!(vectors(&Sent2Vec::train_sentences(sentences()).unwrap()), vectors(&Sent2Vec::train(&text).unwrap()));
    assert_eq!(vectors(&senv::train_sentences(sentences()).unwrap()), vectors(&senv::train(&text).unwrap()));
}

#[test]
fn errors_of_sentences_in_memory_name_no_file() {
    let none: [&str; 0] = [];
    for sentences in [&none[..], &["", " "]] {
        let errors = [
            senv::train_sentences(sentences).unwrap_err(),
            Sent2Vec::train_sentences(sentences).unwrap_err(),
            SkipThoughtParams::default().fit_sentences(sentences, &TrainOptions::default()).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.to_string(), "the sentences contain no text");
        }
    }
    let error = SiameseCbow::train_sentences(["one two", "two one"]).unwrap_err().to_string();
    assert!(!error.contains("senv-text"), "{error}");
    let error = senv::train_sentences(["hi"; 3]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the number of different words must be at least 2 for uSIF weights (give more text, or lower the minimum count), got 1"
    );
}
