//! Pairs of near rows among millions.

mod compare;
mod counterparts;
mod density;
mod diverse;
mod duplicates;
mod heads;
mod int8;
mod nearest;
mod neighbours;
mod sign_neighbours;
mod signs;

pub(crate) use self::density::by_density;
pub use self::{
    compare::EQUAL_COSINE,
    counterparts::{counterparts, counterparts_where},
    diverse::diverse_rows,
    duplicates::{Duplicate, DuplicatesApart, duplicates, duplicates_where},
    nearest::{Pair, PairSearch, nearest_pairs, nearest_pairs_where},
    neighbours::{COMPARED_UP_TO, for_nearest_others, for_neighbours, for_neighbours_in},
};

#[cfg(test)]
mod tests;
