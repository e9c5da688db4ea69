//! Small tables of word vectors, as written by `senv compress`: [`StaticEncoder`] of the core, opened like any other
//! model.

use std::sync::OnceLock;

use senv_core::{Coverage, Scratch, SentenceEncoder, StaticEncoder, Table, Tokenizer, Vocabulary, files::Destination};
use senv_store::ModelFile;
use serde_json::json;

use crate::{
    error::Result,
    model::saved::{Abilities, OpenModel, SavedModel, model_file_methods},
};

/// The kinds trained on pairs, among those that tables are built from.
const TRAINED_ON_PAIRS: &[&str] = &["pp"];

/// A mean of compressed rows.
#[derive(Debug, Clone)]
pub struct StaticModel {
    encoder: StaticEncoder,
    /// The rows in full precision, made on first use.
    rows: OnceLock<Table>,
}

impl StaticModel {
    /// The name of this kind in model files.
    pub const KIND: &'static str = "static";

    /// The encoder.
    #[must_use]
    pub fn encoder(&self) -> &StaticEncoder {
        &self.encoder
    }
}

impl From<StaticEncoder> for StaticModel {
    fn from(encoder: StaticEncoder) -> Self {
        Self { encoder, rows: OnceLock::new() }
    }
}

impl OpenModel for StaticModel {
    const KIND: &'static str = Self::KIND;

    fn from_model_file(file: &ModelFile) -> Result<Self> {
        Ok(StaticEncoder::from_model_file(file)?.into())
    }
}

impl SavedModel for StaticModel {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        self.encoder.vocabulary()
    }

    fn tokenizer(&self) -> &Tokenizer {
        self.encoder.tokenizer()
    }

    fn rows(&self) -> Result<&Table> {
        if let Some(rows) = self.rows.get() {
            return Ok(rows);
        }
        let rows = self.encoder.rows().decoded()?;
        Ok(self.rows.get_or_init(|| rows))
    }

    fn config_json(&self) -> String {
        let config = json!({
            "dim": self.encoder.dim(),
            "encoding": self.encoder.encoding(),
            "tokenizer": self.encoder.tokenizer(),
            "unknown_words": if self.encoder.unknown_word_length().is_some() { "hash" } else { "skip" },
            "source": self.encoder.source(),
        });
        config.to_string()
    }

    fn abilities(&self) -> Abilities<'_> {
        let holds_frequency_weights = TRAINED_ON_PAIRS.contains(&self.encoder.source());
        Abilities { static_table: Some(&self.encoder), holds_frequency_weights, ..Abilities::default() }
    }

    fn with_static_table(&self, table: StaticEncoder) -> Option<Box<dyn SavedModel>> {
        Some(Box::new(Self::from(table)))
    }

    fn write(&self, to: Destination<'_>) -> Result<()> {
        Ok(self.encoder.write(to)?)
    }
}

senv_core::encoding_methods!([] StaticModel);
model_file_methods!([] StaticModel);

impl SentenceEncoder for StaticModel {
    fn dim(&self) -> usize {
        self.encoder.dim()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.encoder.encode_into(sentence, scratch, out)
    }
}
