//! Your own kind of model: it encodes, is saved in senv files, and opens wherever models open.
//!
//! ```text
//! cargo run --release -p senv-examples --example own_model_kind
//! ```
use senv::model::{OpenModel, SavedModel};
use senv::parts::core::{ModelFile, ModelWriter, files::Destination};
use senv::{Coverage, Index, Scratch, SentenceEncoder, Tokenizer, Vocabulary};

/// Encodes a sentence by its hashed letter pairs, without training.
#[derive(Debug)]
struct LetterPairs {
    dim: usize,
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
}

impl LetterPairs {
    fn new(dim: usize) -> senv::Result<Self> {
        let vocabulary = Vocabulary::from_counts([("", 0); 0], 0)?;
        Ok(Self { dim, tokenizer: Tokenizer::words().lowercase(true), vocabulary })
    }
}

impl SentenceEncoder for LetterPairs {
    fn dim(&self) -> usize {
        self.dim
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let mut n = 0;
        out.fill(0.0);
        self.tokenizer.for_each(sentence, &mut scratch.text, |token| {
            n += 1;
            for pair in format!("^{token}$").as_bytes().windows(2) {
                out[(usize::from(pair[0]) * 31 + usize::from(pair[1])) % self.dim] += 1.0;
            }
        });
        Coverage::new(n, n)
    }
}

impl SavedModel for LetterPairs {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    fn write(&self, to: Destination<'_>) -> senv::Result<()> {
        let writer = ModelWriter::new(Self::KIND).config(&format!(r#"{{"dim":{}}}"#, self.dim));
        Ok(writer.write(to)?) // tensors would go here, too: `.table("rows", &rows)`, `.vocabulary(&words)`
    }
}

impl OpenModel for LetterPairs {
    const KIND: &'static str = "letter-pairs";

    fn from_model_file(file: &ModelFile) -> senv::Result<Self> {
        let dim = file.config().and_then(|json| json.strip_prefix(r#"{"dim":"#)?.strip_suffix('}')?.parse().ok());
        Self::new(dim.filter(|dim| (1..=65_536).contains(dim)).ok_or_else(|| senv::Error::other("no size"))?)
    }
}

fn main() -> senv::Result<()> {
    senv::register::<LetterPairs>()?; // once, before the first file is opened
    let path = std::env::temp_dir().join("own-model-kind.senv");
    senv::Model::from(LetterPairs::new(512)?).save(&path)?;
    let model = senv::open(&path)?;
    assert!(model.is::<LetterPairs>());
    let index = Index::new(&model, &["Rain is coming.", "The trains were late."])?;
    assert_eq!(index.search("a late train", 1)?[0].text, "The trains were late.");
    Ok(())
}
