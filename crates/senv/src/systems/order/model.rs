//! The trained model: a table with an order part.

use senv_core::{
    Coverage, Scratch, SentenceEncoder, StaticEncoder, Table, Tokenizer, Vocabulary,
    files::Destination,
    hyperparameters::{Hyperparameter, Hyperparameters},
    static_model::{
        StaticConfig,
        order::{OrderJoin, OrderPart},
    },
};
use senv_store::ModelFile;
use serde::{Deserialize, Serialize};

use super::OrderParams;
use crate::{
    base::{
        configuration::{self, Configuration},
        file,
        range::require,
    },
    compress::static_model::StaticModel,
    error::Result,
    model::saved::{Abilities, OpenModel, SavedModel, model_file_methods},
};

/// The configuration of an order model, as stored in its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrderModelConfig {
    /// The table with its order part.
    pub table: StaticConfig,
    /// The training parameters.
    pub params: OrderParams,
}

/// A static table with an order part, whose columns follow those of the table.
///
/// The first dimensions are the unchanged vector of the table. `senv compress` turns the model into a small table of
/// kind `static`, which programs open without any training code.
#[derive(Debug, Clone)]
pub struct Order {
    model: StaticModel,
    params: OrderParams,
}

impl Order {
    /// The kind name in model files.
    pub const KIND: &'static str = "order";

    /// Creates the model of a table with an order part.
    pub(super) fn new(encoder: StaticEncoder, params: OrderParams) -> Self {
        Self { model: encoder.into(), params }
    }

    /// The table with its order part.
    #[must_use]
    pub fn encoder(&self) -> &StaticEncoder {
        self.model.encoder()
    }

    /// The training parameters.
    #[must_use]
    pub fn params(&self) -> &OrderParams {
        &self.params
    }

    /// The weights of the parts.
    #[must_use]
    pub fn join(&self) -> OrderJoin {
        self.encoder().order().map_or(OrderJoin { kappa: 0.0, gamma: 0.0, negation: 0.0 }, OrderPart::join)
    }

    /// Returns the same model with other weights of its parts.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](senv_core::Error::InvalidParameter) if a weight is negative, infinite or NaN.
    pub fn with_join(&self, join: OrderJoin) -> Result<Self> {
        Ok(Self::new(self.encoder().clone().with_order_join(join)?, self.params.clone()))
    }

    pub(super) fn config(&self) -> OrderModelConfig {
        OrderModelConfig { table: self.encoder().config(), params: self.params.clone() }
    }
}

impl Configuration for OrderModelConfig {
    fn check_for(&self, _: &ModelFile, n_words: usize) -> Result<()> {
        require(n_words > 0, "vocabulary", "one word or more", n_words as f64)?;
        require(self.table.order.is_some(), "order", "the settings of an order part", 0.0)
    }
}

impl OpenModel for Order {
    const KIND: &'static str = Self::KIND;

    fn from_model_file(file: &ModelFile) -> Result<Self> {
        file.expect_kind(Self::KIND)?;
        let n_words = file.vocabulary()?.len();
        let OrderModelConfig { table, params } = configuration::read(file, n_words)?;
        Ok(Self::new(StaticEncoder::from_parts_of(file, table)?, params))
    }
}

impl SavedModel for Order {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        self.model.vocabulary()
    }

    fn tokenizer(&self) -> &Tokenizer {
        self.model.tokenizer()
    }

    /// The rows of the table.
    fn rows(&self) -> Result<&Table> {
        self.model.rows()
    }

    fn config_json(&self) -> String {
        let mut config = serde_json::to_value(self.config()).unwrap_or_default();
        if let Some(config) = config.as_object_mut() {
            let unknown = if self.encoder().unknown_word_length().is_some() { "hash" } else { "skip" };
            config.insert("unknown_words".into(), unknown.into());
        }
        config.to_string()
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.params.hyperparameters()
    }

    fn abilities(&self) -> Abilities<'_> {
        self.model.abilities()
    }

    fn with_static_table(&self, table: StaticEncoder) -> Option<Box<dyn SavedModel>> {
        match table.order() {
            Some(_) => Some(Box::new(Self::new(table, self.params.clone()))),
            None => Some(Box::new(StaticModel::from(table))),
        }
    }

    fn write(&self, to: Destination<'_>) -> Result<()> {
        Ok(self.encoder().write_as(Self::KIND, &file::to_json(&self.config())?, to)?)
    }
}

senv_core::encoding_methods!([] Order);
model_file_methods!([] Order);

impl SentenceEncoder for Order {
    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.model.encode_into(sentence, scratch, out)
    }
}
