//! The ids of the rows of a segment.

use std::{cmp::Ordering, path::Path};

use senv_core::{ModelFile, ModelWriter};

use super::{
    row_ids::{IdRef, RowIds, id_hash},
    texts::{Names, Texts},
};
use crate::{
    Error, Id, IdKind, Result,
    checks::Checked,
    file::{Tensors, checked, damaged, shaped},
    values::{Values, tensor},
};

/// The metadata key for the id of the first row, in a file with consecutive ids.
const FIRST_ID: &str = "index.first_id";
const IDS: &str = "ids";
const ORDER: &str = "ids.order";
const HASHES: &str = "ids.hashes";
const TEXTS: Names = ["ids.text", "ids.offsets"];

/// The ids of the rows.
#[derive(Debug)]
pub(super) enum SegmentIds {
    /// Row i has this id plus i.
    From(u64),
    Listed {
        ids: Values<u64>,
        /// The rows in order of ascending id.
        order: Values<u32>,
        checks: Box<[Checked; 2]>,
    },
    Texts {
        texts: Texts,
        /// The hashes of the ids, in ascending order.
        hashes: Values<u64>,
        /// Their rows; those of equal hashes in order of ascending id.
        order: Values<u32>,
        checks: Box<[Checked; 2]>,
    },
}

impl SegmentIds {
    /// Adds the ids of rows to a file.
    pub(super) fn write<'a>(ids: &RowIds, to: &mut Tensors, writer: ModelWriter<'a>) -> ModelWriter<'a> {
        match ids {
            RowIds::Numbers(ids) if ids.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1])) => {
                writer.metadata(FIRST_ID, &ids.first().copied().unwrap_or(0).to_string())
            }
            RowIds::Numbers(ids) => {
                let mut order: Vec<u32> = (0..ids.len() as u32).collect();
                order.sort_unstable_by_key(|&row| ids[row as usize]);
                to.add_checked(IDS, tensor("U64", ids));
                to.add_checked(ORDER, tensor("U32", &order));
                writer
            }
            RowIds::Texts(ids) => {
                let mut order: Vec<(u64, u32)> =
                    ids.iter().zip(0..).map(|(id, row)| (id_hash(id.as_bytes()), row)).collect();
                order.sort_unstable_by(|a, b| {
                    a.0.cmp(&b.0).then_with(|| ids[a.1 as usize].cmp(&ids[b.1 as usize])) // equal hashes are rare
                });
                let (hashes, rows): (Vec<u64>, Vec<u32>) = order.into_iter().unzip();
                Texts::write(TEXTS, ids.iter().map(String::as_str), to);
                to.add_checked(HASHES, tensor("U64", &hashes));
                to.add_checked(ORDER, tensor("U32", &rows));
                writer
            }
        }
    }

    /// Reads the ids of so many rows, which are of this kind.
    pub(super) fn open(file: &ModelFile, path: &Path, kind: IdKind, rows: usize) -> Result<Self> {
        let numbers = |name: &'static str| {
            let tensor = shaped(file, path, name, "U64", &[rows])?;
            Ok::<_, Error>((checked(file, path, name, &tensor)?, Values::from_file(path, name, tensor.bytes)?))
        };
        let order = || {
            let tensor = shaped(file, path, ORDER, "U32", &[rows])?;
            Ok::<_, Error>((checked(file, path, ORDER, &tensor)?, Values::from_file(path, ORDER, tensor.bytes)?))
        };
        if kind == IdKind::Texts {
            let ((hash_checks, hashes), (order_checks, order)) = (numbers(HASHES)?, order()?);
            let texts = Texts::open(file, path, TEXTS, rows)?;
            return Ok(Self::Texts { texts, hashes, order, checks: Box::new([hash_checks, order_checks]) });
        }
        if let Some(first) = file.metadata().get(FIRST_ID) {
            return match first.parse::<u64>() {
                Ok(first) if first.checked_add((rows as u64).saturating_sub(1)).is_some() => Ok(Self::From(first)),
                _ => Err(damaged(path, IDS, format!("the first id is {first:?}"))),
            };
        }
        let ((id_checks, ids), (order_checks, order)) = (numbers(IDS)?, order()?);
        Ok(Self::Listed { ids, order, checks: Box::new([id_checks, order_checks]) })
    }

    /// The id of an existing row.
    pub(super) fn id(&self, path: &Path, row: usize) -> Result<Id> {
        Ok(match self {
            Self::From(first) => Id::Number(first + row as u64),
            Self::Listed { ids, checks, .. } => {
                checks[0].check(row * 8..row * 8 + 8)?;
                Id::Number(ids.as_slice()[row])
            }
            Self::Texts { texts, .. } => Id::Text(texts.text(path, row)?),
        })
    }

    /// The row of an id, deleted or not, among so many rows.
    pub(super) fn row_of(&self, path: &Path, id: IdRef<'_>, rows: usize) -> Result<Option<usize>> {
        match (self, id) {
            (Self::From(first), IdRef::Number(id)) => {
                Ok(id.checked_sub(*first).filter(|&row| row < rows as u64).map(|row| row as usize))
            }
            (Self::Listed { ids, order, checks }, IdRef::Number(id)) => {
                checks.iter().try_for_each(Checked::all)?;
                let (ids, order) = (ids.as_slice(), order.as_slice());
                let id_of = |row: &u32| ids.get(*row as usize).copied().unwrap_or(u64::MAX);
                let place = order.partition_point(|row| id_of(row) < id);
                let row = order.get(place).map(|&row| row as usize);
                Ok(row.filter(|&row| ids.get(row) == Some(&id)))
            }
            (Self::Texts { texts, hashes, order, checks }, IdRef::Text { text, hash }) => {
                checks.iter().try_for_each(Checked::all)?;
                let (hashes, order) = (hashes.as_slice(), order.as_slice());
                let mut start = first_of(hashes, hash);
                if hashes.get(start) != Some(&hash) {
                    return Ok(None);
                }
                // Nearly always one.
                let mut end = match hashes.get(start + 1) == Some(&hash) {
                    true => start + hashes[start..].partition_point(|&other| other == hash),
                    false => start + 1,
                };
                while start < end {
                    let middle = start + (end - start) / 2;
                    let row = order[middle] as usize;
                    if row >= rows {
                        return Err(damaged(path, ORDER, format!("there is no row {row}")));
                    }
                    match texts.bytes(path, row)?.cmp(text.as_bytes()) {
                        Ordering::Equal => return Ok(Some(row)),
                        Ordering::Less => start = middle + 1,
                        Ordering::Greater => end = middle,
                    }
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Compares the ids of so many rows with their checksums and with their order.
    pub(super) fn verify(&self, path: &Path, rows: usize) -> Result<()> {
        let unsorted = || damaged(path, ORDER, "it does not sort the ids".into());
        match self {
            Self::From(_) => {}
            Self::Listed { ids, order, checks } => {
                checks.iter().try_for_each(Checked::all)?;
                let (ids, order) = (ids.as_slice(), order.as_slice());
                let sorted: Option<Vec<u64>> = order.iter().map(|&row| ids.get(row as usize).copied()).collect();
                if !sorted.is_some_and(|sorted| sorted.windows(2).all(|pair| pair[0] < pair[1])) {
                    return Err(unsorted());
                }
            }
            Self::Texts { texts, hashes, order, checks } => {
                checks.iter().try_for_each(Checked::all)?;
                texts.verify(path, rows)?;
                let mut last: Option<(u64, &[u8])> = None;
                for (&hash, &row) in hashes.as_slice().iter().zip(order.as_slice()) {
                    if row as usize >= rows {
                        return Err(unsorted());
                    }
                    let text = texts.bytes(path, row as usize)?;
                    if text.is_empty() || text.len() > Id::MAX_BYTES {
                        let reason = format!("the id of row {row} has {} bytes", text.len());
                        return Err(damaged(path, TEXTS[0], reason));
                    }
                    if hash != id_hash(text) || last.is_some_and(|last| last >= (hash, text)) {
                        return Err(unsorted());
                    }
                    last = Some((hash, text));
                }
            }
        }
        Ok(())
    }
}

/// The place of the first of ascending hashes that is not below this one. Hashes are spread evenly, so the search
/// starts where this one is expected, and reads a few pages of the file.
fn first_of(hashes: &[u64], hash: u64) -> usize {
    let n = hashes.len();
    let expected = ((u128::from(hash) * n as u128) >> 64) as usize;
    let mut reach = 64;
    loop {
        let (start, end) = (expected.saturating_sub(reach), expected.saturating_add(reach).min(n));
        if (start == 0 || hashes[start - 1] < hash) && (end == n || hashes[end] >= hash) {
            return start + hashes[start..end].partition_point(|&other| other < hash);
        }
        reach = reach.saturating_mul(4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_found_wherever_it_stands_and_however_hashes_are_spread() {
        let even: Vec<u64> = (0..5000).map(|i| i * (u64::MAX / 5000) + i % 7).collect();
        let uneven: Vec<u64> = (0..3000).chain([u64::MAX - 5, u64::MAX - 5, u64::MAX]).collect();
        for hashes in [&even[..], &uneven, &[], &[7], &[u64::MAX; 300], &[0; 300]] {
            let around = hashes.iter().flat_map(|&hash| [hash.saturating_sub(1), hash, hash.saturating_add(1)]);
            for hash in around.chain([0, 1 << 63, u64::MAX]) {
                assert_eq!(first_of(hashes, hash), hashes.partition_point(|&other| other < hash), "{hash}");
            }
        }
    }
}
