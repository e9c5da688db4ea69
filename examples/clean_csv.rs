//! Cleans a column of a CSV file: drops rows that repeat an earlier one in other words, and lists rows that are
//! off-topic.
//!
//! ```text
//! cargo run --release -p senv-examples --example clean_csv
//! ```
#![allow(clippy::print_stdout)]
use senv::{
    jobs::{DuplicateParams, duplicates},
    parts::core::{TextOptions, TextReader, text::TableText},
};

const TICKETS: &str = "id,text
1,The printer on the second floor is out of paper.
2,\"My password does not work, please reset it.\"
3,Please reset my password: it does not work.
4,The printer on the second floor is out of paper!
5,The heating in room 12 makes a noise.
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // To read a file: TextReader::open(&["tickets.csv"], &options). Quoted cells and the line breaks in them are
    // supported.
    let options = TextOptions { table: Some(TableText::column("text")), ..TextOptions::default() };
    let mut reader = TextReader::from_reader("tickets.csv", TICKETS.as_bytes(), &options)?;
    let (mut lines, mut texts) = (Vec::new(), Vec::new());
    while let Some(line) = reader.next_line()? {
        lines.push(line.number);
        texts.push(line.text.to_owned());
    }

    let english = senv::english()?;
    let found = duplicates(&english, &texts, &DuplicateParams::new(0.9), |_, _| {})?.repeated;
    for (i, duplicate) in found.iter().enumerate() {
        match duplicate {
            None => println!("keep  line {}: {}", lines[i], texts[i]),
            Some(of) => println!("drop  line {}: {:.2} to line {}: {}", lines[i], of.cosine, lines[of.of], texts[i]),
        }
    }
    let kept: Vec<u64> = lines.iter().zip(&found).filter(|(_, of)| of.is_none()).map(|(line, _)| *line).collect();
    assert_eq!(kept, [2, 3, 6]);
    Ok(())
}
