//! Averages of word vectors in the folder layout of Model2Vec, for Python's `model2vec` and its Rust counterpart.
//!
//! The folder contains `model.safetensors` (one matrix, `embeddings`), `tokenizer.json` (of Hugging Face's tokenizers:
//! a regular expression and a list of words), `config.json`, and `README.md` with the license of the model. The last
//! word of the list, `[UNK]`, has a row of zeros, because those programs leave unknown words out. Vectors therefore
//! differ if [`UnknownWords::Hash`](crate::average::UnknownWords) gives unknown words a vector. They also differ in the
//! few places where the regular expression splits differently ([`Tokenizer::pattern`]). The folder has no normalization
//! ([`Tokenizer::normalize`]), so text that is not typed plainly has other vectors.

use std::{fs, io::Write, path::Path};

use senv_core::{Error as Core, Rows, Table, Tokenizer, Vocabulary, files::AtomicFile};
use serde_json::{Map, Value, json};

use crate::{
    compress::word_rows::WordRows,
    error::{Error, Result},
    model::handle::Model,
    model2vec::card,
};

/// The token for unknown words; longer if the vocabulary has a word of this name.
const UNKNOWN: &str = "[UNK]";

/// Writes a model to a folder, which is created if necessary. Existing files of these names are replaced, each
/// atomically. If the model has terms of use ([`Model::terms`]), `README.md` names their license as model hubs read it,
/// and the metadata of `model.safetensors` have them as `senv.terms`.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().join("model2vec");
/// use senv_core::{Tokenizer, Vocabulary};
/// use senv::{Model, write_model2vec, average::AverageEncoder};
/// let vocabulary = Vocabulary::from_counts([("cat", 2), ("dog", 1)], 3)?;
/// let model: Model = AverageEncoder::random(&Tokenizer::words(), &vocabulary, &["cat", "dog"], 8, 1)?.into();
/// write_model2vec(&model, &folder)?;
/// // 8 bytes, the header, and three rows of eight values: "cat", "dog" and the unknown word.
/// assert!(std::fs::metadata(folder.join("model.safetensors"))?.len() > 3 * 8 * 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::CannotCompress`] for a model that is not an average of words (as in [`crate::CompressParams::compress`],
/// but small tables are accepted), or whose tokenizer is Unicode's or the program's own. [`senv_core::Error::Io`] if a
/// file cannot be written.
pub fn write_model2vec(model: &Model, folder: &Path) -> Result<()> {
    let (tokenizer, vocabulary) = (model.tokenizer(), model.vocabulary());
    let Some(tokenizer) = tokenizer_json(tokenizer, vocabulary) else {
        let reason = "Model2Vec does not support its tokenizer (unicode, stripped hashtags or custom); train with the \
            tokenizer words or blank";
        return Err(Error::CannotCompress { kind: model.kind(), reason: reason.into() });
    };
    fs::create_dir_all(folder).map_err(|e| Core::io("create the folder", folder, e))?;
    let rows = WordRows::of(model)?.rows;
    // The license is there before the rows are.
    let card = card::text(vocabulary, rows.dim());
    AtomicFile::write_with(folder.join(card::NAME), |file| file.write_all(card.as_bytes())).map_err(Core::of_step)?;
    write_rows(&rows, vocabulary.terms(), folder)?;
    let config = json!({
        "model_type": "model2vec", "architectures": ["StaticModel"], "hidden_dim": model_dim(model), "normalize": false,
        "embedding_dtype": "float32", "max_length": null,
    });
    write_json(&folder.join("tokenizer.json"), &tokenizer).map_err(Core::of_step)?;
    Ok(write_json(&folder.join("config.json"), &config)?)
}

fn model_dim(model: &Model) -> usize {
    senv_core::SentenceEncoder::dim(model)
}

/// Writes the rows, followed by a row of zeros.
fn write_rows(rows: &Table, terms: Option<&str>, folder: &Path) -> Result<()> {
    let shape = [rows.n_rows() + 1, rows.dim()];
    let mut header =
        json!({ "embeddings": { "dtype": "F32", "shape": shape, "data_offsets": [0, 4 * shape[0] * shape[1]] } });
    if let Some(terms) = terms {
        header["__metadata__"] = json!({ "senv.terms": terms });
    }
    let mut header = header.to_string();
    while !header.len().is_multiple_of(8) {
        header.push(' ');
    }
    AtomicFile::write_with(folder.join("model.safetensors"), |file| {
        file.write_all(&(header.len() as u64).to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        let mut bytes = Vec::with_capacity(4 * shape[1]);
        for i in 0..rows.n_rows() {
            bytes.clear();
            bytes.extend(rows.row(i).iter().flat_map(|x| x.to_le_bytes()));
            file.write_all(&bytes)?;
        }
        file.write_all(&vec![0; 4 * shape[1]])
    })
    .map_err(Core::of_step)?;
    Ok(())
}

/// Returns a tokenizer of Hugging Face's library; `None` if the rule is not a regular expression.
fn tokenizer_json(tokenizer: &Tokenizer, vocabulary: &Vocabulary) -> Option<Value> {
    let pattern = tokenizer.pattern()?;
    let mut unknown = UNKNOWN.to_owned();
    while vocabulary.id(&unknown).is_some() {
        unknown.push(']');
    }
    let mut words: Map<String, Value> = vocabulary.iter().map(|(id, word, _)| (word.to_owned(), id.0.into())).collect();
    words.insert(unknown.clone(), vocabulary.len().into());
    let lowercase = if tokenizer.is_lowercase() { json!({ "type": "Lowercase" }) } else { Value::Null };
    Some(json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": lowercase,
        "pre_tokenizer": { "type": "Split", "pattern": { "Regex": pattern }, "behavior": "Removed", "invert": true },
        "post_processor": null, "decoder": null,
        "model": { "type": "WordLevel", "vocab": words, "unk_token": unknown },
    }))
}

fn write_json(path: &Path, json: &Value) -> Result<(), Core> {
    AtomicFile::write_with(path, |file| file.write_all(json.to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        StaticModel,
        average::encoder::{AverageEncoder, words},
        compress::table::CompressParams,
    };
    use senv_core::static_model::RowEncoding;

    fn model(tokenizer: &Tokenizer) -> Model {
        let vocabulary = Vocabulary::from_counts([("the", 9), ("[UNK]", 2), ("cat", 1)], 12).unwrap();
        let features = words(&vocabulary).unwrap();
        let mut rows = Table::zeros(3, 5).unwrap();
        senv_core::init::uniform_rows(&mut rows, 0..3, 1.0, 1).unwrap();
        AverageEncoder::new(tokenizer.clone(), vocabulary, features, rows).unwrap().into()
    }

    #[test]
    fn the_folder_holds_the_rows_the_words_and_the_rule() {
        let folder = tempfile::tempdir().unwrap();
        let model = model(&Tokenizer::words().lowercase(true));
        let small =
            CompressParams { encoding: RowEncoding::F32, ..CompressParams::default() }.compress(&model).unwrap();
        for (model, name) in [(&model, "average"), (&StaticModel::from(small).into(), "static")] {
            let folder = folder.path().join(name);
            write_model2vec(model, &folder).unwrap();
            let bytes = fs::read(folder.join("model.safetensors")).unwrap();
            let n = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            let header: Value = serde_json::from_slice(&bytes[8..8 + n]).unwrap();
            assert_eq!(header["embeddings"]["shape"], json!([4, 5]));
            assert_eq!(header["embeddings"]["data_offsets"], json!([0, bytes.len() - 8 - n]));
            let values: Vec<f32> =
                bytes[8 + n..].as_chunks::<4>().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
            let cat = senv_core::SentenceEncoder::encode_batch(model, &["cat"]).unwrap().0;
            assert!(values[10..15].iter().zip(&cat).all(|(x, y)| (x - y).abs() < 1e-6));
            assert_eq!(values[15..], [0.0; 5]);
            let tokenizer: Value = serde_json::from_slice(&fs::read(folder.join("tokenizer.json")).unwrap()).unwrap();
            assert_eq!(tokenizer["model"]["vocab"], json!({ "the": 0, "[UNK]": 1, "cat": 2, "[UNK]]": 3 }));
            assert_eq!(tokenizer["normalizer"]["type"], "Lowercase");
        }
    }

    #[test]
    fn the_terms_travel_with_the_folder() {
        const TERMS: &str = "CC BY-SA 4.0: made from an \"encyclopedia\"";
        let folder = tempfile::tempdir().unwrap();
        let small = CompressParams::default().compress(&model(&Tokenizer::words())).unwrap();
        for terms in [Some(TERMS), None] {
            let small = match terms {
                Some(terms) => small.clone().with_terms(terms),
                None => small.clone(),
            };
            // A card of an earlier model is replaced.
            write_model2vec(&StaticModel::from(small).into(), folder.path()).unwrap();
            assert_eq!(Model::open(folder.path()).unwrap().terms(), terms);
            let card = fs::read_to_string(folder.path().join("README.md")).unwrap();
            assert_eq!(card.contains("\nlicense: cc-by-sa-4.0\n"), terms.is_some(), "{card}");
            let bytes = fs::read(folder.path().join("model.safetensors")).unwrap();
            let n = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            let header: Value = serde_json::from_slice(&bytes[8..8 + n]).unwrap();
            assert_eq!(header["__metadata__"]["senv.terms"].as_str(), terms);
        }
    }

    #[test]
    fn what_has_no_such_form_is_refused_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none");
        let error = write_model2vec(&model(&Tokenizer::unicode()), &path).unwrap_err();
        assert!(matches!(error, Error::CannotCompress { .. }) && !path.exists(), "{error}");
        fs::write(&path, "a file").unwrap();
        assert!(matches!(write_model2vec(&model(&Tokenizer::whitespace()), &path), Err(Error::Core(Core::Io { .. }))));
    }
}
