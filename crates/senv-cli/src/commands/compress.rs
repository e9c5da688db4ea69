//! `senv compress`: a trained average of word vectors as a small table.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use senv::{CompressParams, Model, StaticModel, model::SavedModel};
use senv_core::{Scratch, SentenceEncoder, static_model::RowEncoding};
use senv_eval::{Align, StsTask, TextTable, evaluate_sts};
use serde::Serialize;

use crate::{
    argument::argument_of,
    commands::{ModelArg, named},
    destination::{Content, Destination, ForceArg},
    failure::{Failure, Result},
    output,
    report::go_on,
};

/// Make a small table of an average of word vectors: few bits a value, weights folded in.
///
/// The result is a model of kind static, which opens at once and encodes faster than what it is made of; senv-core
/// alone can use it. A part that reads word order (senv train order) is kept where all dimensions and their axes are,
/// with its maps in eight bits. A small table can lose words (--max-vocabulary), and nothing else. Models with n-grams
/// cannot be compressed, and uSIF weights lose a part that is of the whole sentence (--report compares).
/// Dimensions can be cut off where the model was trained with --nested.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("model", named),
    after_help = "\
Examples:
  senv compress --model pp.senv --output small.senv
  senv compress --model pp.senv --encoding int8 --max-vocabulary 30000 --report sts/2014/*.tsv --output small.senv
  senv compress --model seed1.senv --with seed2.senv --principal 256 --whitening .1 --output both.senv
  senv compress --model reviews.senv --with english --encoding int8 --output classify.senv
  senv compress --model english --max-vocabulary 20000 --output small.senv"
)]
pub(crate) struct Compress {
    /// The model to write, by atomic replacement.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// How values are stored.
    #[arg(long, value_name = "TYPE", default_value = "int4")]
    encoding: EncodingArg,
    /// Keep the first N dimensions, for models trained with --nested [default: all]
    #[arg(long, value_name = "N")]
    dim: Option<usize>,
    /// Keep the N most frequent words [default: all]
    #[arg(long, value_name = "N")]
    max_vocabulary: Option<usize>,
    /// Other models, whose vectors stand beside those of the first; english is part of senv. Another --seed on the same
    /// data is enough for better cosines. A model of other data and words helps classifiers that are trained on the
    /// vectors, and can spoil cosines: --report compares. Dimensions add up; --principal brings them down.
    #[arg(long, value_name = "MODEL", num_args = 1..)]
    with: Vec<PathBuf>,
    /// Keep N principal axes of the rows, the strongest first, instead of dimensions as they were trained.
    #[arg(long, value_name = "N", conflicts_with = "dim")]
    principal: Option<usize>,
    /// How much weaker principal axes gain, 0 (not at all) to 0.5 (all axes count the same); .25 is a good start.
    #[arg(long, value_name = "A", default_value_t = 0.0)]
    whitening: f64,
    /// Length of the vectors of unknown words, where the model has such vectors, as a multiple of the mean length of
    /// the rows; of a model that reads word order, as a multiple of the length that they have.
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    unknown_length: f64,
    /// Print size, correlation on these tasks (as for senv eval sts) and speed before and after.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    report: Vec<PathBuf>,
    /// Write the report as JSON.
    #[arg(long, requires = "report")]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

argument_of! {
    /// How values are stored, a name.
    enum EncodingArg for RowEncoding {
        /// 32 bits: as they are.
        F32,
        /// 16 bits, half precision.
        F16,
        /// 8 bits and a scale for each row.
        Int8,
        /// 4 bits and a scale for each row.
        Int4,
    }
}

/// What a model takes and gives.
#[derive(Debug, Serialize)]
struct Measured {
    model: String,
    megabytes: f64,
    /// Mean over the tasks, times 100; `None` where a task has no spread.
    pearson_r_x100: Option<f64>,
    /// One after another, on one thread.
    sentences_per_second: f64,
}

impl Compress {
    pub(crate) fn run(self) -> Result {
        Destination::output(&self.output, Content::Model, self.force)
            .check(&self.with.iter().chain([&self.model.model]).collect::<Vec<_>>())?;
        let tasks = self.report.iter().map(StsTask::read).collect::<senv_data::Result<Vec<_>>>()?;
        let model = self.model.open_verified()?;
        let params = CompressParams {
            encoding: self.encoding.into(),
            dim: self.dim,
            max_vocabulary: self.max_vocabulary,
            principal: self.principal,
            whitening: self.whitening,
            unknown_length: self.unknown_length,
        };
        let others = self.with.iter().map(Model::open_verified).collect::<senv::Result<Vec<_>>>()?;
        let small = StaticModel::from(params.compress_side_by_side(&model, &others.iter().collect::<Vec<_>>())?);
        go_on(&self.output, small.save(&self.output).map_err(Failure::from))?;
        let (words, dim) = (small.vocabulary().len() as u64, small.dim());
        output::note(&format!(
            "{} of {dim} dimensions, written to {}",
            output::plural(words, "word"),
            self.output.display()
        ));
        if small.encoder().order().is_none() && others.iter().chain([&model]).any(|model| model.reads_order()) {
            output::note(
                "word order is not read any more: the part for it needs the axes of its table; senv train order --init-model \
                 with the small model makes a new one",
            );
        }
        if others.iter().any(|other| other.vocabulary().text() != model.vocabulary().text()) {
            output::note(
                "models of different words side by side serve classifiers; whether cosines gain or suffer, --report tells",
            );
        }
        if tasks.is_empty() {
            return Ok(());
        }
        let before = measure(&model, &self.model.model, &tasks)?;
        let after = measure(&Model::open(&self.output)?, &self.output, &tasks)?;
        if self.json {
            return output::print_json(&[before, after]);
        }
        output::print(&to_text(&[before, after]))
    }
}

fn measure(model: &Model, path: &Path, tasks: &[StsTask]) -> Result<Measured> {
    model.prepare_for_many();
    let result = evaluate_sts(model, tasks)?;
    let sentences: Vec<&str> =
        tasks.iter().flat_map(|task| &task.pairs).flat_map(|pair| [&pair.first[..], &pair.second[..]]).collect();
    let (mut scratch, mut vector) = (Scratch::default(), vec![0.0; model.dim()]);
    let (start, mut n) = (Instant::now(), 0_u64);
    // Long enough for a clock, short enough for a user.
    while start.elapsed().as_secs_f64() < 0.5 && !sentences.is_empty() {
        for sentence in &sentences {
            model.encode_into(sentence, &mut scratch, &mut vector);
            n += 1;
        }
    }
    Ok(Measured {
        model: super::file_name(path),
        megabytes: std::fs::metadata(path).map_or(0.0, |file| file.len() as f64 / 1e6),
        pearson_r_x100: result.overall.plain_mean_over_tasks.pearson_r_x100,
        sentences_per_second: n as f64 / start.elapsed().as_secs_f64(),
    })
}

fn to_text(measured: &[Measured]) -> String {
    let columns = [
        ("", Align::Left),
        ("MB", Align::Right),
        ("pearson r x100", Align::Right),
        ("thousand sentences/s", Align::Right),
    ];
    let mut table = TextTable::new(columns);
    for Measured { model, megabytes, pearson_r_x100, sentences_per_second } in measured {
        let pearson = pearson_r_x100.map_or_else(|| "-".to_owned(), |r| format!("{r:.2}"));
        table.row([model.clone(), format!("{megabytes:.1}"), pearson, format!("{:.0}", sentences_per_second / 1e3)]);
    }
    table.to_string()
}
