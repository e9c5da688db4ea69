//! A trained encoder into the space of its targets: saving, opening, encoding, finding words for definitions.

use std::{
    fmt::Debug,
    panic::{RefUnwindSafe, UnwindSafe},
};

use ndarray::Array2;
use senv_core::{
    Coverage, Result as CoreResult, Scratch, SentenceEncoder, Table, TokenId, Tokenizer, Vocabulary,
    arrays::Parameters,
    files::Destination,
    hyperparameters::{Hyperparameter, Hyperparameters},
};
use senv_store::{Embeddings, ModelFile, ModelWriter};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{TargetEncoder, TargetParams, net::Net};
use crate::{
    base::{
        configuration::{self, Configuration},
        file,
        sealed::Sealed,
    },
    data::reading::{Reading, encode_batch_by_length, encode_into_with, gather},
    error::{Error, Result},
    model::{
        reverse_dictionary::ReverseDictionary,
        saved::{Abilities, EncodingCost, OpenModel, SavedModel, model_file_methods},
    },
};

/// The settings of a system that trains toward given vectors. The trait is sealed: this crate implements it, and others
/// call it.
pub trait TargetSystem:
    Sealed + Hyperparameters + Serialize + DeserializeOwned + Debug + Clone + PartialEq + Send + Sync + 'static
{
    /// The name of its kind in model files.
    const KIND: &'static str;

    /// Returns the shared settings of such systems.
    fn settings(&self) -> &TargetParams;

    /// Returns the shared settings for changes.
    fn settings_mut(&mut self) -> &mut TargetParams;
}

/// The settings of a model, as stored in its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "S: TargetSystem")]
pub struct TargetConfig<S> {
    /// The dimension of the targets and of the sentence vectors.
    pub target_dim: usize,
    /// How text is read.
    pub reading: Reading,
    /// The parameters that it was trained with.
    pub params: S,
}

/// The words whose vectors are the targets.
#[derive(Debug, Clone)]
pub(super) struct TargetWords {
    pub(super) vectors: Embeddings,
    pub(super) is_held_out: Vec<bool>,
}

/// The names of the parts of [`TargetWords`] in a file.
const TARGETS: [&str; 4] = ["targets", "targets.text", "targets.offsets", "targets.held_out"];

impl TargetWords {
    /// Reads them, if the file has any.
    fn read(file: &ModelFile, dim: usize) -> Result<Option<Self>> {
        let [rows, text, offsets, held_out] = TARGETS;
        if !TARGETS.iter().any(|name| file.contains(name)) {
            return Ok(None);
        }
        let bad = |reason: String| Error::BadModel { path: file.path().to_owned(), reason };
        let text = String::from_utf8(file.bytes(text)?.to_vec()).map_err(|error| bad(format!("{text}: {error}")))?;
        let offsets = file.u32s(offsets)?;
        let counts = vec![0; offsets.len().saturating_sub(1)];
        let words = Vocabulary::from_parts(text, offsets, counts, 0).map_err(|error| bad(error.to_string()))?;
        let table = file.table(rows)?;
        file::expect_table(file.path(), rows, &table, words.len(), dim)?;
        let flags = file.bytes(held_out)?;
        if flags.len() != words.len() || flags.iter().any(|&flag| flag > 1) {
            return Err(bad(format!("tensor {held_out:?} is not a list of {} values of 0 or 1", words.len())));
        }
        let is_held_out = flags.iter().map(|&flag| flag == 1).collect();
        Ok(Some(Self { vectors: Embeddings::new(words, table)?, is_held_out }))
    }
}

/// A trained encoder into the space of its targets.
#[derive(Debug, Clone)]
pub struct TargetModel<S> {
    config: TargetConfig<S>,
    vocabulary: Vocabulary,
    words: Table,
    net: Net,
    /// The parameters of the encoder and those of the maps.
    parameters: [Parameters<f32>; 2],
    targets: Option<TargetWords>,
}

/// It is read and never changed, so a panic leaves nothing half done.
impl<S> UnwindSafe for TargetModel<S> {}
impl<S> RefUnwindSafe for TargetModel<S> {}

impl<S: TargetSystem> TargetModel<S> {
    /// The name of this kind in model files.
    pub const KIND: &'static str = S::KIND;

    pub(super) fn new(
        config: TargetConfig<S>,
        vocabulary: Vocabulary,
        words: Table,
        parameters: [Parameters<f32>; 2],
        targets: Option<TargetWords>,
    ) -> Result<Self> {
        let net = Net::new(config.params.settings(), config.target_dim)?;
        Ok(Self { config, vocabulary, words, net, parameters, targets })
    }

    /// Its settings.
    #[must_use]
    pub fn config(&self) -> &TargetConfig<S> {
        &self.config
    }

    /// The words it reads.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The vectors of the words it reads.
    #[must_use]
    pub fn words(&self) -> &Table {
        &self.words
    }

    fn read(&self, text: &str, scratch: &mut String, out: &mut Vec<TokenId>) -> Coverage {
        self.config.reading.read(&self.vocabulary, text, scratch, out)
    }

    fn vectors(&self, sentences: &[&[TokenId]]) -> CoreResult<Array2<f32>> {
        let (batch, words) = gather(&self.words, sentences)?;
        self.net.encode(&self.parameters, &batch, words.view(), sentences)
    }
}

impl ReverseDictionary for TargetWords {
    fn target_words(&self) -> &Embeddings {
        &self.vectors
    }

    fn is_held_out(&self, i: usize) -> bool {
        self.is_held_out.get(i).is_some_and(|held_out| *held_out)
    }
}

impl<S: TargetSystem> Configuration for TargetConfig<S> {
    fn check_for(&self, file: &ModelFile, n_words: usize) -> Result<()> {
        let params = self.params.settings();
        params.check()?;
        file::check_dim(self.target_dim)?;
        self.reading.check(n_words)?;
        params.form().check(params.dim, file)?;
        configuration::expect_values(file, "the maps", Net::new(params, self.target_dim)?.n_map_values())
    }
}

impl<S: TargetSystem> OpenModel for TargetModel<S> {
    const KIND: &'static str = S::KIND;

    fn from_model_file(file: &ModelFile) -> Result<Self> {
        let (config, vocabulary, words) = file::parts::<TargetConfig<S>>(S::KIND, file)?;
        let params = config.params.settings();
        file::expect_rows(file, &words, vocabulary.len(), params.dim)?;
        let parameters = file::groups(file, &Net::forms(params, config.target_dim)?)?;
        let targets = TargetWords::read(file, config.target_dim)?;
        Self::new(config, vocabulary, words, parameters, targets)
    }
}

impl<S: TargetSystem> SavedModel for TargetModel<S> {
    fn kind(&self) -> &'static str {
        S::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.config.reading.tokenizer
    }

    fn rows(&self) -> Result<&Table> {
        Ok(&self.words)
    }

    fn config_json(&self) -> String {
        serde_json::to_string(&self.config).unwrap_or_default()
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.config.params.hyperparameters()
    }

    fn write(&self, to: Destination<'_>) -> Result<()> {
        let config = file::to_json(&self.config)?;
        let mut writer =
            ModelWriter::new(S::KIND).config(&config).vocabulary(&self.vocabulary).table(file::ROWS, &self.words);
        for tensor in self.parameters.iter().flat_map(Parameters::iter) {
            writer = writer.f32s(tensor.name(), tensor.values());
        }
        let flags: Vec<u8> =
            self.targets.iter().flat_map(|targets| &targets.is_held_out).map(|&flag| u8::from(flag)).collect();
        if let Some(TargetWords { vectors, .. }) = &self.targets {
            let [rows, text, offsets, held_out] = TARGETS;
            let words = vectors.vocabulary();
            writer = writer.table(rows, vectors.table()).bytes(text, words.text().as_bytes());
            writer = writer.u32s(offsets, words.offsets()).bytes(held_out, &flags);
        }
        Ok(writer.write(to)?)
    }

    fn abilities(&self) -> Abilities<'_> {
        let cost = match self.config.params.settings().encoder {
            TargetEncoder::Rnn => EncodingCost::LessInBatches,
            TargetEncoder::Bow | TargetEncoder::Regress => EncodingCost::PerSentence,
        };
        let reverse_dictionary = self.targets.as_ref().map(|targets| targets as &dyn ReverseDictionary);
        Abilities { cost, reverse_dictionary, ..Abilities::default() }
    }
}

senv_core::encoding_methods!([S: TargetSystem] TargetModel<S>);
model_file_methods!([S: TargetSystem] TargetModel<S>);

impl<S: TargetSystem> SentenceEncoder for TargetModel<S> {
    fn dim(&self) -> usize {
        self.config.target_dim
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let read = |text: &str, scratch: &mut String, out: &mut Vec<TokenId>| self.read(text, scratch, out);
        encode_into_with(sentence, scratch, out, read, |sentences| self.vectors(sentences))
    }

    fn encode_batch(&self, sentences: &[&str]) -> CoreResult<(Array2<f32>, Vec<Coverage>)> {
        let read = |text: &str, scratch: &mut String, out: &mut Vec<TokenId>| self.read(text, scratch, out);
        encode_batch_by_length(sentences, self.dim(), read, |sentences| self.vectors(sentences))
    }
}
