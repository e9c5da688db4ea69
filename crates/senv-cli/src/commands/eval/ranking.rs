//! `senv eval ranking`: evaluates the search for paraphrases.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use senv_core::{Control, Observer, Progress};
use senv_eval::{
    ParaphraseSet, RankingResult, ZeroShotResult, evaluate_ranking, evaluate_zero_shot, published_ranking,
};
use serde::Serialize;

use super::{check, shared::Evaluated, write};
use crate::{
    commands::ModelArg,
    destination::{Content, ForceArg},
    failure::Result,
    output::{self, grouped, short},
};

/// Time between two lines of progress without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Find the paraphrase of each sentence among all sentences (MSRP).
///
/// Each sentence of a pair labeled 1 is a query, and all other sentences of all files are ranked by their cosine with
/// it. Prints the mean rank of the best paraphrase (MRC) and how often it is among the nearest 1, 10 and 100. One pool
/// has distinct sentences, and the raw pool has repeated sentences as often as they occur. The paraphrase wins
/// ties; queries with a tie are counted. Below is the average precision of detecting paraphrases by only the cosine,
/// next to that of the share of common words. A FILE has lines of LABEL (0 or 1), FIRST and SECOND, separated by tabs,
/// or is a published msr_paraphrase_*.txt.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval ranking --model model.senv msr_paraphrase_train.txt msr_paraphrase_test.txt --published
  senv eval ranking --model model.senv msrp/train.tsv --json
  senv eval ranking --model model.senv msr_paraphrase_test.txt --svg precision-recall.svg")]
pub(super) struct Ranking {
    /// Pairs of sentences; the sentences of all files form one pool.
    #[arg(required = true, value_name = "FILE")]
    pairs: Vec<PathBuf>,
    /// Draw precision over recall of paraphrase detection to this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the points of this figure, precision and recall at each threshold, to this file, separated by tabs.
    #[arg(long, value_name = "FILE")]
    points: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// Also print the results of the paper on SNLI-finetuned Skip-thoughts.
    #[arg(long)]
    published: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

#[derive(Debug, Serialize)]
struct Report {
    ranking: RankingResult,
    zero_shot: ZeroShotResult,
}

impl Ranking {
    pub(super) fn run(self) -> Result {
        let inputs: Vec<&Path> = self.pairs.iter().chain([&self.model.model]).map(PathBuf::as_path).collect();
        check(self.svg.as_ref(), "--svg", Content::Drawing, self.force, &inputs)?;
        check(self.points.as_ref(), "--points", Content::Points, self.force, &inputs)?;
        let sets = self.pairs.iter().map(ParaphraseSet::read).collect::<senv_data::Result<Vec<_>>>()?;
        let model = self.model.open_for_many()?;
        let pairs = sets.iter().flat_map(|set| &set.pairs);
        let sentences = pairs.flat_map(|pair| [pair.first.as_str(), &pair.second]);
        let evaluated = Evaluated::on(&self.model, &model, sentences);
        let progress = RankingProgress::new();
        let ranking = evaluate_ranking(&model, &sets, &progress);
        progress.bar.finish_and_clear();
        let ranking = ranking?;
        let zero_shot = evaluate_zero_shot(&model, &sets)?;
        write(self.svg.as_ref(), || zero_shot.curve().to_svg())?;
        write(self.points.as_ref(), || zero_shot.points_to_tsv())?;
        let published = if self.published { published_ranking() } else { Vec::new() };
        let report = Report { ranking, zero_shot };
        evaluated.show(self.json, &report, &published, || {
            format!("{}\n{}", report.ranking.to_text_beside(&published), report.zero_shot.to_text())
        })
    }
}

/// A bar on a terminal, a line every few seconds elsewhere.
struct RankingProgress {
    bar: ProgressBar,
    last_line: Mutex<Instant>,
}

impl RankingProgress {
    fn new() -> Self {
        let bar = if output::is_terminal() && !output::is_quiet() {
            let style = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}");
            ProgressBar::new(1000).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        } else {
            ProgressBar::hidden()
        };
        Self { bar, last_line: Mutex::new(Instant::now()) }
    }
}

impl Observer for RankingProgress {
    fn progress(&self, progress: &Progress) -> Control {
        let line = format!("{} queries ranked  {}/s", grouped(progress.units), short(progress.units_per_second));
        let mut last_line = self.last_line.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.bar.is_hidden() {
            self.bar.set_position((1000.0 * progress.done) as u64);
            self.bar.set_message(line);
        } else if !output::is_terminal() && last_line.elapsed() >= LINE_EVERY {
            *last_line = Instant::now();
            output::note(&format!("{:5.1}%  {line}", 100.0 * progress.done));
        }
        Control::Continue // Ctrl-C ends the program and loses nothing.
    }
}
