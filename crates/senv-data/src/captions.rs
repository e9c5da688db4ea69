//! Captions of images: lines, or the JSON that COCO publishes.

use std::{
    io::{BufReader, Read},
    path::Path,
};

use senv_core::{TextOptions, TextReader, text::TextBytes};
use serde::Deserialize;

use crate::{Error, Result, lines::MAX_LINE_BYTES, sentence_groups::SentenceGroups};

/// The largest JSON caption file that is read, in bytes after decompression: 256 MiB. The largest published by COCO has
/// 0.1 GiB. A small compressed file can expand to a huge one, and captions take several times their bytes in memory.
pub const MAX_JSON_BYTES: u64 = 1 << 28;

/// An open caption file, in the layout that its first byte indicates.
///
/// Exhaustive on purpose: code for one layout has to handle the other.
#[derive(Debug)]
pub enum Captions {
    /// COCO's `captions_train2014.json` and similar files, already read: an object whose `annotations` are objects with
    /// `image_id`, `caption` and `id`. A group is an image. Captions are sorted by id, or keep their file order without
    /// ids. Whitespace around a caption is removed; line ends and tabs within it become spaces.
    Json(SentenceGroups),
    /// Lines, not yet read.
    Lines(Box<TextReader>),
}

/// The fields that are read; the rest of the file is skipped.
#[derive(Deserialize)]
struct File {
    annotations: Vec<Annotation>,
}

#[derive(Deserialize)]
struct Annotation {
    image_id: ImageId,
    id: Option<u64>,
    caption: String,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "an image_id is neither a number nor a string")]
enum ImageId {
    Number(u64),
    Name(String),
}

impl Captions {
    /// Opens a plain, gzip or Zstandard file. A file that starts with `{` is read as JSON.
    ///
    /// # Errors
    /// * [`Error::BadCaptions`] if it is JSON but not COCO's, a caption is empty or longer than a line may be (1 MiB),
    ///   or the file is longer than [`MAX_JSON_BYTES`].
    /// * [`Error::Core`] if it cannot be read.
    ///
    /// # Examples
    /// ```
    /// use senv_data::Captions;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("captions_val2014.json");
    /// let json = r#"{"annotations": [{"image_id": 73, "id": 2, "caption": "A dog"}, {"image_id": 73, "id": 1, "caption": "Dog"}]}"#;
    /// std::fs::write(&path, json)?;
    /// let Captions::Json(groups) = Captions::open(&path, &senv_core::TextOptions::default())? else { unreachable!() };
    /// assert_eq!((&groups.groups[0].name[..], groups.groups[0].sentences.join("; ")), ("73", "Dog; A dog".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: impl AsRef<Path>, options: &TextOptions) -> Result<Self> {
        let path = path.as_ref();
        let mut bytes = TextBytes::open(path)?;
        match bytes.is_json_object()? {
            true => Ok(Self::Json(read_json(path, bytes, MAX_JSON_BYTES)?)),
            false => Ok(Self::Lines(Box::new(bytes.into_lines(options)?))),
        }
    }
}

fn read_json(path: &Path, mut bytes: TextBytes, max_bytes: u64) -> Result<SentenceGroups> {
    let bad = |reason: String| Error::BadCaptions { path: path.to_owned(), reason };
    let mut limited = bytes.by_ref().take(max_bytes + 1);
    let parsed = serde_json::from_reader(BufReader::new(&mut limited));
    if limited.limit() == 0 {
        return Err(bad(format!("the file is longer than {max_bytes} bytes")));
    }
    let File { annotations } = parsed.map_err(|error: serde_json::Error| match error.io_error_kind() {
        Some(_) => bytes.error(error.into()).into(),
        None => bad(error.to_string()),
    })?;
    let mut captions = Vec::new();
    for (i, Annotation { image_id, id, caption }) in annotations.into_iter().enumerate() {
        let image = match image_id {
            ImageId::Number(number) => number.to_string(),
            ImageId::Name(name) => name,
        };
        let text = caption.trim();
        let problem = match text.len() {
            0 => "the caption is empty",
            n if n > MAX_LINE_BYTES => "the caption is longer than 1 MiB",
            _ if image.trim().is_empty() => "the image_id is empty",
            _ => "",
        };
        if !problem.is_empty() {
            return Err(bad(format!("annotation {} (image {image}): {problem}", i + 1)));
        }
        captions.push((id, image, text.replace(['\r', '\n', '\t'], " ")));
    }
    // Captions without an id keep the order of the file.
    captions.sort_by_key(|(id, ..)| *id);
    Ok(SentenceGroups::of(path.to_owned(), captions.into_iter().map(|(_, image, text)| (image, text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<SentenceGroups> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("captions.json");
        std::fs::write(&path, json).unwrap();
        SentenceGroups::read(&path)
    }

    /// COCO's format, with fields that are not read.
    const COCO: &str = r#"{"info": {"year": 2014, "nested": [[{}]]}, "images": [{"id": 9, "file_name": "9.jpg"}], "licenses": [],
        "annotations": [{"image_id": 9, "id": 30, "caption": "A dog \"runs\".\n"}, {"image_id": 4, "id": 20, "caption": " One\ncat"},
        {"image_id": 9, "id": 10, "caption": "Chien \u00e9t\u00e9"}, {"image_id": 4, "id": 40, "caption": "Cat", "more": 1}]}"#;

    #[test]
    fn captions_of_an_image_come_together_in_the_order_of_their_ids() {
        let groups = read(COCO).unwrap().groups;
        let parts: Vec<(&str, Vec<&str>)> =
            groups.iter().map(|g| (&g.name[..], g.sentences.iter().map(|s| &s[..]).collect())).collect();
        assert_eq!(parts, [("9", vec!["Chien été", "A dog \"runs\"."]), ("4", vec!["One cat", "Cat"])]);
        // Without ids, in the order of the file.
        let plain = r#"{"annotations": [{"image_id": "b", "caption": "2"}, {"image_id": "b", "caption": "1"}]}"#;
        assert_eq!(read(plain).unwrap().groups[0].sentences, ["2", "1"]);
        assert_eq!(read(&format!("\n {plain}")).unwrap().groups[0].name, "b");
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let one = |annotation: &str| format!(r#"{{"annotations": [{{"image_id": 1, "caption": "a"}}, {annotation}]}}"#);
        for (json, says) in [
            ("{\"images\": []}".to_owned(), "missing field `annotations`"),
            (COCO[..COCO.len() - 3].to_owned(), "EOF while parsing"),
            (format!("{COCO} more"), "trailing characters"),
            (one(r#"{"image_id": 1, "bbox": [1, 2]}"#), "missing field `caption` at line 1"),
            (one(r#"{"image_id": 1.5, "caption": "a"}"#), "an image_id is neither a number nor a string"),
            (one(r#"{"image_id": 1, "caption": 7}"#), "expected a string"),
            (one(r#"{"image_id": 42, "caption": " \n"}"#), "annotation 2 (image 42): the caption is empty"),
            (one(r#"{"image_id": "", "caption": "a"}"#), "annotation 2 (image ): the image_id is empty"),
            (
                one(&format!(r#"{{"image_id": 1, "caption": "{}"}}"#, "x".repeat(MAX_LINE_BYTES + 1))),
                "longer than 1 MiB",
            ),
            (one(r#"{"image_id": 2, "caption": "b"}"#), "none of the 2 groups has two sentences"),
        ] {
            let message = read(&json).unwrap_err().to_string();
            assert!(message.contains(says) && message.contains("captions.json: "), "{says:?} is missing in: {message}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        assert_eq!(read(&format!("\u{feff}{COCO}")).unwrap().groups, read(COCO).unwrap().groups);
    }

    #[test]
    fn a_file_beyond_the_limit_is_refused_and_one_at_the_limit_is_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), COCO).unwrap();
        let read = |max| read_json(file.path(), TextBytes::open(file.path()).unwrap(), max);
        assert_eq!(read(COCO.len() as u64).unwrap().n_sentences(), 4);
        let message = read(COCO.len() as u64 - 1).unwrap_err().to_string();
        assert!(message.contains("longer than") && message.contains("bytes"), "{message}");
    }
}
