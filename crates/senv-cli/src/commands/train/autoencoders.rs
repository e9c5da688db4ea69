//! `senv train rnn-ae` and `senv train bow-ae`: text to a model that tells a sentence again, in order or as a set of words.

use senv_models::{BowAutoencoder, BowAutoencoderParams, Reconstruction, RnnAutoencoder, RnnAutoencoderParams};

use super::{
    decoder_args::{DecoderArgs, LongArg, StyleArg, decoder_parts},
    names::{names, set},
    text_args::{RunningText, text_system},
};
use crate::failure::{Failure, Result};
use clap::ValueEnum;

/// Arguments of RNN AE.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RnnAeArgs {
    #[command(flatten)]
    text: RunningText,
    /// Units of the encoder, the sentence dimension, and of the decoder.
    #[arg(long, value_name = "N", help_heading = "Training")]
    hidden: Option<usize>,
    /// The form of the cells.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    style: Option<StyleArg>,
    #[command(flatten)]
    decoder: DecoderArgs,
}

text_system!(RnnAutoencoderParams => RnnAutoencoder);

impl RnnAeArgs {
    pub(crate) fn run(&self, threads: usize) -> Result {
        let mut params = RnnAutoencoderParams::default();
        set(&mut params.hidden, self.hidden);
        set(&mut params.style, self.style);
        set(&mut params.min_count, self.text.words.min_count);
        self.text.words.apply(&mut params.tokenizer);
        self.decoder.apply(decoder_parts!(params)).map_err(Failure::Usage)?;
        self.text.run(params, threads)
    }
}

names!(ReconstructionArg for Reconstruction { Full => Reconstruction::Full, Tree => Reconstruction::Tree });

/// Arguments of BOW AE.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BowAeArgs {
    #[command(flatten)]
    text: RunningText,
    /// At most so many words, the most frequent.
    #[arg(long, visible_alias = "vocabulary", value_name = "N", help_heading = "Text")]
    max_vocabulary: Option<usize>,
    /// Words of a sentence that are read, at least 1.
    #[arg(long, value_name = "N", help_heading = "Text")]
    max_tokens: Option<usize>,
    /// What becomes of longer sentences in training: they are cut, or left out.
    #[arg(long, value_name = "WHAT", help_heading = "Text")]
    long: Option<LongArg>,
    /// How the set of words is predicted: a yes or no for every word (full), or the way to each word down a tree (tree),
    /// for large vocabularies.
    #[arg(long, value_name = "HOW", help_heading = "Training")]
    reconstruction: Option<ReconstructionArg>,
}

text_system!(BowAutoencoderParams => BowAutoencoder);

impl BowAeArgs {
    pub(crate) fn run(&self, threads: usize) -> Result {
        let mut params = BowAutoencoderParams::default();
        set(&mut params.max_vocabulary, self.max_vocabulary);
        set(&mut params.max_tokens, self.max_tokens);
        set(&mut params.long, self.long);
        set(&mut params.reconstruction, self.reconstruction);
        set(&mut params.min_count, self.text.words.min_count);
        self.text.words.apply(&mut params.tokenizer);
        self.text.run(params, threads)
    }
}
