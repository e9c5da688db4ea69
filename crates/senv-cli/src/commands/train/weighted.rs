//! `senv train weighted`: applies SIF or uSIF to the words of a model.

use std::path::PathBuf;

use clap::ValueEnum;
use senv::{
    Model, TrainOptions, WeightedParams,
    average::{UnknownWords, WeightScheme},
};
use senv_core::{Control, Observer, Progress};

use super::{input_args::InputArgs, unchanged::Unchanged};
use crate::{
    destination::{Content, Destination, ForceArg},
    failure::{Failure, Result},
    interrupt::Interrupt,
    output::{self, plural},
    text::{TextArgs, is_dash},
};

const INPUT_HELP: &str = "Text to count words and find common components in; plain, .gz or .zst";

/// Arguments of weighting.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("files", |files| files.help(INPUT_HELP)))]
pub(crate) struct WeightedArgs {
    /// Model to weight: word2vec, sent2vec, siamese-cbow, pp or word vectors.
    #[arg(long, short, value_name = "FILE", help_heading = "Files")]
    model: PathBuf,
    #[command(flatten)]
    input: InputArgs,
    /// Model to write; replaced atomically.
    #[arg(long, short, value_name = "MODEL", help_heading = "Files")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// Weighting scheme.
    #[arg(long, value_name = "NAME", default_value = "sif", help_heading = "Weights")]
    scheme: SchemeArg,
    /// The a of the SIF weight a / (a + p), above 0 [default: 0.001]
    #[arg(long, value_name = "A", help_heading = "Weights", allow_negative_numbers = true)]
    a: Option<f64>,
    /// Mean sentence length that uSIF assumes, in words, at least 1 [default: 11]
    #[arg(long, value_name = "N", help_heading = "Weights", allow_negative_numbers = true)]
    mean_length: Option<f64>,
    /// Number of common components to remove; 0 for none [default: 1 for sif, 5 for usif]
    #[arg(long, value_name = "N", help_heading = "Weights")]
    components: Option<usize>,
    /// Find the components on the first N sentences.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, help_heading = "Weights")]
    max_sentences: usize,
    /// How sentence vectors treat unknown words [default: as in the model]
    #[arg(long, value_name = "NAME", help_heading = "Weights")]
    unknown_words: Option<UnknownWordsArg>,
    /// Use this word's vector for unknown words (e.g. UUUNKKK).
    #[arg(long, value_name = "WORD", help_heading = "Weights", conflicts_with = "unknown_words")]
    unknown_row: Option<String>,
    #[command(flatten)]
    text: TextArgs,
}

/// How unknown words are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UnknownWordsArg {
    /// Skipped, as in the papers.
    Skip,
    /// Replaced by the parts of a compound, or by a known word of which they are a form; else a random vector, by a
    /// hash.
    Hash,
}

impl From<UnknownWordsArg> for UnknownWords {
    fn from(argument: UnknownWordsArg) -> Self {
        match argument {
            UnknownWordsArg::Skip => Self::Skip,
            UnknownWordsArg::Hash => Self::Hash,
        }
    }
}

/// The weighting scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SchemeArg {
    /// a / (a + p), one component removed completely (Arora et al. 2017).
    Sif,
    /// Weights from the counts, five components removed in proportion (Ethayarajh 2018).
    Usif,
}

/// Passes on a request to stop.
struct UntilInterrupted(Interrupt);

impl Observer for UntilInterrupted {
    fn progress(&self, _: &Progress) -> Control {
        if self.0.is_requested() { Control::Stop } else { Control::Continue }
    }

    fn note(&self, message: &str) {
        output::note(message);
    }

    fn stops(&self) -> bool {
        self.0.is_requested()
    }
}

impl WeightedArgs {
    fn params(&self) -> Result<WeightedParams> {
        let mut params = match self.scheme {
            SchemeArg::Sif => WeightedParams::sif(),
            SchemeArg::Usif => WeightedParams::usif(),
        };
        match &mut params.scheme {
            WeightScheme::Sif { a } => *a = self.a.unwrap_or(*a),
            WeightScheme::Usif { mean_length } => *mean_length = self.mean_length.unwrap_or(*mean_length),
        }
        let of_the_other = match self.scheme {
            SchemeArg::Sif => self.mean_length.map(|_| ("--mean-length", "usif")),
            SchemeArg::Usif => self.a.map(|_| ("--a", "sif")),
        };
        if let Some((name, scheme)) = of_the_other {
            return Err(Failure::Usage(format!("{name} needs --scheme {scheme}")));
        }
        params.n_components = self.components.unwrap_or(params.n_components);
        params.max_sentences = self.max_sentences;
        params.unknown_words = self.unknown_words.map(Into::into);
        params.unknown_row.clone_from(&self.unknown_row);
        Ok(params)
    }

    /// Limits the default number of components to fewer than the dimensions.
    fn fit_dimension(&self, params: &mut WeightedParams, dim: usize) -> Result {
        let n = params.n_components;
        if n < dim {
            return Ok(());
        }
        if self.components.is_some() {
            let model = self.model.display();
            return Err(Failure::Usage(format!("--components must be below {dim}, the dimension of {model}, got {n}")));
        }
        params.n_components = dim.saturating_sub(1);
        let most = dim.saturating_sub(1);
        output::note(&format!("removing {most} common components instead of {n}, because vectors have {dim} values"));
        Ok(())
    }

    pub(crate) fn run(&self) -> Result {
        self.input.open_folders(self.text.content())?;
        let mut params = self.params()?;
        let reads_stdin = self.input.paths().iter().any(|path| is_dash(path));
        if reads_stdin && params.n_components > 0 {
            let message = "the text is read twice to find common components, which standard input does not allow; give it as a \
                           file, or use --components 0";
            return Err(Failure::Usage(message.into()));
        }
        let inputs: Vec<&PathBuf> = self.input.paths().iter().chain([&self.model]).collect();
        Destination::output(&self.output, Content::Model, self.force).check(&inputs)?;
        let unchanged = Unchanged::note(&inputs);
        self.text.check_tables(self.input.paths())?;
        let base = Model::open_verified(&self.model)?;
        let observer =
            UntilInterrupted(if reads_stdin { Interrupt::install_reading_stdin() } else { Interrupt::install() });
        let text = self.text.options();
        let options = TrainOptions { observer: &observer, text, ..TrainOptions::default() };
        self.fit_dimension(&mut params, base.dim())?;
        let weighted = params.fit_files(&base, self.input.paths(), &options)?;
        unchanged.warn_of_others();
        let _last = senv_core::files::LastStep::begin();
        weighted.save(&self.output)?;
        let words = plural(weighted.weights().len() as u64, "word");
        output::note(&format!("{words} weighted; {} written", self.output.display()));
        Ok(())
    }
}
