//! Creates a text of any size from a smaller one, with a vocabulary that grows as in real text.
//!
//! ```text
//! cargo run --release -p senv-benches --bin large-text -- --bytes 5000000000 --output large.txt TEXT...
//! ```
//!
//! Each further copy is the text with its rare words replaced by made-up ones of the same frequency. For example,
//! `harbour` becomes `harbourb` in the first copy and `harbourc` in the second. Words that occur more than `--rare`
//! times stay the same. Every copy therefore shares the frequent words, and adds as many new words as the text has rare
//! ones.

#![forbid(unsafe_code)]

use std::{collections::HashMap, error::Error, io::Write, path::PathBuf};

use clap::Parser;
use senv_core::{TextOptions, TextReader, files::AtomicFile};

/// Creates a text of any size from a smaller one.
#[derive(Debug, Parser)]
#[command(name = "large-text")]
struct Args {
    /// Input text, optionally compressed.
    #[arg(required = true)]
    text: Vec<PathBuf>,
    /// Output file.
    #[arg(long)]
    output: PathBuf,
    /// Bytes to write; the last line is completed.
    #[arg(long)]
    bytes: u64,
    /// Replace words that occur at most this often.
    #[arg(long, default_value_t = 50)]
    rare: u32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let open = || TextReader::open(&args.text, &TextOptions::default());
    let mut counts: HashMap<String, u32> = HashMap::new();
    let mut lines = open()?;
    while let Some(line) = lines.next_line()? {
        for word in words(line.text) {
            match counts.get_mut(word) {
                Some(count) => *count += 1,
                None => drop(counts.insert(word.to_owned(), 1)),
            }
        }
    }
    if counts.is_empty() {
        return Err("the text has no words".into());
    }
    AtomicFile::write_with(&args.output, |file| {
        let (mut written, mut copy, mut out) = (0, 0_u32, String::new());
        while written < args.bytes {
            let mark = mark(copy);
            let mut lines = open().map_err(std::io::Error::other)?;
            while let Some(line) = lines.next_line().map_err(std::io::Error::other)? {
                out.clear();
                for (i, word) in line.text.split(' ').enumerate() {
                    out.push_str(if i == 0 { "" } else { " " });
                    out.push_str(word);
                    if is_word(word) && counts.get(word).is_some_and(|&count| count <= args.rare) {
                        out.push_str(&mark);
                    }
                }
                out.push('\n');
                file.write_all(out.as_bytes())?;
                written += out.len() as u64;
                if written >= args.bytes {
                    break;
                }
            }
            copy += 1;
        }
        Ok(())
    })?;
    Ok(())
}

/// Words: pieces between spaces that consist of letters only.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(' ').filter(|word| is_word(word))
}

fn is_word(word: &str) -> bool {
    !word.is_empty() && word.chars().all(char::is_alphabetic)
}

/// The letters that encode a number: none for 0, the original text, then b, c, ..., z, ba, bb, ...
fn mark(mut number: u32) -> String {
    let mut letters = Vec::new();
    while number > 0 {
        letters.push((b'a' + (number % 26) as u8) as char);
        number /= 26;
    }
    letters.iter().rev().collect()
}
