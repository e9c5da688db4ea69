//! `senv join`: the outputs of shards become that of the whole.

use std::path::{Path, PathBuf};

use senv_core::files::LastStep;
use senv_index::Collection;

use super::{encode::Format, index::check_new};
use crate::{
    destination::{Destination, ForceArg},
    failure::{Failure, Result},
    output::{self, plural},
    text::is_dash,
};

/// Join the outputs of shards (--shard of senv encode and senv index) into that of the whole.
///
/// Files of vectors are joined in the order in which they are given: matrices (.npy), arrays (.json) and tables
/// (.parquet, .arrow) into one; .tsv, .csv, .jsonl and .txt one after another, as cat does. The result has the bytes of
/// an encoding of the whole, but for the boundaries of pages in Parquet and of batches in Arrow.
///
/// Collections know which shard they are, and may be given in any order. A part of a collection, of 262,144 vectors of
/// 256 values, was dealt to one shard; joining copies all of them, and the result has the bytes of a collection of the
/// whole. Nothing is encoded again.
///
/// The shards stay. The order of names that a shell expands is that of letters: part10.npy comes before part2.npy.
/// Number them 01, 02, or write {1..8}.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct JoinShards {
    /// The outputs of all shards, from the first to the last.
    #[arg(value_name = "SHARD", required = true)]
    shards: Vec<PathBuf>,
    /// The whole: a file with the ending of the shards, or a folder for collections.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
}

const EXAMPLES: &str = "\
Examples:
  senv join part{1..8}.npy --output text.npy
  senv join part-*.index --output text.index";

impl JoinShards {
    pub(crate) fn run(self) -> Result {
        let Self { shards, output, force } = self;
        let n_folders = shards.iter().filter(|path| path.is_dir()).count();
        if n_folders == shards.len() {
            return join_collections(&shards, &output, force.force);
        }
        if let Some(folder) = shards.iter().find(|path| path.is_dir()) {
            let message = format!(
                "{} is a folder, and others are files; join collections, or files of vectors",
                folder.display()
            );
            return Err(Failure::Usage(message));
        }
        let format = Format::of(&output, None)?;
        Destination::output(&output, format.content(), force).check(&shards)?;
        let _last = LastStep::begin();
        senv::jobs::join_vectors(&shards, &output)?;
        output::note(&format!("{} joined into {}", plural(shards.len() as u64, "shard"), output.display()));
        Ok(())
    }
}

fn join_collections(shards: &[PathBuf], output: &Path, force: bool) -> Result {
    if is_dash(output) {
        return Err(Failure::Usage("--output -: a collection is a folder; give its name".into()));
    }
    if shards.iter().any(|shard| crate::destination::is_same(shard, output)) {
        let message = format!("{} is one of the shards; give another --output", output.display());
        return Err(Failure::Usage(message));
    }
    check_new(output, force)?;
    let whole = match force {
        true => Collection::rejoin(output, shards)?,
        false => Collection::join(output, shards)?,
    };
    let sentences = plural(whole.len() as u64, "sentence");
    output::note(&format!("{sentences} of {} in {}", plural(shards.len() as u64, "shard"), output.display()));
    Ok(())
}
