//! `senv join`: merges the outputs of shards.

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

/// Merge the outputs of shards (--shard of senv encode and senv index).
///
/// Files of vectors are merged in the given order: matrices (.npy), arrays (.json) and tables (.parquet, .arrow) into
/// one; .tsv, .csv, .jsonl and .txt are concatenated, as by cat. The result has the same bytes as an encoding in one
/// run, except for the page boundaries of Parquet and the batch boundaries of Arrow.
///
/// Collections know which shard they are and can be given in any order. Merging copies their parts and encodes nothing
/// again; the result has the same bytes as a collection made in one run.
///
/// The shards are kept. Shells expand names in alphabetical order, so part10.npy comes before part2.npy: number the
/// shards 01, 02, or write {1..8}.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct JoinShards {
    /// Outputs of all shards, from first to last.
    #[arg(value_name = "SHARD", required = true)]
    shards: Vec<PathBuf>,
    /// Merged output: a file with the extension of the shards, or a folder for collections.
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
                "{} is a folder and other shards are files; merge either collections or files of vectors",
                folder.display()
            );
            return Err(Failure::Usage(message));
        }
        let format = Format::of(&output, None)?;
        Destination::output(&output, format.content(), force).check(&shards)?;
        let _last = LastStep::begin();
        senv::jobs::join_vectors(&shards, &output)?;
        output::note(&format!("{} merged into {}", plural(shards.len() as u64, "shard"), output.display()));
        Ok(())
    }
}

fn join_collections(shards: &[PathBuf], output: &Path, force: bool) -> Result {
    if is_dash(output) {
        return Err(Failure::Usage("--output -: a collection is a folder; give the name of one".into()));
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
    let n = plural(shards.len() as u64, "shard");
    output::note(&format!("{n} with {sentences} merged into {}", output.display()));
    Ok(())
}
