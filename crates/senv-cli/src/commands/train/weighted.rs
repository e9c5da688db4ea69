//! `senv train weighted`: SIF or uSIF on the words of a model.

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

const INPUT_HELP: &str = "Text that words are counted in and common directions are found on; plain, .gz or .zst";

/// Arguments of weighting.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("files", |files| files.help(INPUT_HELP)))]
pub(crate) struct WeightedArgs {
    /// The model whose words (and n-grams) are weighted: word2vec, sent2vec, siamese-cbow, pp or word vectors.
    #[arg(long, short, value_name = "FILE", help_heading = "Files")]
    model: PathBuf,
    #[command(flatten)]
    input: InputArgs,
    /// The model to write, by atomic replacement.
    #[arg(long, short, value_name = "MODEL", help_heading = "Files")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// Whose weights.
    #[arg(long, value_name = "NAME", default_value = "sif", help_heading = "Weights")]
    scheme: SchemeArg,
    /// Where the weight a / (a + p) of SIF is one half, above 0 [default: 0.001]
    #[arg(long, value_name = "A", help_heading = "Weights", allow_negative_numbers = true)]
    a: Option<f64>,
    /// Mean number of words of a sentence that uSIF assumes, at least 1 [default: 11]
    #[arg(long, value_name = "N", help_heading = "Weights", allow_negative_numbers = true)]
    mean_length: Option<f64>,
    /// Common directions that are taken out; 0 for none [default: 1 for sif, 5 for usif]
    #[arg(long, value_name = "N", help_heading = "Weights")]
    components: Option<usize>,
    /// Sentences that the directions are found on, at most, the first of the text.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, help_heading = "Weights")]
    max_sentences: usize,
    /// What stands for words that the model does not know, in sentence vectors [default: what does so in the model]
    #[arg(long, value_name = "NAME", help_heading = "Weights")]
    unknown_words: Option<UnknownWordsArg>,
    /// Take every word that the model does not know as this word of it, as files of vectors have one for that (UUUNKKK
    /// in those of Paragram).
    #[arg(long, value_name = "WORD", help_heading = "Weights", conflicts_with = "unknown_words")]
    unknown_row: Option<String>,
    #[command(flatten)]
    text: TextArgs,
}

/// What stands for unknown words, a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UnknownWordsArg {
    /// Nothing, as in the papers.
    Skip,
    /// The parts of a compound, or the known word that it is a form of; else a random vector, by a hash.
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

/// Whose weights, a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SchemeArg {
    /// a / (a + p), one direction taken out whole (Arora et al. 2017).
    Sif,
    /// Weights that follow from the counts, five directions taken out by their shares (Ethayarajh 2018).
    Usif,
}

/// Passes on the wish to stop.
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
            return Err(Failure::Usage(format!("{name} belongs to --scheme {scheme}")));
        }
        params.n_components = self.components.unwrap_or(params.n_components);
        params.max_sentences = self.max_sentences;
        params.unknown_words = self.unknown_words.map(Into::into);
        params.unknown_row.clone_from(&self.unknown_row);
        Ok(params)
    }

    /// Fewer components than dimensions: those that nobody asked for are as many as there can be.
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
        output::note(&format!("{} common components instead of {n}: vectors have {dim} values", dim.saturating_sub(1)));
        Ok(())
    }

    pub(crate) fn run(&self) -> Result {
        let mut params = self.params()?;
        let reads_stdin = self.input.paths().iter().any(|path| is_dash(path));
        if reads_stdin && params.n_components > 0 {
            let message = "--input -: the text is read a second time for the common directions, and standard input cannot be; give \
                           it as a file, or --components 0";
            return Err(Failure::Usage(message.into()));
        }
        let inputs: Vec<&PathBuf> = self.input.paths().iter().chain([&self.model]).collect();
        Destination::output(&self.output, Content::Model, self.force).check(&inputs)?;
        let unchanged = Unchanged::note(&inputs);
        self.text.note_tables(self.input.paths());
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
