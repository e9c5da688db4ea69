use super::{rows::adaptive_sum, *};
use senv_base::{Error, Rows};
use senv_kernels::Table;

/// The result of every rank.
fn on_ranks<T: Send>(n: usize, work: impl Fn(&ThreadRank) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = ThreadRank::of(n).into_iter().map(|rank| scope.spawn(|| work(&{ rank }))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Rows of which those below `n_same` change in the same way on every rank, and each other row on one rank only.
fn table(rank: Option<usize>, n_rows: usize, n_same: usize) -> Table {
    let mut table = Table::zeros(n_rows, 5).unwrap();
    for i in 0..n_rows {
        let by = match rank {
            None => 0.0,
            Some(_) if i < n_same => 0.5,
            Some(rank) => f32::from(u8::from(i % 3 == rank)),
        };
        table.row_mut(i).iter_mut().zip(0u8..).for_each(|(x, j)| *x = f32::from(j) - 1.0 + by);
    }
    table
}

#[test]
fn moves_in_one_direction_give_their_mean_and_orthogonal_ones_their_sum() {
    let sum = |moves: &[&[f64]]| adaptive_sum(&mut moves.iter().map(|m| m.to_vec()).collect::<Vec<_>>()).to_vec();
    assert_eq!(sum(&[&[2.0, 4.0], &[2.0, 4.0]]), [2.0, 4.0]);
    assert_eq!(sum(&[&[2.0, 4.0], &[4.0, 8.0]]), [3.0, 6.0]);
    assert_eq!(sum(&[&[2.0, 0.0], &[0.0, 3.0]]), [2.0, 3.0]);
    assert_eq!(sum(&[&[0.0, 0.0], &[0.5, 3.0]]), [0.5, 3.0]);
    assert_eq!(sum(&[&[0.0], &[0.0], &[0.0]]), [0.0]);
    // A third change is added to the sum of two: 1 - 2 / (2 * 2) and 1 - 2 / (2 * 4) of them.
    assert_eq!(sum(&[&[1.0, 0.0], &[0.0, 1.0], &[2.0, 0.0]]), [0.5 + 1.5, 0.5]);
}

#[test]
fn all_ranks_have_the_same_rows_afterwards_and_rows_behind_stay() {
    // With 60,000 rows a rank gets several stretches.
    for (n_rows, n) in [(7, 7), (100, 40), (600_000, 600_000)] {
        let tables = on_ranks(3, |rank| {
            let mut before = table(None, n_rows, 4);
            let mut table = table(Some(rank.rank()), n_rows, 4);
            let sent = combine_rows(rank, &mut table, &mut before, n).unwrap();
            (table, before, sent)
        });
        let stride = tables[0].0.stride();
        let all: u64 = tables.iter().map(|(.., sent)| sent).sum();
        assert_eq!(all, (2 * 2 * n * stride * 4) as u64, "{n_rows}");
        for (rank, (got, before, _)) in tables.iter().enumerate() {
            for i in 0..n_rows {
                let by = if i < 4 { 0.5 } else { 1.0 };
                let expected: Vec<f32> = (0u8..5).map(|j| f32::from(j) - 1.0 + by).collect();
                if i < n {
                    assert_eq!((got.row(i), before.row(i)), (&expected[..], &expected[..]), "{i}");
                } else {
                    assert_eq!(got.row(i), table(Some(rank), n_rows, 4).row(i), "{i}");
                }
            }
        }
    }
}

#[test]
fn one_rank_keeps_its_bits() {
    let rank = ThreadRank::of(1).pop().unwrap();
    let (mut moved, mut before) = (table(Some(0), 9, 4), table(None, 9, 4));
    assert_eq!(combine_rows(&rank, &mut moved, &mut before, 9).unwrap(), 0);
    assert_eq!(moved.values(), table(Some(0), 9, 4).values());
}

#[test]
fn what_ranks_give_is_gathered_in_their_order() {
    let gathered = on_ranks(4, |rank| gather(rank, &vec![rank.rank() as u8; 2 * rank.rank()]).unwrap());
    assert!(gathered.iter().all(|all| *all == [vec![], vec![1; 2], vec![2; 4], vec![3; 6]]));
    let sums = on_ranks(3, |rank| sum(rank, [0.1 * (rank.rank() + 1) as f64, 1.0]).unwrap());
    assert!(sums.iter().all(|sums| *sums == [0.1 + 0.2 + 0.1 * 3.0, 3.0]));
}

#[test]
fn a_rank_that_ends_is_an_error_for_the_others() {
    let results = on_ranks(3, |rank| if rank.rank() == 1 { Ok([0.0]) } else { sum(rank, [1.0]) });
    assert!(matches!(results[0], Err(Error::Rank { .. })) && matches!(results[2], Err(Error::Rank { .. })));
    let lengths =
        on_ranks(2, |rank| rank.exchange(1 - rank.rank(), &[0; 3][rank.rank()..], 1 - rank.rank(), &mut [0; 3]));
    assert!(lengths[1].is_ok(), "{lengths:?}");
    assert!(matches!(&lengths[0], Err(Error::Rank { rank: 1, reason }) if reason.contains("2 bytes")), "{lengths:?}");
}
