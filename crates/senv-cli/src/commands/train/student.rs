//! `senv train student`: averages of words that follow the vectors of a larger model.

use std::path::{Path, PathBuf};

use senv::{StudentInput, StudentParams, TaughtPassages, TaughtTexts, TeacherVectors, train_job::CheckOn};

use super::{
    check_args::CheckArgs,
    data_args::{DevArgs, PairFiles, Stage2Args, WeightedFile, parse_weighted, read_scored},
    files::RunFiles,
    hyper_args::HyperArgs,
    init_args::InitArgs,
    init_model::InitModelArgs,
    run::{StartFrom, TrainingRun},
};
use crate::{
    failure::{Failure, Result},
    progress::Unit,
};

/// Arguments of a student.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StudentArgs {
    /// Texts with vectors of the teacher, one per line.
    ///
    /// WEIGHT is the share of the batches from this file. Without weights, each epoch reads every file once.
    #[arg(long, value_name = "FILE[:WEIGHT]", num_args = 1.., value_parser = parse_weighted, group = "sources",
          requires = "text_vectors", help_heading = "Files")]
    texts: Vec<WeightedFile>,
    /// The vectors of the texts: a .npy matrix for each file, with one row per line.
    #[arg(long, value_name = "MATRIX", num_args = 1.., requires = "texts", help_heading = "Files")]
    text_vectors: Vec<PathBuf>,
    /// Queries and passages with vectors of the teacher: QUERY, PASSAGE, separated by a tab.
    #[arg(long, value_name = "FILE[:WEIGHT]", num_args = 1.., value_parser = parse_weighted, groups = ["sources", "quoted"],
          requires_all = ["query_vectors", "passage_vectors"], help_heading = "Files")]
    passages: Vec<WeightedFile>,
    /// The vectors of the queries: a .npy matrix for each file, with one row per line.
    #[arg(long, value_name = "MATRIX", num_args = 1.., requires = "passages", help_heading = "Files")]
    query_vectors: Vec<PathBuf>,
    /// The vectors of the passages: a .npy matrix for each file, with one row per line.
    #[arg(long, value_name = "MATRIX", num_args = 1.., requires = "passages", help_heading = "Files")]
    passage_vectors: Vec<PathBuf>,
    #[command(flatten)]
    data: PairFiles,
    #[command(flatten)]
    init: InitArgs,
    #[command(flatten)]
    init_model: InitModelArgs,
    #[command(flatten)]
    files: RunFiles,
    #[command(flatten)]
    dev: DevArgs,
    #[command(flatten)]
    check: CheckArgs,
    #[command(flatten)]
    params: HyperArgs<StudentParams>,
}

impl StudentArgs {
    /// Runs from the first check to the written model.
    pub(crate) fn train(&self, threads: usize) -> Result {
        let mut params = StudentParams::default();
        self.params.apply(&mut params)?;
        self.params.check_training(!self.dev.dev.is_empty())?;
        self.check_matrices("--texts", &self.texts, "--text-vectors", &self.text_vectors)?;
        self.check_matrices("--passages", &self.passages, "--query-vectors", &self.query_vectors)?;
        self.check_matrices("--passages", &self.passages, "--passage-vectors", &self.passage_vectors)?;
        self.data.check_tables()?;
        let scored = read_scored(&self.dev.dev)?;
        let stage2 = Stage2Args::none();
        let texts = self.texts.iter().chain(&self.passages).map(WeightedFile::path);
        let matrices = self.text_vectors.iter().chain(&self.query_vectors).chain(&self.passage_vectors);
        let mut reads: Vec<&Path> = texts.chain(matrices.chain(&self.dev.dev).map(PathBuf::as_path)).collect();
        reads.extend(self.data.paths(&stage2));
        let run = TrainingRun {
            reads,
            start: StartFrom::new(Some(&self.init_model), &self.data.vectors),
            init: Some(self.init),
            dev: Some(&scored[..]),
            check: self.check.on(CheckOn::Sample),
            ..TrainingRun::new(&self.files, &self.params, params, Unit::Pairs, threads)
        };
        run.run(|_, _| {
            let passages = self.passages.iter().zip(&self.query_vectors).zip(&self.passage_vectors);
            let passages = passages.map(|((file, queries), passages)| {
                let vectors = [TeacherVectors::read(queries)?, TeacherVectors::read(passages)?];
                Ok(TaughtPassages { path: file.path().to_owned(), weight: file.weight(), vectors })
            });
            let texts = self.texts.iter().zip(&self.text_vectors).map(|(file, vectors)| {
                let vectors = TeacherVectors::read(vectors)?;
                Ok(TaughtTexts { path: file.path().to_owned(), weight: file.weight(), vectors })
            });
            Ok(StudentInput {
                passages: passages.collect::<senv::Result<_>>()?,
                texts: texts.collect::<senv::Result<_>>()?,
                pairs: self.data.files(&stage2, true, self.files.scratch_dir())?,
            })
        })
    }

    /// Refuses another number of matrices than of files.
    fn check_matrices(&self, option: &str, files: &[WeightedFile], of: &str, matrices: &[PathBuf]) -> Result {
        if files.len() == matrices.len() {
            return Ok(());
        }
        let (n, m) = (files.len(), matrices.len());
        Err(Failure::Usage(format!("{option} has {n} files, but {of} has {m}; give one matrix for each file")))
    }
}
