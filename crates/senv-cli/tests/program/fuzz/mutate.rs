//! Small changes to files.

use rand::RngExt;
use senv_core::rng::{Stream, stream};

use super::Target;

/// Size of the start of a file, with the headers, in which half of the changes are made.
const HEAD: usize = 1024;

const BYTES: &[u8] = b"\0\x01\x7f\x80\xff\t\n\r \"{}[],:0-+.eE/<>\xc3\xef";
const INTEGERS: [u64; 12] =
    [0, 1, 2, 255, 1 << 16, (1 << 31) - 1, 1 << 31, u32::MAX as u64, 1 << 32, i64::MAX as u64, u64::MAX - 1, u64::MAX];
const NUMBERS: [&str; 16] = [
    "0",
    "-1",
    "1",
    "2",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e400",
    "-0.0",
    "NaN",
    "inf",
    "1e-45",
];

/// A seed of the target with one to four changes. In every other round, its checksums are repaired.
pub(super) fn mutated(target: &Target, round: u64) -> Vec<u8> {
    let mut rng = stream(1, target.name, &[round]);
    let mut bytes = target.seeds[rng.random_range(0..target.seeds.len())].clone();
    for _ in 0..rng.random_range(1..=4) {
        change(&mut bytes, target, &mut rng);
    }
    if round.is_multiple_of(2) {
        (target.mend)(&mut bytes);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, target: &Target, rng: &mut Stream) {
    if bytes.is_empty() {
        bytes.extend_from_slice(b"0 0\n");
    }
    let reach = if rng.random_bool(0.5) { bytes.len().min(HEAD) } else { bytes.len() };
    let at = rng.random_range(0..reach);
    let n = rng.random_range(1..=32_usize).min(bytes.len() - at);
    match rng.random_range(0..9) {
        0 => bytes[at] ^= 1 << rng.random_range(0..8),
        1 => bytes[at] = BYTES[rng.random_range(0..BYTES.len())],
        2 => {
            let number = INTEGERS[rng.random_range(0..INTEGERS.len())].to_le_bytes();
            let width = [2, 4, 8][rng.random_range(0..3)].min(bytes.len() - at);
            bytes[at..at + width].copy_from_slice(&number[..width]);
        }
        3 => drop(bytes.drain(at..at + n)),
        4 => {
            let copy = bytes[at..at + n].to_vec();
            let to = rng.random_range(0..=bytes.len());
            bytes.splice(to..to, copy);
        }
        5 => bytes.truncate(at),
        6 => {
            let other = &target.seeds[rng.random_range(0..target.seeds.len())];
            let from = rng.random_range(0..=other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
        7 => replace_number(bytes, at, rng),
        _ => {
            let byte = BYTES[rng.random_range(0..BYTES.len())];
            let many = if rng.random_bool(0.1) { 5000 } else { 1 };
            bytes.splice(at..at, std::iter::repeat_n(byte, many));
        }
    }
}

/// Replaces the first number after a position by another one.
fn replace_number(bytes: &mut Vec<u8>, at: usize, rng: &mut Stream) {
    let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|i| at + i) else { return };
    let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = NUMBERS[rng.random_range(0..NUMBERS.len())];
    bytes.splice(start..start + length, number.bytes());
}
