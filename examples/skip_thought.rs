//! The experiment of "Skip-Thought Vectors" (Kiros et al., NIPS 2015) on your text. It trains uni and bi on ordered
//! text, combines them, and expands their vocabulary from word vectors. It prints nearest sentences, decoded text, and
//! scores next to the published ones. SICK is scored as in the paper, by a regression on the vectors of uni, bi and
//! both; other sets by cosine. The paper's other tasks (MSRP detection, classification of sentences) are not evaluated.
//!
//! ```text
//! cargo run --release -p senv-examples --example skip_thought -- --input TEXT... --vectors VECTORS \
//!     --sick-train SICK_train.txt --sick-dev SICK_trial.txt --sick SICK_test_annotated.txt --msrp msr_paraphrase_test.txt
//! ```
//!
//! Text has one sentence per line, in order, and a blank line between documents. The paper's text is the Toronto Book
//! Corpus (74 million sentences), with two weeks of training. Without arguments, it uses the sample of this repository,
//! which is far too small to compare anything.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod line;

use std::{error::Error, path::PathBuf};

use clap::Parser;
use line::Line;
use senv::{
    Model, SkipThought, SkipThoughtParams, TextSystem, TrainOptions, Word2VecParams,
    forms::NegativeSamplingParams,
    gradient::FitParams,
    model::{DecodeParams, VocabularyExpansion},
};
use senv_core::{SentenceEncoder, Table, TextOptions, TextReader};
use senv_eval::{
    Align, FrozenScorer, ParaphraseSet, ScoringMethod, SickSet, StsTask, TextTable, evaluate_ranking,
    evaluate_relatedness, evaluate_scorer, evaluate_sts, published_ranking, published_sick, published_skip_thoughts,
};
use senv_store::{Embeddings, NearestIndex};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data");

/// Queries for the nearest sentences.
const SEARCHED: usize = 20_000;

/// Trains Skip-thoughts and shows what they have learned.
#[derive(Debug, Parser)]
struct Args {
    /// Ordered text, one sentence per line, a blank line between documents [default: the sample]
    #[arg(long, num_args = 1.., value_name = "FILE")]
    input: Vec<PathBuf>,
    /// Word vectors for vocabulary expansion [default: word2vec of the text]
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
    /// Dimension of the word vectors [default: 620, as in the paper; 32 for the sample]
    #[arg(long)]
    dim: Option<usize>,
    /// Dimension of the sentence vectors [default: 2400, as in the paper; 64 for the sample]
    #[arg(long)]
    sentence_dim: Option<usize>,
    /// Number of words to predict, the most frequent ones [default: 20000, as in the paper; 500 for the sample]
    #[arg(long)]
    vocabulary: Option<usize>,
    /// Number of epochs [default: 1; 8 for the sample]
    #[arg(long)]
    epochs: Option<u32>,
    /// Learning rate [default: that of the system; 0.01 for the sample]
    #[arg(long)]
    lr: Option<f64>,
    /// SICK: the test part, by cosine, and with --sick-train by a regression.
    #[arg(long, value_name = "FILE")]
    sick: Option<PathBuf>,
    /// SICK: the training part of the regression.
    #[arg(long, value_name = "FILE", requires = "sick")]
    sick_train: Option<PathBuf>,
    /// SICK: the part that selects the strength of its regularization.
    #[arg(long, value_name = "FILE", requires = "sick_train")]
    sick_dev: Option<PathBuf>,
    /// Scored pairs of STS, by cosine.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    sts: Vec<PathBuf>,
    /// MSRP, to check if a sentence finds its paraphrase.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    msrp: Vec<PathBuf>,
    /// Number of sentences whose nearest sentences are shown.
    #[arg(long, num_args = 1.., default_values_t = ["The train is late.".to_owned(), "She stirred the soup.".to_owned()])]
    query: Vec<String>,
    /// Number of threads; the result does not depend on it.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    threads: usize,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = Args::parse();
    let small = args.input.is_empty();
    if small {
        args.input = vec![format!("{DATA}/quickstart.txt").into()];
        let sick = |part: &str| format!("{DATA}/sick-{part}-sample.tsv").into();
        if args.sick.is_none() {
            args.sick = Some(sick("test"));
            args.sick_train.get_or_insert_with(|| sick("train"));
            args.sick_dev.get_or_insert_with(|| sick("trial"));
        }
        if args.sts.is_empty() {
            args.sts = vec![format!("{DATA}/sts-sample.tsv").into()];
        }
    }
    let or =
        |given: Option<usize>, usual: usize, for_sample: usize| given.unwrap_or(if small { for_sample } else { usual });
    let defaults = SkipThoughtParams::default();
    let fit = FitParams {
        epochs: Some(args.epochs.unwrap_or(if small { 8 } else { defaults.fit.n_epochs() })),
        lr: Some(args.lr.unwrap_or(if small { 0.01 } else { defaults.fit.full_lr() })),
        batch: if small { 16 } else { defaults.fit.batch },
        seed: args.seed,
        ..defaults.fit.clone()
    };
    let params = SkipThoughtParams {
        dim: or(args.dim, defaults.dim, 32),
        sentence_dim: or(args.sentence_dim, defaults.sentence_dim, 64),
        max_vocabulary: Some(or(args.vocabulary, 20_000, 500)),
        fit,
        ..defaults
    };
    let train = |bi: bool, name: &'static str| -> Result<SkipThought, Box<dyn Error>> {
        let params = SkipThoughtParams { bi, ..params.clone() };
        let trained = params.fit_files(
            &args.input,
            &TrainOptions { threads: args.threads, observer: &Line(name), ..Default::default() },
        )?;
        println!("{name}: {:.0} examples/s, loss {:.3}", trained.units_per_second(), trained.loss);
        Ok(trained.model)
    };
    let (uni, bi) = (train(false, "uni-skip")?, train(true, "bi-skip")?);
    let combined = SkipThought::combine(uni.clone(), bi.clone())?;

    let vectors = match &args.vectors {
        Some(path) => Embeddings::open(path)?,
        None => word_vectors(&args)?,
    };
    let (expanded, report) = combined.expand(&vectors, VocabularyExpansion::Affine)?;
    let (shared, added) = (report.shared, report.added);
    println!("{added} words added by a map fitted on {shared} words, error {:.3}\n", report.error);
    let model = Model::from(expanded);
    let [uni, bi] =
        [uni.expand(&vectors, VocabularyExpansion::Affine)?.0, bi.expand(&vectors, VocabularyExpansion::Affine)?.0];

    show_nearest(&model, &args)?;
    for query in &args.query {
        println!("{query}");
        for (number, decoder) in model.abilities().decoders.map_or_else(Vec::new, |d| d.names()).into_iter().enumerate()
        {
            for said in model
                .decode(query, &DecodeParams { decoder: number, longest: 20, ..Default::default() })?
                .into_iter()
                .take(1)
            {
                println!("  {decoder:<11} {:7.2}  {}", said.log_probability, said.text);
            }
        }
    }
    println!();
    judge_supervised(&[("uni", &uni), ("bi", &bi), ("combine", &model)], &args)?;
    judge(&model, &args)
}

/// Vectors of all words of the text.
fn word_vectors(args: &Args) -> Result<Embeddings, Box<dyn Error>> {
    let training = NegativeSamplingParams { seed: args.seed, ..NegativeSamplingParams::default() };
    let params = Word2VecParams { dim: 50, min_count: Some(1), training, ..Word2VecParams::paper() };
    let options = TrainOptions { threads: args.threads, observer: &Line("word2vec"), ..Default::default() };
    let trained = params.fit_files(&args.input, &options)?;
    Ok(Model::from(trained.model).to_embeddings()?)
}

/// The nearest sentences of the text.
fn show_nearest(model: &Model, args: &Args) -> Result<(), Box<dyn Error>> {
    let mut reader = TextReader::open(&args.input, &TextOptions::default())?;
    let mut sentences: Vec<String> = Vec::new();
    while sentences.len() < SEARCHED
        && let Some(line) = reader.next_line()?
    {
        if !line.is_blank() {
            sentences.push(line.text.to_owned());
        }
    }
    let texts: Vec<&str> = sentences.iter().map(String::as_str).collect();
    let vectors = model.encode(&texts)?;
    let table = Table::from_vec(texts.len(), model.dim(), vectors.into_iter().collect())?;
    let index = NearestIndex::new(&table);
    for query in &args.query {
        println!("{query}");
        let vector = model.encode(&[query])?;
        for near in index.nearest(vector.as_slice().unwrap_or(&[]), 3)? {
            println!("  {:5.2}  {}", near.cosine, sentences[near.row]);
        }
    }
    println!();
    Ok(())
}

/// The table of the Skip-thought paper for SICK: a regression on the vectors of each model, ours and theirs.
fn judge_supervised(models: &[(&str, &dyn SentenceEncoder)], args: &Args) -> Result<(), Box<dyn Error>> {
    let (Some(test), Some(train)) = (&args.sick, &args.sick_train) else { return Ok(()) };
    let read = |path: &PathBuf| SickSet::read(path).map(|set| set.task);
    let (train, test) = ([read(train)?], [read(test)?]);
    let dev: Vec<StsTask> = args.sick_dev.iter().map(read).collect::<Result<_, _>>()?;
    let columns = ["dim", "r x100", "rho x100", "mse", "paper's\nr x100", "paper's\nrho x100", "paper's\nmse"];
    let columns = columns.map(|name| (name, Align::Right));
    let mut table = TextTable::new(std::iter::once(("model", Align::Left)).chain(columns));
    let cells = |r: Option<f64>, rho: Option<f64>, mse: Option<f64>| {
        [(r, 2), (rho, 2), (mse, 4)].map(|(x, digits)| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.digits$}")))
    };
    for (name, encoder) in models {
        let scorer = FrozenScorer::train(*encoder, &train, &dev)?;
        let result = evaluate_scorer(&scorer, &test)?;
        let (ours, mse) = (&result.tasks[0].result.correlations, result.tasks[0].mse);
        let published = published_skip_thoughts().into_iter().find(|row| row.system.ends_with(*name));
        let theirs = published.map_or_else(Default::default, |row| {
            cells(row.sick.correlations.pearson_r_x100, row.sick.correlations.spearman_rho_x100, row.sick.mse)
        });
        let ours = cells(ours.pearson_r_x100, ours.spearman_rho_x100, mse);
        table.row([(*name).to_owned(), encoder.dim().to_string()].into_iter().chain(ours).chain(theirs));
    }
    println!("SICK by a regression on frozen vectors ({} pairs)\n\n{table}", train[0].pairs.len());
    Ok(())
}

/// Scores next to those of the papers.
fn judge(model: &Model, args: &Args) -> Result<(), Box<dyn Error>> {
    if let Some(path) = &args.sick {
        let mut published = published_sick();
        published.retain(|row| row.scored_by == ScoringMethod::Cosine && row.system == "Skip-thoughts");
        let result = evaluate_relatedness(model, &[SickSet::read(path)?.task])?;
        println!("SICK by cosine\n\n{}", result.to_text_beside(&published));
    }
    if !args.sts.is_empty() {
        let tasks: Vec<StsTask> = args.sts.iter().map(StsTask::read).collect::<Result<_, _>>()?;
        println!("STS\n\n{}", evaluate_sts(model, &tasks)?.to_text());
    }
    if !args.msrp.is_empty() {
        let sets: Vec<ParaphraseSet> = args.msrp.iter().map(ParaphraseSet::read).collect::<Result<_, _>>()?;
        let mut published = published_ranking();
        published.retain(|row| row.system == "Skip-thoughts");
        println!("MSRP\n\n{}", evaluate_ranking(model, &sets, &Line("ranking"))?.to_text_beside(&published));
    }
    Ok(())
}
