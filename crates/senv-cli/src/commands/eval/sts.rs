//! `senv eval sts`: correlation with human similarity scores, per task or by the protocol of MTEB.

use std::path::{Path, PathBuf};

use senv::{Model, evaluation::UntrainedSts};
use senv_eval::{
    ErrorAnalysis, MtebStsResult, MtebStsSet, PairScorer, PublishedSystem, StsComparison, StsResult, StsTask,
    compare_sts, error_analysis, evaluate_sts, evaluate_sts_scorer, published_sts,
};
use serde::Serialize;

use super::{
    read, sentences_of,
    shared::{Evaluated, ResamplesArg},
};
use crate::{
    commands::{ModelArg, file_name, known_words::known_share},
    failure::{Failure, Result},
    output,
};

/// Correlate cosines with human similarity scores (STS).
///
/// Prints Pearson's r and Spearman's rho, times 100, of each task, and the means under their names. Half of the 95 %
/// interval follows each (bootstrap over the pairs; --json has both ends). A task is a file of lines GOLD, FIRST and
/// SECOND, separated by tabs, with GOLD from 0 to 5 (empty: no score), or STS.input.NAME.txt next to STS.gs.NAME.txt. A
/// folder named after a year groups its tasks. Below are the means of methods that need no training, with
/// the tokenizer, the dimension and the counts of the model.
///
/// --protocol mteb gives the figures of MTEB's tables: STS12 to STS16, STSBenchmark and SICK-R, by files or by the
/// folder that has them. It says what is missing, and where pairs differ from MTEB's.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval sts --model model.senv sts/2014/*.tsv
  senv eval sts --model model.senv --protocol mteb DIR
  senv eval sts --model bigrams.senv --against unigrams.senv sts/2014/*.tsv
  senv eval sts --model bigrams.senv --against unigrams.senv sts/2014/*.tsv --differences 10")]
pub(super) struct Sts {
    /// Files of scored pairs; with --protocol mteb also folders of them.
    #[arg(required = true, value_name = "FILE")]
    tasks: Vec<PathBuf>,
    /// How files become figures.
    #[arg(long, value_name = "NAME", default_value = "tasks")]
    protocol: ProtocolArg,
    /// Another model, to test if its correlations differ.
    ///
    /// Each task gets a p-value by the test of Meng, Rosenthal and Rubin, corrected by Holm's method for the number of
    /// tasks. The test compares correlations only, so a model whose cosines are all higher is not better.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Show the N pairs that the two models score most differently, with gold scores.
    #[arg(long, value_name = "N", requires = "against")]
    differences: Option<usize>,
    /// Also print the results of papers on these tasks.
    #[arg(long)]
    published: bool,
    /// Leave out methods that need no training: word overlap, TF-IDF (counted on the evaluated sentences), and averages
    /// of random vectors, plain and with SIF weights.
    #[arg(long)]
    no_floor: bool,
    /// Find the common components of SIF or uSIF on each task, separately for first and second sentences, as the SIF
    /// program does. By default, and always for --against, the model removes the components of its training text.
    #[arg(long)]
    components_per_side: bool,
    #[command(flatten)]
    resamples: ResamplesArg,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ProtocolArg {
    /// Each file is a task, with means of tasks and of years.
    Tasks,
    /// MTEB: all pairs of a year as one list, Spearman's rho, and the mean of seven tasks.
    Mteb,
}

/// The result by a protocol, with what it is compared to.
#[derive(Debug, Serialize)]
struct Report<'a, R> {
    #[serde(flatten)]
    evaluated: Evaluated,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<&'static str>,
    #[serde(flatten)]
    result: R,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<Against<'a, R>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    published: Vec<PublishedSystem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    floor: Vec<Floor<R>>,
}

#[derive(Debug, Serialize)]
struct Against<'a, R> {
    model: String,
    /// The share of known words in the first sentences.
    known_word_share: Option<f64>,
    #[serde(flatten)]
    result: R,
    comparison: &'a StsComparison,
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<&'a ErrorAnalysis>,
}

/// A method without training.
#[derive(Debug, Serialize)]
struct Floor<R> {
    system: &'static str,
    #[serde(flatten)]
    result: R,
}

/// The other model of --against.
struct Other<'a> {
    path: &'a Path,
    known_word_share: Option<f64>,
    result: StsResult,
    comparison: StsComparison,
    differences: Option<ErrorAnalysis>,
}

impl Sts {
    pub(super) fn run(self) -> Result {
        let mteb = match self.protocol {
            ProtocolArg::Tasks => None,
            ProtocolArg::Mteb if self.published => {
                return Err(Failure::Usage(
                    "--published does not go with --protocol mteb: papers report each task, not the pairs of a year as \
                    one list; leave out one of both"
                        .into(),
                ));
            }
            ProtocolArg::Mteb => Some(MtebStsSet::read(&self.tasks)?),
        };
        let tasks = match &mteb {
            Some(set) => set.pairs.clone(),
            None => read(&self.tasks)?,
        };
        let model = self.model.open_for_many()?;
        let evaluated = Evaluated::on(&self.model, &model, sentences_of(&tasks));
        let scorer = self.components_per_side.then(|| per_side(&model)).transpose()?;
        let mut result = evaluate_sts(&model, &tasks)?;
        if let Some(scorer) = scorer {
            result = evaluate_sts_scorer(&scorer, &tasks)?.with_coverage_of(&result)?;
        }
        let result = result.with_intervals(&tasks, self.resamples.bootstrap())?;
        let floor = if self.no_floor { Vec::new() } else { UntrainedSts::evaluate(&model, &tasks)? };
        let other = self.other(&tasks, &result)?;
        let published = self.published_on(&tasks);
        if self.json {
            return match &mteb {
                Some(set) => {
                    let of = |result: &StsResult| Ok(MtebStsResult::of(set, result)?);
                    print_json(evaluated, Some("mteb"), of, &result, other.as_ref(), published, &floor)
                }
                None => print_json(evaluated, None, |of| Ok(of.clone()), &result, other.as_ref(), published, &floor),
            };
        }
        let mut text = match &mteb {
            Some(set) => MtebStsResult::of(set, &result)?.to_text(),
            None => result.to_text_beside(&published),
        };
        if !floor.is_empty() {
            text.push('\n');
            text += &UntrainedSts::to_text(&floor, &file_name(&self.model.model), &result);
        }
        if let Some(other) = &other {
            let (first, second) = (file_name(&self.model.model), file_name(other.path));
            text.push('\n');
            text += &other.comparison.to_text(&first, &second);
            if let Some(differences) = &other.differences {
                text.push('\n');
                text += &differences.to_text(&first, &second);
            }
        }
        output::print(&text)
    }

    /// Evaluates the model of --against.
    fn other(&self, tasks: &[StsTask], result: &StsResult) -> Result<Option<Other<'_>>> {
        let Some(path) = &self.against else { return Ok(None) };
        let other = Model::open(path)?;
        let known_word_share = known_share(path, &other, sentences_of(tasks));
        let other = evaluate_sts(&other, tasks)?;
        let comparison = compare_sts(result, &other)?;
        let differences = self.differences.map(|k| error_analysis(tasks, result, &other, k)).transpose()?;
        Ok(Some(Other { path, known_word_share, result: other, comparison, differences }))
    }

    /// The results of papers on these tasks, if --published asks for them.
    fn published_on(&self, tasks: &[StsTask]) -> Vec<PublishedSystem> {
        let mut published = if self.published { published_sts() } else { Vec::new() };
        published.retain(|system| tasks.iter().any(|task| system.value(task.year, &task.name).is_some()));
        if self.published && published.is_empty() {
            output::warn(
                "no paper known to senv reports any of these tasks; name the folder after the year, as in sts/2014",
            );
        }
        published
    }
}

/// Prints all results as JSON, each as `of` shows it.
fn print_json<R: Serialize>(
    evaluated: Evaluated,
    protocol: Option<&'static str>,
    of: impl Fn(&StsResult) -> Result<R>,
    result: &StsResult,
    other: Option<&Other<'_>>,
    published: Vec<PublishedSystem>,
    floor: &[UntrainedSts],
) -> Result {
    let against = other.map(|other| -> Result<Against<'_, R>> {
        Ok(Against {
            model: other.path.display().to_string(),
            known_word_share: other.known_word_share,
            result: of(&other.result)?,
            comparison: &other.comparison,
            differences: other.differences.as_ref(),
        })
    });
    let floor = floor.iter().map(|floor| Ok(Floor { system: floor.system, result: of(&floor.result)? }));
    output::print_json(&Report {
        evaluated,
        protocol,
        result: of(result)?,
        against: against.transpose()?,
        published,
        floor: floor.collect::<Result<_>>()?,
    })
}

/// The cosines of a weighted average, with separate common components for each side.
fn per_side(model: &Model) -> Result<impl PairScorer + '_> {
    let average =
        model.abilities().average.filter(|average| average.weighting().is_some_and(|w| w.components().is_some()));
    match average {
        Some(average) => Ok(|pairs: &[(&str, &str)]| average.similarities_per_side(pairs)),
        None => Err(Failure::Usage(format!(
            "--components-per-side: this {} model removes no common components; \
             make one that does with senv train weighted",
            model.kind()
        ))),
    }
}
