//! Nearest rows, compared with a plain search in f64.

use proptest::prelude::*;
use rand::RngExt;
use senv_core::{Rows, Table};
use senv_store::{Error, NearestIndex, Neighbour};

fn random(n: usize, dim: usize, seed: u64) -> Table {
    let mut rng = senv_core::rng::stream(seed, "nearest-test", &[]);
    let mut table = Table::zeros(n, dim).unwrap();
    (0..n).for_each(|i| table.row_mut(i).iter_mut().for_each(|x| *x = rng.random_range(-1.0..1.0)));
    table
}

fn cosine(u: &[f32], v: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum::<f64>();
    dot(u, v) / (dot(u, u) * dot(v, v)).sqrt()
}

fn found(neighbours: &[Neighbour]) -> Vec<usize> {
    neighbours.iter().map(|n| n.row).collect()
}

#[test]
fn the_rows_are_those_of_a_plain_search() {
    for (n, dim) in [(1, 1), (5, 3), (255, 7), (257, 16), (3000, 50)] {
        let (table, queries) = (random(n, dim, 1), random(9, dim, 2));
        let index = NearestIndex::new(&table);
        for query in queries.iter() {
            let mut all: Vec<(f64, usize)> = table.iter().map(|row| cosine(query, row)).zip(0..).collect();
            all.sort_by(|a, b| b.0.total_cmp(&a.0));
            let nearest = index.nearest(query, 10).unwrap();
            assert_eq!(nearest.len(), n.min(10));
            for (i, neighbour) in nearest.iter().enumerate() {
                // Rows whose cosines differ by less than f32 resolves may swap.
                assert!((f64::from(neighbour.cosine) - all[i].0).abs() < 1e-6);
                assert!((cosine(query, table.row(neighbour.row)) - all[i].0).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn results_are_the_same_at_any_number_of_threads_alone_or_in_a_batch() {
    let (table, queries) = (random(2000, 33, 3), random(150, 33, 4));
    let queries: Vec<&[f32]> = queries.iter().collect();
    let index = NearestIndex::new(&table);
    let bits = |found: &[Vec<Neighbour>]| -> Vec<Vec<(usize, u32)>> {
        found.iter().map(|f| f.iter().map(|n| (n.row, n.cosine.to_bits())).collect()).collect()
    };
    let expected = bits(&index.nearest_batch(&queries, 7).unwrap());
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let index = NearestIndex::new(&table);
            assert_eq!(bits(&index.nearest_batch(&queries, 7).unwrap()), expected);
            let one_by_one: Vec<_> = queries.iter().map(|query| index.nearest(query, 7).unwrap()).collect();
            assert_eq!(bits(&one_by_one), expected);
            assert_eq!(bits(&index.nearest_batch(&queries[..2], 7).unwrap()), expected[..2]);
        });
    }
}

#[test]
fn equal_cosines_come_by_row_and_zero_or_broken_rows_never() {
    let mut values = Vec::new();
    for i in 0..1000 {
        values.extend(match i % 5 {
            0 => [2.0, 0.0],
            1 => [0.0, 0.0],
            2 => [f32::NAN, 1.0],
            3 => [0.0, -1.0],
            _ => [f32::INFINITY, 1.0],
        });
    }
    let table = Table::from_vec(1000, 2, values).unwrap();
    let index = NearestIndex::new(&table);
    let nearest = index.nearest(&[1e30, 0.0], 203).unwrap();
    let expected: Vec<usize> = (0..200).map(|i| 5 * i).chain([3, 8, 13]).collect();
    assert_eq!(found(&nearest), expected);
    assert_eq!((nearest[0].cosine, nearest[202].cosine), (1.0, 0.0));
    assert_eq!(index.nearest(&[1.0, 1.0], usize::MAX).unwrap().len(), 400);
}

#[test]
fn queries_without_a_direction_find_nothing_and_broken_ones_are_errors() {
    let table = random(10, 3, 5);
    let index = NearestIndex::new(&table);
    assert!(index.nearest(&[0.0; 3], 5).unwrap().is_empty());
    let mixed = index.nearest_batch(&[&[0.0; 3], &[1.0; 3]], 5).unwrap();
    assert_eq!((mixed[0].len(), mixed[1].len()), (0, 5));
    assert!(index.nearest(&[1.0; 3], 0).unwrap().is_empty());
    assert!(index.nearest_batch(&[], 5).unwrap().is_empty());
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert!(matches!(
            index.nearest(&[1.0, bad, 0.0], 1),
            Err(Error::Core(senv_core::Error::InvalidParameter { .. }))
        ));
    }
    let short = index.nearest(&[1.0; 2], 1);
    assert!(matches!(short, Err(Error::Core(senv_core::Error::ShapeMismatch { expected: 3, got: 2, .. }))));
    let none = Table::zeros(0, 3).unwrap();
    assert!(NearestIndex::new(&none).nearest(&[1.0; 3], 1).unwrap().is_empty());
}

#[test]
fn rows_can_be_left_out_and_any_rows_be_searched() {
    let table = random(500, 8, 6);
    let rows: &dyn Rows = &table;
    let index = NearestIndex::new(rows);
    assert_eq!(index.nearest(table.row(77), 1).unwrap()[0].row, 77);
    let others = index.nearest_where(table.row(77), 3, |row| row != 77).unwrap();
    assert_eq!(found(&others), found(&index.nearest(table.row(77), 4).unwrap())[1..]);
    let queries: Vec<&[f32]> = table.iter().take(200).collect();
    let each = index.nearest_batch_where(&queries, 1, |query, row| query != row).unwrap();
    assert!(each.iter().enumerate().all(|(i, found)| found.len() == 1 && found[0].row != i));
}

#[test]
fn sizes_far_from_one_do_not_disturb_the_cosine() {
    let table = Table::from_vec(4, 2, vec![1e38, 1e38, 1e-11, 0.0, -1e30, 1e30, 3e-13, 0.0]).unwrap();
    let nearest = NearestIndex::new(&table).nearest(&[3e38, 0.0], 4).unwrap();
    assert_eq!(found(&nearest), [1, 0, 2], "the last row counts as zero");
    for (neighbour, expected) in nearest.iter().zip([1.0, 0.5f32.sqrt(), -(0.5f32.sqrt())]) {
        assert!((neighbour.cosine - expected).abs() < 1e-6, "{neighbour:?}");
    }
}

proptest! {
    #[test]
    fn rotating_scaling_and_permuting_change_nothing_but_the_row_numbers(
        values in prop::collection::vec(-1.0f32..1.0, 40),
        query in prop::collection::vec(0.1f32..1.0, 4),
        power in -20i32..20,
        turn in 1usize..9,
    ) {
        let table = Table::from_vec(10, 4, values.clone()).unwrap();
        let nearest = NearestIndex::new(&table).nearest(&query, 10).unwrap();
        prop_assert!(nearest.iter().all(|n| (-1.0..=1.0).contains(&n.cosine)));
        prop_assert!(nearest.windows(2).all(|w| w[0].cosine >= w[1].cosine));
        // A power of two is exact, so every bit stays.
        let scaled: Vec<f32> = query.iter().map(|x| x * 2f32.powi(power)).collect();
        prop_assert_eq!(&NearestIndex::new(&table).nearest(&scaled, 10).unwrap(), &nearest);
        let mut turned = values;
        turned.rotate_left(4 * turn);
        let turned = Table::from_vec(10, 4, turned).unwrap();
        let mut again = NearestIndex::new(&turned).nearest(&query, 10).unwrap();
        again.iter_mut().for_each(|n| n.row = (n.row + turn) % 10);
        let mut by_row = nearest;
        again.sort_by_key(|n| n.row);
        by_row.sort_by_key(|n| n.row);
        prop_assert_eq!(again, by_row);
    }
}
