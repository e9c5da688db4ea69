//! `senv cluster`: groups of similar sentences.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::builder::RangedU64ValueParser;
use senv::{
    Model,
    jobs::{GroupBy, GroupParams, Grouping, TextGroups},
};
use senv_core::{
    files::{AtomicFile, LastStep},
    text::Lines,
};
use serde::Serialize;

use crate::{
    commands::{
        ModelArg,
        sentences::{LocatedSentence, cosine, located, read_for, with_files},
        table_rows::{Figure, Joined, RecordArgs},
    },
    destination::{self, Content, Destination, ForceArg},
    failure::{Failure, Result},
    folders::Collections,
    output::{self, grouped, plural},
    progress::Settled,
    report::go_on,
    text::{INPUT_HELP, InputArgs, TextArgs, note_typing},
};

/// Group similar sentences and show what each group is about.
///
/// By default senv chooses the number of groups with the best silhouette, up to 300 and the square root of the number
/// of sentences. To set another number, use --groups. With --threshold, a group is a central sentence and all
/// sentences with at least this cosine to it; the sentence with the most such neighbors comes first. A sentence that is
/// close to members of a group, but not to its center, is not in that group and may be in none.
///
/// Every line counts: equal lines are in one group and have the weight of their number, in sizes, centers and words.
///
/// Prints the groups, largest first, each with its number, its size, its characteristic words, and its most central
/// sentences. With --members, prints one line per sentence instead: group, cosine with the center of the group, line
/// (for tables, the record) and sentence, separated by tabs; - means no group.
///
/// --save stores the groups, and --assign puts the sentences of another text into them under the same numbers. --report
/// writes a page with a map of up to 1,000 sentences and all groups.
///
/// The same text gives the same groups, for any number of threads. Memory holds the text and a vector per distinct
/// sentence, 1.2 KB each with the English model.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("files", |files| files.help(INPUT_HELP)),
    mut_arg("show", |show| show.requires("members")),
    mut_arg("records", |records| records.requires("members"))
)]
pub(crate) struct Cluster {
    #[command(flatten)]
    input: InputArgs,
    /// Number of groups [default: chosen by silhouette]
    #[arg(long, short, value_name = "N", conflicts_with_all = ["threshold", "assign"],
          value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    groups: Option<usize>,
    /// Group sentences with a cosine of at least this, -1 to 1.
    ///
    /// The number of groups follows from this threshold.
    #[arg(long, short, value_name = "COSINE", conflicts_with = "assign", allow_negative_numbers = true, value_parser = cosine)]
    threshold: Option<f32>,
    /// Smallest group with --threshold, in sentences; equal lines count by their number.
    #[arg(long, value_name = "N", default_value_t = 3, requires = "threshold")]
    min_size: usize,
    /// Put the sentences into the groups of this file.
    #[arg(long, value_name = "FILE")]
    assign: Option<PathBuf>,
    /// Save the groups to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "assign")]
    save: Option<PathBuf>,
    /// Write a page with a map of the groups.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Number of words to show for each group.
    #[arg(long, value_name = "N", default_value_t = 8, conflicts_with = "assign")]
    words: usize,
    /// Number of sentences to show for each group.
    #[arg(long, value_name = "N", default_value_t = 3, conflicts_with = "assign")]
    sentences: usize,
    /// Print the group of each sentence.
    #[arg(long)]
    members: bool,
    /// Random seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print JSON, one object per line: a group, or a sentence with --members.
    #[arg(long, conflicts_with = "records")]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    force: ForceArg,
    #[command(flatten)]
    model: ModelArg,
}

const EXAMPLES: &str = "\
Examples:
  senv cluster text.txt
  senv cluster --groups 20 --report groups.html --save groups.senv text.txt
  senv cluster --assign groups.senv --members new.txt > groups.tsv
  senv cluster --threshold 0.8 --min-size 5 text.txt
  senv cluster tickets.csv --column body --members --records > grouped.csv";

/// The silhouette below which a note says that groups overlap.
const APART: f64 = 0.05;

#[derive(Debug, Serialize)]
struct ShownGroup<'a> {
    /// The number shown, from 1.
    group: usize,
    size: usize,
    words: &'a [String],
    sentences: &'a [String],
    /// Whether it takes what fits no other group.
    is_rest: bool,
}

#[derive(Debug, Serialize)]
struct Member<'a> {
    group: Option<u32>,
    cosine: f32,
    #[serde(flatten)]
    place: LocatedSentence<'a>,
}

impl Cluster {
    pub(crate) fn run(mut self) -> Result {
        self.input.open_folders(self.text.content(), Collections::Kept)?;
        let input = self.input.paths_or_stdin();
        let inputs: Vec<&PathBuf> = input.iter().chain(&self.assign).collect();
        destination::check_stdout(&inputs)?;
        let options = self.text.options();
        self.record.check(input, &options)?;
        let (force, outputs) = (
            Some(self.force.force),
            [(&self.save, "--save", Content::Groups), (&self.report, "--report", Content::GroupsPage)],
        );
        for (path, option, content) in outputs {
            if let Some(path) = path {
                Destination { path, option, content, force }.check(&inputs)?;
            }
        }
        let model = self.model.open_for_topics()?;
        let old = self.assign.as_deref().map(|path| self.open_groups(path, &model)).transpose()?;
        note_typing(input, "sentences");
        let lines = read_for(&self.model, &model, input, &self.text)?;
        let sentences = lines.texts();
        let (found, grouping) = match old {
            Some(groups) => {
                let grouping = groups.assign(&model, &sentences)?;
                (with_sizes(groups, &grouping), grouping)
            }
            None => {
                let progress = Settled::new("grouping");
                let found =
                    senv::jobs::group_sentences(&model, &sentences, &self.params(), |share| progress.set(share))?;
                progress.finish();
                found
            }
        };
        if let Some(path) = &self.save {
            let digest = senv::model::model_digest(&self.model.model)?;
            let _last = self.report.is_none().then(LastStep::begin);
            go_on(path, found.save(path, &digest).map_err(Failure::from))?;
        }
        if let Some(path) = &self.report {
            let page = senv::evaluation::groups_page(&model, &sentences, &found, &grouping)?;
            let _last = LastStep::begin();
            let written = AtomicFile::write_with(path, |file| file.write_all(page.as_bytes()));
            go_on(path, written.map_err(Failure::from))?;
        }
        let joined = self.record.read_of(input, &options, &lines, 0..lines.len())?;
        self.write(&lines, &found, &grouping, &joined, with_files(input, &lines)).map_err(Failure::stdout)?;
        let distinct: std::collections::HashSet<&str> = sentences.iter().copied().collect();
        self.note(&found, &grouping, distinct.len());
        Ok(())
    }

    fn params(&self) -> GroupParams {
        let by = match (self.groups, self.threshold) {
            (Some(n), _) => GroupBy::Count(n),
            (None, Some(cosine)) => GroupBy::Threshold { cosine, min_size: self.min_size },
            (None, None) => GroupBy::Suggested,
        };
        GroupParams { by, n_words: self.words, n_central: self.sentences, seed: self.seed, ..GroupParams::default() }
    }

    /// Opens saved groups, which must be of this model.
    fn open_groups(&self, path: &Path, model: &Model) -> Result<TextGroups> {
        let (groups, of_model) = TextGroups::open(path)?;
        if of_model != senv::model::model_digest(&self.model.model)? || groups.centroids.dim() != model.dim() {
            return Err(Failure::Usage(format!(
                "the groups of {} were made with a different model than {}; give that model with --model",
                path.display(),
                self.model.model.display()
            )));
        }
        Ok(groups)
    }

    /// Writes the group of each sentence.
    fn write_members(
        &self,
        out: &mut impl Write,
        lines: &Lines,
        grouping: &Grouping,
        joined: &Joined,
        with_file: bool,
    ) -> io::Result<()> {
        let members = grouping.group_of.iter().zip(&grouping.cosines).enumerate();
        let members = members.map(|(i, (group, &cosine))| (i, group.map(|group| group + 1), cosine));
        if joined.has_records() {
            let figures = |group: Option<u32>, cosine: f32| {
                let group = group.map_or(Figure::Absent, |group| Figure::Number(group.to_string()));
                vec![group, Figure::Number(format!("{cosine:.4}"))]
            };
            let records = members.map(|(i, group, cosine)| (lines.place(i).0, lines.record(i), figures(group, cosine)));
            return joined.write_records(out, &["group", "cosine"], records);
        }
        for (i, group, cosine) in members {
            let place = located(lines, i, with_file).with_columns(joined, lines, i);
            let member = Member { group, cosine, place };
            if self.json {
                output::write_json_line(out, &member)?;
                continue;
            }
            let group = group.map_or_else(|| "-".into(), |group| group.to_string());
            let Member { place, .. } = &member;
            write!(out, "{group}\t{cosine:.4}\t{}\t{}", place.shown(), output::cell(place.text))?;
            place.columns.write(out)?;
            writeln!(out)?;
        }
        Ok(())
    }

    fn write(
        &self,
        lines: &Lines,
        found: &TextGroups,
        grouping: &Grouping,
        joined: &Joined,
        with_file: bool,
    ) -> io::Result<()> {
        let mut out = output::stdout();
        if self.members {
            self.write_members(&mut out, lines, grouping, joined, with_file)?;
            return out.flush();
        }
        let rest = found.rest(grouping);
        for (number, group) in found.groups.iter().enumerate() {
            let (size, words, sentences) = (group.size, &group.words, &group.central);
            let shown = ShownGroup { group: number + 1, size, words, sentences, is_rest: rest == Some(number) };
            if self.json {
                output::write_json_line(&mut out, &shown)?;
                continue;
            }
            let words = if group.words.is_empty() {
                String::new()
            } else {
                format!(": {}", output::cell(&group.words.join(" ")))
            };
            writeln!(out, "{}  {}{words}", number + 1, plural(group.size as u64, "sentence"))?;
            group.central.iter().try_for_each(|sentence| writeln!(out, "     {}", output::cell(sentence)))?;
        }
        out.flush()
    }

    /// Prints a summary in a line or two.
    fn note(&self, found: &TextGroups, grouping: &Grouping, n_distinct: usize) {
        let n_without = grouping.group_of.iter().filter(|group| group.is_none()).count() as u64;
        let without = if n_without > 0 { format!(", {} without a group", grouped(n_without)) } else { String::new() };
        let apart = grouping.silhouette.map_or_else(String::new, |apart| format!("; silhouette {apart:.3}"));
        let (n, groups) =
            (plural(grouping.group_of.len() as u64, "sentence"), plural(found.groups.len() as u64, "group"));
        output::note(&format!("{n} in {groups}{without}{apart}"));
        if let Some(rest) = found.rest(grouping) {
            let size = grouping.group_of.iter().filter(|group| **group == Some(rest as u32)).count();
            output::note(&format!(
                "group {} has {} sentences ({:.0} %) that are less alike than those of most groups: a rest; more --groups \
                 divide it, and --threshold leaves out what fits no group",
                rest + 1,
                grouped(size as u64),
                100.0 * size as f64 / grouping.group_of.len() as f64
            ));
        }
        let n_found = found.groups.len();
        if grouping.count.is_some() && n_distinct < 3 {
            output::note(&format!("{}, too few for groups", plural(n_distinct as u64, "distinct sentence")));
        } else if self.groups.is_some_and(|n| n_found < n) {
            let [sentences, groups] = [("distinct sentence", n_distinct), ("group", n_found)]
                .map(|(what, n)| if n == 1 { format!("one {what}") } else { plural(n as u64, what) });
            output::note(&match n_found == n_distinct {
                true => format!("only {sentences}, so {groups}"),
                // Distinct sentences can have the same vector.
                false => format!("only {groups}, because the other distinct sentences have equal vectors"),
            });
        } else if grouping.count.is_some() && grouping.silhouette.is_none_or(|apart| apart < APART) {
            output::note(
                "the groups overlap and no number of groups stands out; set one with --groups, or find close sentences with \
                 --threshold",
            );
        }
        if found.groups.is_empty() {
            output::note("no group is large enough; lower --threshold or --min-size");
        }
    }
}

/// The groups with the numbers of the sentences assigned to them.
fn with_sizes(mut groups: TextGroups, grouping: &Grouping) -> TextGroups {
    groups.groups.iter_mut().for_each(|group| group.size = 0);
    grouping.group_of.iter().flatten().for_each(|&group| groups.groups[group as usize].size += 1);
    groups
}
