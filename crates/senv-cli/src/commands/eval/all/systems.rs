//! The systems of a benchmark: models, vectors from other programs, word vectors of the models with other weights, and
//! baselines without training.

use std::path::{Path, PathBuf};

use senv::{
    Model,
    evaluation::{BenchRun, BenchSystem, read_sentence_vectors},
};
use senv_eval::{sha256_of_bytes, sha256_of_file};

use super::BenchProgress;
use crate::{
    commands::{file_name, known_words::known_share},
    failure::{Failure, Result},
};

/// Vectors made by another program.
#[derive(Debug, clap::Args)]
pub(super) struct VectorsArg {
    /// Vectors from another program, one row per line of --sentences; can be repeated.
    #[arg(long, value_name = "FILE.npy", requires = "sentences")]
    vectors: Vec<PathBuf>,
    /// Sentences of --vectors, one per line, in the same order.
    #[arg(long, value_name = "FILE", requires = "vectors")]
    sentences: Vec<PathBuf>,
}

impl VectorsArg {
    /// All files.
    pub(super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.vectors.iter().chain(&self.sentences)
    }
}

/// Runs all systems: the models in their order, vectors from other programs, other weights, and baselines.
pub(super) fn run(
    run: &mut BenchRun<'_>,
    models: &[PathBuf],
    vectors: &VectorsArg,
    baselines: bool,
    sentences: &[&str],
    progress: &BenchProgress,
) -> Result {
    let VectorsArg { vectors, sentences: of_vectors } = vectors;
    if vectors.len() != of_vectors.len() {
        let (n, m) = (vectors.len(), of_vectors.len());
        return Err(Failure::Usage(format!(
            "--vectors is given {n} times and --sentences {m} times; give one --sentences for each --vectors"
        )));
    }
    let english = [PathBuf::from("english")];
    let models = if models.is_empty() && vectors.is_empty() { &english } else { models };
    let names = names(models.iter().chain(vectors))?;
    let system = |path: &Path, name: &String| -> Result<BenchSystem> {
        let (source, sha256, bytes) = if senv::is_english(path) {
            let source = format!("the model in senv {}", env!("CARGO_PKG_VERSION"));
            (source, sha256_of_bytes(senv_english::BYTES), Some(senv_english::BYTES.len() as u64))
        } else {
            // Of a folder, such as Model2Vec's, one file is not the size.
            let file = std::fs::metadata(path).ok().filter(|metadata| metadata.is_file());
            (path.display().to_string(), sha256_of_file(path)?, file.map(|metadata| metadata.len()))
        };
        Ok(BenchSystem { name: name.clone(), source, sha256: Some(sha256), bytes })
    };
    // All models are opened first: a wrong name wastes no run.
    let opened = models.iter().map(Model::open).collect::<senv::Result<Vec<Model>>>()?;
    let others = vectors.iter().zip(of_vectors).map(|(vectors, sentences)| read_sentence_vectors(vectors, sentences));
    let others = others.collect::<senv::Result<Vec<_>>>()?;
    let mut systems = Vec::new();
    for ((path, name), model) in models.iter().zip(&names).zip(&opened) {
        let system = system(path, name)?;
        let known_word_share = progress.apart(|| known_share(path, model, sentences.iter().copied()));
        run.model(system.clone(), model, known_word_share)?;
        systems.push(system);
    }
    for ((path, name), vectors) in vectors.iter().zip(&names[models.len()..]).zip(&others) {
        // Vectors of sentences are not a model.
        run.vectors(BenchSystem { bytes: None, ..system(path, name)? }, vectors)?;
    }
    // Tasks of a model's own classifier have no sentences to encode.
    if baselines && !sentences.is_empty() {
        systems.iter().zip(&opened).try_for_each(|(system, model)| run.reweighted(system, model))?;
        run.untrained(opened.first())?;
    }
    Ok(())
}

/// A name for each file: its own, or its path if two have the same name.
fn names<'a>(paths: impl Iterator<Item = &'a PathBuf> + Clone) -> Result<Vec<String>> {
    let short = |path: &Path| {
        let name = file_name(path);
        let ends = [".senv", ".npy", ".vec", ".txt"];
        ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name).to_owned()
    };
    let name = |path: &PathBuf| {
        let alone = paths.clone().filter(|other| short(other) == short(path)).count() == 1;
        if alone { short(path) } else { path.display().to_string() }
    };
    let names: Vec<String> = paths.clone().map(name).collect();
    match (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
        Some(i) => Err(Failure::Usage(format!("{} is given twice; name each model once", names[i]))),
        None => Ok(names),
    }
}
