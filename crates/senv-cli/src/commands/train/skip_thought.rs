//! `senv train skip-thought`: running text to a model that tells the neighbours of a sentence.

use clap::ValueEnum;
use senv_models::{SkipThought, SkipThoughtParams};

use super::{
    decoder_args::{DecoderArgs, StyleArg, decoder_parts},
    names::set,
    text_args::{RunningText, text_system},
};
use crate::failure::{Failure, Result};

/// Where the defaults come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SkipThoughtPreset {
    /// The paper.
    Paper,
    /// The code that its authors released.
    Release,
}

/// Arguments of Skip-thoughts.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SkipThoughtArgs {
    #[command(flatten)]
    text: RunningText,
    /// Where the other defaults come from: the paper, or the code that its authors released.
    #[arg(long, value_name = "NAME", default_value = "paper", help_heading = "Training")]
    preset: SkipThoughtPreset,
    /// Dimension of the sentence vectors; even with --bi.
    #[arg(long, value_name = "N", help_heading = "Training")]
    sentence_dim: Option<usize>,
    /// One reader from the left and one from the right, of half the units each, instead of one from the left.
    #[arg(long, help_heading = "Training")]
    bi: bool,
    /// The form of the cells.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    style: Option<StyleArg>,
    #[command(flatten)]
    decoder: DecoderArgs,
}

text_system!(SkipThoughtParams => SkipThought);

impl SkipThoughtArgs {
    pub(crate) fn run(&self, threads: usize) -> Result {
        let mut params = SkipThoughtParams::default();
        if self.preset == SkipThoughtPreset::Release {
            params = params.release();
        }
        set(&mut params.sentence_dim, self.sentence_dim);
        set(&mut params.style, self.style);
        set(&mut params.min_count, self.text.words.min_count);
        params.bi = self.bi;
        self.text.words.apply(&mut params.tokenizer);
        self.decoder.apply(decoder_parts!(params)).map_err(Failure::Usage)?;
        self.text.run(params, threads)
    }
}
