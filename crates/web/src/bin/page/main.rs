//! Writes the page: the engine compiled to WebAssembly, and everything around it, in one HTML file.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod assemble;
mod build;

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::ExitCode,
};

const USAGE: &str = "\
Writes a web page that embeds, compares and searches English sentences: one HTML file, no server.

Usage: cargo run -p senv-web -- [--output FILE]

  --output FILE   the page [default: senv.html]";

/// The output path; `None` if help is requested.
fn output(mut given: impl Iterator<Item = String>) -> Result<Option<PathBuf>, String> {
    let mut output = "senv.html".into();
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--help" | "-h" => return Ok(None),
            "--output" | "-o" => output = given.next().ok_or("--output needs a file name")?.into(),
            other => return Err(format!("unknown option {other:?}\n\n{USAGE}")),
        }
    }
    Ok(Some(output))
}

/// Fails if `path` exists and is not a senv page.
fn check_output(path: &Path) -> Result<(), String> {
    let Ok(mut file) = fs::File::open(path) else { return Ok(()) };
    let mut start = vec![0; assemble::PAGE_START.len()];
    if file.read_exact(&mut start).is_ok() && start == assemble::PAGE_START.as_bytes() {
        return Ok(());
    }
    Err(format!("{} exists and was not written by senv; choose another name for --output", path.display()))
}

fn run() -> Result<(), String> {
    let Some(output) = output(std::env::args().skip(1))? else {
        println!("{USAGE}");
        return Ok(());
    };
    check_output(&output)?;
    let page = assemble::page(&build::engine()?);
    fs::write(&output, &page).map_err(|error| format!("cannot write {}: {error}", output.display()))?;
    println!("{}: {:.1} MB; open it in a browser", output.display(), page.len() as f64 / 1e6);
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Option<PathBuf>, String> {
        output(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn arguments_are_read_and_others_refused() {
        assert_eq!(parsed(""), Ok(Some("senv.html".into())));
        assert_eq!(parsed("-o a.html"), Ok(Some("a.html".into())));
        assert_eq!(parsed("-o a.html --help"), Ok(None));
        assert!(
            parsed("--output").is_err()
                && parsed("--small").is_err()
                && parsed("page.html").unwrap_err().contains("Usage")
        );
    }

    #[test]
    fn only_a_page_is_replaced() {
        let folder = std::env::temp_dir().join(format!("senv-page-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("page.html");
        assert_eq!(check_output(&path), Ok(()));
        fs::write(&path, "my work").unwrap();
        assert!(check_output(&path).unwrap_err().contains("page.html exists"));
        fs::write(&path, assemble::page(b"")).unwrap();
        assert_eq!(check_output(&path), Ok(()));
        fs::remove_dir_all(&folder).unwrap();
    }
}
