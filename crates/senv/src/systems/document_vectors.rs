//! Code that PV-DBOW and PV-DM share. Each sentence of the training text is a document. The trained document vectors
//! can be written to a NumPy matrix, one row per line.
//!
//! Papers that evaluate paragraph vectors on sentences from the training text compare these vectors, not inferred ones.
//! P-thought's model was trained on training and evaluation captions together.

use std::path::Path;

use senv_core::{
    Corpus, Error as CoreError, Rows, Table, TextOptions, TextReader, Tokenizer, corpus::BlockBuffer, memory,
};
use senv_store::write_npy;

use crate::error::Result;

/// Power of the counts in the noise distribution, as in word2vec.
pub(super) const NOISE_POWER: f64 = 0.75;

/// The number of documents in a corpus, at most `u32::MAX`.
pub(super) fn n_documents(corpus: &Corpus) -> usize {
    u32::try_from(corpus.n_sentences()).unwrap_or(u32::MAX) as usize
}

/// Returns an error with the size in bytes if a row per document does not fit in memory. Only these systems need more
/// memory for more text.
pub(super) fn check_memory(corpus: &Corpus, dim: usize) -> Result<(), CoreError> {
    let n = n_documents(corpus);
    let what = "one trained vector per sentence of the text";
    let bytes = (4 * n as u64).saturating_mul(dim as u64);
    memory::check_memory::<f32>(n, dim).map_or(Err(CoreError::OutOfMemory { what, bytes }), |_| Ok(()))
}

/// The document rows to keep with the model. Documents without a known word were never trained; their rows are zero.
pub(super) fn trained(mut documents: Table, corpus: &Corpus) -> Result<Table> {
    clear_untrained(&mut documents, corpus)?;
    Ok(documents)
}

/// Writes the document vectors, one row per line of `texts`: the training files, read as they were for training.
/// Returns the number of lines.
pub(super) fn write(
    vectors: Option<&Table>,
    tokenizer: &Tokenizer,
    texts: &[impl AsRef<Path>],
    options: &TextOptions,
    path: &Path,
) -> Result<usize> {
    let bad = |path: &Path, reason: String| CoreError::BadFile { path: path.to_owned(), reason };
    let Some(vectors) = vectors else {
        return Err(
            bad(path, "the model does not store the vectors of its text; train with document_vectors".into()).into()
        );
    };
    let is_sentence = sentences(texts, tokenizer, options)?;
    let n = is_sentence.iter().filter(|is| **is).count();
    if n != vectors.n_rows() {
        let trained = vectors.n_rows();
        let reason = format!(
            "the text has {n} sentences, but the model was trained on {trained}; give the training \
            text unchanged"
        );
        let text = texts.first().map_or(path, AsRef::as_ref);
        return Err(bad(text, reason).into());
    }
    write_npy(path, &Lines::new(vectors, &is_sentence))?;
    Ok(is_sentence.len())
}

/// For each line, whether it is a sentence: it has a token, known or not.
fn sentences(texts: &[impl AsRef<Path>], tokenizer: &Tokenizer, options: &TextOptions) -> Result<Vec<bool>> {
    let mut reader = TextReader::open(texts, options)?;
    let (mut scratch, mut is_sentence) = (String::new(), Vec::new());
    while let Some(line) = reader.next_line()? {
        let mut any = false;
        tokenizer.for_each(line.text, &mut scratch, |_| any = true);
        is_sentence.push(any);
    }
    Ok(is_sentence)
}

/// Zeroes the rows of sentences without a known word, which still have their random initial values.
fn clear_untrained(vectors: &mut Table, corpus: &Corpus) -> Result<()> {
    let mut block = BlockBuffer::default();
    for i in 0..corpus.n_blocks() {
        corpus.read_block(i, &mut block)?;
        for (sentence, row) in block.iter().zip(block.first_sentence() as usize..) {
            if sentence.is_empty() {
                vectors.row_mut(row).fill(0.0);
            }
        }
    }
    Ok(())
}

/// The vectors of sentences, addressed by line.
struct Lines<'a> {
    vectors: &'a Table,
    /// For each line, its sentence.
    sentence: Vec<Option<u32>>,
    zero: Vec<f32>,
}

impl<'a> Lines<'a> {
    fn new(vectors: &'a Table, is_sentence: &[bool]) -> Self {
        let mut next = 0;
        let number = |&is: &bool| {
            let number = is.then_some(next);
            next += u32::from(is);
            number
        };
        Self { vectors, sentence: is_sentence.iter().map(number).collect(), zero: vec![0.0; vectors.dim()] }
    }
}

impl Rows for Lines<'_> {
    fn n_rows(&self) -> usize {
        self.sentence.len()
    }

    fn dim(&self) -> usize {
        self.vectors.dim()
    }

    fn row(&self, i: usize) -> &[f32] {
        self.sentence[i].map_or(&self.zero, |sentence| self.vectors.row(sentence as usize))
    }
}
