//! Any model of senv, opened without knowing which it is.

use std::path::Path;

use ndarray::Array2;
use senv_core::{Coverage, Scratch, SentenceEncoder, Table, Tokenizer, Vocabulary};
use senv_store::{Embeddings, ModelFile, NonFinite, ReadOptions};

use crate::{
    AverageEncoder, BowAutoencoder, Cse, Error, PThought, Pp, PvDbow, Relatedness, Result, RnnAutoencoder, Sent2Vec,
    SiameseCbow, SkipThought, Snli, Weighted, Word2Vec, word2vec::words,
};

/// A sentence encoder of any kind.
///
/// ```no_run
/// use senv_core::SentenceEncoder;
/// use senv_models::Model;
/// let model = Model::open("books.senv")?;
/// println!("{:.3}", model.similarity("a cat sat on the mat", "the cat is on the rug"));
/// # Ok::<(), senv_models::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Model {
    /// Sent2Vec.
    Sent2Vec(Box<Sent2Vec>),
    /// Averages of word2vec vectors trained by senv.
    Word2Vec(Box<Word2Vec>),
    /// PV-DBOW.
    PvDbow(Box<PvDbow>),
    /// Siamese CBOW.
    SiameseCbow(Box<SiameseCbow>),
    /// PP.
    Pp(Box<Pp>),
    /// CSE.
    Cse(Box<Cse>),
    /// An encoder tuned on scored pairs, with its head.
    Relatedness(Box<Relatedness>),
    /// An encoder learnt on labelled pairs, with its classifier.
    Snli(Box<Snli>),
    /// A bag of words squashed, from which its words can be told.
    BowAutoencoder(Box<BowAutoencoder>),
    /// Skip-thoughts: uni, bi, or both.
    SkipThought(Box<SkipThought>),
    /// A sentence told again from its vector.
    RnnAutoencoder(Box<RnnAutoencoder>),
    /// A sentence, and a paraphrase of it, told from its vector.
    PThought(Box<PThought>),
    /// Weighted averages, SIF or uSIF.
    Weighted(Box<Weighted>),
    /// Averages of word vectors of any origin.
    Embeddings(Box<AverageEncoder>),
}

impl Model {
    /// Opens a model file of senv, or word vectors in any format of the store; the latter are averaged over words
    /// found by the `words` tokenizer, lower-cased unless the file itself has capitals.
    ///
    /// # Errors
    /// If the file is neither, or damaged; [`senv_store::Error::NonFinite`], naming line and word, if a number of a row
    /// is NaN or infinite (of vectors that are read; those of a file of senv are mapped and not looked at).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let kind = match ModelFile::open(path) {
            Ok(file) => file.kind().to_owned(),
            // No model file: word vectors in some other format, or an error that names what was met.
            Err(senv_store::Error::Core(error @ senv_core::Error::Io { .. })) => return Err(error.into()),
            Err(error @ senv_store::Error::NotAFile { .. }) => return Err(error.into()),
            Err(model_error) => match Embeddings::read(path, &ReadOptions::default().non_finite(NonFinite::Error)) {
                Ok((embeddings, _)) => return Self::from_embeddings(embeddings),
                Err(error) => return Err(if is_safetensors(path) { model_error } else { error }.into()),
            },
        };
        match kind.as_str() {
            Sent2Vec::KIND => Ok(Self::Sent2Vec(Box::new(Sent2Vec::open(path)?))),
            Word2Vec::KIND => Ok(Self::Word2Vec(Box::new(Word2Vec::open(path)?))),
            PvDbow::KIND => Ok(Self::PvDbow(Box::new(PvDbow::open(path)?))),
            SiameseCbow::KIND => Ok(Self::SiameseCbow(Box::new(SiameseCbow::open(path)?))),
            Pp::KIND => Ok(Self::Pp(Box::new(Pp::open(path)?))),
            Cse::KIND => Ok(Self::Cse(Box::new(Cse::open(path)?))),
            Relatedness::KIND => Ok(Self::Relatedness(Box::new(Relatedness::open(path)?))),
            Snli::KIND => Ok(Self::Snli(Box::new(Snli::open(path)?))),
            BowAutoencoder::KIND => Ok(Self::BowAutoencoder(Box::new(BowAutoencoder::open(path)?))),
            SkipThought::KIND => Ok(Self::SkipThought(Box::new(SkipThought::open(path)?))),
            RnnAutoencoder::KIND => Ok(Self::RnnAutoencoder(Box::new(RnnAutoencoder::open(path)?))),
            PThought::KIND => Ok(Self::PThought(Box::new(PThought::open(path)?))),
            Weighted::KIND => Ok(Self::Weighted(Box::new(Weighted::open(path)?))),
            "embeddings" => Self::from_embeddings(Embeddings::open(path)?),
            _ => Err(Error::NotAnEncoder { path: path.to_owned(), kind }),
        }
    }

    /// An encoder that averages these word vectors.
    ///
    /// # Errors
    /// If there are more words than numbers for them.
    pub fn from_embeddings(embeddings: Embeddings) -> Result<Self> {
        let (vocabulary, table) = embeddings.into_parts();
        let cased = vocabulary.text().chars().any(char::is_uppercase);
        let tokenizer = Tokenizer::words().lowercase(!cased);
        let features = words(&vocabulary)?;
        Ok(Self::Embeddings(Box::new(AverageEncoder::new(tokenizer, vocabulary, features, table)?)))
    }

    /// Writes it to a file that [`Model::open`] reads, which appears whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        match self {
            Self::Sent2Vec(model) => model.save(path),
            Self::Word2Vec(model) => model.save(path),
            Self::PvDbow(model) => model.save(path),
            Self::SiameseCbow(model) => model.save(path),
            Self::Pp(model) => model.save(path),
            Self::Cse(model) => model.save(path),
            Self::Relatedness(model) => model.save(path),
            Self::Snli(model) => model.save(path),
            Self::BowAutoencoder(model) => model.save(path),
            Self::SkipThought(model) => model.save(path),
            Self::RnnAutoencoder(model) => model.save(path),
            Self::PThought(model) => model.save(path),
            Self::Weighted(model) => model.save(path),
            Self::Embeddings(_) => Ok(self.to_embeddings()?.save(path)?),
        }
    }

    /// The name of its kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Sent2Vec(_) => Sent2Vec::KIND,
            Self::Word2Vec(_) => Word2Vec::KIND,
            Self::PvDbow(_) => PvDbow::KIND,
            Self::SiameseCbow(_) => SiameseCbow::KIND,
            Self::Pp(_) => Pp::KIND,
            Self::Cse(_) => Cse::KIND,
            Self::Relatedness(_) => Relatedness::KIND,
            Self::Snli(_) => Snli::KIND,
            Self::BowAutoencoder(_) => BowAutoencoder::KIND,
            Self::SkipThought(_) => SkipThought::KIND,
            Self::RnnAutoencoder(_) => RnnAutoencoder::KIND,
            Self::PThought(_) => PThought::KIND,
            Self::Weighted(_) => Weighted::KIND,
            Self::Embeddings(_) => "embeddings",
        }
    }

    /// The words it knows.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        match self {
            Self::Sent2Vec(model) => model.encoder().vocabulary(),
            Self::Word2Vec(model) => model.encoder().vocabulary(),
            Self::PvDbow(model) => model.vocabulary(),
            Self::SiameseCbow(model) => model.encoder().vocabulary(),
            Self::Pp(model) => model.encoder().vocabulary(),
            Self::Cse(model) => model.vocabulary(),
            Self::Relatedness(model) => model.vocabulary(),
            Self::Snli(model) => model.vocabulary(),
            Self::BowAutoencoder(model) => model.vocabulary(),
            Self::SkipThought(model) => model.vocabulary(),
            Self::RnnAutoencoder(model) => model.vocabulary(),
            Self::PThought(model) => model.vocabulary(),
            Self::Weighted(model) => model.vocabulary(),
            Self::Embeddings(encoder) => encoder.vocabulary(),
        }
    }

    /// How it tokenizes text.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        match self {
            Self::PvDbow(model) => &model.params().tokenizer,
            Self::Cse(model) => &model.params().tokenizer,
            Self::Relatedness(model) => &model.config().tokenizer,
            Self::Snli(model) => &model.config().reading.tokenizer,
            Self::BowAutoencoder(model) => &model.params().tokenizer,
            Self::SkipThought(model) => &model.config().reading.tokenizer,
            Self::RnnAutoencoder(model) => &model.config().reading.tokenizer,
            Self::PThought(model) => &model.config().reading.tokenizer,
            _ => self.average().map_or_else(|| unreachable!("every other kind averages"), AverageEncoder::tokenizer),
        }
    }

    /// The table of its rows as they were trained; weights, where a model has them, come to them when it encodes.
    #[must_use]
    pub fn rows(&self) -> &Table {
        match self {
            Self::PvDbow(model) => model.words(),
            Self::Cse(model) => model.words(),
            Self::Relatedness(model) => model.words(),
            Self::Snli(model) => model.words(),
            Self::BowAutoencoder(model) => model.words(),
            Self::SkipThought(model) => model.words(),
            Self::RnnAutoencoder(model) => model.words(),
            Self::PThought(model) => model.words(),
            _ => self.average().map_or_else(|| unreachable!("every other kind averages"), AverageEncoder::rows),
        }
    }

    /// The encoder of those kinds that average rows, with the weights that they carry.
    #[must_use]
    pub fn average(&self) -> Option<&AverageEncoder> {
        match self {
            Self::Sent2Vec(model) => Some(model.encoder()),
            Self::Word2Vec(model) => Some(model.encoder()),
            Self::Embeddings(encoder) => Some(encoder),
            Self::SiameseCbow(model) => Some(model.encoder()),
            Self::Pp(model) => Some(model.encoder()),
            Self::Weighted(model) => Some(model.encoder()),
            Self::PvDbow(_)
            | Self::Cse(_)
            | Self::Relatedness(_)
            | Self::Snli(_)
            | Self::BowAutoencoder(_)
            | Self::SkipThought(_)
            | Self::RnnAutoencoder(_)
            | Self::PThought(_) => None,
        }
    }

    /// The parameters it was trained with, as JSON; `null` for word vectors of another origin.
    #[must_use]
    pub fn params_json(&self) -> serde_json::Value {
        let value = match self {
            Self::Sent2Vec(model) => serde_json::to_value(model.params()),
            Self::Word2Vec(model) => serde_json::to_value(model.params()),
            Self::PvDbow(model) => serde_json::to_value(model.params()),
            Self::SiameseCbow(model) => serde_json::to_value(model.params()),
            Self::Pp(model) => serde_json::to_value(model.params()),
            Self::Cse(model) => serde_json::to_value(model.params()),
            Self::Relatedness(model) => serde_json::to_value(model.config()),
            Self::Snli(model) => serde_json::to_value(model.config()),
            Self::BowAutoencoder(model) => serde_json::to_value(model.params()),
            Self::SkipThought(model) => serde_json::to_value(model.config()),
            Self::RnnAutoencoder(model) => serde_json::to_value(model.config()),
            Self::PThought(model) => serde_json::to_value(model.config()),
            Self::Weighted(model) => serde_json::to_value(model.config()),
            Self::Embeddings(_) => Ok(serde_json::Value::Null),
        };
        value.unwrap_or(serde_json::Value::Null)
    }

    /// How related two sentences are by the head of a model tuned on scored pairs, on the scale of those scores; `None`
    /// for a model without a head.
    ///
    /// # Errors
    /// If memory is lacking.
    pub fn relatedness(&self, first: &str, second: &str) -> Result<Option<f64>> {
        match self {
            Self::Relatedness(model) => model.score(first, second).map(Some),
            _ => Ok(None),
        }
    }

    /// Says that many sentences are to be encoded, so that what speeds that up may be made first.
    pub fn prepare_for_many(&self) {
        if let Self::Cse(model) = self {
            model.prepare_for_many();
        }
    }

    /// Whether many sentences at once take less time than one after another, which is so where matrices are multiplied.
    #[must_use]
    pub fn gains_from_batches(&self) -> bool {
        matches!(self, Self::Snli(_) | Self::SkipThought(_) | Self::RnnAutoencoder(_) | Self::PThought(_))
    }

    /// The words and their rows as they were trained, for other programs and as a start for other systems; n-grams,
    /// weights and common components are left behind.
    ///
    /// # Errors
    /// If the copy does not fit into memory.
    pub fn to_embeddings(&self) -> Result<Embeddings> {
        let vocabulary = self.vocabulary().clone();
        let dim = self.rows().dim();
        let mut table = Table::zeros(vocabulary.len(), dim)?;
        for (id, _, _) in vocabulary.iter() {
            let row = match self.average() {
                Some(encoder) => encoder.features().token_row(id).index(),
                None => id.index(),
            };
            table.row_mut(id.index()).copy_from_slice(senv_core::Rows::row(self.rows(), row));
        }
        Ok(Embeddings::new(vocabulary, table)?)
    }

    fn encoder(&self) -> &dyn SentenceEncoder {
        match self {
            Self::Sent2Vec(model) => model.as_ref(),
            Self::Word2Vec(model) => model.as_ref(),
            Self::PvDbow(model) => model.as_ref(),
            Self::SiameseCbow(model) => model.as_ref(),
            Self::Pp(model) => model.as_ref(),
            Self::Cse(model) => model.as_ref(),
            Self::Relatedness(model) => model.as_ref(),
            Self::Snli(model) => model.as_ref(),
            Self::BowAutoencoder(model) => model.as_ref(),
            Self::SkipThought(model) => model.as_ref(),
            Self::RnnAutoencoder(model) => model.as_ref(),
            Self::PThought(model) => model.as_ref(),
            Self::Weighted(model) => model.as_ref(),
            Self::Embeddings(encoder) => encoder.as_ref(),
        }
    }
}

/// Whether the file begins like safetensors: a header length and `{`.
fn is_safetensors(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; 9];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start[8] == b'{'
}

impl SentenceEncoder for Model {
    fn dim(&self) -> usize {
        self.encoder().dim()
    }

    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.encoder().encode_into(sentence, scratch, out)
    }

    fn encode_batch(&self, sentences: &[&str]) -> senv_core::Result<(Array2<f32>, Vec<Coverage>)> {
        self.encoder().encode_batch(sentences)
    }
}
