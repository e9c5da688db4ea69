//! Random BOW: sums of fixed random word vectors, whose similarity depends only on shared words.
//!
//! A baseline of the SNLI-finetuned Skip-thoughts paper (its table 6), which states 620 dimensions and no distribution.
//! Here each value is N(0, 1), drawn from a hash of seed and word, so there is no vocabulary and every word is known.

use senv_core::{
    Coverage, Scratch, SentenceEncoder, Table, Tokenizer, Vocabulary,
    files::Destination,
    hyperparameters::{Hyperparameters, hyperparameters},
    init, kernels,
    rng::stream,
    text::Normalization,
};
use senv_ngram::fnv1a;
use senv_store::{ModelFile, ModelWriter};
use serde::{Deserialize, Serialize};

use crate::{
    base::{
        configuration::{self, Configuration},
        file,
    },
    error::Result,
    model::saved::{OpenModel, SavedModel, model_file_methods},
};

hyperparameters! {
    /// Hyperparameters of random BOW.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct RandomBowParams {
        /// Embedding dimension.
        pub dim: usize = 620 => Training[from 1 to 65536];
        /// Random seed.
        pub seed: u64 = 1 => Training;
        /// The tokenizer; punctuation marks are words.
        pub tokenizer: Tokenizer =
            Tokenizer::words().lowercase(true).normalize(Normalization::Typing) => group;
    }
}

/// Sums of random vectors.
///
/// ```
/// use senv_core::SentenceEncoder;
/// use senv::{RandomBow, RandomBowParams};
/// let random = RandomBow::new(RandomBowParams::default())?;
/// let one_word_shared = random.similarity("a cat slept", "the cat ran");
/// assert!((one_word_shared - 1.0 / 3.0).abs() < 0.15);
/// # Ok::<(), senv::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RandomBow {
    params: RandomBowParams,
    vocabulary: Vocabulary,
    rows: Table,
}

impl RandomBow {
    /// The kind name in model files.
    pub const KIND: &'static str = "random-bow";

    /// Creates the encoder; nothing is trained.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if the dimension is out of range.
    pub fn new(params: RandomBowParams) -> Result<Self> {
        params.check_ranges()?;
        let none: [(&str, u64); 0] = [];
        let rows = Table::zeros(0, params.dim)?;
        Ok(Self { params, vocabulary: Vocabulary::from_counts(none, 0)?, rows })
    }

    /// Its hyperparameters.
    #[must_use]
    pub fn params(&self) -> &RandomBowParams {
        &self.params
    }
}

impl Configuration for RandomBowParams {
    fn check_for(&self, _: &ModelFile, _: usize) -> Result<()> {
        Ok(self.check_ranges()?)
    }
}

impl OpenModel for RandomBow {
    const KIND: &'static str = Self::KIND;

    fn from_model_file(file: &ModelFile) -> Result<Self> {
        file.expect_kind(Self::KIND)?;
        Self::new(configuration::read(file, 0)?)
    }
}

impl SavedModel for RandomBow {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    /// Empty: every word is known.
    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.params.tokenizer
    }

    /// Empty: rows are drawn on demand.
    fn rows(&self) -> Result<&Table> {
        Ok(&self.rows)
    }

    fn config_json(&self) -> String {
        serde_json::to_string(&self.params).unwrap_or_default()
    }

    fn hyperparameters(&self) -> Vec<senv_core::hyperparameters::Hyperparameter> {
        self.params.hyperparameters()
    }

    fn write(&self, to: Destination<'_>) -> Result<()> {
        Ok(ModelWriter::new(Self::KIND).config(&file::to_json(&self.params)?).write(to)?)
    }
}

senv_core::encoding_methods!([] RandomBow);
model_file_methods!([] RandomBow);

impl SentenceEncoder for RandomBow {
    fn dim(&self) -> usize {
        self.params.dim
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        out.fill(0.0);
        let Scratch { text, values, .. } = scratch;
        values.resize(out.len(), 0.0);
        let mut tokens = 0;
        self.params.tokenizer.for_each(sentence, text, |token| {
            tokens += 1;
            let mut rng = stream(self.params.seed, "random BOW", &[u64::from(fnv1a(token.as_bytes()))]);
            // N(0, 1) is a valid distribution, so this cannot fail.
            if init::normal(&mut rng, values, 1.0).is_ok() {
                kernels::add(values, out);
            }
        });
        Coverage::new(tokens, tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(params: RandomBowParams, text: &str) -> Vec<f32> {
        RandomBow::new(params).unwrap().encode(&[text]).unwrap().into_iter().collect()
    }

    #[test]
    fn words_are_summed_whatever_their_order_and_seeds_differ() {
        let of = |text| vector(RandomBowParams::default(), text);
        let sum: Vec<f32> = of("cat").iter().zip(of("dog")).map(|(a, b)| a + b).collect();
        assert!(of("Cat dog").iter().zip(&sum).all(|(a, b)| (a - b).abs() < 1e-5));
        assert_ne!(of("cat"), of("cat."), "a mark is a word");
        assert_ne!(of("cat"), vector(RandomBowParams { seed: 2, ..Default::default() }, "cat"));
        assert!(of("").iter().all(|&x| x == 0.0));
    }

    #[test]
    fn values_are_standard_normal() {
        let x = vector(RandomBowParams { dim: 20_000, ..Default::default() }, "word");
        let mean = x.iter().sum::<f32>() / 20_000.0;
        let variance = x.iter().map(|x| x * x).sum::<f32>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }

    #[test]
    fn a_saved_model_is_the_same_and_a_bad_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("random.senv");
        let model = RandomBow::new(RandomBowParams { dim: 7, seed: 9, ..Default::default() }).unwrap();
        model.save(&path).unwrap();
        let opened = crate::open(&path).unwrap();
        assert_eq!((opened.kind(), opened.dim()), ("random-bow", 7));
        assert_eq!(opened.encode(&["a b"]).unwrap(), model.encode(&["a b"]).unwrap());
        let config = r#"{"dim":0,"seed":1,"tokenizer":"words"}"#;
        ModelWriter::new(RandomBow::KIND).config(config).save(&path).unwrap();
        assert!(crate::open(&path).unwrap_err().to_string().contains("random.senv"));
        assert!(RandomBow::new(RandomBowParams { dim: 0, ..Default::default() }).is_err());
    }
}
