//! Your own encoder (a service, another library, a formula), searched and evaluated like any other.
//!
//! ```text
//! cargo run --release -p senv-examples --example own_encoder
//! ```
#![allow(clippy::print_stdout)]
use senv::{
    Index, Model, SentenceCollection,
    eval::{StsTask, evaluate_sts},
    parts::core,
    prelude::*,
};

/// Counts letters and pairs of letters.
#[derive(Debug)]
struct Letters;

impl SentenceEncoder for Letters {
    fn dim(&self) -> usize {
        26 * 27
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.try_encode_into(sentence, scratch, out).unwrap_or_default()
    }

    /// Only for an encoder that can fail: encoding, search and evaluation return the error.
    fn try_encode_into(&self, text: &str, _: &mut Scratch, out: &mut [f32]) -> Result<Coverage, core::Error> {
        if text.contains('\u{FFFD}') {
            return Err(core::Error::other("this text was damaged on its way"));
        }
        out.fill(0.0);
        let letters: Vec<usize> =
            text.bytes().filter(u8::is_ascii_alphabetic).map(|b| (b.to_ascii_lowercase() - b'a') as usize).collect();
        letters.iter().for_each(|&letter| out[letter] += 1.0);
        letters.windows(2).for_each(|pair| out[26 + 26 * pair[0] + pair[1]] += 1.0);
        Ok(Coverage::new(letters.len(), letters.len()))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let index = Index::new(Letters, &["a boat", "the train", "a goat"])?;
    assert_eq!(index.search("trains", 1)?[0].text, "the train");
    assert!(index.search("\u{FFFD}", 1).is_err());

    // A collection on disk identifies the encoder by a digest, which must change when its vectors do.
    let folder = tempfile::tempdir()?;
    let model = Model::from_encoder("letters 1", Letters)?;
    SentenceCollection::create(folder.path().join("c"), &model)?.add(&["a boat", "the train"])?;
    assert!(
        SentenceCollection::open_with_model(folder.path().join("c"), Model::from_encoder("letters 2", Letters)?)
            .is_err()
    );

    let task = StsTask::read(concat!(env!("CARGO_MANIFEST_DIR"), "/data/sts-sample.tsv"))?;
    println!("{}", evaluate_sts(&Letters, &[task])?.to_text());
    Ok(())
}
