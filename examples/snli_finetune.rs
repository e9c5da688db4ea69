//! The experiment of Skip-thoughts fine-tuned on SNLI: SNLI BOW, SNLI RNN and Skip-thoughts trained on labeled pairs.
//! It evaluates entailment, SICK (by cosine, and by a regression and a classifier on frozen vectors), paraphrase
//! ranking and the two groups of soup. It compares the results with the published figures.
//!
//! ```text
//! cargo run --release -p senv-examples --example snli_finetune -- --base skip-thought.senv \
//!     --train snli_train.tsv --dev snli_dev.tsv --test snli_test.tsv \
//!     --sick-train SICK_train.txt --sick-dev SICK_trial.txt --sick SICK_test_annotated.txt \
//!     --msrp msr_paraphrase_train.txt msr_paraphrase_test.txt
//! ```
//!
//! The base is a skip-thought model trained by senv: uni, bi or combined. Its word vectors are the start of SNLI BOW
//! and SNLI RNN. Without arguments, it trains a small base on the samples of this repository, which are far too small
//! to compare anything.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod line;

use std::{error::Error, path::PathBuf};

use clap::Parser;
use line::Line;
use senv::{
    Model, NliPairs, SkipThought, SkipThoughtParams, Snli, SnliEncoder, SnliParams, TrainOptions, gradient::FitParams,
};
use senv_core::SentenceEncoder;
use senv_encoders::{GruInit, GruStyle, RecurrentTopology};
use senv_eval::{
    Entailment, FrozenClassifier, FrozenScorer, NliSet, PairFeatures, ParaphraseSet, ScoringMethod, SentenceGroups,
    SickSet, evaluate_entailment, evaluate_group_ranking, evaluate_ranking, evaluate_relatedness, evaluate_scorer,
    published_ranking, published_sick, published_sick_entailment, published_soup,
};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data");

/// Trains the SNLI models and evaluates them.
#[derive(Debug, Parser)]
struct Args {
    /// A trained Skip-thought model [default: a small one trained on the samples]
    #[arg(long, value_name = "MODEL", requires_all = ["train", "dev", "test"])]
    base: Option<PathBuf>,
    /// Labeled pairs to train on: SNLI, or SICK [default: the samples]
    #[arg(long, value_name = "FILE", requires = "base")]
    train: Option<PathBuf>,
    /// Labeled pairs that select the best weights.
    #[arg(long, value_name = "FILE", requires = "base")]
    dev: Option<PathBuf>,
    /// Labeled pairs to test on.
    #[arg(long, value_name = "FILE", requires = "base")]
    test: Option<PathBuf>,
    /// SICK: the test part, by cosine [default: the sample, without a base]
    #[arg(long, value_name = "FILE")]
    sick: Option<PathBuf>,
    /// SICK: the training part of a regression and a classifier on frozen vectors.
    #[arg(long, value_name = "FILE", requires = "sick")]
    sick_train: Option<PathBuf>,
    /// SICK: the part that selects the strength of their regularization.
    #[arg(long, value_name = "FILE", requires = "sick_train")]
    sick_dev: Option<PathBuf>,
    /// MSRP, to check if a sentence finds its paraphrase.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    msrp: Vec<PathBuf>,
    /// Units of SNLI RNN [default: 2400, as in the paper; 32 for the samples]
    #[arg(long)]
    units: Option<usize>,
    /// Maximum number of epochs [default: that of the system]
    #[arg(long)]
    epochs: Option<u32>,
    /// Learning rate of SNLI BOW and SNLI RNN.
    #[arg(long, default_value_t = SnliParams::default().fit.full_lr())]
    lr: f64,
    /// Learning rate of the fine-tuned Skip-thoughts.
    #[arg(long, default_value_t = 1e-4)]
    tuning_lr: f64,
    /// Number of threads; the result does not depend on it.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    threads: usize,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = Args::parse();
    let small = args.base.is_none();
    if small {
        let sick = |part: &str| format!("{DATA}/sick-{part}-sample.tsv").into();
        if args.sick.is_none() {
            args.sick = Some(sick("test"));
            args.sick_train.get_or_insert_with(|| sick("train"));
            args.sick_dev.get_or_insert_with(|| sick("trial"));
        }
    }
    let part = |given: &Option<PathBuf>, name: &str| -> Result<NliSet, Box<dyn Error>> {
        Ok(NliSet::read(given.clone().unwrap_or_else(|| format!("{DATA}/sick-{name}-sample.tsv").into()))?)
    };
    let [train, dev, test] = [part(&args.train, "train")?, part(&args.dev, "trial")?, part(&args.test, "test")?];
    let (train, dev) = (labelled(&train)?, labelled(&dev)?);
    let base = match &args.base {
        None => small_base(&args)?,
        Some(path) => {
            let model = Model::open(path)?;
            let of_another_kind = || format!("{} is of kind {}, not skip-thought", path.display(), model.kind());
            model.downcast_ref::<SkipThought>().cloned().ok_or_else(of_another_kind)?
        }
    };
    judge("Skip-thoughts", "Skip-thoughts", &base, None, &test, &args)?;

    let (defaults, threads) = (SnliParams::default(), args.threads);
    let fit = |lr: f64| {
        let epochs = args.epochs.unwrap_or(defaults.fit.n_epochs());
        FitParams { lr: Some(lr), epochs: Some(epochs), seed: args.seed, ..defaults.fit.clone() }
    };
    // Each part is tuned separately, with its own classifier.
    let mut tuned = base.clone();
    let params = SnliParams { fit: fit(args.tuning_lr), ..defaults.clone() };
    for number in 0..base.config().parts.len() {
        let trained = params.fit_skip_thought(
            &base,
            number,
            &train,
            &TrainOptions { threads, observer: &Line("tuning"), dev: Some(&dev), ..Default::default() },
        )?;
        tuned = tuned.with_tuned(number, &trained.model)?;
        let accuracy = accuracy(&trained.model, &test)?;
        println!("part {number} with its classifier: accuracy {accuracy:.3}\n");
    }
    judge("finetuned Skip-thoughts", "finetuned Skip-thoughts", &tuned, None, &test, &args)?;

    let vectors = Model::from(base).to_embeddings()?;
    let rnn = SnliEncoder::Rnn {
        hidden: args.units.unwrap_or(if small { 32 } else { 2400 }),
        layers: 1,
        topology: RecurrentTopology::Forward,
        style: GruStyle::Paper,
        start: GruInit::Orthogonal,
    };
    for (encoder, name) in [(SnliEncoder::Bow, "SNLI BOW"), (rnn, "SNLI RNN")] {
        let params = SnliParams { encoder, dim: vectors.dim(), fit: fit(args.lr), ..defaults.clone() };
        let (dev, vectors) = (Some(&dev), Some(&vectors));
        let trained =
            params.fit(&train, &TrainOptions { threads, observer: &Line(name), vectors, dev, ..Default::default() })?;
        judge(name, name, &trained.model, Some(&trained.model), &test, &args)?;
    }
    Ok(())
}

/// The same pairs for the trainer.
fn labelled(set: &NliSet) -> senv::Result<NliPairs> {
    let pairs = set.pairs.iter().map(|pair| (pair.label.name(), &pair.premise[..], &pair.hypothesis[..]));
    NliPairs::new(set.path.display().to_string(), pairs)
}

/// A Skip-thought model of the sample text.
fn small_base(args: &Args) -> Result<SkipThought, Box<dyn Error>> {
    let defaults = SkipThoughtParams::default();
    let fit = FitParams { epochs: Some(4), batch: 32, lr: Some(0.003), seed: args.seed, ..defaults.fit.clone() };
    let params = SkipThoughtParams { dim: 32, sentence_dim: 64, max_vocabulary: Some(500), fit, ..defaults };
    let text = [format!("{DATA}/quickstart.txt")];
    let options = TrainOptions { threads: args.threads, observer: &Line("Skip-thoughts"), ..Default::default() };
    Ok(params.fit_files(&text, &options)?.model)
}

/// The share of pairs whose label the model's own classifier predicts.
fn accuracy(model: &Snli, test: &NliSet) -> Result<f64, Box<dyn Error>> {
    let pairs: Vec<(&str, &str)> = test.pairs.iter().map(|pair| (&pair.premise[..], &pair.hypothesis[..])).collect();
    let labels = model.labels(&pairs)?.into_iter().filter_map(Entailment::from_name).collect::<Vec<_>>();
    let classifier = |_: &[(&str, &str)]| Ok(labels.clone());
    let result = evaluate_entailment(&classifier, std::slice::from_ref(test))?;
    Ok(result.sets[0].accuracy.unwrap_or(f64::NAN))
}

/// Prints the results of a model next to the paper's numbers.
fn judge(
    name: &str,
    published: &str,
    encoder: &dyn SentenceEncoder,
    classifier: Option<&Snli>,
    test: &NliSet,
    args: &Args,
) -> Result<(), Box<dyn Error>> {
    println!("== {name}\n");
    if let Some(model) = classifier {
        println!("accuracy {:.3} on the pairs of {}\n", accuracy(model, test)?, test.path.display());
    }
    if let Some(path) = &args.sick {
        judge_on_sick(published, encoder, &SickSet::read(path)?, args)?;
    }
    if !args.msrp.is_empty() {
        let sets: Vec<ParaphraseSet> = args.msrp.iter().map(ParaphraseSet::read).collect::<Result<_, _>>()?;
        let rows: Vec<_> = published_ranking().into_iter().filter(|row| row.system == published).collect();
        println!("{}", evaluate_ranking(encoder, &sets, &Line("ranking"))?.to_text_beside(&rows));
    }
    let rows: Vec<_> = published_soup().into_iter().filter(|row| row.system == published).collect();
    println!("{}", evaluate_group_ranking(encoder, &SentenceGroups::soup())?.to_text_beside(&rows));
    Ok(())
}

/// SICK: relatedness by cosine, and relatedness and entailment by predictors on frozen vectors.
fn judge_on_sick(
    published: &str,
    encoder: &dyn SentenceEncoder,
    test: &SickSet,
    args: &Args,
) -> Result<(), Box<dyn Error>> {
    let rows = |by| {
        let of_system = published_sick().into_iter().filter(|row| row.system == published);
        of_system.filter(|row| row.scored_by == by).collect::<Vec<_>>()
    };
    let tasks = std::slice::from_ref(&test.task);
    println!("{}", evaluate_relatedness(encoder, tasks)?.to_text_beside(&rows(ScoringMethod::Cosine)));
    let Some(train) = args.sick_train.as_ref().map(SickSet::read).transpose()? else { return Ok(()) };
    let dev: Vec<SickSet> = args.sick_dev.iter().map(SickSet::read).collect::<Result<_, _>>()?;

    let scored: Vec<_> = dev.iter().map(|part| part.task.clone()).collect();
    let scorer = FrozenScorer::train(encoder, std::slice::from_ref(&train.task), &scored)?;
    println!("{}", evaluate_scorer(&scorer, tasks)?.to_text_beside(&rows(ScoringMethod::Supervised)));

    let labelled: Vec<_> = dev.iter().map(NliSet::from_sick).collect();
    let classifier =
        FrozenClassifier::train(encoder, &[NliSet::from_sick(&train)], &labelled, PairFeatures::Symmetric)?;
    let rows: Vec<_> = published_sick_entailment().into_iter().filter(|row| row.system == published).collect();
    println!("{}", evaluate_entailment(&classifier, &[NliSet::from_sick(test)])?.to_text_beside(&rows));
    Ok(())
}
