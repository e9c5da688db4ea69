//! Terms of use beside word vectors in formats of other programs.

use std::{fs, path::Path};

use senv_core::{Table, Vocabulary};
use senv_store::{Embeddings, Format, NonFinite};

const TERMS: &str = "CC BY-SA 4.0: made from an encyclopedia";

fn pets(terms: Option<&str>) -> Embeddings {
    let vocabulary = Vocabulary::from_counts([("cat", 2), ("dog", 1)], 3).unwrap().with_terms(terms);
    Embeddings::new(vocabulary, Table::from_vec(2, 2, vec![1.0, 0.5, -0.25, 2.0]).unwrap()).unwrap()
}

fn read(path: &Path) -> Embeddings {
    if path.extension().is_some_and(|extension| extension == "npy") {
        return Embeddings::read_matrix(path).unwrap();
    }
    Embeddings::open(path).unwrap()
}

#[test]
fn every_format_keeps_the_terms() {
    let folder = tempfile::tempdir().unwrap();
    let write = |embeddings: &Embeddings, path: &Path, format: Option<Format>| match format {
        Some(format) => embeddings.write(path, format, NonFinite::Error).unwrap(),
        None => embeddings.write_matrix(path).unwrap(),
    };
    for (name, format) in [
        ("w.vec", Some(Format::FastTextVec)),
        ("w.w2v", Some(Format::Word2vecText)),
        ("w.bin", Some(Format::Word2vecBinary)),
        ("w.txt", Some(Format::GloveText)),
        ("w.npy", None),
        ("w.senv", Some(Format::Safetensors)),
    ] {
        let path = folder.path().join(name);
        let license = Embeddings::license_of(&path);
        assert_eq!(license, folder.path().join(format!("{name}.license")));
        write(&pets(Some(TERMS)), &path, format);
        assert_eq!(read(&path).vocabulary().terms(), Some(TERMS), "{name}");
        if format == Some(Format::Safetensors) {
            assert!(!license.exists(), "the model file has a place for them");
            continue;
        }
        let text = fs::read_to_string(&license).unwrap();
        assert_eq!(text, format!("SPDX-License-Identifier: CC-BY-SA-4.0\n\nTerms of use: {TERMS}\n"));
        // Without terms, those of the earlier output do not stay.
        write(&pets(None), &path, format);
        assert!(!license.exists() && read(&path).vocabulary().terms().is_none(), "{name}");
        // A file of somebody else does.
        fs::write(&license, "SPDX-FileCopyrightText: A. Cat\nSPDX-License-Identifier: MIT\n").unwrap();
        write(&pets(None), &path, format);
        assert_eq!(read(&path).vocabulary().terms(), Some("MIT"), "{name}");
    }
}

#[test]
fn terms_of_any_form_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.vec");
    for terms in ["MIT OR Apache-2.0", "Ask the author.", "Two lines,\nof which this is one.", "Terms of use: twice"] {
        pets(Some(terms)).write(&path, Format::FastTextVec, NonFinite::Error).unwrap();
        assert_eq!(read(&path).vocabulary().terms(), Some(terms));
    }
    let license = Embeddings::license_of(&path);
    for (content, terms) in [
        (&b"SPDX-License-Identifier: MIT\r\nSPDX-License-Identifier: CC-BY-4.0\r\n"[..], Some("MIT AND CC-BY-4.0")),
        (b"\xff\xfe", None),
        (b"", None),
        (b"Terms of use: \n", None),
    ] {
        fs::write(&license, content).unwrap();
        assert_eq!(read(&path).vocabulary().terms(), terms, "{content:?}");
    }
    fs::remove_file(&license).unwrap();
    fs::create_dir(&license).unwrap();
    assert_eq!(read(&path).vocabulary().terms(), None, "a folder of that name");
}
