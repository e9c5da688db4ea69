//! `senv eval sizes`: the sizes of data sets.

use std::path::{Path, PathBuf};

use senv_core::TextReader;
use senv_eval::{DataSizes, SentenceGroups, SickSet, StsTask, TextSizes};

use crate::{
    failure::{Failure, Result},
    output,
    text::TextArgs,
};

/// Count the sentences of data sets and their lengths.
///
/// Tokens are English words and punctuation marks, in lower case where distinct tokens are counted. Lengths are in
/// tokens, with their standard deviation. The pairs of groups are the ordered pairs of two different sentences of one
/// group.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval sizes --sts sts/2014/*.tsv --sick sick/train.tsv sick/trial.tsv
  senv eval sizes --groups captions.tsv --text corpus.txt --json")]
pub(super) struct Sizes {
    /// Files of text, one sentence per line, counted as one set.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    text: Vec<PathBuf>,
    /// Files of scored pairs, as for `senv eval sts`, counted separately.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    sts: Vec<PathBuf>,
    /// Parts of the STS benchmark, counted separately.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    stsb: Vec<PathBuf>,
    /// Parts of SICK, counted as one set.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    sick: Vec<PathBuf>,
    /// Files of sentences in groups, as for `senv eval p-coherence`, counted separately.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    groups: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: TextArgs,
}

impl Sizes {
    pub(super) fn run(self) -> Result {
        let mut sizes = Vec::new();
        if !self.text.is_empty() {
            sizes.push(self.of_text()?);
        }
        let tasks = self.sts.iter().map(StsTask::read).chain(self.stsb.iter().map(StsTask::read_stsb));
        for task in tasks {
            let task = task?;
            sizes.push(of_pairs(&task.name.clone(), &[task]));
        }
        if !self.sick.is_empty() {
            let parts = self.sick.iter().map(|path| SickSet::read(path).map(|set| set.task));
            sizes.push(of_pairs("SICK", &parts.collect::<senv_data::Result<Vec<_>>>()?));
        }
        for path in &self.groups {
            sizes.push(of_groups(path)?);
        }
        if sizes.is_empty() {
            return Err(Failure::Usage(
                "nothing to count; name files with --text, --sts, --stsb, --sick or --groups".into(),
            ));
        }
        if self.json {
            output::print_json(&serde_json::json!({ "sets": sizes }))
        } else {
            output::print(&DataSizes::to_text(&sizes))
        }
    }

    fn of_text(&self) -> Result<DataSizes> {
        let mut counted = TextSizes::default();
        self.reading.check_tables(&self.text)?;
        let mut reader = TextReader::open(&self.text, &self.reading.options())?;
        while let Some(line) = reader.next_line()? {
            if !line.is_blank() {
                counted.add(line.text);
            }
        }
        Ok(counted.finish("text"))
    }
}

fn of_pairs(name: &str, tasks: &[StsTask]) -> DataSizes {
    let mut counted = TextSizes::default();
    let pairs = || tasks.iter().flat_map(|task| &task.pairs);
    for pair in pairs() {
        counted.add(&pair.first);
        counted.add(&pair.second);
    }
    DataSizes { n_pairs: Some(pairs().count() as u64), ..counted.finish(name) }
}

fn of_groups(path: &Path) -> Result<DataSizes> {
    let groups = SentenceGroups::read(path)?;
    let mut counted = TextSizes::default();
    groups.sentences().for_each(|sentence| counted.add(sentence));
    let pairs =
        groups.groups.iter().map(|group| (group.sentences.len() * group.sentences.len().saturating_sub(1)) as u64);
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(DataSizes { n_pairs: Some(pairs.sum()), n_groups: Some(groups.groups.len() as u64), ..counted.finish(name) })
}
