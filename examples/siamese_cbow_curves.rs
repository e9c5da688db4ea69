//! Figures 2 to 4 of "Siamese CBOW" (Kenter, Borisov and de Rijke, ACL 2016) on your text, as tables and as SVG plots.
//! They show the mean STS score against the number of epochs, negatives and dimensions.
//!
//! ```text
//! cargo run --release -p senv-examples --example siamese_cbow_curves -- --input TEXT... --sts sts/2014/*.tsv \
//!     --plots plots
//! ```
//!
//! Without arguments, it uses the sample of this repository, which is far too small to compare anything.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod line;

use std::{error::Error, fs, path::PathBuf};

use clap::Parser;
use line::Line;
use senv::{SiameseCbowParams, TextSystem, TrainOptions, gradient::FitParams};
use senv_core::{Corpus, CorpusOptions, Vocabulary, files::AtomicFile};
use senv_eval::{Curve, StsTask, evaluate_sts};

const TEXT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/quickstart.txt");
const STS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/sts-sample.tsv");

/// Trains Siamese CBOW at several settings and evaluates each on STS.
#[derive(Debug, Parser)]
struct Args {
    /// Ordered text, one sentence per line, a blank line between documents [default: the sample]
    #[arg(long, num_args = 1.., value_name = "FILE", requires = "sts")]
    input: Vec<PathBuf>,
    /// Scored pairs: score, sentence, sentence.
    #[arg(long, num_args = 1.., value_name = "FILE", requires = "input")]
    sts: Vec<PathBuf>,
    /// Numbers of epochs to try.
    #[arg(long, num_args = 1.., default_values_t = [1, 2, 3, 4, 5])]
    epochs: Vec<u32>,
    /// Numbers of negatives to try.
    #[arg(long, num_args = 1.., default_values_t = [1, 2, 5, 10])]
    negatives: Vec<usize>,
    /// Dimensions to try.
    #[arg(long, num_args = 1.., default_values_t = [50, 100, 200, 300])]
    dims: Vec<usize>,
    /// Temperature: divides the cosines before the softmax; the paper has none.
    #[arg(long, default_value_t = 1.0)]
    temperature: f64,
    /// Folder for the plots; without it, none are written.
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Number of threads; the result does not depend on it.
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    threads: usize,
}

/// The text, and the data to evaluate models on.
struct Bench {
    vocabulary: Vocabulary,
    corpus: Corpus,
    tasks: Vec<StsTask>,
    threads: usize,
}

impl Bench {
    /// The mean over the tasks of Pearson's r x 100.
    fn score(&self, params: &SiameseCbowParams) -> Result<f64, Box<dyn Error>> {
        let trained = params.fit(
            self.vocabulary.clone(),
            &self.corpus,
            &TrainOptions { threads: self.threads, observer: &Line("training"), ..Default::default() },
        )?;
        let result = evaluate_sts(&trained.model, &self.tasks)?;
        Ok(result.overall.plain_mean_over_tasks.pearson_r_x100.unwrap_or(0.0))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = Args::parse();
    if args.input.is_empty() {
        (args.input, args.sts) = (vec![TEXT.into()], vec![STS.into()]);
        (args.epochs, args.negatives, args.dims) = (vec![1, 4], vec![1, 5], vec![20, 50]);
    }
    let tasks = args.sts.iter().map(StsTask::read).collect::<Result<_, _>>()?;
    let reading = CorpusOptions { threads: args.threads, ..CorpusOptions::default() };
    let (vocabulary, corpus) = Corpus::read(&args.input, &reading, &Line("reading"))?;
    let bench = Bench { vocabulary, corpus, tasks, threads: args.threads };
    let defaults = SiameseCbowParams::paper().with_adam();
    let base = SiameseCbowParams { temperature: args.temperature, dim: args.dims[args.dims.len() - 1], ..defaults };

    let mut curves = Vec::new();
    let mut points = Vec::new();
    for &epochs in &args.epochs {
        let params = SiameseCbowParams { fit: FitParams { epochs: Some(epochs), ..base.fit.clone() }, ..base.clone() };
        points.push((f64::from(epochs), bench.score(&params)?));
    }
    curves.push(("epochs", points));
    let mut points = Vec::new();
    for &negatives in &args.negatives {
        points.push((negatives as f64, bench.score(&SiameseCbowParams { negatives, ..base.clone() })?));
    }
    curves.push(("negatives", points));
    let mut points = Vec::new();
    for &dim in &args.dims {
        points.push((dim as f64, bench.score(&SiameseCbowParams { dim, ..base.clone() })?));
    }
    curves.push(("dimensions", points));

    for (name, points) in curves {
        let mut curve = Curve::new(name, "mean Pearson r x100");
        curve.push("Siamese CBOW", points);
        println!("{}", curve.to_text());
        if let Some(folder) = &args.plots {
            fs::create_dir_all(folder)?;
            let path = folder.join(format!("siamese-cbow-{name}.svg"));
            AtomicFile::write_with(&path, |file| std::io::Write::write_all(file, curve.to_svg().as_bytes()))?;
            println!("{}\n", path.display());
        }
    }
    Ok(())
}
