//! RNN AE: a sentence read by a recurrent encoder, and told again word by word from its vector.
//!
//! The objective is `sequence-objective` with one decoder. How the vector acts on the decoder is not stated by the paper
//! that compares it; it is the first state here.

use std::path::Path;

use senv_core::{CorpusOptions, Observer, Tokenizer};
use senv_encoders::{Conditioning, GruInit, GruStyle, GruTopology};
use senv_losses::Reduction;
use senv_store::Embeddings;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result, file,
    fit::{FitParams, require},
    initial::Initial,
    learnt::Learnt,
    sequence::{
        Example, LongSentences, OutputForm, Reading, SequenceForm, SequenceModel, SequenceSystem, Text, Training,
        UNKNOWN, Wanted,
    },
};

/// What RNN AE can be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RnnAutoencoderParams {
    /// Numbers of a word vector.
    pub dim: usize,
    /// Units of the encoder, and of the decoder.
    pub hidden: usize,
    /// The form of the cells.
    pub style: GruStyle,
    /// At most so many words, the end token and the one for unknown words among them.
    pub max_vocabulary: Option<usize>,
    /// Words that occur less often are unknown.
    pub min_count: u64,
    /// Words of a sentence that are read, at least 1.
    pub max_tokens: usize,
    /// What becomes of longer sentences in training.
    pub long: LongSentences,
    /// How the next word is judged.
    pub output: OutputForm,
    /// How text is cut into tokens.
    pub tokenizer: Tokenizer,
    /// Where word vectors start.
    pub initial: Initial,
    /// The loop.
    pub fit: FitParams,
}

impl Default for RnnAutoencoderParams {
    /// 620 numbers a word, 2400 units, 20,000 words, Adam at 0.001 in batches of 64, gradients of at most 10.
    fn default() -> Self {
        Self {
            dim: 620,
            hidden: 2400,
            style: GruStyle::Paper,
            max_vocabulary: Some(20_000),
            min_count: 1,
            max_tokens: 30,
            long: LongSentences::Cut,
            output: OutputForm::Full,
            tokenizer: Tokenizer::words().lowercase(true),
            initial: Initial { sd: 0.1, frequency_weight: None },
            fit: FitParams { epochs: 5, batch: 64, clip: Some(10.0), ..FitParams::default() },
        }
    }
}

/// A trained RNN AE.
pub type RnnAutoencoder = SequenceModel<RnnAutoencoderParams>;

impl SequenceSystem for RnnAutoencoderParams {
    const KIND: &'static str = "rnn-autoencoder";
}

impl RnnAutoencoderParams {
    /// Checks every range.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] naming the first parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        file::check_dim(self.dim)?;
        require(self.max_tokens >= 1, "max_tokens", "at least 1", self.max_tokens as f64)?;
        self.form(2).build()?;
        self.fit.check()
    }

    fn form(&self, n_words: usize) -> SequenceForm {
        SequenceForm {
            dim: self.dim,
            hidden: self.hidden,
            layers: 1,
            topology: GruTopology::Forward,
            style: self.style,
            start: GruInit::Orthogonal,
            conditioning: Conditioning::InitialState,
            start_token: false,
            decoders: 1,
            shared_output: false,
            n_words,
            output: self.output.clone(),
            reduction: Reduction::Mean,
        }
    }

    /// Trains on text files, a sentence a line. `vectors` are word vectors to start from.
    ///
    /// # Errors
    /// Whatever is wrong with the text, the parameters, the memory, or the training itself.
    pub fn fit_files(
        &self,
        paths: &[impl AsRef<Path>],
        options: &CorpusOptions,
        vectors: Option<&Embeddings>,
        observer: &dyn Observer,
    ) -> Result<Learnt<RnnAutoencoder>> {
        self.check()?;
        let wanted = Wanted {
            tokenizer: &self.tokenizer,
            min_count: self.min_count,
            max_vocabulary: self.max_vocabulary,
            max_tokens: self.max_tokens,
        };
        let text = Text::read(paths, &wanted, options, observer)?;
        let n = text.number()?;
        let usable = |&i: &u32| !text.sentences.get(i as usize).is_empty();
        let all: Vec<Example> = (0..n).filter(usable).map(|i| [i, i, i]).collect();
        let examples = text.admitted(all, self.long, self.max_tokens, observer);
        if examples.is_empty() {
            return Err(Error::NoExamples { kind: RnnAutoencoder::KIND });
        }
        Training {
            params: self,
            fit: &self.fit,
            form: self.form(text.vocabulary.len()),
            reading: Reading {
                tokenizer: self.tokenizer.clone(),
                max_tokens: self.max_tokens,
                unknown: Some(UNKNOWN),
                end: None,
            },
            normalise: false,
            initial: &self.initial,
            vectors,
            vocabulary: text.vocabulary,
            sentences: text.sentences,
            examples,
            weights: vec![1.0],
            identity: text.identity,
        }
        .run(observer)
    }
}
