//! Encodes lines into text and matrices.

use std::{io::Write, path::Path};

use senv::jobs::{CoverageCounts, LineEncoding};
use senv_core::{TextReader, text::LineBatch};

use crate::{
    commands::known_words::WordSample,
    failure::{Failure, Result},
    output,
    progress::Counter,
};

/// Encodes all lines to standard output, or to a file.
pub(super) fn encode(encoding: LineEncoding<'_>, reader: TextReader, output: Option<&Path>) -> Result<CoverageCounts> {
    let counter = Counter::new(output.is_some());
    let mut sample = WordSample::new(encoding.path, encoding.model);
    let mut on_batch = |batch: &LineBatch<CoverageCounts>| {
        counter.add(batch.tally.lines);
        if !sample.is_complete() {
            counter.apart(|| sample.add(batch.lines.iter().map(|(_, line)| line)));
        }
    };
    let counts = match output {
        Some(path) => encoding.to_file(reader, path, on_batch)?,
        None => {
            let mut out = output::stdout();
            let counts = encoding.run(reader, |bytes, batch| {
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
