//! Truncation at every byte and every flipped bit of small files, with a limit on the memory allocated. A binary of its
//! own: the allocator that watches belongs to the whole process.
#![allow(unsafe_code)] // for the allocator that watches

#[path = "all/common/mod.rs"]
mod common;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
};

use common::*;
use proptest::prelude::*;
use senv_store::{Format, ModelFile, NonFinite, ReadOptions, read_npy};

/// The largest allocation.
static LARGEST: AtomicUsize = AtomicUsize::new(0);
/// None of the files here is longer than 4 KiB; the largest buffer of the readers is the first step of a block.
const ENOUGH: usize = 1 << 20;

struct Watch;

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Watch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(p, layout) }
    }

    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static WATCH: Watch = Watch;

const FORMATS: [Option<Format>; 6] = [
    None,
    Some(Format::Word2vecText),
    Some(Format::Word2vecBinary),
    Some(Format::GloveText),
    Some(Format::Safetensors),
    Some(Format::Finalfusion),
];

/// Reads bytes in every way; the result fits into the file, and the memory stays small.
fn try_all(bytes: &[u8], path: &std::path::Path) {
    write_anew(path, bytes);
    for format in FORMATS {
        let options = format.map_or_else(ReadOptions::default, |format| ReadOptions::default().format(format));
        for (embeddings, report) in
            [senv_store::Embeddings::read(path, &options), read_in_drops(bytes, &options)].into_iter().flatten()
        {
            // A value takes two bytes at least, a digit and a blank.
            assert!(2 * embeddings.len() * embeddings.dim() <= bytes.len());
            assert_eq!(embeddings.len() as u64 + report.duplicates, report.rows);
            for (i, (word, row)) in embeddings.iter().enumerate() {
                assert_eq!((row.len(), embeddings.vocabulary().id(word).unwrap().index()), (embeddings.dim(), i));
            }
        }
    }
    if let Ok(model) = ModelFile::open(path) {
        let _ = (model.vocabulary().is_ok(), model.table("rows").is_ok(), model.verify().is_ok());
    }
    let _ = read_npy(path).is_ok();
    let largest = LARGEST.load(Ordering::Relaxed);
    assert!(largest <= ENOUGH, "{largest} bytes asked for, for a file of {}: {bytes:?}", bytes.len());
}

/// Two words and their rows.
fn finalfusion() -> Vec<u8> {
    let mut bytes = b"FiFu\0\0\0\0\x02\0\0\0\x01\0\0\0\x02\0\0\0".to_vec();
    bytes.extend(b"\x01\0\0\0\x12\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x01\0\0\0a\x01\0\0\0b");
    bytes.extend(b"\x02\0\0\0");
    // Up to four zeros end where a multiple of four bytes does.
    let start = bytes.len() + 8 + 16;
    let padding = 4 - start % 4;
    bytes.extend((16 + padding as u64 + 16).to_le_bytes());
    bytes.extend(b"\x02\0\0\0\0\0\0\0\x02\0\0\0\x0a\0\0\0");
    bytes.extend(vec![0; padding]);
    bytes.extend([1.0_f32, 0.5, -1.0, 2.0].iter().flat_map(|x| x.to_le_bytes()));
    bytes
}

fn small_files() -> Vec<Vec<u8>> {
    let folder = Folder::new();
    let path = folder.path("small");
    let embeddings = embeddings(&["</s>", "naïve", "7"], 2, &[0.5, -1.0, 0.1, 1e-9, 3.0, -0.0]);
    let formats =
        [Format::Word2vecText, Format::FastTextVec, Format::GloveText, Format::Word2vecBinary, Format::Safetensors];
    let mut files: Vec<Vec<u8>> = formats
        .map(|format| {
            embeddings.write(&path, format, NonFinite::Error).unwrap();
            std::fs::read(&path).unwrap()
        })
        .into();
    senv_store::write_npy(&path, &embeddings).unwrap();
    files.push(std::fs::read(&path).unwrap());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut gzip, &files[0]).unwrap();
    files.push(gzip.finish().unwrap());
    files.push(finalfusion());
    files
}

#[test]
fn no_cut_and_no_flipped_bit_crashes_a_reader_or_takes_its_memory() {
    let folder = Folder::new();
    let path = folder.path("file");
    for file in small_files() {
        for end in 0..=file.len() {
            try_all(&file[..end], &path);
        }
        let mut flipped = file;
        for byte in 0..flipped.len() {
            for bit in 0..8 {
                flipped[byte] ^= 1 << bit;
                try_all(&flipped, &path);
                flipped[byte] ^= 1 << bit;
            }
        }
    }
}

#[test]
fn huge_declarations_take_no_memory() {
    let folder = Folder::new();
    let path = folder.path("file");
    let numbers = [
        "0",
        "1",
        "65536",
        "2147483647",
        "2147483648",
        "4294967296",
        "9223372036854775808",
        "18446744073709551615",
        "1000000000000000000",
    ];
    for rows in numbers {
        for dim in numbers {
            for body in ["", "a 1\n", "a \0\0\0\0b \0\0\0\0"] {
                try_all(format!("{rows} {dim}\n{body}").as_bytes(), &path);
            }
            let npy = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {dim}), }}");
            let bytes =
                [b"\x93NUMPY\x01\x00".as_slice(), &(npy.len() as u16).to_le_bytes(), npy.as_bytes(), &[0; 8]].concat();
            try_all(&bytes, &path);
            let header = format!(
                r#"{{"__metadata__":{{"senv.format_version":"1","senv.kind":"embeddings"}},"rows":{{"dtype":"F32","shape":[{rows},{dim}],"data_offsets":[0,{rows}]}}}}"#
            );
            try_all(&[(header.len() as u64).to_le_bytes().as_slice(), header.as_bytes()].concat(), &path);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn random_bytes_never_crash_a_reader(start in 0usize..7, bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0usize..60) {
        let folder = Folder::new();
        let file = small_files().swap_remove(start);
        let bytes = [&file[..cut.min(file.len())], &bytes].concat();
        try_all(&bytes, &folder.path("file"));
    }
}
