//! The released models of fastText and of Sent2Vec's program: their `.bin` files, as models of senv.

use std::{
    borrow::Cow,
    fs::File,
    io::Read,
    ops::Range,
    path::{Path, PathBuf},
};

use rayon::prelude::*;
use senv_core::{
    ModelWriter, Table, TokenId, Tokenizer, Vocabulary,
    files::{RawTensor, SharedBytes},
    hyperparameters::Hyperparameters,
    memory::check_memory,
};
use senv_negative_sampling::NegativeSamplingParams;
use senv_ngram::{CharNgrams, PLACEHOLDER};
use senv_store::tokenizer_of_words;

use super::{
    CHAR_NGRAMS, CharNgramConfig, FastText, FastTextConfig, KEPT_BUCKETS,
    args::{Args, Method, Word},
    layout::{Layout, MAGIC},
    matrix::Matrix,
};
use crate::{
    Sent2Vec, Sent2VecParams,
    average::{encoder::AverageEncoder, unknown_words::UnknownWords},
    base::file::{ROWS, to_json},
    error::{Error, Result},
    model::handle::Model,
    system::averaged::{Averaged, AveragedSystem},
};

/// A `.bin` or `.ftz` file of fastText, or a `.bin` file of Sent2Vec's program, opened and checked.
///
/// | model in the file | model of senv |
/// | --- | --- |
/// | Sent2Vec (`sent2vec`) | [`Sent2Vec`], with the sentence vectors of the program |
/// | fastText `skipgram`, `cbow` | [`FastText`], with the word vectors of the program, also for unknown words |
/// | Sent2Vec's `cbow-c+w-ngrams` | [`FastText`], as above, without the word n-grams |
/// | fastText `supervised` | [`FastText`], as above, without the classifier and word n-grams |
/// | quantized (`.ftz`), complete or pruned | [`FastText`], as above |
///
/// The file is memory-mapped and must not be modified while this is open. A word that is not valid UTF-8 cannot occur
/// in text. [`FastText`] models leave it out; Sent2Vec models, whose rows are numbered, keep it with `\xNN` for its
/// invalid bytes.
///
/// ```no_run
/// use senv::ReleasedBin;
/// let released = ReleasedBin::open("wiki_bigrams.bin")?;
/// released.save(released.tokenizer(), "wiki.senv")?; // 16 GB are written and hardly any memory is taken
/// # Ok::<(), senv::Error>(())
/// ```
#[derive(Debug)]
pub struct ReleasedBin {
    path: PathBuf,
    bytes: SharedBytes,
    args: Args,
    /// Rows of the input matrix that are words, including the placeholder and words that are not UTF-8.
    n_word_rows: usize,
    /// The input matrix. The field `kept` has the kept buckets of a pruned matrix, in order, each with its row after
    /// those of words.
    input: Matrix,
    kept: Option<Vec<(u32, u32)>>,
    vocabulary: Vocabulary,
    /// The row of each word.
    rows: Vec<u32>,
    n_invalid: usize,
}

impl ReleasedBin {
    /// Whether this is a plain file that starts with the magic number of such files.
    #[must_use]
    pub fn is_one(path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        let mut start = [0; MAGIC.len()];
        path.is_file() && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
    }

    /// Opens a file and checks all of it: sizes before memory is allocated, and that every value is finite.
    ///
    /// # Errors
    /// [`Error::BadWeights`], with the path, if the file is truncated or damaged; [`senv_core::Error::Io`] if it cannot
    /// be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = SharedBytes::map(path)?;
        let Layout { args, corpus_tokens, words, kept, input } = Layout::read(path, &bytes)?;
        let bad = |reason: String| Error::BadWeights { path: path.to_owned(), reason };
        let text_of = |word: &Word| as_text(&bytes[word.text.clone()]);
        let row_len = 4 * args.dim as usize;
        let is_finite = |x: &[u8; 4]| f32::from_le_bytes(*x).is_finite();
        let row_is_finite = |row: &[u8]| row.as_chunks().0.iter().all(is_finite);
        // The values of a quantized matrix are finite if its centroids are.
        let values = if let Matrix::Dense(values) = &input { values.clone() } else { 0..0 };
        if let Some(row) = bytes[values].par_chunks(row_len).position_first(|row| !row_is_finite(row)) {
            let word = words.get(row).map(|word| format!(", the word {}", senv_core::quoted(text_of(word))));
            return Err(bad(format!("row {row}{} has a value that is NaN or infinite", word.unwrap_or_default())));
        }
        let with_placeholder = matches!(args.method, Method::Sent2Vec | Method::CbowWithNgrams)
            && bytes[words[0].text.clone()] == *PLACEHOLDER.as_bytes();
        let is_valid = |word: &Word| std::str::from_utf8(&bytes[word.text.clone()]).is_ok();
        let n_invalid = words.iter().filter(|word| !is_valid(word)).count();
        let chosen = words.iter().zip(0_u32..).skip(usize::from(with_placeholder));
        let chosen = chosen.filter(|(word, _)| args.method == Method::Sent2Vec || is_valid(word));
        let rows: Vec<u32> = chosen.clone().map(|(_, row)| row).collect();
        let counted = chosen.map(|(word, _)| (text_of(word), word.count));
        let vocabulary = Vocabulary::from_counts(counted, corpus_tokens).map_err(|error| match error {
            error @ senv_core::Error::BadVocabulary { .. } => bad(format!("{error}; the file is damaged")),
            error => error.into(),
        })?;
        let n_word_rows = words.len();
        Ok(Self { path: path.to_owned(), args, n_word_rows, input, kept, vocabulary, rows, n_invalid, bytes })
    }

    /// The kind of the model that the file becomes.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.args.method {
            Method::Sent2Vec => Sent2Vec::KIND,
            Method::Cbow | Method::SkipGram | Method::CbowWithNgrams | Method::Supervised => FastText::KIND,
        }
    }

    /// The default tokenizer for this file, which does not record one. Sent2Vec's program splits at spaces and keeps
    /// case, so its models need text that was prepared like their training text. fastText's word vectors are treated
    /// like those of a `.vec` file ([`Model::from_embeddings`]).
    #[must_use]
    pub fn tokenizer(&self) -> Tokenizer {
        match self.args.method {
            Method::Sent2Vec => Tokenizer::whitespace(),
            Method::Cbow | Method::SkipGram | Method::CbowWithNgrams | Method::Supervised => {
                tokenizer_of_words(&self.vocabulary)
            }
        }
    }

    /// The words, most frequent first, with their counts.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Embedding dimension.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.args.dim as usize
    }

    /// The number of words that are not valid UTF-8.
    #[must_use]
    pub fn n_invalid_words(&self) -> usize {
        self.n_invalid
    }

    /// The model, in memory.
    ///
    /// # Errors
    /// [`Error::BadWeights`] if a setting is out of range; [`senv_core::Error::TooLarge`] if the rows do not fit in
    /// memory.
    pub fn model(&self, tokenizer: Tokenizer) -> Result<Model> {
        if self.args.method == Method::Sent2Vec {
            let (params, rows) = self.sent2vec(tokenizer)?;
            let features = params.features(&self.vocabulary)?;
            let (tokenizer, vocabulary) = (params.tokenizer.clone(), self.vocabulary.clone());
            let encoder = AverageEncoder::new(tokenizer, vocabulary, features, table(&rows)?)?;
            return Ok(Averaged::from_parts(params, encoder).into());
        }
        let (config, n_grams) = self.fast_text(tokenizer)?;
        let n_grams = n_grams.as_ref().map(table).transpose()?;
        Ok(FastText::new(config, self.vocabulary.clone(), self.word_vectors()?, n_grams, self.kept_buckets())?.into())
    }

    /// Writes the model to a file that [`Model::open`] memory-maps, by atomic replacement. Rows that do not change (all
    /// rows of Sent2Vec, and those of character n-grams) are copied from file to file. Only the words need memory and,
    /// for fastText, their vectors.
    ///
    /// # Errors
    /// The errors of [`ReleasedBin::model`]; [`senv_core::Error::Io`] if the file cannot be written.
    pub fn save(&self, tokenizer: Tokenizer, path: impl AsRef<Path>) -> Result<()> {
        let writer = ModelWriter::new(self.kind()).vocabulary(&self.vocabulary);
        if self.args.method == Method::Sent2Vec {
            let (params, rows) = self.sent2vec(tokenizer)?;
            return Ok(writer.config(&to_json(&params)?).raw(ROWS, &rows).save(path)?);
        }
        let (config, n_grams) = self.fast_text(tokenizer)?;
        let words = self.word_vectors()?;
        let writer = writer.config(&to_json(&config)?).table(ROWS, &words);
        let kept = self.kept_buckets();
        let writer = match &n_grams {
            Some(n_grams) => writer.raw(CHAR_NGRAMS, n_grams),
            None => writer,
        };
        let writer = match &kept {
            Some(kept) => writer.u32s(KEPT_BUCKETS, kept),
            None => writer,
        };
        Ok(writer.save(path)?)
    }

    /// The settings of a Sent2Vec model and its rows. The file records no learning rate, dropout, minimum target count
    /// or seed, so these keep their defaults.
    fn sent2vec(&self, tokenizer: Tokenizer) -> Result<(Sent2VecParams, RawTensor)> {
        let Args { word_ngrams, buckets, epochs, min_count, negatives, subsample, .. } = self.args;
        let has_ngrams = word_ngrams > 1;
        let params = Sent2VecParams {
            dim: self.dim(),
            word_ngrams: word_ngrams as usize,
            buckets: has_ngrams.then_some(buckets),
            min_count: Some(min_count.into()),
            // The file has neither, so these are the values of the release.
            min_target_count: Some(5),
            initial_length: None,
            weighting: None,
            unknown_words: UnknownWords::Skip,
            subsample: Some(subsample),
            placeholder: self.rows.first() != Some(&0),
            tokenizer,
            training: NegativeSamplingParams {
                epochs: Some(epochs),
                lr: Some(0.2),
                negatives: negatives as usize,
                ..NegativeSamplingParams::default()
            },
            ..Sent2VecParams::default()
        };
        let damaged =
            |error| Error::BadWeights { path: self.path.clone(), reason: format!("{error}; the file is damaged") };
        params.check_ranges().map_err(damaged)?;
        // A model of words only also has a bucket, which is never used.
        let n_rows = self.n_word_rows + if has_ngrams { buckets as usize } else { 0 };
        Ok((params, self.raw(0..n_rows)?))
    }

    /// The configuration of a fastText model and the rows of its character n-grams.
    fn fast_text(&self, tokenizer: Tokenizer) -> Result<(FastTextConfig, Option<RawTensor>)> {
        let char_ngrams = self.args.has_char_ngrams().then(|| {
            let (min_n, max_n) = (self.args.min_n as usize, self.args.max_n as usize);
            CharNgramConfig { min_n, max_n, n_buckets: self.char_buckets().len() as u32 }
        });
        let n_grams = char_ngrams.is_some().then(|| self.n_gram_rows()).transpose()?;
        Ok((FastTextConfig { dim: self.dim(), tokenizer, char_ngrams }, n_grams))
    }

    /// The buckets of a pruned model, in order, if words have character n-grams.
    fn kept_buckets(&self) -> Option<Vec<u32>> {
        let kept = self.kept.as_ref().filter(|_| self.args.has_char_ngrams());
        kept.map(|kept| kept.iter().map(|&(bucket, _)| bucket).collect())
    }

    /// The row of a character n-gram bucket, unless it was pruned.
    fn row_of_bucket(&self, bucket: u32) -> Option<usize> {
        let Some(kept) = &self.kept else { return Some(self.char_buckets().start + bucket as usize) };
        let place = kept.binary_search_by_key(&bucket, |&(bucket, _)| bucket).ok()?;
        Some(self.n_word_rows + kept[place].1 as usize)
    }

    /// The rows of character n-grams; for a pruned model, the kept ones in bucket order.
    fn n_gram_rows(&self) -> Result<RawTensor> {
        match &self.kept {
            None => self.raw(self.char_buckets()),
            Some(kept) => self.copied(kept.iter().map(|&(_, row)| self.n_word_rows + row as usize), kept.len()),
        }
    }

    /// The row range of character n-gram buckets, as if none were pruned.
    fn char_buckets(&self) -> Range<usize> {
        let (first, n) = match self.args.method {
            Method::CbowWithNgrams => (self.args.buckets, self.args.char_buckets),
            _ => (0, self.args.buckets),
        };
        let start = self.n_word_rows + first as usize;
        start..start + n as usize
    }

    /// The word vectors of a fastText model, equation `subword-vector`.
    fn word_vectors(&self) -> Result<Table> {
        let (dim, n_words) = (self.dim(), self.rows.len());
        let buckets = self.char_buckets();
        let n_grams = match self.args.has_char_ngrams() {
            true => Some(CharNgrams::new(self.args.min_n as usize, self.args.max_n as usize, buckets.len() as u32)?),
            false => None,
        };
        let mut values = vec![0.0_f32; check_memory::<f32>(n_words, dim)?];
        values.par_chunks_mut(dim).zip(&self.rows).enumerate().for_each(|(i, (vector, &row))| {
            let mut values = vec![0.0; dim];
            let mut add = |row: usize| {
                self.input.row_into(&self.bytes, row, &mut values);
                vector.iter_mut().zip(&values).for_each(|(sum, x)| *sum += x);
            };
            let mut n = 1_u32;
            add(row as usize);
            if let Some(n_grams) = n_grams {
                n_grams.for_each(self.vocabulary.token(TokenId(i as u32)), |n_gram| {
                    let Some(row) = self.row_of_bucket(n_gram.bucket) else { return };
                    add(row);
                    n += 1;
                });
            }
            vector.iter_mut().for_each(|x| *x /= n as f32);
        });
        // The sum of finite values can be infinite.
        let values_are_finite = |vector: &[f32]| vector.iter().all(|x| x.is_finite());
        if let Some(i) = values.par_chunks(dim).position_first(|vector| !values_are_finite(vector)) {
            let word = self.vocabulary.token(TokenId(i as u32));
            let reason = format!(
                "the n-grams of the word {word} add up to an infinite value; the file is damaged",
                word = senv_core::quoted(word)
            );
            return Err(Error::BadWeights { path: self.path.clone(), reason });
        }
        Ok(Table::from_vec(n_words, dim, values)?)
    }

    /// Rows of the input matrix, without a copy if they are stored as values.
    fn raw(&self, rows: Range<usize>) -> Result<RawTensor> {
        let Matrix::Dense(input) = &self.input else { return self.copied(rows.clone(), rows.len()) };
        let (start, len) = (input.start, 4 * self.dim());
        let bytes = self.bytes.slice(start + rows.start * len..start + rows.end * len);
        Ok(RawTensor { dtype: "F32".into(), shape: vec![rows.len(), self.dim()], bytes })
    }

    /// A copy of rows of the input matrix.
    fn copied(&self, rows: impl Iterator<Item = usize>, n_rows: usize) -> Result<RawTensor> {
        let dim = self.dim();
        let mut bytes = Vec::with_capacity(4 * check_memory::<f32>(n_rows, dim)?);
        let mut values = vec![0.0_f32; dim];
        for row in rows {
            self.input.row_into(&self.bytes, row, &mut values);
            values.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
        }
        Ok(RawTensor { dtype: "F32".into(), shape: vec![n_rows, dim], bytes: bytes.into() })
    }
}

/// A copy of rows as a table, because the rows of a file can start at any byte.
fn table(rows: &RawTensor) -> Result<Table> {
    let (n_rows, dim) = (rows.shape[0], rows.shape[1]);
    let n = check_memory::<f32>(n_rows, dim)?;
    let mut values = Vec::with_capacity(n);
    values.extend(rows.bytes.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x)));
    Ok(Table::from_vec(n_rows, dim, values)?)
}

/// A word as text: `\xNN` for each byte that is not UTF-8.
fn as_text(word: &[u8]) -> Cow<'_, str> {
    if let Ok(word) = std::str::from_utf8(word) {
        return word.into();
    }
    let chunks = word.utf8_chunks().map(|chunk| {
        let escaped: String = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect();
        chunk.valid().to_owned() + &escaped
    });
    chunks.collect::<String>().into()
}
