//! What is made for a paper: models, tables, rows, and the published figures beside ours.
//!
//! Commands are written as a user types them, with these names in them:
//!
//! * `$OUT/x.senv` is a model of the paper, `$OUT/x.npy` the vectors that its training wrote besides, `$OUT/x.txt` a
//!   text;
//! * `$MODEL` in an evaluation is the model of the row, `$MODEL.npy` its vectors, and `$STEM` in a word its name
//!   without an ending, for files that an evaluation writes for each row;
//! * `@name` is a data set of `data.rs`, and `@name|--option` is this option where the data set is not there, `@name|`
//!   nothing;
//! * `?name` is a data set that the command finds in `$DATA` by itself and needs; it is not shown.

use serde::Serialize;

use crate::{claims::Claim, paper_name::PaperName};

/// A model that is trained for a paper, or a text that it trains on: a whole command, the file that `--output` names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Model {
    /// The file in the folder of the run.
    pub(crate) file: String,
    /// The command, without the name of the program.
    pub(crate) command: String,
    /// Seconds that it takes on two quiet cores.
    pub(crate) seconds: f64,
}

impl Model {
    /// The model of `senv COMMAND --output $OUT/FILE`.
    pub(crate) fn new(file: &str, seconds: f64, command: impl Into<String>) -> Self {
        let command = format!("{} --output $OUT/{file}", command.into());
        Self { file: file.to_owned(), command, seconds }
    }

    /// Whether the command writes this file: the model, or the vectors of its text.
    pub(crate) fn writes(&self, file: &str) -> bool {
        self.file == file || self.command.contains(&format!("--document-vectors $OUT/{file} "))
    }
}

/// An evaluation, which every row of a table runs on its model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evaluation {
    /// The command, with `$MODEL` for the model. Its JSON is standard output, or the file that stands for `$RESULT`.
    pub(crate) command: &'static str,
    /// Seconds that it takes on two quiet cores.
    pub(crate) seconds: f64,
}

/// Where the figure of a column is read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    /// The JSON of this evaluation of the table.
    Evaluation(usize),
    /// What the training printed as JSON.
    Training,
    /// The mean of the columns before this one, over those that ours has; of theirs over the same.
    Mean,
    /// The mean of these columns, likewise.
    MeanOf(Vec<usize>),
}

/// A column: which number of which JSON it shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// Its heading.
    pub(crate) title: String,
    /// Where it is read.
    pub(crate) source: Source,
    /// The path in the JSON, as `reading.rs` says; `$KEY` is the key of the row.
    pub(crate) path: String,
    /// What the number is multiplied by.
    pub(crate) factor: f64,
    /// Decimals in print.
    pub(crate) digits: usize,
    /// Whether it is read for a mean and not shown.
    pub(crate) is_hidden: bool,
    /// The data set without which the evaluation runs and the figure is not in it; empty for none.
    pub(crate) set: &'static str,
}

impl Column {
    /// A column that reads an evaluation, one decimal.
    pub(crate) fn new(title: &str, evaluation: usize, path: &str) -> Self {
        let source = Source::Evaluation(evaluation);
        Self {
            title: title.to_owned(),
            source,
            path: path.to_owned(),
            factor: 1.0,
            digits: 1,
            is_hidden: false,
            set: "",
        }
    }

    /// A share, in percent.
    pub(crate) fn percent(title: &str, evaluation: usize, path: &str) -> Self {
        Self { factor: 100.0, ..Self::new(title, evaluation, path) }
    }

    /// A column that reads what training printed.
    pub(crate) fn training(title: &str, path: &str) -> Self {
        Self { source: Source::Training, ..Self::new(title, 0, path) }
    }

    /// The mean of the columns before.
    pub(crate) fn mean() -> Self {
        Self { source: Source::Mean, ..Self::new("mean", 0, "") }
    }

    /// The mean of some columns.
    pub(crate) fn mean_of(title: &str, columns: impl IntoIterator<Item = usize>) -> Self {
        Self { source: Source::MeanOf(columns.into_iter().collect()), ..Self::new(title, 0, "") }
    }

    /// The same, read for a mean and not shown.
    pub(crate) fn hidden(self) -> Self {
        Self { is_hidden: true, ..self }
    }

    /// The same with another number of decimals.
    pub(crate) fn digits(self, digits: usize) -> Self {
        Self { digits, ..self }
    }

    /// The same of a data set that need not be there.
    pub(crate) fn of_set(self, set: &'static str) -> Self {
        Self { set, ..self }
    }

    /// The same in another unit.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { factor, ..self }
    }
}

/// A row: a system, trained once or with several seeds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// The system, and how it differs from the other rows.
    pub(crate) name: String,
    /// What it is trained on, with its size.
    pub(crate) data: &'static str,
    /// The files of its models, one a seed; `english` is the model that is part of senv. None where the paper's figures
    /// stand alone.
    pub(crate) models: Vec<String>,
    /// What stands for `$KEY` in the paths of columns.
    pub(crate) key: &'static str,
    /// What the paper calls it, with what it was trained on there; empty where the paper has no such row.
    pub(crate) published_name: String,
    /// A value for each column, where the paper has one; a mean is computed where the paper prints none.
    pub(crate) published: Vec<Option<f64>>,
}

impl Row {
    /// A row without published figures.
    pub(crate) fn new<M: Into<String>>(name: &str, data: &'static str, models: impl IntoIterator<Item = M>) -> Self {
        let models = models.into_iter().map(Into::into).collect();
        Self { name: name.to_owned(), data, models, key: "", published_name: String::new(), published: Vec::new() }
    }

    /// The figures of a system that nothing of ours stands beside.
    pub(crate) fn published(name: &str, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        Self::new::<String>(name, "", []).beside(name, values)
    }

    /// The same with what a paper has, a value for each column.
    pub(crate) fn beside(self, name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        Self { published_name: name.into(), published: values.into_iter().collect(), ..self }
    }

    /// The same with its first seed alone, where an evaluation takes long.
    pub(crate) fn first_seed(mut self) -> Self {
        self.models.truncate(1);
        self
    }

    /// The same with a key.
    pub(crate) fn key(self, key: &'static str) -> Self {
        Self { key, ..self }
    }
}

/// A table or figure of a paper.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Table {
    /// Its name, by which claims name it.
    pub(crate) id: &'static str,
    /// Its heading, with its number in the paper.
    pub(crate) title: &'static str,
    /// What it shows, in which unit, and what differs from the paper.
    pub(crate) about: &'static str,
    /// What is run for each model of each row.
    pub(crate) evaluations: Vec<Evaluation>,
    /// Its columns.
    pub(crate) columns: Vec<Column>,
    /// Its rows.
    pub(crate) rows: Vec<Row>,
    /// How the seeds of a row become one figure.
    pub(crate) center: Center,
    /// What is drawn below it.
    pub(crate) drawings: Vec<Drawing>,
}

/// How the seeds of a row become one figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Center {
    /// The mean.
    #[default]
    Mean,
    /// The median, where the paper has it.
    Median,
}

/// A drawing below a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Drawing {
    /// What an evaluation writes for each row: its file in the folder of the run, with `$STEM`.
    OfRows(&'static str),
    /// Columns over some of the rows.
    Curves(Curves),
}

/// Lines over rows: how figures change with a setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curves {
    /// What it shows, with its number in the paper.
    pub(crate) title: &'static str,
    /// Its file in the folder of the run.
    pub(crate) file: &'static str,
    /// The setting.
    pub(crate) x_label: &'static str,
    /// The figures, with their unit.
    pub(crate) y_label: &'static str,
    /// The value of the setting in each row, and the row.
    pub(crate) rows: Vec<(f64, usize)>,
    /// The columns that are drawn.
    pub(crate) columns: Vec<usize>,
}

/// A paper.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Paper {
    /// Its name.
    pub(crate) name: PaperName,
    /// Its title, authors and year.
    pub(crate) title: &'static str,
    /// What is smaller or different here than there.
    pub(crate) about: &'static str,
    /// The models that its rows name; those that several papers share are equal in all of them.
    pub(crate) models: Vec<Model>,
    /// Its tables.
    pub(crate) tables: Vec<Table>,
    /// What it claims.
    pub(crate) claims: Vec<Claim>,
}
