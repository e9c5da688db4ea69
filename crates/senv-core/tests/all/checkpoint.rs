//! Tests of checkpoints through the public interface: a round trip, and errors for bad files.
#![cfg(feature = "train")]

use std::{fs, path::Path};

use senv_core::{Error, Table, checkpoint};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct State {
    epoch: u32,
    lr: f64,
    done: Option<u64>,
    names: Vec<String>,
    schedule: Schedule,
    moments: Vec<f32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Schedule {
    Hogwild { threads: u16 },
    Deterministic,
}

fn state() -> State {
    State {
        epoch: 3,
        lr: 0.05,
        done: Some(7),
        names: vec!["cat".into(), "sät".into()],
        schedule: Schedule::Hogwild { threads: 2 },
        moments: vec![0.5, -0.0],
    }
}

/// A table of distinct values; with `padded`, rows are padded.
fn table(rows: usize, dim: usize, padded: bool) -> Table {
    let number = |i: usize| i as f32 * 0.25 - 3.0;
    if !padded {
        return Table::from_vec(rows, dim, (0..rows * dim).map(number).collect()).unwrap();
    }
    let mut table = Table::zeros(rows, dim).unwrap();
    for row in 0..rows {
        for (column, x) in table.row_mut(row).iter_mut().enumerate() {
            *x = number(row * dim + column);
        }
    }
    table
}

fn bits(table: &Table) -> Vec<Vec<u32>> {
    table.iter().map(|row| row.iter().map(|x| x.to_bits()).collect()).collect()
}

/// The bytes of a small checkpoint.
fn small(path: &Path) -> Vec<u8> {
    checkpoint::save(path, "test", &state(), &[("source", &table(2, 3, true)), ("target", &table(1, 2, false))])
        .unwrap();
    fs::read(path).unwrap()
}

/// The end of the head, by the documented layout.
fn head_end(bytes: &[u8]) -> usize {
    24 + u64::from_le_bytes(bytes[16..24].try_into().unwrap()) as usize
}

/// Corrects both checksums.
fn sign(bytes: &mut [u8]) {
    let end = head_end(bytes);
    let mut head = crc32fast::Hasher::new();
    head.update(&bytes[..12]);
    head.update(&bytes[16..end]);
    bytes[12..16].copy_from_slice(&head.finalize().to_le_bytes());
    let n = bytes.len() - 4;
    let whole = crc32fast::hash(&bytes[..n]);
    bytes[n..].copy_from_slice(&whole.to_le_bytes());
}

#[test]
fn every_field_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let base = state();
    let variants = [
        base.clone(),
        State { epoch: u32::MAX, ..base.clone() },
        State { lr: 0.1 + 0.2, ..base.clone() },
        State { done: None, ..base.clone() },
        State { names: vec![], ..base.clone() },
        State { schedule: Schedule::Deterministic, ..base.clone() },
        State { moments: vec![f32::INFINITY; 1000], ..base.clone() },
    ];
    for (i, variant) in variants.iter().enumerate() {
        let kind = format!("kind {i}");
        checkpoint::save(&path, &kind, variant, &[]).unwrap();
        assert_eq!(checkpoint::kind(&path).unwrap(), kind);
        assert_eq!(&checkpoint::load_state::<State>(&path, &kind).unwrap(), variant);
        let (loaded, tables) = checkpoint::load::<State>(&path, &kind).unwrap();
        assert_eq!((&loaded, tables.len()), (variant, 0));
    }
}

#[test]
fn a_checkpoint_says_what_it_is_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    checkpoint::save(&path, "test", &state(), &[]).unwrap();
    assert_eq!(checkpoint::about(&path).unwrap(), checkpoint::About::default());
    let about = checkpoint::About { done: 0.25, settings: "dim 300".into(), origin: "senv train \"ä\"".into() };
    checkpoint::save_with(&path, "test", &about, &state(), &[("source", &table(2, 3, true))]).unwrap();
    assert_eq!(checkpoint::about(&path).unwrap(), about);
    assert_eq!(checkpoint::load::<State>(&path, "test").unwrap().0, state());
}

#[test]
fn tables_of_every_shape_come_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut odd = table(3, 5, true);
    odd.row_mut(1).copy_from_slice(&[f32::NAN, -0.0, f32::NEG_INFINITY, f32::MIN_POSITIVE / 2.0, f32::MAX]);
    let tables = [
        ("odd", odd),
        ("no rows", table(0, 7, true)),
        ("no numbers", table(4, 0, false)),
        ("no padding", table(9, 16, true)),
        ("rows longer than a buffer", table(2, 300_001, true)),
        ("heap longer than a buffer", table(70_001, 9, false)),
        ("", table(1, 1, false)),
    ];
    let views: Vec<(&str, &Table)> = tables.iter().map(|(name, table)| (*name, table)).collect();
    checkpoint::save(&path, "test", &(), &views).unwrap();
    let ((), loaded) = checkpoint::load(&path, "test").unwrap();
    assert_eq!(loaded.len(), tables.len());
    for ((name, table), (loaded_name, loaded)) in tables.iter().zip(&loaded) {
        assert_eq!(name, loaded_name);
        assert_eq!((loaded.n_rows(), loaded.dim()), (table.n_rows(), table.dim()), "{name}");
        assert!(bits(loaded) == bits(table), "{name}");
        for row in 0..loaded.n_rows().min(100) {
            let padding = &loaded.values()[row * loaded.stride() + loaded.dim()..(row + 1) * loaded.stride()];
            assert!(padding.iter().all(|x| x.to_bits() == 0), "{name}: padding of row {row}");
        }
    }
    // Padding is not stored: the same values give the same file.
    let (padded, plain) = (folder.path().join("padded"), folder.path().join("plain"));
    checkpoint::save(&padded, "test", &(), &[("t", &table(5, 3, true))]).unwrap();
    checkpoint::save(&plain, "test", &(), &[("t", &table(5, 3, false))]).unwrap();
    assert_eq!(fs::read(padded).unwrap(), fs::read(plain).unwrap());
}

#[test]
fn every_prefix_every_flipped_byte_and_every_addition_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let bytes = small(&path);
    let refused = |content: &[u8], what: &str| {
        fs::write(&path, content).unwrap();
        match checkpoint::load::<State>(&path, "test") {
            Err(Error::BadFile { path: named, .. }) => assert_eq!(named, path, "{what}"),
            other => panic!("{what}: {:?}", other.map(|(state, _)| state)),
        }
    };
    for n in 0..bytes.len() {
        refused(&bytes[..n], &format!("prefix of {n} bytes"));
        for mask in [0x01, 0x80, 0xff] {
            let mut flipped = bytes.clone();
            flipped[n] ^= mask;
            refused(&flipped, &format!("byte {n} xor {mask}"));
        }
    }
    refused(&[&bytes[..], &[0]].concat(), "one byte more");
    refused(b"{\"a\": 1}", "foreign");
    refused(&vec![b'S'; 100_000], "long and foreign");
    fs::write(&path, &bytes).unwrap();
    assert_eq!(checkpoint::load::<State>(&path, "test").unwrap().0, state());
}

#[test]
fn sizes_are_checked_even_where_the_checksums_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let bytes = small(&path);
    let end = head_end(&bytes);
    // For any value of a head byte, reading neither panics nor allocates more than the file can fill.
    for at in (8..12).chain(24..end) {
        for value in [0, 1, 0x7f, 0xff] {
            let mut lying = bytes.clone();
            lying[at] = value;
            sign(&mut lying);
            fs::write(&path, &lying).unwrap();
            if let Ok((state, tables)) = checkpoint::load::<State>(&path, "test") {
                assert!(
                    state.moments.len() <= 2 && tables.iter().map(|(_, t)| t.n_rows() * t.dim()).sum::<usize>() == 8
                );
            }
        }
    }
    // 10^18 rows of 3; a product that overflows; a width that cannot be padded; too few values. Only the last shape has
    // as many values as the file.
    let shape = bytes.windows(16).position(|w| w == [2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    for (rows, dim) in [(10_u64.pow(18), 3_u64), (1 << 62, 1 << 31), (0, u64::MAX), (u64::MAX, 0), (2, 2), (1, 6)] {
        let mut lying = bytes.clone();
        lying[shape..shape + 8].copy_from_slice(&rows.to_le_bytes());
        lying[shape + 8..shape + 16].copy_from_slice(&dim.to_le_bytes());
        sign(&mut lying);
        fs::write(&path, &lying).unwrap();
        let loaded = checkpoint::load::<State>(&path, "test");
        assert_eq!(loaded.is_ok(), (rows, dim) == (1, 6), "{rows} x {dim}");
    }
    // A state that declares 2^61 values.
    checkpoint::save(&path, "test", &(1_u64 << 61, 0_u8), &[]).unwrap();
    assert!(matches!(checkpoint::load::<Vec<f64>>(&path, "test"), Err(Error::BadFile { .. })));
}

#[test]
fn another_kind_another_version_and_another_state_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let message = |result: Result<(State, Vec<(String, Table)>), Error>| match result {
        Err(error) => error.to_string(),
        Ok(_) => panic!("an error was expected"),
    };
    let mut bytes = small(&path);
    let text = message(checkpoint::load(&path, "word2vec"));
    assert!(text.contains("\"test\"") && text.contains("\"word2vec\"") && text.contains("run"), "{text}");
    assert!(matches!(checkpoint::load::<(State, u8)>(&path, "test"), Err(Error::BadFile { .. })), "state too short");
    assert!(matches!(checkpoint::load::<u8>(&path, "test"), Err(Error::BadFile { .. })), "state too long");

    bytes[8] = 3;
    sign(&mut bytes);
    fs::write(&path, &bytes).unwrap();
    let text = message(checkpoint::load(&path, "test"));
    assert!(text.contains("version 3") && text.contains("reads 2"), "{text}");

    assert!(matches!(checkpoint::load::<State>(folder.path().join("none"), "test"), Err(Error::Io { .. })));
    assert!(checkpoint::load::<State>(folder.path(), "test").is_err());
}

#[test]
fn damaged_tables_do_not_hide_the_state_and_a_failed_save_keeps_the_old_file() {
    /// Fails to serialize.
    struct Failing;
    impl Serialize for Failing {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("on purpose"))
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut bytes = small(&path);
    assert!(matches!(checkpoint::save(&path, "test", &Failing, &[]), Err(Error::BadFile { .. })));
    assert_eq!(fs::read(&path).unwrap(), bytes);

    let n = bytes.len();
    bytes[n - 6] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(checkpoint::load_state::<State>(&path, "test").unwrap(), state());
    assert!(matches!(checkpoint::load::<State>(&path, "test"), Err(Error::BadFile { .. })));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    let saved = checkpoint::save("/dev/full", "test", &state(), &[("source", &table(100, 3000, true))]);
    assert!(matches!(saved, Err(Error::Io { ref path, .. }) if path == Path::new("/dev/full")), "{saved:?}");
}
