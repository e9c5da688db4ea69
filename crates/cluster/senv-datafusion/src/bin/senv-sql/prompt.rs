//! An interactive prompt. Each statement ends with a semicolon.

use std::io::{self, BufRead, IsTerminal, Write};

use datafusion::{error::Result, prelude::SessionContext};

use crate::{
    output::{self, Format},
    query,
    tables::TableArgument,
};

pub(crate) async fn run(context: &SessionContext, tables: &[TableArgument], format: Format) -> Result<()> {
    let is_terminal = io::stdin().is_terminal();
    let mut statement = String::new();
    loop {
        if is_terminal {
            eprint!("{}", if statement.is_empty() { "senv> " } else { "   -> " });
            io::stderr().flush()?;
        }
        let is_end = io::stdin().lock().read_line(&mut statement)? == 0;
        let text = statement.trim();
        if ["exit", "quit", "\\q"].contains(&text.trim_end_matches(';')) {
            return Ok(());
        }
        if text.ends_with(';') || is_end && !text.is_empty() {
            match query::rows(context, text.trim_end_matches(';'), tables).await {
                Ok(rows) => output::print(&rows, format)?,
                // In a terminal, report the error and continue; a script stops.
                Err(e) if is_terminal => eprintln!("{}", output::message(&e)),
                Err(e) => return Err(e),
            }
            statement.clear();
        }
        if is_end {
            return Ok(());
        }
    }
}
