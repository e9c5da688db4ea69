//! `senv join`: merges the outputs of shards.

use std::path::{Path, PathBuf};

use senv::SentenceCollection;
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
        if let Some(absent) = shards.iter().find(|path| !path.exists()) {
            let message = format!("{} does not exist; give the outputs of all shards", absent.display());
            return Err(Failure::Failed(message.into()));
        }
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
    let joined = match force {
        true => Collection::rejoin(output, shards),
        false => Collection::join(output, shards),
    };
    let whole = joined.map_err(|error| repeated_id(&error, shards).unwrap_or_else(|| error.into()))?;
    let sentences = plural(whole.len() as u64, "sentence");
    let n = plural(shards.len() as u64, "shard");
    output::note(&format!("{n} with {sentences} merged into {}", output.display()));
    Ok(())
}

/// The failure of joining shards of which two have the same id, with the places where they have it.
fn repeated_id(error: &senv_index::Error, shards: &[PathBuf]) -> Option<Failure> {
    let senv_index::Error::GivenTwice { id, .. } = error else { return None };
    let place = |shard: &PathBuf| {
        let rows = Collection::open(shard).ok()?;
        let position = rows.position(id).ok()??;
        let text = |column| rows.text(position, column).unwrap_or_default();
        let (file, line) = (text(SentenceCollection::FILE), text(SentenceCollection::LINE));
        let of_file = if file.is_empty() { String::new() } else { format!(" ({file}:{line})") };
        Some(format!("{}{of_file}", shard.display()))
    };
    let places: Vec<String> = shards.iter().filter_map(place).collect();
    let message = format!(
        "id {} is in several shards: {}; give each sentence its own id and make these shards again",
        id.quoted(),
        places.join(" and ")
    );
    Some(Failure::Failed(message.into()))
}

#[cfg(test)]
mod tests {
    use senv_core::Table;
    use senv_index::{CollectionParams, NewRows};

    use super::*;

    #[test]
    fn an_id_that_two_shards_have_is_told_with_both_places() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str, places: [&str; 2]| {
            let shard = folder.path().join(name);
            let params = CollectionParams::new(1).column("text").column("file").column("line");
            let rows = NewRows::new(Table::from_vec(1, 1, vec![1.0]).unwrap()).ids(vec!["T-1"]);
            let [file, line] = places.map(|place| vec![place.to_owned()]);
            let mut rows = Some(rows.texts(vec![vec!["Rain.".into()], file, line]));
            Collection::build::<senv_index::Error>(&shard, &params, || Ok(rows.take())).unwrap();
            shard
        };
        let shards = [of("a", ["t.csv", "3"]), of("b", ["", ""])];
        let error = senv_index::Error::GivenTwice { id: "T-1".into(), first: 0, second: 9 };
        let Some(Failure::Failed(failed)) = repeated_id(&error, &shards) else { panic!("not explained") };
        let [a, b] = shards.each_ref().map(|shard| shard.display());
        let expected = format!("id \"T-1\" is in several shards: {a} (t.csv:3) and {b}; give each sentence");
        assert!(failed.to_string().starts_with(&expected), "{failed}");
        let other = senv_index::Error::NotACollection { path: "a".into() };
        assert!(repeated_id(&other, &shards).is_none());
    }
}
