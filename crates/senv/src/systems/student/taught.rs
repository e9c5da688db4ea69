//! Text with the vectors of a teacher: what a student is trained on.

use std::path::{Path, PathBuf};

use ndarray::{Array2, ArrayView1};
use senv_core::{
    Error as CoreError, Observer, Rows, Sentences, Table, TextReader, TokenId, kernels, text::ReadingProgress,
    words::VocabularyBuilder,
};
use senv_store::{SecondMoment, read_npy};

use crate::{
    base::{fingerprint::Fingerprint, sealed::Sealed},
    data::{PairFiles, PairOptions, SourceReport, pair_cells},
    error::Result,
};

/// A vector of the teacher that is shorter has no direction.
const SHORTEST: f32 = 1e-12;

/// Vectors that a teacher made: one row for each text.
#[derive(Debug, Clone)]
pub struct TeacherVectors {
    /// Where they are from, for messages.
    pub name: PathBuf,
    /// The vectors. Only their directions count.
    pub rows: Table,
}

impl TeacherVectors {
    /// Reads a `.npy` matrix of f32 or f16.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a matrix of numbers that fits into memory.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self { name: path.to_owned(), rows: read_npy(path)? })
    }
}

/// A file of queries and passages, with the vectors of both.
#[derive(Debug, Clone)]
pub struct TaughtPassages {
    /// The file: QUERY, PASSAGE, separated by a tab.
    pub path: PathBuf,
    /// Its share of the batches among all weights, above 0.
    pub weight: Option<f64>,
    /// The vectors of the queries, and those of the passages: one row for each line.
    pub vectors: [TeacherVectors; 2],
}

/// A file of texts in any order, with their vectors.
#[derive(Debug, Clone)]
pub struct TaughtTexts {
    /// The file: one text per line.
    pub path: PathBuf,
    /// Its share of the batches among all weights, above 0.
    pub weight: Option<f64>,
    /// The vectors: one row for each line that is not blank, or for each line.
    pub vectors: TeacherVectors,
}

/// What a student is trained on. At least one of the lists must have a file.
///
/// ```
/// use senv::{Start, StudentInput, StudentParams, System, TaughtTexts, TeacherVectors, TrainOptions, data::MemoryText};
/// use senv::parts::core::Table;
///
/// let texts = ["the boat sails", "a ship at sea", "bread from the oven", "the baker's dough"];
/// let lines = MemoryText::new(texts)?;
/// // One row for each text, made by any other program: here about the sea, or about baking.
/// let rows = Table::from_vec(4, 2, vec![1.0, 0.1, 0.9, 0.0, 0.0, 1.0, 0.1, 0.9])?;
/// let vectors = TeacherVectors { name: "teacher".into(), rows };
/// let texts = vec![TaughtTexts { path: lines.as_ref().to_owned(), weight: None, vectors }];
/// let input = StudentInput { texts, ..StudentInput::default() };
///
/// let mut params = StudentParams { dim: 8, ..StudentParams::default() };
/// params.fit.epochs = Some(200);
/// let model = params.fit_input(&input, Start::Random, &TrainOptions::default())?.model;
/// assert!(model.similarity("boat", "ship") > model.similarity("boat", "bread"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct StudentInput {
    /// Queries and passages with the vectors of a teacher.
    pub passages: Vec<TaughtPassages>,
    /// Texts with the vectors of a teacher.
    pub texts: Vec<TaughtTexts>,
    /// Pairs without a teacher, and how all files are read. A second stage is not read.
    pub pairs: PairFiles,
}

impl Sealed for StudentInput {}

/// The sentences of a file as tokens; each has the vectors in the row of its number.
#[derive(Debug)]
pub(super) struct Taught<'a> {
    pub(super) weight: Option<f64>,
    /// The texts or queries, and the passages; equally many if there are passages.
    pub(super) sides: [Sentences; 2],
    /// The row of each example.
    pub(super) rows: Vec<u32>,
    /// The vectors of each side.
    pub(super) vectors: Vec<&'a Table>,
    pub(super) report: SourceReport,
}

impl<'a> Taught<'a> {
    /// Reads queries and passages. Tokens have provisional numbers.
    pub(super) fn passages(
        of: &'a TaughtPassages,
        options: &PairOptions,
        builder: &mut VocabularyBuilder,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut taught = Self::new(&of.path, of.weight, of.vectors.iter().map(|vectors| &vectors.rows).collect());
        let mut lines = TextReader::open(&[&of.path], &options.text.of_pairs())?;
        let mut progress = ReadingProgress::new(&[&of.path], "reading pairs");
        let mut n = 0;
        while let Some(line) = lines.next_line()? {
            taught.take(n, &pair_cells(line, &of.path)?, options, builder);
            n += 1;
            progress.report(lines.bytes_read(), None, observer)?;
        }
        for vectors in &of.vectors {
            check_rows(vectors, &of.path, &[n])?;
        }
        Ok(taught)
    }

    /// Reads texts. Tokens have provisional numbers.
    pub(super) fn texts(
        of: &'a TaughtTexts,
        options: &PairOptions,
        builder: &mut VocabularyBuilder,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut taught = Self::new(&of.path, of.weight, vec![&of.vectors.rows]);
        let mut lines = TextReader::open(&[&of.path], &options.text)?;
        let mut progress = ReadingProgress::new(&[&of.path], "reading text");
        let (mut n, mut n_lines, mut line_numbers) = (0, 0, Vec::new());
        while let Some(line) = lines.next_line()? {
            if !line.is_blank() {
                taught.take(n, &[line.text], options, builder);
                line_numbers.push(n_lines as u32);
                n += 1;
            }
            n_lines += 1;
            progress.report(lines.bytes_read(), None, observer)?;
        }
        let for_each_line = check_rows(&of.vectors, &of.path, &[n, n_lines])? != n;
        if for_each_line {
            taught.rows.iter_mut().for_each(|row| *row = line_numbers[*row as usize]);
        }
        Ok(taught)
    }

    fn new(path: &Path, weight: Option<f64>, vectors: Vec<&'a Table>) -> Self {
        let report = SourceReport::of(path);
        Self { weight, sides: Default::default(), rows: Vec::new(), vectors, report }
    }

    /// Takes the texts of example `n`, unless one of them is held out.
    fn take(&mut self, n: usize, texts: &[&str], options: &PairOptions, builder: &mut VocabularyBuilder) {
        if texts.iter().any(|text| options.held_out.contains(text)) {
            self.report.contaminated += 1;
            return;
        }
        let (mut scratch, mut tokens) = (String::new(), Vec::new());
        for (side, text) in self.sides.iter_mut().zip(texts) {
            tokens.clear();
            options.tokenizer.for_each(text, &mut scratch, |token| tokens.push(TokenId(builder.add(token))));
            side.push(tokens.iter().copied());
        }
        self.rows.push(n as u32);
    }

    /// Assigns final numbers to tokens, and drops examples without a known word or without a direction.
    pub(super) fn finish(mut self, ids: &[Option<TokenId>]) -> Result<Self> {
        let n_sides = self.vectors.len();
        let (mut sides, mut rows) = (<[Sentences; 2]>::default(), Vec::new());
        let mut tokens: [Vec<TokenId>; 2] = Default::default();
        for (i, &row) in self.rows.iter().enumerate() {
            for (tokens, side) in tokens.iter_mut().zip(&self.sides).take(n_sides) {
                tokens.clear();
                tokens.extend(side.get(i).iter().filter_map(|token| ids[token.index()]));
            }
            let [first, second] = &tokens;
            let has_direction = self.vectors.iter().all(|vectors| kernels::norm(vectors.row(row as usize)) >= SHORTEST);
            if !has_direction || first.is_empty() || n_sides == 2 && second.is_empty() {
                self.report.singletons += 1;
            } else if n_sides == 2 && first == second {
                self.report.identical += 1;
            } else {
                sides
                    .iter_mut()
                    .zip(&tokens)
                    .take(n_sides)
                    .for_each(|(side, tokens)| side.push(tokens.iter().copied()));
                rows.push(row);
            }
        }
        self.report.groups = rows.len();
        Ok(Self { sides, rows, ..self })
    }

    pub(super) fn add_to(&self, sum: Fingerprint) -> Fingerprint {
        let sum = self.sides.iter().fold(sum, Fingerprint::sentences);
        let sum = self.vectors.iter().fold(sum, |sum, rows| sum.table(rows));
        sum.numbers(self.rows.iter().map(|&row| u64::from(row))).number(self.weight.unwrap_or(0.0).to_bits())
    }
}

/// Returns the number of rows if it is one of these numbers of texts.
fn check_rows(vectors: &TeacherVectors, texts: &Path, numbers: &[usize]) -> Result<usize> {
    let rows = vectors.rows.n_rows();
    let bad = |reason: String| CoreError::BadFile { path: vectors.name.clone(), reason };
    if !numbers.contains(&rows) {
        let n = numbers[0];
        let name = texts.display();
        return Err(bad(format!("it has {rows} rows, but {name} has {n} texts; give one row for each line")).into());
    }
    if let Some(i) = vectors.rows.iter().position(|row| row.iter().any(|x| !x.is_finite())) {
        return Err(bad(format!("row {} contains NaN or an infinite number", i + 1)).into());
    }
    Ok(rows)
}

/// The strongest axes of all vectors of texts, not centred: one a column, and zeros if there are fewer than `dim`.
pub(super) fn strongest_axes(texts: &[Taught<'_>], dim: usize) -> Result<Array2<f32>> {
    let teacher_dim = texts.first().map_or(0, |text| text.vectors[0].dim());
    let mut axes = Array2::zeros((teacher_dim, dim));
    if teacher_dim == 0 {
        return Ok(axes);
    }
    let mut moment = SecondMoment::new(teacher_dim)?;
    for text in texts {
        for &row in &text.rows {
            moment.add(text.vectors[0].row(row as usize))?;
        }
    }
    let found = moment.common_components(dim.min(teacher_dim), true)?;
    for (mut column, axis) in axes.columns_mut().into_iter().zip(found.vectors().iter()) {
        column.assign(&ArrayView1::from(axis));
    }
    Ok(axes)
}
