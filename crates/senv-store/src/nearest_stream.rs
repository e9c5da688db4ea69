//! Nearest-neighbour search over rows that arrive in parts, as they are read or computed.

use std::collections::{HashMap, HashSet, hash_map::Entry};

use senv_core::{Error as CoreError, Rows};

use crate::{Error, NearestIndex, Neighbour, nearest::Best};

/// A search over rows that are not in memory at the same time. It takes them part by part, and keeps an item (a
/// sentence, for example) for each of the `k` rows nearest to each query so far.
///
/// The result is that of a [`NearestIndex`] of all rows, wherever the parts end. Memory is that of one part plus O(qk)
/// for q queries; an item that several queries find is stored once.
///
/// ```
/// use senv_core::Table;
/// use senv_store::NearestStream;
/// let mut search = NearestStream::new(&[&[0.0, 5.0]], 2);
/// for (words, values) in [(["cat", "dog"], vec![1.0, 0.0, 0.0, 2.0]), (["sun", "sea"], vec![3.0, 4.0, 4.0, 3.0])] {
///     search.add(Table::from_vec(2, 2, values)?, |row| Ok::<_, senv_store::Error>(words[row]))?;
/// }
/// let (found, words) = search.finish();
/// let found: Vec<_> = found[0].iter().map(|near| (near.row, words[&near.row])).collect();
/// assert_eq!(found, [(1, "dog"), (2, "sun")]);
/// # Ok::<(), senv_store::Error>(())
/// ```
#[derive(Debug)]
pub struct NearestStream<'q, T> {
    queries: Vec<&'q [f32]>,
    k: usize,
    best: Vec<Best>,
    /// The items of the rows that are in one of `best`.
    items: HashMap<usize, T>,
    n_rows: usize,
}

impl<'q, T> NearestStream<'q, T> {
    /// Creates a search for these queries, without rows.
    #[must_use]
    pub fn new(queries: &[&'q [f32]], k: usize) -> Self {
        let best = vec![Best::new(k); queries.len()];
        Self { queries: queries.to_vec(), k, best, items: HashMap::new(), n_rows: 0 }
    }

    /// Searches the next rows. `item` creates the item of a row from its index in this part.
    ///
    /// # Errors
    /// The errors of [`NearestIndex::nearest`] and of `item`; [`CoreError::OutOfMemory`].
    pub fn add<E: From<Error>>(
        &mut self,
        rows: impl Rows,
        mut item: impl FnMut(usize) -> Result<T, E>,
    ) -> Result<(), E> {
        let first = self.n_rows;
        self.n_rows += rows.n_rows();
        let found = NearestIndex::new(rows).nearest_batch(&self.queries, self.k)?;
        for (best, found) in self.best.iter_mut().zip(found) {
            for near in found {
                let neighbour = Neighbour { row: first + near.row, cosine: near.cosine };
                // Nearest first: if this one is too far, so are the others.
                if !best.wants(&neighbour) {
                    break;
                }
                let bytes = (size_of::<T>() + size_of::<Neighbour>()) as u64;
                let out_of_memory = |_| Error::from(CoreError::OutOfMemory { what: "the nearest rows", bytes });
                self.items.try_reserve(1).and_then(|()| best.try_reserve()).map_err(out_of_memory)?;
                if let Entry::Vacant(place) = self.items.entry(neighbour.row) {
                    place.insert(item(near.row)?);
                }
                best.push(neighbour);
            }
        }
        let kept: HashSet<usize> = self.best.iter().flat_map(Best::rows).collect();
        self.items.retain(|row, _| kept.contains(row));
        Ok(())
    }

    /// The items of the rows that are among the nearest so far, in no particular order.
    ///
    /// A later row ranks after an earlier one with the same cosine, so a row that was dropped never returns. While a
    /// row is kept, later rows equal to it can be left out and counted with it.
    pub fn items_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.values_mut()
    }

    /// The nearest rows of each query, nearest first, numbered from the first row added; and their items.
    #[must_use]
    pub fn finish(self) -> (Vec<Vec<Neighbour>>, HashMap<usize, T>) {
        (self.best.into_iter().map(Best::into_sorted).collect(), self.items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::Table;

    const QUERIES: [&[f32]; 3] = [&[1.0, 0.2], &[-0.3, 1.0], &[0.0, 0.0]];

    /// Vectors that occur several times, one of them zero.
    fn rows() -> Vec<[f32; 2]> {
        (0..60).map(|i| [((i * 37) % 11) as f32 - 5.0, ((i * 17) % 7) as f32 - 3.0]).collect()
    }

    fn table(rows: &[[f32; 2]]) -> Table {
        Table::from_vec(rows.len(), 2, rows.concat()).unwrap()
    }

    #[test]
    fn the_nearest_of_parts_are_the_nearest_of_all() {
        let rows = rows();
        for k in [0, 1, 7, 100] {
            let all = NearestIndex::new(table(&rows)).nearest_batch(&QUERIES, k).unwrap();
            for part in 1..60 {
                let mut search = NearestStream::new(&QUERIES, k);
                for (number, part_rows) in rows.chunks(part).enumerate() {
                    let item = |row| Ok::<_, Error>(number * part + row);
                    search.add(table(part_rows), item).unwrap();
                    assert!(search.items.len() <= 2 * k, "items of rows that are no longer near are dropped");
                }
                let (found, items) = search.finish();
                assert_eq!(found, all, "{k} of parts of {part}");
                assert!(found.iter().flatten().all(|near| items[&near.row] == near.row));
            }
        }
    }

    #[test]
    fn the_first_of_equals_wins_and_errors_come_out() {
        let mut search = NearestStream::new(&QUERIES[..1], 1);
        for item in ["first", "second"] {
            search.add(table(&[[2.0, 1.0]]), |_| Ok::<_, Error>(item)).unwrap();
        }
        assert_eq!(search.finish().1[&0], "first");
        let mut search = NearestStream::<()>::new(&QUERIES, 1);
        search.add(Table::from_vec(1, 3, vec![1.0; 3]).unwrap(), |_| Ok::<_, Error>(())).unwrap_err();
        let bad = || Error::from(CoreError::InvalidParameter { name: "item", requirement: "fine", got: "bad".into() });
        let error = search.add(table(&[[1.0, 1.0]]), |_| Err(bad())).unwrap_err();
        assert!(error.to_string().contains("item must be fine"), "{error}");
    }
}
