//! The arguments of `senv train`, and how they become the parameters of the library.
//!
//! Nothing here has a default of its own: what is not given stays as the library has it.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{ValueEnum, builder::BoolishValueParser};
use senv_core::{CorpusOptions, Tokenizer};
use senv_models::{Architecture, NgramStart, Preset, PvDbowParams, Sent2VecParams, Word2VecParams};
use senv_negative_sampling::{CheckpointPlan, NegativeSharing, Params, Schedule};
use senv_ngram::DropoutScheme;
use serde_json::Value;

use crate::text::TextArgs;

/// Time between two checkpoints unless another is asked for: 30 minutes.
const CHECKPOINT_EVERY: &str = "30m";

/// What all systems can be told.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    /// Text, one sentence a line; plain, .gz or .zst; - is standard input.
    #[arg(long, short, value_name = "FILE", num_args = 1.., required = true, help_heading = "Files")]
    pub(crate) input: Vec<PathBuf>,
    /// The model to write; it appears whole or not at all.
    #[arg(long, short, value_name = "MODEL", help_heading = "Files")]
    pub(crate) output: PathBuf,
    /// Where to keep what is needed to go on after an interruption; removed when the model is written [default:
    /// MODEL.checkpoint]
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    checkpoint: Option<PathBuf>,
    /// Time between two checkpoints, as in 90s, 10m, 2h; never: only when interrupted.
    #[arg(long, value_name = "TIME", default_value = CHECKPOINT_EVERY, value_parser = parse_every, help_heading = "Files")]
    checkpoint_every: Every,
    /// Go on from the checkpoint, if there is one; the text and all settings but --threads must be the same.
    #[arg(long, help_heading = "Files")]
    pub(crate) resume: bool,
    /// Folder for the numbered text while training, four bytes a word [default: that of MODEL]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    scratch_dir: Option<PathBuf>,
    /// Write what came of it as JSON to standard output.
    #[arg(long, help_heading = "Files")]
    pub(crate) json: bool,

    /// Numbers of a vector, 1 to 65536.
    #[arg(long, value_name = "N", help_heading = "Training")]
    dim: Option<usize>,
    /// Passes over the text, at least 1.
    #[arg(long, value_name = "N", help_heading = "Training")]
    epochs: Option<u32>,
    /// Learning rate at the start, above 0; falls to 0 in a straight line.
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    lr: Option<f32>,
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

    /// How text is cut: words (English words, clitics and punctuation) or blank (at white space only).
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
}

/// What only Sent2Vec can be told.
#[derive(Debug, clap::Args)]
pub(crate) struct Sent2VecArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Start from the settings of a published model; arguments given change them.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    preset: Option<PresetArg>,
    /// Longest n-gram in words, 1 to 255: 1 words alone, 2 pairs as well.
    #[arg(long, value_name = "N", help_heading = "Training")]
    word_ngrams: Option<usize>,
    /// Hash buckets for n-grams.
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
    /// How the vectors of n-grams start: at zero, or at random as those of words do (the released program).
    #[arg(long, value_name = "START", help_heading = "Training")]
    ngram_start: Option<StartArg>,
}

/// What only word2vec can be told.
#[derive(Debug, clap::Args)]
pub(crate) struct Word2VecArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Whether the words around predict the word (cbow), or the word those around (skip-gram).
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    architecture: Option<ArchitectureArg>,
    /// Words to either side at most, 1 to 1000.
    #[arg(long, value_name = "N", help_heading = "Training")]
    window: Option<usize>,
}

/// What PV-DBOW can be told.
#[derive(Debug, clap::Args)]
pub(crate) struct PvDbowArgs {
    #[command(flatten)]
    pub(crate) common: Common,
}

/// An argument of a few names, each for a value of the library.
macro_rules! names {
    ($(#[$meta:meta])* $name:ident for $of:ty { $($variant:ident => $value:expr),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub(crate) enum $name { $($variant),+ }

        impl From<$name> for $of {
            fn from(name: $name) -> $of {
                match name { $($name::$variant => $value),+ }
            }
        }
    };
}

names!(SharingArg for NegativeSharing {
    Sentence => NegativeSharing::Sentence, None => NegativeSharing::None, Block => NegativeSharing::Block,
});
names!(ScheduleArg for Schedule { Hogwild => Schedule::Hogwild, Deterministic => Schedule::Deterministic });
names!(TokenizerArg for Tokenizer { Blank => Tokenizer::blank(), Words => Tokenizer::words() });
names!(DropoutArg for DropoutScheme { Release => DropoutScheme::Release, Paper => DropoutScheme::Paper });
names!(StartArg for NgramStart { Zero => NgramStart::Zero, Uniform => NgramStart::Uniform });
names!(ArchitectureArg for Architecture { Cbow => Architecture::Cbow, SkipGram => Architecture::SkipGram });
names!(PresetArg for Preset {
    BooksUni => Preset::BooksUni, BooksBi => Preset::BooksBi, WikiUni => Preset::WikiUni,
    WikiBi => Preset::WikiBi, TwitterUni => Preset::TwitterUni, TwitterBi => Preset::TwitterBi,
});

/// Time between two checkpoints, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Every(Option<Duration>);

fn parse_every(text: &str) -> Result<Every, String> {
    if text == "never" {
        return Ok(Every(None));
    }
    let expected = || format!("expected a time such as 90s, 10m or 2h, or never, got {text:?}");
    let unit = match text.bytes().last() {
        Some(b's') => 1.0,
        Some(b'm') => 60.0,
        Some(b'h') => 3600.0,
        _ => return Err(expected()),
    };
    let number: f64 = text[..text.len() - 1].parse().map_err(|_| expected())?;
    let every = Duration::try_from_secs_f64(number * unit).map_err(|_| expected())?;
    if every.is_zero() { Err(expected()) } else { Ok(Every(Some(every))) }
}

fn set<T>(place: &mut T, value: Option<impl Into<T>>) {
    if let Some(value) = value {
        *place = value.into();
    }
}

impl Common {
    /// Where the checkpoint lies.
    pub(crate) fn checkpoint(&self) -> PathBuf {
        self.checkpoint.clone().unwrap_or_else(|| {
            let mut name = self.output.clone().into_os_string();
            name.push(".checkpoint");
            name.into()
        })
    }

    /// How the text is read.
    pub(crate) fn corpus_options(&self, threads: usize) -> CorpusOptions {
        let text = self.text.options();
        let beside = self.output.parent().filter(|folder| folder.is_dir()).map(Path::to_owned);
        CorpusOptions {
            threads,
            scratch_dir: self.scratch_dir.clone().or(beside),
            invalid_utf8: text.invalid_utf8,
            max_line_bytes: text.max_line_bytes,
            ..CorpusOptions::default()
        }
    }

    fn training(&self, params: &mut Params, threads: usize) {
        set(&mut params.epochs, self.epochs);
        set(&mut params.lr, self.lr);
        set(&mut params.negatives, self.negatives);
        set(&mut params.negatives_shared, self.negatives_shared);
        set(&mut params.seed, self.seed);
        set(&mut params.schedule, self.parallel);
        params.threads = threads;
        let Every(every) = self.checkpoint_every;
        params.checkpoint = Some(CheckpointPlan { path: self.checkpoint(), every, resume: self.resume });
    }

    fn tokenizer(&self, tokenizer: &mut Tokenizer) {
        let lowercase = self.lowercase.unwrap_or(tokenizer.is_lowercase());
        set(tokenizer, self.tokenizer);
        *tokenizer = tokenizer.clone().lowercase(lowercase);
    }
}

impl Sent2VecArgs {
    pub(crate) fn params(&self, threads: usize) -> Sent2VecParams {
        let mut params = self.preset.map_or_else(Sent2VecParams::default, |name| Sent2VecParams::preset(name.into()));
        let common = &self.common;
        common.training(&mut params.training, threads);
        common.tokenizer(&mut params.tokenizer);
        set(&mut params.dim, common.dim);
        set(&mut params.min_count, common.min_count);
        set(&mut params.subsample, common.subsample);
        set(&mut params.word_ngrams, self.word_ngrams);
        set(&mut params.buckets, self.buckets);
        set(&mut params.dropout, self.dropout);
        set(&mut params.dropout_scheme, self.dropout_scheme);
        set(&mut params.min_target_count, self.min_target_count);
        set(&mut params.training.l1, self.l1);
        set(&mut params.placeholder, self.placeholder);
        set(&mut params.ngram_start, self.ngram_start);
        params
    }
}

impl Word2VecArgs {
    pub(crate) fn params(&self, threads: usize) -> Word2VecParams {
        let mut params = Word2VecParams::default();
        let common = &self.common;
        if let Some(architecture) = self.architecture {
            params.architecture = architecture.into();
            params.training.lr = Word2VecParams::default_lr(params.architecture);
        }
        common.training(&mut params.training, threads);
        common.tokenizer(&mut params.tokenizer);
        set(&mut params.dim, common.dim);
        set(&mut params.min_count, common.min_count);
        set(&mut params.subsample, common.subsample);
        set(&mut params.window, self.window);
        params
    }
}

impl PvDbowArgs {
    pub(crate) fn params(&self, threads: usize) -> PvDbowParams {
        let mut params = PvDbowParams::default();
        let common = &self.common;
        common.training(&mut params.training, threads);
        common.tokenizer(&mut params.tokenizer);
        set(&mut params.dim, common.dim);
        set(&mut params.min_count, common.min_count);
        set(&mut params.subsample, common.subsample);
        params
    }
}

/// Writes the library's defaults into the help of each system.
pub(crate) fn with_defaults(train: clap::Command) -> clap::Command {
    let systems = [
        ("sent2vec", to_value(&Sent2VecParams::default())),
        ("word2vec", to_value(&Word2VecParams::default())),
        ("pv-dbow", to_value(&PvDbowParams::default())),
    ];
    systems.into_iter().fold(train, |train, (name, params)| {
        train.mut_subcommand(name, |system| {
            system.mut_args(|arg| match default_of(arg.get_id().as_str(), &params) {
                Some(default) => {
                    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                    arg.help(format!("{} [default: {default}]", help.trim_end_matches('.')))
                }
                None => arg,
            })
        })
    })
}

fn to_value(params: &impl serde::Serialize) -> Value {
    serde_json::to_value(params).unwrap_or(Value::Null)
}

/// The default of an argument, which is named as the field of the parameters it sets.
fn default_of(argument: &str, params: &Value) -> Option<String> {
    let value = match argument {
        "tokenizer" => &params["tokenizer"]["rule"],
        "lowercase" => &params["tokenizer"]["lowercase"],
        "parallel" => &params["training"]["schedule"],
        _ => params.get(argument).or_else(|| params["training"].get(argument))?,
    };
    match value {
        Value::String(name) => Some(name.clone()),
        // An f32 in JSON has the digits of its f64; those of the f32 are meant.
        Value::Number(n) if n.is_f64() => n.as_f64().map(|x| format!("{}", x as f32)),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;

    #[test]
    fn times_are_read_and_nonsense_is_refused() {
        let seconds = |text| parse_every(text).unwrap().0.unwrap().as_secs_f64();
        assert_eq!([seconds("90s"), seconds("1.5m"), seconds("2h")], [90.0, 90.0, 7200.0]);
        assert_eq!(parse_every("never"), Ok(Every(None)));
        for text in ["", "s", "10", "-1s", "0s", "NaNs", "infh", "10 minutes", "1é"] {
            assert!(parse_every(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_command_line_is_consistent_and_its_help_shows_the_defaults_of_the_library() {
        args::command().debug_assert();
        let mut command = args::command();
        command.build();
        let train = command.find_subcommand_mut("train").unwrap();
        for (system, lr) in [
            ("sent2vec", Sent2VecParams::default().training.lr),
            ("word2vec", Word2VecParams::default().training.lr),
            ("pv-dbow", PvDbowParams::default().training.lr),
        ] {
            let help = train.find_subcommand_mut(system).unwrap().render_long_help().to_string();
            for default in [format!("[default: {lr}]"), "[default: words]".into(), "[default: deterministic]".into()] {
                assert!(help.contains(&default), "{default} is missing:\n{help}");
            }
        }
    }
}
