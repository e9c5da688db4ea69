//! The experiment of the P-thought paper on your captions: three encoders, each trained to generate a caption and
//! another caption of the same image.
//!
//! It evaluates P-coherence on held-out images, together with the cosine of random captions, which a collapsed encoder
//! also raises. It also evaluates the STS benchmark by a regression on frozen vectors, as published, and by cosine,
//! which has no published counterpart.
//!
//! ```text
//! cargo run --release -p senv-examples --example p_thought -- --captions flickr/multi30k.tsv --hold-out 1000 \
//!     --vectors glove.840B.300d.txt --stsb-train stsb/train.tsv --stsb-dev stsb/dev.tsv --stsb stsb/test.tsv
//! ```
//!
//! Each line of a caption file has an image, a tab and a caption. The paper uses the captions of COCO (123,287 images).
//! Without arguments, it uses the sample pairs of this repository, which are far too few to compare anything. Every
//! third scored pair of the sample is for testing, and the regression is trained on the others.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod line;

use std::{collections::HashSet, error::Error, fmt::Write as _, fs, path::PathBuf};

use clap::Parser;
use line::Line;
use senv::{
    PThoughtParams, PThoughtStructure, TrainOptions,
    data::{PairData, PairInput, PairKind, PairOptions},
    gradient::FitParams,
    model::DecodeParams,
    sequence::OutputForm,
};
use senv_core::SentenceEncoder;
use senv_eval::{
    Align, DEFAULT_RANDOM_PAIRS, FrozenScorer, RelatednessResult, SentenceGroups, StsTask, TextTable,
    evaluate_p_coherence, evaluate_relatedness, evaluate_scorer, published_p_coherence, published_stsb,
};
use senv_losses::DualObjective;
use senv_store::Embeddings;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data");

const STRUCTURES: [(PThoughtStructure, &str); 3] = [
    (PThoughtStructure::OneBi, "P-thought one-layer bi"),
    (PThoughtStructure::TwoForward, "P-thought two-layer forward"),
    (PThoughtStructure::TwoBi, "P-thought two-layer bi"),
];

/// Trains P-thought in its three structures and evaluates them.
#[derive(Debug, Parser)]
struct Args {
    /// Captions: image, tab, caption [default: the sample pairs]
    #[arg(long, value_name = "FILE")]
    captions: Option<PathBuf>,
    /// Images for evaluation only [default: 1000; 6 of the sample]
    #[arg(long)]
    hold_out: Option<usize>,
    /// Word vectors, kept unchanged; without them, random vectors are trained.
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
    /// Hidden units of an encoder [default: 1200, as in the paper; 24 for the sample]
    #[arg(long)]
    hidden: Option<usize>,
    /// Dimension of the word vectors without --vectors [default: 300; 24 for the sample]
    #[arg(long)]
    dim: Option<usize>,
    /// Weights of the paraphrase, with one run per structure each. The paper's weight is above 1, but not given.
    #[arg(long, num_args = 1.., default_values_t = [DualObjective::default().alpha()])]
    alpha: Vec<f64>,
    /// Words sampled per step to compare with the next word; 0 for all words [default: 512; 0 for the sample]
    #[arg(long)]
    sampled: Option<usize>,
    /// Number of epochs [default: 4, as in the paper; 80 for the sample]
    #[arg(long)]
    epochs: Option<u32>,
    /// Learning rate [default: that of the system; 0.01 for the sample]
    #[arg(long)]
    lr: Option<f64>,
    /// STS benchmark: the test part, by cosine, and with --stsb-train by a regression.
    #[arg(long, value_name = "FILE")]
    stsb: Option<PathBuf>,
    /// STS benchmark: the training part of the regression.
    #[arg(long, value_name = "FILE", requires = "stsb")]
    stsb_train: Option<PathBuf>,
    /// STS benchmark: the part that selects the strength of its regularization.
    #[arg(long, value_name = "FILE", requires = "stsb_train")]
    stsb_dev: Option<PathBuf>,
    /// Number of threads; the result does not depend on it.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    threads: usize,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let small = args.captions.is_none();
    let scored = Scored::read(&args, small)?;
    let folder = tempfile::tempdir()?;
    let (train, test) = (folder.path().join("train.tsv"), folder.path().join("held-out.tsv"));
    let (trained, kept) = split(&captions(&args)?, args.hold_out.unwrap_or(if small { 6 } else { 1000 }))?;
    fs::write(&train, trained)?;
    fs::write(&test, kept)?;
    let test = SentenceGroups::read(&test)?;

    let vectors = args.vectors.as_ref().map(Embeddings::open).transpose()?;
    let input = PairInput { path: train, kind: PairKind::Captions, weight: None };
    let options = PairOptions { threads: args.threads, ..PairOptions::default() };
    let data = PairData::read(&[input], &options, &Line("captions"))?;
    let (usual, n_sampled) = (PThoughtParams::default(), args.sampled.unwrap_or(if small { 0 } else { 512 }));
    let sampled = OutputForm::Sampled { words: n_sampled };
    let words = if vectors.is_some() { usual.fit.words } else { senv::gradient::WordUpdates::Sparse };
    let fit = FitParams {
        epochs: Some(args.epochs.unwrap_or(if small { 80 } else { usual.fit.n_epochs() })),
        lr: Some(args.lr.unwrap_or(if small { 0.01 } else { usual.fit.full_lr() })),
        batch: if small { 16 } else { usual.fit.batch },
        seed: args.seed,
        words,
        ..usual.fit.clone()
    };
    let dim = args.dim.unwrap_or(if small { 24 } else { usual.dim });
    let params = PThoughtParams {
        dim: vectors.as_ref().map_or(dim, Embeddings::dim),
        hidden: args.hidden.unwrap_or(if small { 24 } else { usual.hidden }),
        output: if n_sampled == 0 { OutputForm::Full } else { sampled },
        fit,
        ..usual
    };

    let columns = [
        "alpha",
        "P-coherence",
        "random\npairs",
        "P-coherence,\npaper's",
        "STSB r,\ncosine",
        "STSB r,\nregression",
        "STSB r,\nregression,\npaper's",
    ];
    let columns = columns.map(|name| (name, Align::Right));
    let mut table = TextTable::new(std::iter::once(("system", Align::Left)).chain(columns));
    for (structure, name) in STRUCTURES {
        for &alpha in &args.alpha {
            let params = PThoughtParams { structure, objective: DualObjective::new(alpha)?, ..params.clone() };
            let (threads, vectors) = (args.threads, vectors.as_ref());
            let trained =
                params.fit(&data, &TrainOptions { threads, observer: &Line(name), vectors, ..Default::default() })?;
            println!("{name}, alpha {alpha}: {:.0} pairs/s, loss {:.3}", trained.units_per_second(), trained.loss);
            for (decoder, says) in ["itself", "a paraphrase"].into_iter().enumerate() {
                let caption = &test.groups[0].sentences[0];
                let said = trained
                    .model
                    .decode(caption, &DecodeParams { decoder, longest: 20, ..Default::default() })?
                    .into_iter()
                    .next();
                println!("  {caption}  says {says}: {}", said.map_or_else(String::new, |said| said.text));
            }
            table.row(row(name, alpha, &trained.model, &test, &scored, args.seed)?);
        }
    }
    println!(
        "\n{} images held out; the paper's results are for 5,000 images of COCO, and a regression on the test part of the STS benchmark",
        test.groups.len()
    );
    print!("\n{table}");
    Ok(())
}

/// Scored pairs to test on, learn from and select with.
struct Scored {
    test: Vec<StsTask>,
    train: Vec<StsTask>,
    dev: Vec<StsTask>,
}

impl Scored {
    fn read(args: &Args, small: bool) -> Result<Self, Box<dyn Error>> {
        if small && args.stsb.is_none() {
            let all = StsTask::read_stsb(format!("{DATA}/sts-sample.tsv"))?;
            let (mut test, mut train) = (all.clone(), all);
            let third = |i: &mut usize| {
                *i += 1;
                i.is_multiple_of(3)
            };
            let (mut i, mut j) = (0, 0);
            test.pairs.retain(|_| third(&mut i));
            train.pairs.retain(|_| !third(&mut j));
            return Ok(Self { test: vec![test], train: vec![train], dev: Vec::new() });
        }
        let read = |path: &Option<PathBuf>| path.iter().map(StsTask::read_stsb).collect::<Result<Vec<_>, _>>();
        Ok(Self { test: read(&args.stsb)?, train: read(&args.stsb_train)?, dev: read(&args.stsb_dev)? })
    }
}

/// The results of a model, and the paper's.
fn row(
    name: &str,
    alpha: f64,
    model: &dyn SentenceEncoder,
    test: &SentenceGroups,
    scored: &Scored,
    seed: u64,
) -> Result<Vec<String>, Box<dyn Error>> {
    let number = |x: Option<f64>| x.map_or_else(String::new, |x| format!("{x:.4}"));
    let coherence = evaluate_p_coherence(model, test, DEFAULT_RANDOM_PAIRS, seed)?;
    let r = |result: RelatednessResult| result.tasks[0].result.correlations.pearson_r_x100.map(|r| r / 100.0);
    let (mut cosine, mut regression) = (None, None);
    if !scored.test.is_empty() {
        cosine = r(evaluate_relatedness(model, &scored.test)?);
        if !scored.train.is_empty() {
            regression = r(evaluate_scorer(&FrozenScorer::train(model, &scored.train, &scored.dev)?, &scored.test)?);
        }
    }
    let published = published_p_coherence().into_iter().find(|row| row.system == name).map(|row| row.p_coherence);
    let published_r = published_stsb().into_iter().find(|row| row.system == name);
    let published_r = published_r.and_then(|row| row.correlations.pearson_r_x100).map(|r| r / 100.0);
    let coherence = [coherence.p_coherence, coherence.random_pairs.mean_cosine, published];
    let cells = coherence.into_iter().chain([cosine, regression, published_r]);
    Ok([name.to_owned(), alpha.to_string()].into_iter().chain(cells.map(number)).collect())
}

/// The lines of the caption file; in the sample, each pair is an image.
fn captions(args: &Args) -> Result<String, Box<dyn Error>> {
    if let Some(path) = &args.captions {
        return Ok(fs::read_to_string(path)?);
    }
    let mut lines = String::new();
    for (image, pair) in fs::read_to_string(format!("{DATA}/sentence-pairs-sample.tsv"))?.lines().enumerate() {
        pair.split('\t').try_for_each(|sentence| writeln!(lines, "{image}\t{sentence}"))?;
    }
    Ok(lines)
}

/// Training lines, and the lines of the last images for evaluation.
fn split(lines: &str, hold_out: usize) -> Result<(String, String), Box<dyn Error>> {
    let image = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    let (mut seen, mut order) = (HashSet::new(), Vec::new());
    for line in lines.lines() {
        if seen.insert(image(line)) {
            order.push(image(line));
        }
    }
    if order.len() <= hold_out {
        return Err(format!("{} images; hold out fewer than {hold_out}", order.len()).into());
    }
    let held_out: HashSet<&String> = order[order.len() - hold_out..].iter().collect();
    let (kept, trained): (Vec<&str>, Vec<&str>) = lines.lines().partition(|line| held_out.contains(&image(line)));
    Ok((trained.join("\n") + "\n", kept.join("\n") + "\n"))
}
