//! The `.bin` files of fastText and the Sent2Vec program: small ones that the programs wrote, and valid and damaged
//! ones written here byte by byte.

use std::{
    fs,
    path::{Path, PathBuf},
};

use senv::{Error, FastText, Model, ReleasedBin, Sent2Vec};
use senv_core::{SentenceEncoder, Tokenizer};
use senv_ngram::fnv1a_signed;
use tempfile::TempDir;

use crate::write_anew;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fast_text")
}

/// The parts of a file.
#[derive(Debug, Clone)]
struct Bin {
    version: i32,
    /// Dimension, window, epochs, minimum count, negatives, longest word n-gram, loss, model, buckets, (buckets of
    /// characters,) shortest and longest character n-gram, updates of the learning rate.
    args: Vec<i32>,
    subsample: f64,
    /// Entries, words, labels.
    counts: [i32; 3],
    tokens: i64,
    kept: i64,
    entries: Vec<(Vec<u8>, i64, u8)>,
    quantized: u8,
    input: (i64, i64, Vec<f32>),
    output_quantized: u8,
    output: (i64, i64, Vec<f32>),
    tail: Vec<u8>,
}

/// Positions of the arguments.
const DIM: usize = 0;
const WORD_NGRAMS: usize = 5;
const LOSS: usize = 6;
const MODEL: usize = 7;
const BUCKETS: usize = 8;

/// Rows of two values: (0, 0), (1, 10), (2, 20), ...
fn rows(n: i64) -> (i64, i64, Vec<f32>) {
    (n, 2, (0..n).flat_map(|i| [i as f32, 10.0 * i as f32]).collect())
}

impl Bin {
    fn new(version: i32, args: &[i32], words: &[&str], n_rows: i64) -> Self {
        let n = words.len() as i32;
        Self {
            version,
            args: args.to_vec(),
            subsample: 1e-4,
            counts: [n, n, 0],
            tokens: 40,
            kept: -1,
            entries: words
                .iter()
                .zip((1..10).rev())
                .map(|(word, count)| (word.as_bytes().to_vec(), count, 0))
                .collect(),
            quantized: 0,
            input: rows(n_rows),
            output_quantized: 0,
            output: rows(n.into()),
            tail: Vec::new(),
        }
    }

    /// Words and pairs of words, with five buckets and the row that the program adds.
    fn sent2vec() -> Self {
        let args = [2, 5, 3, 2, 10, 2, 2, 4, 5, 3, 6, 100];
        Self::new(11, &args, &["<PLACEHOLDER>", "the", "cat", "sat"], 4 + 5 + 1)
    }

    /// Character n-grams of 3 code points in seven buckets.
    fn skipgram() -> Self {
        Self::new(12, &[2, 5, 3, 2, 10, 1, 2, 2, 7, 3, 3, 100], &["the", "ab"], 2 + 7)
    }

    /// Words without n-grams.
    fn cbow() -> Self {
        Self::new(12, &[2, 5, 3, 2, 10, 1, 1, 1, 0, 3, 0, 100], &["The", "cat"], 2)
    }

    /// Two buckets of word pairs, before four of character n-grams.
    fn cbow_with_ngrams() -> Self {
        let args = [2, 5, 3, 2, 10, 2, 2, 5, 2, 4, 3, 3, 100];
        Self::new(11, &args, &["<PLACEHOLDER>", "ab"], 2 + 2 + 4)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = 793_712_314_i32.to_le_bytes().to_vec();
        let mut put = |part: &[u8]| bytes.extend_from_slice(part);
        put(&self.version.to_le_bytes());
        self.args.iter().for_each(|n| put(&n.to_le_bytes()));
        put(&self.subsample.to_le_bytes());
        self.counts.iter().for_each(|n| put(&n.to_le_bytes()));
        put(&self.tokens.to_le_bytes());
        put(&self.kept.to_le_bytes());
        for (word, count, kind) in &self.entries {
            put(word);
            put(&[0]);
            put(&count.to_le_bytes());
            put(&[*kind]);
        }
        for (quantized, (n_rows, dim, values)) in [(self.quantized, &self.input), (self.output_quantized, &self.output)]
        {
            put(&[quantized]);
            put(&n_rows.to_le_bytes());
            put(&dim.to_le_bytes());
            values.iter().for_each(|x| put(&x.to_le_bytes()));
        }
        put(&self.tail);
        bytes
    }

    fn write(&self, folder: &TempDir) -> PathBuf {
        let path = folder.path().join("m.bin");
        fs::write(&path, self.bytes()).unwrap();
        path
    }

    /// Opens the model directly and through a senv file; both must be equal.
    fn models(&self, tokenizer: &Tokenizer) -> [Model; 2] {
        let folder = tempfile::tempdir().unwrap();
        let released = ReleasedBin::open(self.write(&folder)).unwrap();
        both(&released, tokenizer, &folder)
    }
}

fn both(released: &ReleasedBin, tokenizer: &Tokenizer, folder: &TempDir) -> [Model; 2] {
    let [saved, copied] = ["saved.senv", "copied.senv"].map(|name| folder.path().join(name));
    released.save(tokenizer.clone(), &saved).unwrap();
    let model = released.model(tokenizer.clone()).unwrap();
    model.save(&copied).unwrap();
    assert!(fs::read(&saved).unwrap() == fs::read(&copied).unwrap(), "the same file, whichever way it is written");
    [model, Model::open_verified(saved).unwrap()]
}

fn vector(model: &Model, text: &str) -> Vec<f32> {
    model.encode(&[text]).unwrap().into_iter().collect()
}

fn message(bin: &Bin) -> String {
    let folder = tempfile::tempdir().unwrap();
    let error = ReleasedBin::open(bin.write(&folder)).unwrap_err();
    assert!(matches!(error, Error::BadWeights { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("m.bin: "), "{message}");
    message
}

#[test]
fn vectors_are_those_that_the_programs_print() {
    let cases: serde_json::Value = serde_json::from_slice(&fs::read(data().join("expected.json")).unwrap()).unwrap();
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 15);
    let folder = tempfile::tempdir().unwrap();
    for (name, kind) in [("sent2vec", "sent2vec"), ("skipgram", "fasttext"), ("cbow-c+w-ngrams", "fasttext")] {
        let released = ReleasedBin::open(data().join(format!("{name}.bin"))).unwrap();
        for model in both(&released, &Tokenizer::whitespace(), &folder) {
            assert_eq!((model.kind(), model.dim()), (kind, released.dim()));
            for case in cases.iter().filter(|case| case["model"] == name) {
                let got = vector(&model, case["text"].as_str().unwrap());
                let expected = case["vector"].as_array().unwrap();
                assert_eq!(got.len(), expected.len());
                for (got, expected) in got.iter().zip(expected) {
                    // Values are printed with five significant digits, so half of the last digit is at most 5e-5 of the
                    // value.
                    let expected = expected.as_f64().unwrap();
                    assert!((f64::from(*got) - expected).abs() < 5.1e-5 * expected.abs() + 1e-6, "{case} {got}");
                }
            }
        }
    }
}

#[test]
fn word_vectors_of_classifiers_are_those_of_the_program_quantized_and_pruned_too() {
    let cases: serde_json::Value = serde_json::from_slice(&fs::read(data().join("supervised.json")).unwrap()).unwrap();
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 18);
    let folder = tempfile::tempdir().unwrap();
    for name in ["supervised.bin", "quantized.ftz", "pruned.ftz"] {
        let released = ReleasedBin::open(data().join(name)).unwrap();
        for model in both(&released, &Tokenizer::whitespace(), &folder) {
            assert_eq!((model.kind(), model.dim(), model.vocabulary().len()), ("fasttext", 5, 12));
            for case in cases.iter().filter(|case| case["model"] == name) {
                let got = vector(&model, case["text"].as_str().unwrap());
                for (got, expected) in got.iter().zip(case["vector"].as_array().unwrap()) {
                    assert!((f64::from(*got) - expected.as_f64().unwrap()).abs() < 2e-7, "{case} {got}");
                }
            }
        }
    }
}

#[test]
fn damaged_quantized_files_are_named_and_never_believed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.ftz");
    for name in ["quantized.ftz", "pruned.ftz"] {
        let whole = fs::read(data().join(name)).unwrap();
        let open = |bytes: &[u8]| {
            write_anew(&path, bytes);
            ReleasedBin::open(&path).map_err(|error| {
                assert!(matches!(error, Error::BadWeights { .. }), "{error:?}");
                error.to_string()
            })
        };
        for n in (0..whole.len()).step_by(13) {
            assert!(open(&whole[..n]).is_err(), "{name} cut to {n}");
        }
        assert!(open(&[&whole[..], &[0]].concat()).unwrap_err().contains("1 bytes follow"));
        // A changed number is an error, or makes another model with finite vectors.
        for at in (0..whole.len()).step_by(7) {
            for byte in [0, 0x7F, 0xFF] {
                let mut changed = whole.clone();
                changed[at] = byte;
                if let Ok(released) = open(&changed)
                    && let Ok(model) = released.model(Tokenizer::whitespace())
                {
                    assert!(vector(&model, "the cats sat").iter().all(|x| x.is_finite()), "{name} {at}");
                }
            }
        }
    }
}

#[test]
fn a_sent2vec_file_becomes_a_sent2vec_model_with_its_settings() {
    for model in Bin::sent2vec().models(&Tokenizer::whitespace()) {
        let params = model.downcast_ref::<Sent2Vec>().unwrap().params();
        assert_eq!((params.dim, params.word_ngrams, params.buckets, params.min_count), (2, 2, Some(5), Some(2)));
        assert_eq!((params.subsample, params.training.epochs, params.training.negatives), (Some(1e-4), Some(3), 10));
        assert!(params.placeholder && params.weighting.is_none());
        let words: Vec<_> = model.vocabulary().iter().map(|(_, word, count)| (word, count)).collect();
        assert_eq!(words, [("the", 8), ("cat", 7), ("sat", 6)]);
        assert_eq!(model.vocabulary().corpus_tokens(), 40);
        // Rows 1 and 2, and that of the pair: 1 · 116049371 + 2 = 116049373, 3 modulo 5. Rows of pairs start at 4.
        let pair = [10.0 / 3.0, 100.0 / 3.0];
        for text in ["the cat", "the unknown cat"] {
            assert!(vector(&model, text).iter().zip(pair).all(|(x, y)| (x - y).abs() < 1e-5), "{text}");
        }
        assert_eq!(
            vector(&model, "cat Cat <PLACEHOLDER>"),
            [2.0, 20.0],
            "neither capitals nor the placeholder are words"
        );
        assert_eq!(vector(&model, "nobody"), [0.0, 0.0]);
    }
}

#[test]
fn a_sent2vec_file_may_lack_n_grams_the_placeholder_or_the_output_matrix() {
    let mut words_alone = Bin::sent2vec();
    words_alone.args[WORD_NGRAMS] = 1;
    for model in words_alone.models(&Tokenizer::whitespace()) {
        assert_eq!(vector(&model, "the sat"), [2.0, 20.0]);
        assert_eq!(model.rows().unwrap().n_rows(), 4, "buckets are left behind where nothing refers to them");
    }
    let mut early = Bin::sent2vec();
    early.entries[0].0 = b"a".to_vec();
    early.input = rows(4 + 5);
    for model in early.models(&Tokenizer::whitespace()) {
        assert_eq!(vector(&model, "a"), [0.0, 0.0]);
        assert_eq!(model.vocabulary().len(), 4);
        // 0 · 116049371 + 2. Rows of pairs start at 4.
        let (got, expected) = (vector(&model, "a cat"), [8.0 / 3.0, 80.0 / 3.0]);
        assert!(got.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-5), "{got:?}");
    }
    let whole = Bin::sent2vec();
    let without_output = whole.bytes().len() - (1 + 8 + 8 + 4 * 4 * 2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.bin");
    fs::write(&path, &whole.bytes()[..without_output]).unwrap();
    let model = Model::open(&path).unwrap();
    assert_eq!(vector(&model, "the cat"), vector(&whole.models(&Tokenizer::whitespace())[0], "the cat"));
}

#[test]
fn a_fast_text_word_is_the_mean_of_its_row_and_its_n_grams() {
    let row = |n_gram: &str, first: u32, n: u32| (first + fnv1a_signed(n_gram.as_bytes()) % n) as f32;
    let mean = |rows: &[f32]| rows.iter().sum::<f32>() / rows.len() as f32;
    let close =
        |got: Vec<f32>, x: f32| assert!((got[0] - x).abs() < 1e-5 && (got[1] - 10.0 * x).abs() < 1e-4, "{got:?} {x}");
    for model in Bin::skipgram().models(&Tokenizer::whitespace()) {
        let of = |n_gram| row(n_gram, 2, 7);
        let (known, unknown) = (mean(&[1.0, of("<ab"), of("ab>")]), mean(&[of("<na"), of("naï"), of("aï>")]));
        close(vector(&model, "ab"), known);
        close(vector(&model, "naï"), unknown);
        close(vector(&model, "naï ab"), mean(&[known, unknown]));
        let (_, coverage) = model.encode_batch(&["naï ab", "", "ab ab"]).unwrap();
        let counts: Vec<_> = coverage.iter().map(|c| (c.tokens, c.known, c.hashed)).collect();
        assert_eq!(counts, [(2, 1, 1), (0, 0, 0), (2, 2, 0)]);
        assert_eq!(vector(&model, ""), [0.0, 0.0]);
        assert!(model.is::<FastText>() && model.to_embeddings().unwrap().get("ab").is_some());
    }
    for model in Bin::cbow_with_ngrams().models(&Tokenizer::whitespace()) {
        let of = |n_gram| row(n_gram, 2 + 2, 4);
        close(vector(&model, "ab"), mean(&[1.0, of("<ab"), of("ab>")]));
        assert_eq!(model.vocabulary().len(), 1, "the placeholder is no word");
    }
    let mut long = Bin::skipgram();
    (long.args[9], long.args[10]) = (5, 6);
    for model in long.models(&Tokenizer::whitespace()) {
        assert_eq!(vector(&model, "xy ab"), vector(&model, "ab"), "<xy> is too short for n-grams: it is left out");
    }
    for model in Bin::cbow().models(&Tokenizer::whitespace()) {
        assert_eq!(vector(&model, "cat xyz"), [1.0, 10.0], "without n-grams unknown words have no vector");
    }
}

#[test]
fn text_is_tokenized_as_the_program_does_or_as_word_vectors_are() {
    let folder = tempfile::tempdir().unwrap();
    let of = |bin: Bin| ReleasedBin::open(bin.write(&folder)).unwrap().tokenizer();
    assert_eq!(of(Bin::sent2vec()), Tokenizer::whitespace());
    let words = Tokenizer::words().longest_first(true);
    assert_eq!(of(Bin::skipgram()), words.clone().lowercase(true));
    assert_eq!(of(Bin::cbow()), words, "The has a capital");
    let lower = Tokenizer::words().lowercase(true);
    for model in Bin::sent2vec().models(&lower) {
        assert_eq!((model.tokenizer(), vector(&model, "The?")), (&lower, vec![1.0, 10.0]));
    }
}

#[test]
fn labels_of_a_text_and_words_that_are_no_text_are_left_out() {
    let mut bin = Bin::skipgram();
    bin.entries.push((b"__label__1".to_vec(), 1, 1));
    bin.counts = [3, 2, 1];
    bin.entries[0].0 = b"\xff".to_vec();
    for model in bin.models(&Tokenizer::whitespace()) {
        assert_eq!(model.vocabulary().iter().map(|(_, word, _)| word).collect::<Vec<_>>(), ["ab"]);
        assert_eq!(vector(&model, "ab"), vector(&Bin::skipgram().models(&Tokenizer::whitespace())[0], "ab"));
    }
    // Pairs of words are hashed by their ids, which must not change.
    let mut bin = Bin::sent2vec();
    bin.entries[1].0 = b"th\xff".to_vec();
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(ReleasedBin::open(bin.write(&folder)).unwrap().n_invalid_words(), 1);
    for model in bin.models(&Tokenizer::whitespace()) {
        assert!(model.vocabulary().id("th\\xff").is_some());
        assert_eq!(vector(&model, "cat sat"), vector(&Bin::sent2vec().models(&Tokenizer::whitespace())[0], "cat sat"));
    }
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.bin");
    for bin in [Bin::sent2vec(), Bin::skipgram(), Bin::cbow_with_ngrams()] {
        let bytes = bin.bytes();
        let without_output = bytes.len() - (1 + 8 + 8 + 8 * bin.entries.len());
        for len in 0..bytes.len() {
            write_anew(&path, &bytes[..len]);
            let opened = ReleasedBin::open(&path);
            if len == without_output && bin.version == 11 {
                assert!(opened.is_ok());
                continue;
            }
            let message = opened.unwrap_err().to_string();
            assert!(message.contains("m.bin") && message.contains("truncated"), "{len}: {message}");
        }
    }
}

/// A change, and a part of the error message.
type Damage = (fn(&mut Bin), &'static str);

#[test]
fn wrong_counts_negative_numbers_and_forged_sizes_are_refused() {
    let damages: [Damage; 32] = [
        (|b| b.version = 10, "version 10"),
        (|b| b.version = 13, "version 13"),
        (|b| b.args[DIM] = 0, "the dimension is 0, expected 1 to 65536"),
        (|b| b.args[DIM] = -2, "the dimension is -2"),
        (|b| b.args[DIM] = 3, " values, expected "),
        (|b| b.args[1] = -1, "the window is -1"),
        (|b| b.args[2] = -1, "epochs is -1"),
        (|b| b.args[3] = -1, "the minimum count of a word is -1"),
        (|b| b.args[4] = -1, "the number of negatives is -1"),
        (|b| b.args[WORD_NGRAMS] = -1, "the longest word n-gram is -1"),
        (|b| b.args[LOSS] = 0, "the loss is 0"),
        (|b| b.args[LOSS] = 5, "the loss is 5"),
        (|b| b.args[MODEL] = 0, "the model is 0"),
        (|b| b.args[MODEL] = 3, "the output matrix has 2 rows of 2 values, expected 0 rows"),
        (|b| b.args[BUCKETS] = i32::MAX, " values, expected "),
        (|b| b.args[BUCKETS] = -1, "the number of n-gram rows is -1"),
        (|b| b.args[BUCKETS] = 0, "no rows for them"),
        (|b| *b.args.last_mut().unwrap() = -1, "the learning rate is updated is -1"),
        (|b| b.counts[0] += 1, "in 3 entries"),
        (|b| b.counts = [i32::MAX, i32::MAX, 0], "entries take at least 21474836470 bytes"),
        (|b| b.counts = [0, 0, 0], "0 words and 0 labels"),
        (|b| b.tokens = -1, "the number of tokens is -1"),
        (|b| b.kept = 0, "expected 2 rows of 2"),
        (|b| b.kept = 3, "the table of kept n-grams"),
        (|b| b.kept = 8, "8 kept n-grams of 7"),
        (|b| b.kept = -7, "-7 kept n-grams"),
        (|b| b.entries[1].1 = -1, "entry 1 of the dictionary is -1"),
        (|b| b.entries[1].2 = 1, "entry 1 of the dictionary has the type 1"),
        (|b| b.quantized = 1, "whether the input matrix has norms is 9"),
        (|b| b.quantized = 2, "whether the matrix is quantized is 2"),
        (|b| b.output_quantized = 9, "whether the output matrix is quantized is 9"),
        (|b| b.tail = vec![10], "1 bytes follow the output matrix"),
    ];
    for (change, expected) in damages {
        let mut bin = Bin::skipgram();
        change(&mut bin);
        let message = message(&bin);
        assert!(message.contains(expected), "{expected:?} in {message:?}");
    }
    let damages: [Damage; 12] = [
        (|b| b.input.0 = i64::MAX, "the input matrix has 9223372036854775807 rows"),
        (|b| b.input.0 = -1, "the input matrix has -1 rows"),
        (|b| b.input.0 = 1 << 31, "the input matrix takes 17179869184 bytes"),
        (|b| b.input.0 -= 2, "the input matrix has 8 rows of 2 values, expected 9 rows of 2"),
        (|b| b.input.1 = i64::MIN, "the input matrix has 10 rows of -9223372036854775808 values"),
        (|b| b.output.0 += 1, "the output matrix has 5 rows"),
        (|b| b.args[WORD_NGRAMS] = 256, "the longest word n-gram is 256, expected 1 to 255"),
        (|b| b.args[LOSS] = 4, "the loss is 4, expected 1 to 3"),
        (|b| b.args[BUCKETS] = 0, "no rows for them"),
        (|b| b.input.2[7] = f32::NAN, "row 3, the word \"sat\" has a value that is NaN or infinite"),
        (|b| b.input.2[18] = f32::INFINITY, "row 9 has a value that is NaN or infinite"),
        (|b| b.entries[2].0 = b"the".to_vec(), "duplicate token \"the\", at 0 and at 1"),
    ];
    for (change, expected) in damages {
        let mut bin = Bin::sent2vec();
        change(&mut bin);
        let message = message(&bin);
        assert!(message.contains(expected), "{expected:?} in {message:?}");
    }
    let mut bin = Bin::cbow_with_ngrams();
    bin.args[9] = 0;
    assert!(message(&bin).contains("no rows for them"));
    let mut bin = Bin::skipgram();
    bin.args[10] = 1 << 30;
    assert!(message(&bin).contains("the longest character n-gram is 1073741824, expected 0 to 255"));
}

#[test]
fn words_that_would_cost_minutes_are_refused() {
    let with_words = |words: Vec<Vec<u8>>, longest: i32| {
        let mut bin = Bin::skipgram();
        let n = words.len() as i32;
        (bin.args[9], bin.args[10], bin.counts) = (1, longest, [n, n, 0]);
        (bin.input, bin.output) = (rows(i64::from(n) + 7), rows(n.into()));
        bin.entries = words.into_iter().map(|word| (word, 1, 0)).collect();
        bin
    };
    let word = |i: u8, length: usize| [&[b'a' + i][..], &vec![b'x'; length - 1]].concat();
    let long = message(&with_words(vec![word(0, (1 << 16) + 1), word(1, 3)], 6));
    assert!(long.contains("entry 0 of the dictionary is a word of 65537 bytes, above the limit of 65536"), "{long}");
    let folder = tempfile::tempdir().unwrap();
    ReleasedBin::open(with_words(vec![word(0, 1 << 16), word(1, 3)], 6).write(&folder)).unwrap();
    // Each is short enough, but together they have 1.1e9 n-grams.
    let words: Vec<Vec<u8>> = (0..66).map(|i| word(i, 1 << 16)).collect();
    let many = message(&with_words(words, 255));
    assert!(
        many.contains("the words have about 1103004540 n-grams of 1 to 255 characters")
            && many.contains("above the limit of 1073741824"),
        "{many}"
    );
}

#[test]
fn settings_out_of_range_are_refused_where_they_are_used() {
    let mut bin = Bin::sent2vec();
    bin.subsample = f64::NAN;
    let folder = tempfile::tempdir().unwrap();
    let released = ReleasedBin::open(bin.write(&folder)).unwrap();
    let error = released.save(Tokenizer::whitespace(), folder.path().join("m.senv")).unwrap_err().to_string();
    assert!(error.contains("m.bin") && error.contains("subsample"), "{error}");
    assert!(!folder.path().join("m.senv").exists());
}

#[test]
fn a_word_that_no_text_has_is_refused_before_its_n_grams_are_added_up() {
    let mut bin = Bin::skipgram();
    let folder = tempfile::tempdir().unwrap();
    bin.entries[1].0 = vec![b'x'; 1 << 16];
    assert!(ReleasedBin::open(bin.write(&folder)).is_ok());
    bin.entries[1].0 = vec![b'x'; (1 << 16) + 1];
    let message = message(&bin);
    assert!(
        message.contains("entry 1 of the dictionary is a word of 65537 bytes, above the limit of 65536"),
        "{message}"
    );
}

#[test]
fn values_that_add_up_to_infinity_are_refused() {
    let mut bin = Bin::skipgram();
    bin.input.2.fill(f32::MAX);
    let folder = tempfile::tempdir().unwrap();
    let released = ReleasedBin::open(bin.write(&folder)).unwrap();
    let error = released.model(Tokenizer::whitespace()).unwrap_err().to_string();
    assert!(error.contains("m.bin") && error.contains("\"the\" add up to an infinite value"), "{error}");
    assert!(released.save(Tokenizer::whitespace(), folder.path().join("m.senv")).is_err());
}

#[test]
fn other_files_are_not_taken_for_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words.bin");
    fs::write(&path, b"1 2\nthe \0\0\0\0\0\0\0\0").unwrap();
    assert!(!ReleasedBin::is_one(&path) && !ReleasedBin::is_one(folder.path()) && !ReleasedBin::is_one("no.bin"));
    assert!(ReleasedBin::open(&path).unwrap_err().to_string().contains("not a .bin file of fastText"));
    assert_eq!(Model::open(&path).unwrap().kind(), "embeddings");
    assert!(matches!(ReleasedBin::open("no.bin"), Err(Error::Core(senv_core::Error::Io { .. }))));
}
