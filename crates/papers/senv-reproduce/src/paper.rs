//! The description of a paper: models, tables, rows, and the published figures to compare with.
//!
//! Commands are written as a user types them, with these placeholders:
//!
//! * `$OUT/x.senv` is a model of the paper, `$OUT/x.npy` the vectors that its training also wrote, `$OUT/x.txt` a text.
//! * `$MODEL` in an evaluation is the model of the row, and `$MODEL.npy` its vectors. `$STEM` in a word is the model's
//!   name without extension, for files that an evaluation writes per row.
//! * `@name` is a data set of `data.rs`. If the data set is missing, `@name|--option` becomes this option, and `@name|`
//!   becomes nothing.
//! * `?name` is a data set that the command needs and finds in `$DATA` itself. It is not shown.

use serde::Serialize;

use crate::{claims::Claim, paper_name::PaperName};

/// A model trained for a paper, or a text that is trained on: a whole command, whose output is this file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Model {
    /// Name of the file in the output folder.
    pub(crate) file: String,
    /// The command without the program name.
    pub(crate) command: String,
    /// Expected seconds on two idle cores.
    pub(crate) seconds: f64,
}

impl Model {
    /// Creates the model of `senv COMMAND --output $OUT/FILE`.
    pub(crate) fn new(file: &str, seconds: f64, command: impl Into<String>) -> Self {
        let command = format!("{} --output $OUT/{file}", command.into());
        Self { file: file.to_owned(), command, seconds }
    }

    /// Returns whether the command writes this file, either the model or the vectors of its text.
    pub(crate) fn writes(&self, file: &str) -> bool {
        self.file == file || self.command.contains(&format!("--document-vectors $OUT/{file} "))
    }
}

/// An evaluation that every row of a table runs on its model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evaluation {
    /// The command, with `$MODEL` for the model. It prints JSON to standard output, or writes it to the file `$RESULT`.
    pub(crate) command: &'static str,
    /// Expected seconds on two idle cores.
    pub(crate) seconds: f64,
}

/// Where the figure of a column comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    /// The JSON of this evaluation of the table.
    Evaluation(usize),
    /// The JSON printed by the training command.
    Training,
    /// The mean of the preceding columns for which we have figures. The paper's mean is over the same columns.
    Mean,
    /// The mean of these columns, computed in the same way.
    MeanOf(Vec<usize>),
}

/// A column of a table, with the number that it shows from a JSON output.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// Heading of the column.
    pub(crate) title: String,
    /// Where its figures come from.
    pub(crate) source: Source,
    /// Path in the JSON, as described in `reading.rs`; `$KEY` is the key of the row.
    pub(crate) path: String,
    /// Factor that the number is multiplied by.
    pub(crate) factor: f64,
    /// Number of printed decimals.
    pub(crate) digits: usize,
    /// Whether the column is used for a mean but not shown.
    pub(crate) is_hidden: bool,
    /// The data set that the figure needs although the evaluation runs without it; empty if none.
    pub(crate) set: &'static str,
}

impl Column {
    /// Creates a column that reads an evaluation, with one decimal.
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

    /// Creates a column that shows a share in percent.
    pub(crate) fn percent(title: &str, evaluation: usize, path: &str) -> Self {
        Self { factor: 100.0, ..Self::new(title, evaluation, path) }
    }

    /// Creates a column that reads the JSON printed by the training command.
    pub(crate) fn training(title: &str, path: &str) -> Self {
        Self { source: Source::Training, ..Self::new(title, 0, path) }
    }

    /// Creates a column with the mean of the preceding columns.
    pub(crate) fn mean() -> Self {
        Self { source: Source::Mean, ..Self::new("mean", 0, "") }
    }

    /// Creates a column with the mean of some columns.
    pub(crate) fn mean_of(title: &str, columns: impl IntoIterator<Item = usize>) -> Self {
        Self { source: Source::MeanOf(columns.into_iter().collect()), ..Self::new(title, 0, "") }
    }

    /// Hides the column, which is then only used for a mean.
    pub(crate) fn hidden(self) -> Self {
        Self { is_hidden: true, ..self }
    }

    /// Sets the number of decimals.
    pub(crate) fn digits(self, digits: usize) -> Self {
        Self { digits, ..self }
    }

    /// Sets a data set that may be missing.
    pub(crate) fn of_set(self, set: &'static str) -> Self {
        Self { set, ..self }
    }

    /// Sets a factor, to convert to another unit.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { factor, ..self }
    }
}

/// A row: a system, trained once or with several seeds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// Name of the system, and how it differs from the other rows.
    pub(crate) name: String,
    /// The training data, with its size.
    pub(crate) data: &'static str,
    /// The files of its models, one per seed. `english` is the built-in model. Empty for a row with only published
    /// figures.
    pub(crate) models: Vec<String>,
    /// The replacement of `$KEY` in the paths of columns.
    pub(crate) key: &'static str,
    /// The name in the paper, with the training data used there; empty if the paper has no such row.
    pub(crate) published_name: String,
    /// The published value of each column, if the paper has one. A mean is computed if the paper prints none.
    pub(crate) published: Vec<Option<f64>>,
}

impl Row {
    /// Creates a row without published figures.
    pub(crate) fn new<M: Into<String>>(name: &str, data: &'static str, models: impl IntoIterator<Item = M>) -> Self {
        let models = models.into_iter().map(Into::into).collect();
        Self { name: name.to_owned(), data, models, key: "", published_name: String::new(), published: Vec::new() }
    }

    /// Creates a row with only published figures.
    pub(crate) fn published(name: &str, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        Self::new::<String>(name, "", []).beside(name, values)
    }

    /// Adds the name and the figures in the paper, one value per column.
    pub(crate) fn beside(self, name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        Self { published_name: name.into(), published: values.into_iter().collect(), ..self }
    }

    /// Keeps only the first seed, for evaluations that take long.
    pub(crate) fn first_seed(mut self) -> Self {
        self.models.truncate(1);
        self
    }

    /// Sets the key.
    pub(crate) fn key(self, key: &'static str) -> Self {
        Self { key, ..self }
    }
}

/// A table or figure of a paper.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Table {
    /// Identifier of the table, which claims refer to.
    pub(crate) id: &'static str,
    /// Heading of the table, with its number in the paper.
    pub(crate) title: &'static str,
    /// Description: what the table shows, in which unit, and how it differs from the paper.
    pub(crate) about: &'static str,
    /// The evaluations that run for each model of each row.
    pub(crate) evaluations: Vec<Evaluation>,
    /// Columns of the table.
    pub(crate) columns: Vec<Column>,
    /// Rows of the table.
    pub(crate) rows: Vec<Row>,
    /// How the figures of several seeds are combined.
    pub(crate) center: Center,
    /// Drawings below the table.
    pub(crate) drawings: Vec<Drawing>,
}

/// How the figures of several seeds are combined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Center {
    /// The mean.
    #[default]
    Mean,
    /// The median, if the paper uses it.
    Median,
}

/// A drawing below a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Drawing {
    /// A file in the output folder that an evaluation writes for each row, with `$STEM` in its name.
    OfRows(&'static str),
    /// A plot of columns against a setting of some rows.
    Curves(Curves),
}

/// A plot of how figures change with a setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curves {
    /// Title of the plot, with its number in the paper.
    pub(crate) title: &'static str,
    /// File name in the output folder.
    pub(crate) file: &'static str,
    /// Name of the setting.
    pub(crate) x_label: &'static str,
    /// Name of the figures, with their unit.
    pub(crate) y_label: &'static str,
    /// The value of the setting in each row, and the index of the row.
    pub(crate) rows: Vec<(f64, usize)>,
    /// The indices of the plotted columns.
    pub(crate) columns: Vec<usize>,
}

/// A paper.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Paper {
    /// Name of the paper.
    pub(crate) name: PaperName,
    /// Title, authors and year.
    pub(crate) title: &'static str,
    /// How data and settings differ from the paper.
    pub(crate) about: &'static str,
    /// The models that its rows name. Models shared by several papers are equal in all of them.
    pub(crate) models: Vec<Model>,
    /// Tables of the paper.
    pub(crate) tables: Vec<Table>,
    /// Claims of the paper.
    pub(crate) claims: Vec<Claim>,
}
