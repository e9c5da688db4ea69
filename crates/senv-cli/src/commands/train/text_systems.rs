//! The arguments of the systems that learn from words in their sentence, and how they become the parameters of the
//! library.
//!
//! Nothing here has a default of its own: what is not given stays as the library has it.

use std::path::PathBuf;

use clap::{ValueEnum, builder::BoolishValueParser};
use senv_core::{CorpusOptions, Observer, Tokenizer};
use senv_models::{
    Architecture, FastSentParams, NgramStart, Preset, PvDbowParams, Sent2VecParams, SharedParams, TextSize, TextSystem,
    Word2VecParams,
};
use senv_negative_sampling::{NegativeSharing, Schedule};
use senv_ngram::DropoutScheme;

use super::{
    check_args::CheckArgs,
    data_args::VectorArgs,
    files::RunFiles,
    init_model::InitModelArgs,
    names::{TokenizerArg, fit_tokenizer, names, set},
    weights_args::WeightsArgs,
};
use crate::{failure::Result, text::TextArgs};

/// Arguments of all systems.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    /// Text, one sentence a line; plain, .gz or .zst; - is standard input.
    #[arg(long, short, value_name = "FILE", num_args = 1.., required = true, help_heading = "Files")]
    pub(crate) input: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) files: RunFiles,
    /// Folder for the token ids of the text while training, four bytes a word [default: that of MODEL]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    scratch_dir: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) vectors: VectorArgs,
    #[command(flatten)]
    pub(crate) init_model: InitModelArgs,

    /// Embedding dimension, 1 to 65536; with --init-vectors or --init-model those of that file.
    #[arg(long, value_name = "N", help_heading = "Training")]
    pub(crate) dim: Option<usize>,
    /// Passes over the text, at least 1.
    #[arg(long, value_name = "N", help_heading = "Training")]
    epochs: Option<u32>,
    /// Learning rate at the start, above 0; falls to 0 in a straight line.
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    pub(crate) lr: Option<f32>,
    /// Negatives for each target, 1 to 1000.
    #[arg(long, value_name = "N", help_heading = "Training")]
    negatives: Option<usize>,
    /// Who shares negatives: the targets of a sentence, of a block of sentences, or nobody.
    #[arg(long, value_name = "WHO", help_heading = "Training")]
    negatives_shared: Option<SharingArg>,
    /// Subsampling threshold t, a relative frequency above 0: more frequent words are often passed over; inf: none is.
    #[arg(long, value_name = "T", help_heading = "Training", allow_negative_numbers = true)]
    subsample: Option<f64>,
    /// Where all random numbers come from.
    #[arg(long, value_name = "N", help_heading = "Training")]
    seed: Option<u64>,
    /// How threads share the work: deterministic gives the same model whatever their number, hogwild is faster with
    /// many of them.
    #[arg(long, value_name = "HOW", help_heading = "Training")]
    parallel: Option<ScheduleArg>,

    /// How text is tokenized: words (English words, clitics and punctuation), unicode (words of any script, characters
    /// where a script has no spaces) or blank (at white space only).
    #[arg(long, value_name = "RULE", help_heading = "Text")]
    tokenizer: Option<TokenizerArg>,
    /// Whether text is lower-cased.
    #[arg(long, value_name = "BOOL", value_parser = BoolishValueParser::new(), help_heading = "Text")]
    lowercase: Option<bool>,
    /// Words that occur less often are unknown.
    #[arg(long, value_name = "N", help_heading = "Text")]
    pub(crate) min_count: Option<u64>,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    pub(crate) check: CheckArgs,
}

/// Arguments of Sent2Vec alone.
#[derive(Debug, clap::Args)]
pub(crate) struct Sent2VecArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Start from the settings of a published model, or those of the released program (paper), instead of those that fit
    /// the size of the text; arguments given change them.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    preset: Option<PresetArg>,
    /// Longest n-gram in words, 1 to 255: 1 words alone, 2 pairs as well.
    #[arg(long, value_name = "N", help_heading = "Training")]
    word_ngrams: Option<usize>,
    /// Hash buckets for n-grams [default: one for each distinct n-gram of the text, at most 2,000,000; 2,000,000 with
    /// --preset]
    #[arg(long, value_name = "N", help_heading = "Training")]
    buckets: Option<u32>,
    /// Tokens (or n-grams) of a sentence that are left out of its n-grams in training.
    #[arg(long, value_name = "N", help_heading = "Training")]
    dropout: Option<usize>,
    /// What is left out: tokens, as the released program does it, or n-grams, as the paper says.
    #[arg(long, value_name = "SCHEME", help_heading = "Training")]
    dropout_scheme: Option<DropoutArg>,
    /// Words that occur less often are never predicted.
    #[arg(long, value_name = "N", help_heading = "Training")]
    min_target_count: Option<u64>,
    /// L1 penalty, at least 0 (Sent2Vec, appendix B): rows of rare words become zero.
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    l1: Option<f32>,
    /// Whether a placeholder stands for the predicted word, as in the released program, or it is left out, as in the
    /// paper.
    #[arg(long, value_name = "BOOL", value_parser = BoolishValueParser::new(), help_heading = "Training")]
    placeholder: Option<bool>,
    /// Mean length of the random vectors that words start with, above 0; the released program: U(-1/dim, 1/dim).
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    initial_length: Option<f32>,
    /// How the vectors of n-grams start: at zero, or at random as those of words do (the released program).
    #[arg(long, value_name = "START", help_heading = "Training")]
    ngram_start: Option<StartArg>,
    #[command(flatten)]
    weights: WeightsArgs,
}

/// Arguments of word2vec alone.
#[derive(Debug, clap::Args)]
pub(crate) struct Word2VecArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Start from the settings of the authors' program instead of those that fit the size of the text.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    preset: Option<PaperArg>,
    /// Whether the words around predict the word (cbow), or the word those around (skip-gram).
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    architecture: Option<ArchitectureArg>,
    /// Words to either side at most, 1 to 1000.
    #[arg(long, value_name = "N", help_heading = "Training")]
    window: Option<usize>,
    #[command(flatten)]
    weights: WeightsArgs,
}

/// Arguments of PV-DBOW.
#[derive(Debug, clap::Args)]
pub(crate) struct PvDbowArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Start from the settings for thousands of millions of words instead of those that fit the size of the text.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    preset: Option<PaperArg>,
}

/// Arguments of FastSent alone.
#[derive(Debug, clap::Args)]
pub(crate) struct FastSentArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Start from the settings of the release instead of those that fit the size of the text.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    preset: Option<PaperArg>,
    /// Predict the words of the sentence itself as well: FastSent+AE.
    #[arg(long, help_heading = "Training")]
    autoencode: bool,
    #[command(flatten)]
    weights: WeightsArgs,
}

/// The settings of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaperArg {
    /// As published.
    Paper,
}

names!(SharingArg for NegativeSharing {
    Sentence => NegativeSharing::Sentence, None => NegativeSharing::None, Block => NegativeSharing::Block,
});
names!(ScheduleArg for Schedule { Hogwild => Schedule::Hogwild, Deterministic => Schedule::Deterministic });
names!(DropoutArg for DropoutScheme { Release => DropoutScheme::Release, Paper => DropoutScheme::Paper });
names!(StartArg for NgramStart { Zero => NgramStart::Zero, Uniform => NgramStart::Uniform });
names!(ArchitectureArg for Architecture { Cbow => Architecture::Cbow, SkipGram => Architecture::SkipGram });
/// Settings by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PresetArg {
    Paper,
    BooksUni,
    BooksBi,
    WikiUni,
    WikiBi,
    TwitterUni,
    TwitterBi,
}

impl PresetArg {
    fn params(self) -> Sent2VecParams {
        Sent2VecParams::preset(match self {
            Self::Paper => return Sent2VecParams::default(),
            Self::BooksUni => Preset::BooksUni,
            Self::BooksBi => Preset::BooksBi,
            Self::WikiUni => Preset::WikiUni,
            Self::WikiBi => Preset::WikiBi,
            Self::TwitterUni => Preset::TwitterUni,
            Self::TwitterBi => Preset::TwitterBi,
        })
    }
}

impl Common {
    /// About how long the text is.
    pub(crate) fn size(&self) -> TextSize {
        TextSize::of_files(&self.input)
    }

    /// How the text is read.
    pub(crate) fn corpus_options(&self, threads: usize) -> CorpusOptions {
        self.files.corpus_options(&self.text, self.scratch_dir.as_ref(), threads)
    }

    /// Sets what all systems have.
    fn apply(&self, params: SharedParams<'_>, threads: usize) {
        let SharedParams { dim, tokenizer, min_count, training } = params;
        set(dim, self.dim);
        set(min_count, self.min_count);
        self.tokenizer(tokenizer);
        set(&mut training.epochs, self.epochs);
        set(&mut training.lr, self.lr);
        set(&mut training.negatives, self.negatives);
        set(&mut training.negatives_shared, self.negatives_shared);
        set(&mut training.seed, self.seed);
        set(&mut training.schedule, self.parallel);
        training.threads = threads;
        training.checkpoint = Some(self.files.plan());
    }

    pub(crate) fn tokenizer(&self, tokenizer: &mut Tokenizer) {
        let lowercase = self.lowercase.unwrap_or(tokenizer.is_lowercase());
        set(tokenizer, self.tokenizer);
        *tokenizer = tokenizer.clone().lowercase(lowercase);
    }

    /// Chooses the tokenizer by the text where none was given.
    pub(crate) fn fit_tokenizer(&self, tokenizer: &mut Tokenizer, observer: &dyn Observer) {
        fit_tokenizer(self.tokenizer, tokenizer, &self.input, observer);
    }
}

impl Sent2VecArgs {
    pub(crate) fn params(&self, threads: usize) -> Result<Sent2VecParams> {
        let common = &self.common;
        let mut params = self.preset.map_or_else(|| Sent2VecParams::for_text(common.size()), PresetArg::params);
        common.apply(params.shared(), threads);
        set(&mut params.subsample, common.subsample);
        set(&mut params.word_ngrams, self.word_ngrams);
        set(&mut params.buckets, self.buckets.map(Some));
        set(&mut params.dropout, self.dropout);
        set(&mut params.dropout_scheme, self.dropout_scheme);
        set(&mut params.min_target_count, self.min_target_count);
        set(&mut params.training.l1, self.l1);
        set(&mut params.placeholder, self.placeholder);
        set(&mut params.initial_length, self.initial_length.map(Some));
        set(&mut params.ngram_start, self.ngram_start);
        self.weights.apply(&mut params.weighting, &mut params.unknown_words)?;
        Ok(params)
    }
}

impl Word2VecArgs {
    pub(crate) fn params(&self, threads: usize) -> Result<Word2VecParams> {
        let common = &self.common;
        let mut params = match self.preset {
            None => Word2VecParams::for_text(common.size()),
            Some(PaperArg::Paper) => Word2VecParams::default(),
        };
        if let Some(architecture) = self.architecture {
            params.architecture = architecture.into();
            params.training.lr = Word2VecParams::default_lr(params.architecture);
        }
        common.apply(params.shared(), threads);
        set(&mut params.subsample, common.subsample);
        set(&mut params.window, self.window);
        self.weights.apply(&mut params.weighting, &mut params.unknown_words)?;
        Ok(params)
    }
}

impl PvDbowArgs {
    pub(crate) fn params(&self, threads: usize) -> PvDbowParams {
        let common = &self.common;
        let mut params = match self.preset {
            None => PvDbowParams::for_text(common.size()),
            Some(PaperArg::Paper) => PvDbowParams::default(),
        };
        common.apply(params.shared(), threads);
        set(&mut params.subsample, common.subsample);
        params
    }
}

impl FastSentArgs {
    pub(crate) fn params(&self, threads: usize) -> Result<FastSentParams> {
        let common = &self.common;
        let mut params = match self.preset {
            None => FastSentParams::for_text(common.size()),
            Some(PaperArg::Paper) => FastSentParams::default(),
        };
        common.apply(params.shared(), threads);
        set(&mut params.subsample, common.subsample);
        params.autoencode = self.autoencode;
        self.weights.apply(&mut params.weighting, &mut params.unknown_words)?;
        Ok(params)
    }
}
