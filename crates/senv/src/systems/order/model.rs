//! The trained model: a table with an order part behind it.

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use senv_core::{
    Coverage, Error as CoreError, Scratch, SentenceEncoder, StaticEncoder, Table, TokenId, Tokenizer, Vocabulary,
    arrays::Parameters,
    hyperparameters::{Hyperparameter, Hyperparameters},
    static_model::{RowEncoding, StaticConfig},
};
use senv_encoders::{OrderEncoder, OrderJoin, OrderTables};
use senv_store::ModelFile;
use serde::{Deserialize, Serialize};

use super::{OrderParams, words::Words};
use crate::{
    base::{
        configuration::{self, Configuration},
        file,
        range::require,
    },
    compress::static_model::StaticModel,
    error::{Error, Result},
    model::saved::{ReadModel, SavedModel},
};

/// How the tables of a trained part are stored in memory.
const TABLES: RowEncoding = RowEncoding::Int8;

/// The settings of an order model, as its file keeps them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrderConfig {
    /// The table.
    pub table: StaticConfig,
    /// Columns of the order part.
    pub dim: usize,
    /// Random features of a word.
    pub random_features: usize,
    /// The seed that they are drawn from.
    pub seed: u64,
    /// The weights of the parts.
    pub join: OrderJoin,
    /// Words of negation.
    pub negation_words: Vec<String>,
    /// What it was trained with.
    pub params: OrderParams,
}

/// A static table, and behind its vector a part that reads word order.
///
/// The first dimensions are the vector of the table as it is.
#[derive(Debug, Clone)]
pub struct Order {
    table: StaticModel,
    config: OrderConfig,
    parameters: Parameters<f32>,
    /// Words of negation, ascending.
    negation: Vec<TokenId>,
    tables: Arc<OnceLock<OrderTables>>,
}

impl Order {
    /// The name of this kind in model files.
    pub const KIND: &'static str = "order";

    pub(super) fn new(table: StaticEncoder, config: OrderConfig, parameters: Parameters<f32>) -> Result<Self> {
        let mut negation: Vec<TokenId> =
            config.negation_words.iter().filter_map(|word| table.vocabulary().id(word)).collect();
        negation.sort_unstable();
        negation.dedup();
        if parameters.iter().any(|tensor| tensor.values().iter().any(|x| !x.is_finite())) {
            let (name, requirement) = ("order part", "finite numbers");
            return Err(
                CoreError::InvalidParameter { name, requirement, got: "NaN or an infinite number".into() }.into()
            );
        }
        Ok(Self { table: table.into(), config, parameters, negation, tables: Arc::default() })
    }

    /// Its settings.
    #[must_use]
    pub fn config(&self) -> &OrderConfig {
        &self.config
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &StaticEncoder {
        self.table.encoder()
    }

    /// The weights of the parts.
    #[must_use]
    pub fn join(&self) -> OrderJoin {
        self.config.join
    }

    /// The same model with other weights of its parts; what was made of the parameters is shared.
    #[must_use]
    pub fn with_join(&self, join: OrderJoin) -> Self {
        Self { config: OrderConfig { join, ..self.config.clone() }, ..self.clone() }
    }

    /// Makes the tables of the order part in this encoding, unless they are made already: eight bits a value where nothing was said.
    ///
    /// # Errors
    /// [`CoreError::TooLarge`] if memory is lacking; [`CoreError::InvalidParameter`] if a product of the parameters is not finite.
    pub fn make_tables(&self, encoding: RowEncoding) -> Result<()> {
        if self.tables.get().is_none() {
            let words = self.words();
            let tables = OrderTables::new(self.encoder(), &self.parameters, words.len(), encoding, |word, out| {
                words.features(word, out)
            })?;
            // Another thread may have been faster; its tables are the same.
            let _ = self.tables.set(tables);
        }
        Ok(())
    }

    /// Bytes of the tables of the order part; 0 before they are made.
    #[must_use]
    pub fn table_bytes(&self) -> usize {
        self.tables.get().map_or(0, OrderTables::n_bytes)
    }

    /// The first `dim` dimensions are kept: at most those of the table, whose vector they are.
    ///
    /// # Errors
    /// [`CoreError::InvalidParameter`] if `dim` is 0 or above the dimension of the table.
    pub fn truncate_dim(&self, dim: usize) -> Result<StaticModel> {
        Ok(self.table().clone().truncate_dim(dim)?.into())
    }

    fn encoder(&self) -> OrderEncoder {
        OrderEncoder { features: self.words().n_features(), dim: self.config.dim }
    }

    fn words(&self) -> Words<'_> {
        Words { table: self.table(), random: self.config.random_features, seed: self.config.seed }
    }

    /// Writes the model to a file by atomic replacement: the table, the maps and the settings; tables of the order part are made anew.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let config = file::to_json(&self.config)?;
        let tensors: Vec<(&str, &[f32])> =
            self.parameters.iter().map(|tensor| (tensor.name(), tensor.values())).collect();
        Ok(self.table().save_as(Self::KIND, &config, &tensors, path)?)
    }

    /// Opens a model; the rows of its table are memory-mapped.
    ///
    /// # Errors
    /// If the file is no such model of senv, or damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_file(&ModelFile::open(path)?)
    }
}

impl Configuration for OrderConfig {
    fn check_for(&self, file: &ModelFile, n_words: usize) -> Result<()> {
        let OrderJoin { kappa, gamma, negation } = self.join;
        for (name, value) in [("kappa", kappa), ("gamma", gamma), ("negation", negation)] {
            require(value.is_finite() && value >= 0.0, name, "finite and at least 0", value)?;
        }
        require((1..=65_536).contains(&self.dim), "dim", "from 1 to 65536", self.dim as f64)?;
        require(self.random_features <= 65_536, "random_features", "at most 65536", self.random_features as f64)?;
        require(n_words > 0, "vocabulary", "one word or more", n_words as f64)?;
        let features = self.table.dim.saturating_add(self.random_features);
        configuration::expect_values(file, "the order part", OrderEncoder { features, dim: self.dim }.n_values())
    }
}

impl ReadModel for Order {
    const KIND: &'static str = Self::KIND;

    fn from_file(file: &ModelFile) -> Result<Self> {
        file.expect_kind(Self::KIND)?;
        let vocabulary = file.vocabulary()?;
        let config: OrderConfig = configuration::read(file, vocabulary.len())?;
        let table = StaticEncoder::from_parts_of(file, config.table.clone())?;
        let encoder = OrderEncoder { features: table.rows().dim() + config.random_features, dim: config.dim };
        let [parameters] = file::groups(file, &[encoder.zeros()?])?;
        Self::new(table, config, parameters).map_err(|error| match error {
            Error::Core(error @ CoreError::InvalidParameter { .. }) => {
                Error::BadModel { path: file.path().to_owned(), reason: error.to_string() }
            }
            error => error,
        })
    }
}

impl SavedModel for Order {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        self.table.vocabulary()
    }

    fn tokenizer(&self) -> &Tokenizer {
        self.table.tokenizer()
    }

    /// The rows of the table.
    fn rows(&self) -> Result<&Table> {
        self.table.rows()
    }

    fn config_json(&self) -> serde_json::Value {
        let mut config = serde_json::to_value(&self.config).unwrap_or_default();
        if let Some(config) = config.as_object_mut() {
            let unknown = if self.table().unknown_word_length().is_some() { "hash" } else { "skip" };
            config.insert("unknown_words".into(), unknown.into());
        }
        config
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.config.params.hyperparameters()
    }

    fn holds_frequency_weights(&self) -> bool {
        self.table.holds_frequency_weights()
    }

    fn write(&self, path: &Path) -> Result<()> {
        self.save(path)
    }

    /// Makes the tables of the order part.
    fn prepare_for_many(&self) {
        // What fails here fails again, and is handled, when a sentence is encoded.
        let _ = self.make_tables(TABLES);
    }
}

senv_core::encoding_methods!([] Order);

impl SentenceEncoder for Order {
    fn dim(&self) -> usize {
        self.table().dim() + self.config.dim + OrderJoin::EXTRA
    }

    /// Where there is no memory for the tables of the order part, the part is zero.
    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let (table, words) = (self.table(), self.words());
        let (dim, n_known) = (table.dim(), table.vocabulary().len());
        let coverage = words.read(sentence, scratch);
        let Scratch { tokens, unknown, values, .. } = scratch;
        let n = tokens.len();
        let has_negation = tokens.iter().any(|token| self.negation.binary_search(token).is_ok());
        let _ = self.make_tables(TABLES);
        let (of_table, behind) = out.split_at_mut(dim);
        let part = &mut behind[..self.config.dim + 1];
        match self.tables.get() {
            Some(tables) => tables.encode_into(tokens.iter().map(|token| token.0), values, part),
            None => part.fill(0.0),
        }
        tokens.retain(|token| token.index() < n_known);
        table.mean_into(tokens, (coverage.hashed > 0).then_some(&unknown[..]), coverage.hashed, of_table);
        // `out` has room for all parts: its length is that of the trait.
        let _ = self.config.join.apply(n, has_negation, dim, out);
        coverage
    }
}
