//! A run of any system that trains word vectors on running text.

use std::path::{Path, PathBuf};

use senv::{TextSystem, model::SavedModel, system::Trainer, train_job::CheckOn};

use super::{
    data_args::read_scored,
    hyper_args::Shown,
    outcome::{Beside, WriteBeside},
    run::{StartFrom, TrainingRun},
    text_systems::{Common, SystemArgs},
};
use crate::{
    destination::{Content, Destination, is_same},
    failure::{Failure, Result},
    output::plural,
    progress::Unit,
    text::is_dash,
};

/// Trains, writes and checks a model.
pub(crate) fn run<S: TextSystem<Model: SavedModel> + Shown>(args: &SystemArgs<S>, threads: usize) -> Result {
    let SystemArgs { common, given, validated, documents, .. } = args;
    common.open_folders()?;
    let dev = validated.as_ref().map_or(&[][..], |validated| &validated.dev.dev);
    if validated.is_some() {
        given.check_training(!dev.is_empty())?;
    }
    let mut params = args.params()?;
    let beside = documents.as_ref().and_then(|documents| documents.document_vectors.as_deref());
    let beside = beside.map(|path| document_vectors::<S>(common, path)).transpose()?;
    if !S::READS_TREES {
        common.check_tables()?;
    }
    let scored = read_scored(dev)?;
    let unit = match params.common().trainer {
        Trainer::NegativeSampling(_) => Unit::Words,
        Trainer::Gradient(_) => Unit::Examples,
    };
    let run = TrainingRun {
        reads: common.input.paths().iter().chain(dev).map(PathBuf::as_path).collect(),
        start: StartFrom::new(Some(&common.init_model), &common.vectors),
        init: validated.as_ref().map(|validated| validated.init),
        dev: S::dev(&scored),
        text: common.text_options(),
        scratch_dir: common.scratch_dir.as_deref(),
        check: common.check.on(CheckOn::Sample),
        document_vectors: beside.is_some(),
        beside,
        ..TrainingRun::new(&common.files, given, params, unit, threads)
    };
    run.run(|_, _| Ok(common.input.paths()))
}

/// The trained vectors of the lines, written next to the model.
fn document_vectors<S: TextSystem>(common: &Common, path: &Path) -> Result<Beside<S::Model>> {
    let Common { input, files, .. } = common;
    let input = input.paths();
    if let Some(once) = input.iter().find(|path| is_dash(path) || path.metadata().is_ok_and(|file| !file.is_file())) {
        let once = once.display();
        let message =
            format!("--document-vectors reads the text twice, and {once} can be read only once; give it as a file");
        return Err(Failure::Usage(message));
    }
    for (other, what) in [(&files.output, "the model"), (&files.checkpoint(), "the checkpoint")] {
        if is_same(path, other) {
            return Err(Failure::Usage(format!("{what} and --document-vectors must be different files")));
        }
    }
    let force = Some(files.force.force);
    Destination { path, option: "--document-vectors", content: Content::Matrix, force }.check(&common.inputs())?;
    let (texts, text) = (input.to_vec(), common.text_options());
    let write: WriteBeside<S::Model> = Box::new(move |model, path| {
        let n = S::write_document_vectors(model, &texts, &text, path)?.unwrap_or(0);
        Ok(format!("{} written ({})", path.display(), plural(n, "vector")))
    });
    Ok(Beside { what: "the matrix of the text's vectors", path: path.to_owned(), write })
}
