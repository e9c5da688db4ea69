//! The arguments of the systems that train on words in their sentences.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use senv::{FastSentParams, Preset, PvDbowParams, Sent2VecParams, TextSize, TextSystem, Word2VecParams};
use senv_core::{CorpusOptions, TextOptions, hyperparameters::Hyperparameters};

use super::{
    check_args::CheckArgs, data_args::VectorArgs, files::RunFiles, hyper_args::HyperArgs, init_model::InitModelArgs,
    input_args::InputArgs,
};
use crate::{failure::Result, text::TextArgs};

/// Arguments of all systems.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) files: RunFiles,
    /// Folder for the token ids of the text while training, four bytes a word [default: that of MODEL]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    scratch_dir: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) vectors: VectorArgs,
    #[command(flatten)]
    pub(crate) init_model: InitModelArgs,

    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    pub(crate) check: CheckArgs,
}

/// Arguments of Sent2Vec.
#[derive(Debug, clap::Args)]
pub(crate) struct Sent2VecArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Start from settings with a name instead of those that fit the size of the text; arguments given change them.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    preset: Option<PresetArg>,
    #[command(flatten)]
    pub(crate) params: HyperArgs<Sent2VecParams>,
}

/// Arguments of word2vec.
#[derive(Debug, clap::Args)]
pub(crate) struct Word2VecArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Start from published settings instead of those that fit the size of the text; arguments given change them.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    preset: Option<Word2VecPreset>,
    #[command(flatten)]
    pub(crate) params: HyperArgs<Word2VecParams>,
}

/// Arguments of PV-DBOW.
#[derive(Debug, clap::Args)]
pub(crate) struct PvDbowArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Start from the settings for billions of words instead of those that fit the size of the text.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    preset: Option<PaperArg>,
    /// Write the trained vector of each line of the text, in order, to this NumPy file: papers compare these, where a model
    /// was trained on the sentences that it is judged by. Zeros for a line without a known word.
    #[arg(long, value_name = "FILE.npy", help_heading = "Files")]
    pub(crate) document_vectors: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) params: HyperArgs<PvDbowParams>,
}

/// Arguments of FastSent.
#[derive(Debug, clap::Args)]
pub(crate) struct FastSentArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Start from the settings of the release instead of those that fit the size of the text.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    preset: Option<PaperArg>,
    #[command(flatten)]
    pub(crate) params: HyperArgs<FastSentParams>,
}

/// The settings of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaperArg {
    /// As published.
    Paper,
}

/// The settings of word2vec by their source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Word2VecPreset {
    /// The Siamese CBOW paper, section 3.2: 300 dimensions, t = 1e-5.
    Paper,
    /// What the authors' program does when nothing is said: 100 dimensions, t = 1e-3.
    Release,
}

/// Settings by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PresetArg {
    /// The method as the paper prints it, with its settings for words on the Toronto books.
    Paper,
    /// The authors' program without options; it splits text at white space and keeps upper case.
    Release,
    /// The published model of the Toronto books, words: the authors' program with the options of the paper.
    BooksUni,
    /// Toronto books, words and bigrams.
    BooksBi,
    /// Wikipedia, words.
    WikiUni,
    /// Wikipedia, words and bigrams.
    WikiBi,
    /// Tweets, words.
    TwitterUni,
    /// Tweets, words and bigrams.
    TwitterBi,
}

impl PresetArg {
    fn params(self) -> Sent2VecParams {
        Sent2VecParams::preset(match self {
            Self::Paper => Preset::Paper,
            Self::Release => Preset::Release,
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
    /// Every file that is read.
    pub(crate) fn inputs(&self) -> Vec<&Path> {
        let starts = self.vectors.init_vectors.iter().chain(&self.init_model.init_model);
        self.input.paths().iter().chain(starts).map(PathBuf::as_path).collect()
    }

    /// About how long the text is.
    pub(crate) fn size(&self) -> TextSize {
        TextSize::of_files(self.input.paths())
    }

    /// How the text is read.
    pub(crate) fn corpus_options(&self, threads: usize) -> CorpusOptions {
        self.files.corpus_options(&self.text, self.scratch_dir.as_ref(), threads)
    }

    /// How lines are read.
    pub(crate) fn text_options(&self) -> TextOptions {
        self.text.options()
    }

    /// Sets what was given.
    fn finish<S: TextSystem + Hyperparameters>(&self, mut params: S, given: &HyperArgs<S>) -> Result<S> {
        given.apply(&mut params)?;
        Ok(params)
    }

    /// The settings of the paper, or those that fit the text.
    fn start<S: TextSystem + Default>(&self, preset: Option<PaperArg>) -> S {
        match preset {
            None => S::for_text(self.size()),
            Some(PaperArg::Paper) => S::default(),
        }
    }
}

impl Sent2VecArgs {
    pub(crate) fn params(&self) -> Result<Sent2VecParams> {
        let start = self.preset.map_or_else(|| Sent2VecParams::for_text(self.common.size()), PresetArg::params);
        self.common.finish(start, &self.params)
    }
}

impl Word2VecArgs {
    pub(crate) fn params(&self) -> Result<Word2VecParams> {
        let mut start = match self.preset {
            None => Word2VecParams::for_text(self.common.size()),
            Some(Word2VecPreset::Paper) => Word2VecParams::default(),
            Some(Word2VecPreset::Release) => Word2VecParams::release(),
        };
        if self.params.is_given("architecture") {
            self.params.apply(&mut start)?;
            start.training.lr = Word2VecParams::default_lr(start.architecture);
        }
        self.common.finish(start, &self.params)
    }
}

impl PvDbowArgs {
    pub(crate) fn params(&self) -> Result<PvDbowParams> {
        self.common.finish(self.common.start(self.preset), &self.params)
    }
}

impl FastSentArgs {
    pub(crate) fn params(&self) -> Result<FastSentParams> {
        self.common.finish(self.common.start(self.preset), &self.params)
    }
}
