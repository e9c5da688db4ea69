//! Files of finalfusion, written byte by byte as its documentation has them.

use crate::common::words;
use senv_core::Rows;
use senv_store::{Embeddings, Error, Format, LoadReport, ReadOptions, Result};

/// A chunk: its id, and its body as a function of where it begins.
type Chunk = (u32, Box<dyn Fn(usize) -> Vec<u8>>);

fn file(chunks: &[Chunk]) -> Vec<u8> {
    let mut bytes = b"FiFu\0\0\0\0".to_vec();
    bytes.extend((chunks.len() as u32).to_le_bytes());
    chunks.iter().for_each(|(id, _)| bytes.extend(id.to_le_bytes()));
    for (id, body) in chunks {
        let body = body(bytes.len() + 12);
        bytes.extend(id.to_le_bytes());
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.extend(body);
    }
    bytes
}

fn padded(start: usize, mut body: Vec<u8>) -> Vec<u8> {
    let n = 4 - (start + body.len()) % 4;
    body.resize(body.len() + n, 0);
    body
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn vocabulary(id: u32, words: &'static [&'static str], between: &'static [u8]) -> Chunk {
    (
        id,
        Box::new(move |_| {
            let mut body = (words.len() as u64).to_le_bytes().to_vec();
            body.extend(between);
            for word in words {
                body.extend((word.len() as u32).to_le_bytes());
                body.extend(word.as_bytes());
            }
            body
        }),
    )
}

fn dense(rows: u64, dim: u32, values: &'static [f32]) -> Chunk {
    (
        2,
        Box::new(move |start| {
            let head = [&rows.to_le_bytes()[..], &dim.to_le_bytes(), &10_u32.to_le_bytes()].concat();
            [padded(start, head), f32s(values)].concat()
        }),
    )
}

fn norms(values: &'static [f32]) -> Chunk {
    (
        6,
        Box::new(move |start| {
            let head = [&(values.len() as u64).to_le_bytes()[..], &10_u32.to_le_bytes()].concat();
            [padded(start, head), f32s(values)].concat()
        }),
    )
}

fn read(bytes: &[u8]) -> Result<(Embeddings, LoadReport)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words.fifu");
    std::fs::write(&path, bytes).unwrap();
    Embeddings::read(&path, &ReadOptions::default())
}

const WORDS: &[&str] = &["the", "größe", "c"];

#[test]
fn words_have_their_rows_with_their_lengths() {
    let metadata: Chunk = (5, Box::new(|_| b"title = \"x\"\n".to_vec()));
    let chunks = [metadata, vocabulary(1, WORDS, b""), dense(3, 2, &[1., 0., 0.6, 0.8, 0., -1.]), norms(&[2., 5., 1.])];
    let (embeddings, report) = read(&file(&chunks)).unwrap();
    assert_eq!((report.format, report.rows), (Format::Finalfusion, 3));
    assert_eq!(words(&embeddings), ["the", "größe", "c"]);
    assert_eq!(embeddings.table().row(0)[..2], [2.0, 0.0]);
    assert_eq!(embeddings.table().row(1)[..2], [3.0, 4.0]);
    assert_eq!(embeddings.table().row(2)[..2], [0.0, -1.0]);
    // Rows of parts of words are left out.
    for (id, between) in [(3, &[3, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0][..]), (7, &[3, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0])] {
        let chunks = [vocabulary(id, &["a"], between), dense(3, 1, &[7., 8., 9.])];
        let (embeddings, _) = read(&file(&chunks)).unwrap();
        assert_eq!((words(&embeddings), embeddings.table().row(0)[0]), (vec!["a".to_owned()], 7.0));
    }
}

#[test]
fn quantized_rows_are_put_together_of_centroids() {
    let quantized = |projected: bool| -> Chunk {
        (
            4,
            Box::new(move |start| {
                let numbers = [u32::from(projected), 1, 2, 4, 2];
                let mut head: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
                head.extend([&2_u64.to_le_bytes()[..], &1_u32.to_le_bytes(), &10_u32.to_le_bytes()].concat());
                let mut body = padded(start, head);
                // Turns the four values around.
                if projected {
                    body.extend(f32s(&[0., 0., 0., 1., 0., 0., 1., 0., 0., 1., 0., 0., 1., 0., 0., 0.]));
                }
                body.extend(f32s(&[1., 2., 3., 4., 5., 6., 7., 8.]));
                body.extend(f32s(&[1., 10.]));
                body.extend([0, 1, 1, 0]);
                body
            }),
        )
    };
    let plain = read(&file(&[vocabulary(1, &["a", "b"], b""), quantized(false)])).unwrap().0;
    assert_eq!(plain.table().row(0)[..4], [1., 2., 7., 8.]);
    assert_eq!(plain.table().row(1)[..4], [30., 40., 50., 60.]);
    let turned = read(&file(&[vocabulary(1, &["a", "b"], b""), quantized(true)])).unwrap().0;
    assert_eq!(turned.table().row(0)[..4], [8., 7., 2., 1.]);
}

#[test]
fn what_is_cut_declared_too_large_or_not_known_is_an_error() {
    let good = file(&[vocabulary(1, WORDS, b""), dense(3, 2, &[1., 0., 0.6, 0.8, 0., -1.]), norms(&[2., 5., 1.])]);
    for end in 4..good.len() {
        assert!(read(&good[..end]).is_err(), "{end} of {}", good.len());
    }
    assert!(matches!(read(&[&good[..], b"x"].concat()), Err(Error::TrailingBytes { .. })));
    let too_many = file(&[vocabulary(1, WORDS, b""), dense(1 << 30, 2, &[1., 0.])]);
    assert!(matches!(read(&too_many), Err(Error::DeclaredTooMuch { .. })));
    for chunks in [
        vec![vocabulary(1, WORDS, b""), dense(2, 2, &[1., 0., 0., 1.])],
        vec![dense(3, 1, &[1., 0., 0.]), vocabulary(1, WORDS, b"")],
        vec![vocabulary(1, WORDS, b"")],
        vec![vocabulary(9, WORDS, b"")],
    ] {
        assert!(matches!(read(&file(&chunks)), Err(Error::UnknownFormat { .. })));
    }
    let zero = file(&[vocabulary(1, &[], b""), dense(0, 0, &[])]);
    assert!(matches!(read(&zero), Err(Error::ZeroDim { .. })));
}
