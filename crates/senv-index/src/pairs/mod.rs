//! Pairs of rows: those that are near to each other, among millions.

mod compare;
mod duplicates;
mod heads;
mod nearest;

pub use self::{
    duplicates::{Duplicate, duplicates},
    nearest::{Pair, PairSearch, nearest_pairs},
};

#[cfg(test)]
mod tests;
