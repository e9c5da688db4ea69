//! Lines -> vectors, in text and matrices.

use std::{io::Write, path::Path};

use senv::jobs::{CoverageCounts, LineEncoding};
use senv_core::{
    TextReader,
    text::{DecompressionProgress, LineBatch},
};

use crate::{
    commands::known_words::WordSample,
    failure::{Failure, Result},
    output::{self, plural},
    progress::Counter,
};

/// Encodes all lines to standard output, or to a file. Compressed text is refused where it is of a ratio that no text
/// has, unless any is taken.
pub(super) fn encode(
    encoding: LineEncoding<'_>,
    reader: TextReader,
    takes_any_ratio: bool,
    output: Option<&Path>,
) -> Result<CoverageCounts> {
    let accept = |reader: &TextReader| if takes_any_ratio { Ok(()) } else { check_ratio(reader, encoding.model.dim()) };
    let counter = Counter::new(output.is_some());
    let mut sample = WordSample::new(encoding.path, encoding.model);
    let mut on_batch = |batch: &LineBatch<CoverageCounts>| {
        counter.add(batch.tally.lines);
        if !sample.is_complete() {
            counter.apart(|| sample.add(batch.lines.iter().map(|(_, line)| line)));
        }
    };
    let counts = match output {
        Some(path) => encoding.to_file(reader, path, accept, on_batch)?,
        None => {
            let mut out = output::stdout();
            let counts = encoding.run(reader, accept, |bytes, batch| {
                batch.into_iter().for_each(&mut on_batch);
                out.write_all(bytes).map_err(Failure::stdout)
            })?;
            out.flush().map_err(Failure::stdout)?;
            counts
        }
    };
    counter.finish();
    sample.finish();
    Ok(counts)
}

/// Refuses a compressed file of a ratio that no text has. Each of its lines would become a row: 20 KB of blank lines
/// are tens of gigabytes of zeros.
fn check_ratio(reader: &TextReader, dim: usize) -> Result {
    let Some(progress) = reader.decompression_progress().filter(|progress| !progress.may_be_text()) else {
        return Ok(());
    };
    let DecompressionProgress { path, compressed, text, lines } = progress;
    let reason = format!(
        "{} of it become more than {} in {}, which no text does, and each line would be a row of {dim} values; --force \
         encodes it all the same",
        output::bytes(compressed),
        output::bytes(text),
        plural(lines, "line"),
    );
    Err(senv_core::Error::BadFile { path: path.to_owned(), reason }.into())
}
