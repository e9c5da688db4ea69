//! Small tables of word vectors, as `senv compress` writes them: [`StaticEncoder`] of the core, opened as any other
//! model.

use std::{path::Path, sync::OnceLock};

use senv_core::{Coverage, Scratch, SentenceEncoder, StaticEncoder, Table, Tokenizer, Vocabulary};
use senv_store::ModelFile;
use serde_json::json;

use crate::{
    error::Result,
    model::saved::{ReadModel, SavedModel},
};

/// The kinds that are trained on pairs, among those that tables are made of.
const TRAINED_ON_PAIRS: &[&str] = &["pp"];

/// A mean of compressed rows.
#[derive(Debug, Clone)]
pub struct StaticModel {
    encoder: StaticEncoder,
    /// The rows in full, made when they are asked for.
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

impl ReadModel for StaticModel {
    const KIND: &'static str = Self::KIND;

    fn from_file(file: &ModelFile) -> Result<Self> {
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

    fn config_json(&self) -> serde_json::Value {
        json!({
            "dim": self.encoder.dim(),
            "encoding": self.encoder.encoding(),
            "tokenizer": self.encoder.tokenizer(),
            "unknown_words": if self.encoder.unknown_word_length().is_some() { "hash" } else { "skip" },
            "source": self.encoder.source(),
        })
    }

    fn static_table(&self) -> Option<&StaticEncoder> {
        Some(&self.encoder)
    }

    fn with_static_table(&self, table: StaticEncoder) -> Option<Box<dyn SavedModel>> {
        Some(Box::new(Self::from(table)))
    }

    fn holds_frequency_weights(&self) -> bool {
        TRAINED_ON_PAIRS.contains(&self.encoder.source())
    }

    fn write(&self, path: &Path) -> Result<()> {
        Ok(self.encoder.save(path)?)
    }
}

senv_core::encoding_methods!([] StaticModel);

impl SentenceEncoder for StaticModel {
    fn dim(&self) -> usize {
        self.encoder.dim()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.encoder.encode_into(sentence, scratch, out)
    }
}
