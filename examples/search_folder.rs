//! Searches the text files of a folder by meaning, with a collection on disk that keeps the file and line of each
//! sentence.
//!
//! ```text
//! cargo run --release -p senv-examples --example search_folder [FOLDER QUERY]
//! ```
#![allow(clippy::print_stdout)]
use std::{error::Error, fs, path::Path};

use senv::{
    SentenceCollection,
    collection::{CollectionText, SentenceCollectionParams, TextColumns},
    parts::core::{TextOptions, TextReader, text::Split},
};

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let (folder, query) = match &std::env::args().skip(1).collect::<Vec<_>>()[..] {
        [folder, query] => (Path::new(folder).to_owned(), query.clone()),
        _ => {
            fs::write(scratch.path().join("travel.txt"), "The night train was late. We slept on the platform.\n")?;
            fs::write(scratch.path().join("kitchen.txt"), "Cut the onions.\nLet the soup cook for an hour.\n")?;
            (scratch.path().to_owned(), "delays on the railway".to_owned())
        }
    };
    let files = fs::read_dir(&folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    let files: Vec<_> = files.into_iter().filter(|path| path.extension().is_some_and(|name| name == "txt")).collect();

    let index = tempfile::tempdir()?.path().join("my.index"); // use a permanent folder in your program
    let options = TextOptions { split: Some(Split::Paragraphs), ..TextOptions::default() }; // running text to sentences
    let mut text = CollectionText::new(TextReader::open(&files, &options)?, TextColumns::default());
    let params = SentenceCollectionParams { columns: text.columns(), ..Default::default() };
    SentenceCollection::build(&index, "english", &params, |most| text.next_part(most))?;

    let collection = SentenceCollection::open(&index)?; // memory-mapped; other processes may add to it meanwhile
    println!("{} sentences", collection.len());
    let hits = collection.search(&query, 3)?;
    for hit in &hits {
        let [file, line] = [SentenceCollection::FILE, SentenceCollection::LINE]
            .map(|column| collection.rows().text(hit.positions[0], column));
        println!("{:.2}  {}:{}  {}", hit.cosine, file?, line?, hit.text);
    }
    assert!(std::env::args().len() > 1 || hits[0].text == "The night train was late.");
    fs::remove_dir_all(&index)?;
    Ok(())
}
