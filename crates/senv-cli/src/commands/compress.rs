//! `senv compress`: quantizes a trained average of word vectors into a small table.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use senv::{CompressParams, Model, StaticModel, model::SavedModel};
use senv_core::{Scratch, SentenceEncoder, static_model::RowEncoding, text::Normalization};
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

/// Quantize a word-average model into a small file.
///
/// The result is a model of kind static: it opens instantly, encodes faster than the original, and works with only
/// senv-core. Weights are folded into the table. A part that reads word order (senv train order) is kept, with its maps
/// in eight bits, if all dimensions and axes are kept. A model that is already compressed can only lose words
/// (--max-vocabulary) or read text differently (--normalize). Models with n-grams cannot be compressed. uSIF weights
/// lose a factor that depends on the whole sentence; --report compares. Dimensions can be cut off if the model was
/// trained with --nested.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("model", named),
    after_help = "\
Examples:
  senv compress --model pp.senv --output small.senv
  senv compress --model english --max-vocabulary 20000 --output small.senv
  senv compress --model glove.senv --normalize typing --output typed.senv
  senv compress --model pp.senv --encoding int8 --max-vocabulary 30000 --report sts/2014/*.tsv --output small.senv
  senv compress --model seed1.senv --with seed2.senv --principal 256 --whitening 0.1 --output both.senv
  senv compress --model reviews.senv --with english --encoding int8 --output classify.senv"
)]
pub(crate) struct Compress {
    /// Model to write; replaced atomically.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// Type of the stored values.
    #[arg(long, value_name = "TYPE", default_value = "int4")]
    encoding: EncodingArg,
    /// Keep the first N dimensions of a model trained with --nested [default: all]
    #[arg(long, value_name = "N")]
    dim: Option<usize>,
    /// Keep the N most frequent words [default: all]
    #[arg(long, value_name = "N")]
    max_vocabulary: Option<usize>,
    /// Other models whose vectors are appended to those of the first.
    ///
    /// A model trained on the same data with another --seed already improves cosines. A model trained on other data and
    /// words helps classifiers trained on the vectors, but can make cosines worse: --report compares. Dimensions add
    /// up; --principal reduces them.
    #[arg(long, value_name = "MODEL", num_args = 1..)]
    with: Vec<PathBuf>,
    /// Keep the N strongest principal axes of the rows instead of the trained dimensions.
    #[arg(long, value_name = "N", conflicts_with = "dim")]
    principal: Option<usize>,
    /// How much to strengthen weak principal axes, from 0 (not at all) to 0.5 (all axes equal); 0.25 is a good start.
    #[arg(long, value_name = "A", default_value_t = 0.0)]
    whitening: f64,
    /// Length of the vectors of unknown words, if the model has any, as a multiple of the mean length of the rows. In a
    /// model that reads word order, it is a multiple of their present length.
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    unknown_length: f64,
    /// How differences of typing are removed from text [default: as in the model].
    ///
    /// typing makes quotes, dashes, repeated marks and the like one plain form; senv train does so by default. A model
    /// trained without it, as vectors from other programs, can get it here: --report shows whether it is worse.
    #[arg(long, value_name = "RULE")]
    normalize: Option<NormalizeArg>,
    /// Terms of use, if the models have none: a license, a colon, and what else must be known.
    ///
    /// For example "CC BY 4.0: trained on ...; by ...". Terms that a model has are kept.
    #[arg(long, value_name = "TEXT")]
    terms: Option<String>,
    /// Print size, speed and correlation on these tasks, before and after.
    ///
    /// The tasks are files as for senv eval sts.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    report: Vec<PathBuf>,
    /// Print the report as JSON.
    #[arg(long, requires = "report")]
    json: bool,
    #[command(flatten)]
    model: ModelArg,
}

argument_of! {
    /// How values are stored.
    enum EncodingArg for RowEncoding {
        /// 32 bits, unchanged.
        F32,
        /// 16 bits, half precision.
        F16,
        /// 8 bits, with a scale per row.
        Int8,
        /// 4 bits, with a scale per row.
        Int4,
    }
}

argument_of! {
    /// How text is normalized.
    enum NormalizeArg for Normalization {
        /// Quotes, dashes, repeated marks and the like become one plain form.
        Typing,
        /// Text as it is.
        None,
    }
}

/// The size, quality and speed of a model.
#[derive(Debug, Serialize)]
struct Measured {
    model: String,
    megabytes: f64,
    /// The mean over the tasks, times 100; `None` if a task has no spread.
    pearson_r_x100: Option<f64>,
    /// Measured one after another, on one thread.
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
            normalization: self.normalize.map(Into::into),
        };
        let others = self.with.iter().map(Model::open_verified).collect::<senv::Result<Vec<_>>>()?;
        let given = [&model].into_iter().chain(&others).find_map(|model| model.terms());
        if let (Some(_), Some(terms)) = (&self.terms, given) {
            let message = format!("--terms: the result has the terms of the models that it is made from, {terms}");
            return Err(Failure::Usage(message));
        }
        let table = params.compress_side_by_side(&model, &others.iter().collect::<Vec<_>>())?;
        let small = StaticModel::from(match &self.terms {
            Some(terms) => table.with_terms(terms),
            None => table,
        });
        go_on(&self.output, small.save(&self.output).map_err(Failure::from))?;
        let (words, dim) = (small.vocabulary().len() as u64, small.dim());
        output::note(&format!(
            "{} of {dim} dimensions, written to {}",
            output::plural(words, "word"),
            self.output.display()
        ));
        if let Some(terms) = small.vocabulary().terms() {
            output::note(&format!("terms of the model: {terms}"));
        }
        if small.encoder().order().is_none() && others.iter().chain([&model]).any(|model| model.reads_order()) {
            output::note(
                "the small model does not read word order, because that part needs the axes of its table; train a new one with \
                 senv train order --init-model",
            );
        }
        if others.iter().any(|other| other.vocabulary().text() != model.vocabulary().text()) {
            output::note(
                "combining models of different words helps classifiers but can make cosines worse; --report shows both",
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
    // Long enough to measure, short enough to wait for.
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
