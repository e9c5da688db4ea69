//! The parameters that the authors of Skip-thoughts released.
//!
//! Their files are `dictionary.txt`, one word per line; `utable.npy` and `btable.npy`, the word vectors of uni and bi
//! in that order; `uni_skip.npz` and `bi_skip.npz`, the encoders. In the encoders, W (dim, 2 d) and U (d, 2 d) store
//! the reset gate, then the update gate, and b (2 d) their biases. Wx, Ux and bx belong to the candidate. The names
//! start with `encoder_`, or `encoder_r_` for the backward direction. The cells are those of [`GruStyle::Release`].

mod npz;

use std::path::{Path, PathBuf};

use senv_core::{Rows, Table, TextOptions, TextReader, Tokenizer, Vocabulary, arrays::Parameters};
use senv_encoders::{Conditioning, GruInit, GruStyle, RecurrentTopology};
use senv_losses::Reduction;
use senv_store::read_npy;

use self::npz::Npz;
use crate::{
    SkipThought,
    data::reading::{Reading, SPECIAL},
    error::{Error, Result},
    sequence::{EncoderPart, OutputForm, SequenceCell, SequenceConfig, SequenceForm},
};

/// The vocabulary of all released models.
const DICTIONARY: &str = "dictionary.txt";

/// Maximum words read per sentence.
const MAX_TOKENS: usize = 1000;

/// The released files of one encoder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReleasedEncoder {
    /// `uni_skip.npz` or `bi_skip.npz`.
    pub weights: PathBuf,
    /// `utable.npy` or `btable.npy`.
    pub words: PathBuf,
}

impl SkipThought {
    /// Whether a folder contains released Skip-thoughts: it has their dictionary.
    #[must_use]
    pub fn is_release(folder: impl AsRef<Path>) -> bool {
        folder.as_ref().join(DICTIONARY).is_file()
    }

    /// Reads the released files in `folder`: uni and bi concatenated, or the one whose files exist. The end token is
    /// not read and each half is scaled to length 1, as in the release by default; unknown words are read as `UNK`. The
    /// release tokenizes like the Penn Treebank and keeps case (`Tokenizer::words()` comes close); its dictionary has
    /// words in both cases.
    ///
    /// # Errors
    /// The errors of [`SkipThought::from_release`].
    pub fn open_release(folder: impl AsRef<Path>, tokenizer: Tokenizer) -> Result<Self> {
        let folder = folder.as_ref();
        let encoder = |weights: &str, words: &str| {
            let encoder = ReleasedEncoder { weights: folder.join(weights), words: folder.join(words) };
            encoder.weights.exists().then_some(encoder)
        };
        let (uni, bi) = (encoder("uni_skip.npz", "utable.npy"), encoder("bi_skip.npz", "btable.npy"));
        // If neither exists, the error names the first.
        let none = ReleasedEncoder { weights: folder.join("uni_skip.npz"), words: folder.join("utable.npy") };
        let uni = if bi.is_none() { uni.or(Some(none)) } else { uni };
        Self::from_release(&folder.join(DICTIONARY), uni.as_ref(), bi.as_ref(), tokenizer)
    }

    /// Like [`SkipThought::open_release`], with files of any name.
    ///
    /// # Errors
    /// [`Error::BadWeights`] if an array is missing, not finite, or of a different shape or type; if the number of
    /// words differs from the dictionary; or without an encoder. [`senv_core::Error::Io`] if a file cannot be read.
    pub fn from_release(
        dictionary: &Path,
        uni: Option<&ReleasedEncoder>,
        bi: Option<&ReleasedEncoder>,
        tokenizer: Tokenizer,
    ) -> Result<Self> {
        let vocabulary = words(dictionary)?;
        let [end, unknown] = SPECIAL.map(|word| vocabulary.id(word));
        if end.is_none() || unknown.is_none() {
            let reason = format!("the dictionary does not have {:?} or {:?}", SPECIAL[0], SPECIAL[1]);
            return Err(Error::BadWeights { path: dictionary.to_owned(), reason });
        }
        let mut parts = Vec::new();
        if let Some(files) = uni {
            parts.push(part(files, &["encoder"], vocabulary.len())?);
        }
        if let Some(files) = bi {
            parts.push(part(files, &["encoder", "encoder_r"], vocabulary.len())?);
        }
        if parts.is_empty() {
            let reason = "give at least one of the encoders uni and bi".to_owned();
            return Err(Error::BadWeights { path: dictionary.to_owned(), reason });
        }
        let config = SequenceConfig {
            parts: parts.iter().map(|part| part.seq2seq.form.clone()).collect(),
            reading: Reading { tokenizer, max_tokens: MAX_TOKENS, unknown, end: None },
            normalize: true,
            params: None,
        };
        Ok(Self::new(config, vocabulary, parts))
    }
}

/// The words of the dictionary, in order.
fn words(path: &Path) -> Result<Vocabulary> {
    let mut direction = TextReader::open(&[path], &TextOptions::default())?;
    let mut words = Vec::new();
    while let Some(line) = direction.next_line()? {
        words.push((line.text.trim().to_owned(), 0));
    }
    Ok(Vocabulary::from_counts(words, 0)?)
}

fn part(files: &ReleasedEncoder, directions: &[&str], n_words: usize) -> Result<EncoderPart> {
    let words = read_npy(&files.words)?;
    let bad = |path: &Path, reason: String| Error::BadWeights { path: path.to_owned(), reason };
    if words.n_rows() != n_words {
        let reason = format!("{} word vectors, but the dictionary has {n_words} words", words.n_rows());
        return Err(bad(&files.words, reason));
    }
    if words.iter().flatten().any(|x| !x.is_finite()) {
        return Err(bad(&files.words, "a word vector has a number that is not finite".into()));
    }
    let mut npz = Npz::open(&files.weights)?;
    let dim = Rows::dim(&words);
    let hidden = npz.array("encoder_Ux")?.n_rows();
    let mut parameters = Parameters::new();
    for (direction, name) in directions.iter().zip(["forward1", "backward1"]) {
        let mut array = |name: &str, shape: (usize, usize)| -> Result<Table> {
            let name = format!("{direction}_{name}");
            let array = npz.array(&name)?;
            let got = (array.n_rows(), array.dim());
            let reason = || format!("array {name:?}: the shape {got:?} (a vector is one column), expected {shape:?}");
            if got == shape { Ok(array) } else { Err(bad(&files.weights, reason())) }
        };
        let input = turned(&[array("W", (dim, 2 * hidden))?, array("Wx", (dim, hidden))?]);
        let recurrent = turned(&[array("U", (hidden, 2 * hidden))?, array("Ux", (hidden, hidden))?]);
        let bias = [array("b", (2 * hidden, 1))?.values(), array("bx", (hidden, 1))?.values()].concat();
        parameters.push(format!("{name}.input"), [3 * hidden, dim], input)?;
        parameters.push(format!("{name}.recurrent"), [3 * hidden, hidden], recurrent)?;
        parameters.push(format!("{name}.bias"), [1, 3 * hidden], bias)?;
    }
    let form = SequenceForm {
        dim,
        hidden,
        layers: 1,
        topology: if directions.len() == 1 { RecurrentTopology::Forward } else { RecurrentTopology::Separate },
        cell: SequenceCell::Gru { style: GruStyle::Release, start: GruInit::Orthogonal },
        conditioning: Conditioning::InitialState,
        start_token: false,
        decoders: 0,
        shared_output: true,
        n_words: 0,
        output: OutputForm::Full,
        reduction: Reduction::Sum,
    };
    Ok(EncoderPart::new(words, form.build()?, vec![parameters]))
}

/// The matrices transposed, one below another.
fn turned(matrices: &[Table]) -> Vec<f32> {
    let column = |matrix: &Table, j: usize| matrix.iter().map(move |row| row[j]).collect::<Vec<_>>();
    matrices.iter().flat_map(|matrix| (0..matrix.dim()).flat_map(|j| column(matrix, j))).collect()
}
