//! Tests with known groups and externally computed values.

use rand::Rng;
use senv_core::{Rows, Table, kernels, rng::stream};

use super::*;

/// Rows around several directions; every 50th row is zero.
fn table(n: usize, dim: usize, n_groups: usize, noise: f32) -> (Table, Vec<usize>) {
    let mut stream = stream(5, "test", &[n as u64, dim as u64]);
    let mut next = || (stream.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0;
    let centres: Vec<f32> = (0..n_groups * dim).map(|_| next()).collect();
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for i in 0..n {
        let group = i * 31 % n_groups;
        let length = if i % 50 == 49 { 0.0 } else { 0.5 + (i % 4) as f32 };
        values.extend(centres[group * dim..][..dim].iter().map(|x| length * (x + noise * next())));
        labels.push(group);
    }
    (Table::from_vec(n, dim, values).unwrap(), labels)
}

/// Whether two divisions are equal up to numbering; rows of zeros are in no group.
fn is_same(found: &[Option<u32>], labels: &[usize]) -> bool {
    let mut number = std::collections::HashMap::new();
    let mut taken = std::collections::HashSet::new();
    found.iter().zip(labels).enumerate().all(|(i, (found, label))| match found {
        None => i % 50 == 49,
        Some(found) => {
            *number.entry(*found).or_insert_with(|| if taken.insert(label) { *label } else { usize::MAX }) == *label
        }
    })
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn groups_that_are_apart_are_found_at_any_number_of_threads() {
    let (rows, labels) = table(3000, 24, 12, 0.3);
    let groups = on_threads(1, || k_means(&rows, &KMeansParams::new(12), |_| {})).unwrap();
    assert!(is_same(&groups.group_of, &labels));
    let same = |a: &Groups, b: &Groups| {
        a.group_of == b.group_of && a.cosines == b.cosines && a.centroids.iter().eq(b.centroids.iter())
    };
    assert!(same(&on_threads(3, || k_means(&rows, &KMeansParams::new(12), |_| {})).unwrap(), &groups));
    let sizes = groups.sizes();
    assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes.iter().sum::<usize>() == 2940);
    for (row, &group) in groups.group_of.iter().enumerate() {
        let Some(group) = group else { continue };
        let cosine = |group: usize| kernels::cosine(rows.row(row), groups.centroids.row(group));
        assert!((groups.cosines[row] - cosine(group as usize)).abs() < 1e-5);
        assert!((0..12).all(|other| cosine(other) <= groups.cosines[row] + 1e-5));
    }
    let found = group_count(&rows, 1, |_| {}).unwrap();
    assert!((11..=13).contains(&found.n_groups) && found.silhouette > 0.5, "{found:?}");
    let again = assign_groups(&rows, groups.centroids.clone(), -1.0).unwrap();
    assert!(same(&again, &groups));
    assert_eq!(assign_groups(&rows, groups.centroids.clone(), 1.0).unwrap().sizes().iter().sum::<usize>(), 0);
    let near = on_threads(1, || communities(&rows, 0.8, 5, |_| {})).unwrap();
    assert!(is_same(&near.group_of, &labels));
    assert!(same(&on_threads(3, || communities(&rows, 0.8, 5, |_| {})).unwrap(), &near));
}

#[test]
fn communities_are_those_of_the_rule() {
    let (rows, _) = table(800, 16, 60, 0.8);
    for (threshold, min_size) in [(0.6, 1), (0.75, 3), (-1.0, 1), (1.0, 1)] {
        let near = |a: usize, b: usize| kernels::cosine(rows.row(a), rows.row(b)) >= threshold;
        let nonzero: Vec<usize> = (0..800).filter(|i| i % 50 != 49).collect();
        let count = |&a: &usize| nonzero.iter().filter(|&&b| b != a && near(a, b)).count();
        let mut order = nonzero.clone();
        order.sort_by_cached_key(|a| std::cmp::Reverse(count(a)));
        let mut centre: Vec<Option<usize>> = vec![None; 800];
        let mut centres: Vec<usize> = Vec::new();
        for &row in &order {
            let of = centres.iter().copied().find(|&of| near(of, row));
            if of.is_none() {
                centres.push(row);
            }
            centre[row] = of.or(Some(row));
        }
        let size = |of: usize| centre.iter().filter(|&&centre| centre == Some(of)).count();
        let expected: Vec<Option<usize>> = centre.iter().map(|of| of.filter(|&of| size(of) >= min_size)).collect();
        let found = communities(&rows, threshold, min_size, |_| {}).unwrap();
        let mut number = std::collections::HashMap::new();
        for (row, (found, expected)) in found.group_of.iter().zip(&expected).enumerate() {
            assert_eq!(found.is_some(), expected.is_some(), "{threshold} {min_size} {row}");
            if let (Some(found), Some(expected)) = (found, expected) {
                assert_eq!(number.entry(*found).or_insert(*expected), expected, "{threshold} {min_size} {row}");
            }
        }
        assert!(found.sizes().is_sorted_by(|a, b| a >= b));
    }
}

#[test]
fn counted_rows_are_grouped_like_repeated_ones() {
    let (rows, _) = table(400, 16, 30, 0.8);
    let counts: Vec<u32> = (0..400).map(|row| [1, 1, 3, 1, 9][row % 5]).collect();
    let repeated: Vec<usize> = (0..400).flat_map(|row| vec![row; counts[row] as usize]).collect();
    let values = repeated.iter().flat_map(|&row| rows.row(row)[..16].to_vec()).collect();
    let all = Table::from_vec(repeated.len(), 16, values).unwrap();
    for (threshold, min_size) in [(0.6, 1), (0.75, 9), (0.9, 3), (-1.0, 1)] {
        let expected = communities(&all, threshold, min_size, |_| {}).unwrap();
        let found = counted_communities(&rows, &counts, threshold, min_size, |_| {}).unwrap();
        let of_repeated: Vec<Option<u32>> = repeated.iter().map(|&row| found.group_of[row]).collect();
        assert_eq!(of_repeated, expected.group_of, "{threshold} {min_size}");
    }
    let ones = counted_communities(&rows, &[1; 400], 0.75, 3, |_| {}).unwrap();
    assert_eq!(ones.group_of, communities(&rows, 0.75, 3, |_| {}).unwrap().group_of);
    assert!(counted_communities(&rows, &[1; 399], 0.75, 3, |_| {}).is_err());
}

#[test]
fn rows_that_occur_several_times_count_by_their_number_in_k_means() {
    let (rows, _) = table(400, 16, 30, 0.8);
    let params = KMeansParams { starts: Some(1), ..KMeansParams::new(7) };
    let once = counted_k_means(&rows, &[1; 400], &params, |_| {}).unwrap();
    let plain = k_means(&rows, &params, |_| {}).unwrap();
    assert!(once.group_of == plain.group_of && once.centroids.iter().eq(plain.centroids.iter()));
    assert_eq!(counted_group_count(&rows, &[1; 400], 1, |_| {}).unwrap(), group_count(&rows, 1, |_| {}).unwrap());

    let counts: Vec<u32> = (0..400).map(|row| [1, 1, 3, 1, 40][row % 5]).collect();
    let found = counted_k_means(&rows, &counts, &params, |_| {}).unwrap();
    let repeated: Vec<usize> = (0..400).flat_map(|row| vec![row; counts[row] as usize]).collect();
    let values = repeated.iter().flat_map(|&row| rows.row(row)[..16].to_vec()).collect();
    let all = Table::from_vec(repeated.len(), 16, values).unwrap();
    let of_all: Vec<Option<u32>> = repeated.iter().map(|&row| found.group_of[row]).collect();
    // Each centroid is the mean direction of all occurrences, and groups are ordered by them.
    let mut sums = vec![vec![0_f64; 16]; 7];
    let mut sizes = vec![0; 7];
    for (&row, group) in repeated.iter().zip(&of_all).filter_map(|(row, group)| Some((row, (*group)? as usize))) {
        let norm = f64::from(kernels::norm(rows.row(row)));
        sums[group].iter_mut().zip(rows.row(row)).for_each(|(sum, &x)| *sum += f64::from(x) / norm);
        sizes[group] += 1;
    }
    assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes.iter().sum::<usize>() > 3000, "{sizes:?}");
    for (centroid, sum) in found.centroids.iter().zip(&sums) {
        let sum: Vec<f32> = sum.iter().map(|&x| x as f32).collect();
        assert!(kernels::cosine(&centroid[..16], &sum) > 0.9999);
    }
    let silhouette = counted_silhouette(&rows, &counts, &found.group_of).unwrap().unwrap();
    let expected = cosine_silhouette(&all, &of_all).unwrap();
    assert!((silhouette - expected).abs() < 1e-6, "{silhouette} {expected}");
    for counts in [&counts[..399], &[]] {
        assert!(counted_k_means(&rows, counts, &params, |_| {}).is_err());
        assert!(counted_group_count(&rows, counts, 1, |_| {}).is_err());
        assert!(counted_silhouette(&rows, counts, &found.group_of).is_err());
    }
}

#[test]
fn the_silhouette_is_that_of_scikit_learn() {
    // sklearn.metrics.silhouette_score(X, [0, 0, 1, 1, 1, 2], metric="cosine"), scikit-learn 1.9.1.
    let rows = Table::from_vec(6, 2, vec![1.0, 0.0, 2.0, 0.5, 0.0, 1.0, 0.2, 3.0, -0.5, 1.0, -1.0, -1.0]).unwrap();
    let groups = [0, 0, 1, 1, 1, 2].map(Some);
    let found = cosine_silhouette(&rows, &groups).unwrap();
    assert!((found - 0.783_430_564).abs() < 1e-6, "{found}");
    assert_eq!(cosine_silhouette(&rows, &[Some(1); 6]), None);
}

#[test]
fn rows_that_are_alike_or_few_have_a_defined_result() {
    for rows in [
        Table::from_vec(0, 3, vec![]).unwrap(),
        Table::from_vec(1, 3, vec![1.0; 3]).unwrap(),
        Table::from_vec(2, 3, vec![0.0; 6]).unwrap(),
        Table::from_vec(5000, 3, vec![1.0; 15000]).unwrap(),
    ] {
        let n_groups = usize::from(rows.n_rows() != 0 && rows.row(0)[0] != 0.0);
        for wanted in [1, 3, 9000] {
            let groups = k_means(&rows, &KMeansParams::new(wanted), |_| {}).unwrap();
            assert_eq!(groups.sizes().len(), n_groups, "{wanted}");
        }
        assert_eq!(group_count(&rows, 1, |_| {}).unwrap().n_groups, 1);
        for threshold in [-1.0, 0.5, 1.0] {
            assert_eq!(communities(&rows, threshold, 1, |_| {}).unwrap().sizes().len(), n_groups);
        }
    }
    let rows = Table::from_vec(1, 3, vec![1.0; 3]).unwrap();
    assert!(k_means(&rows, &KMeansParams::new(0), |_| {}).is_err());
    assert!(k_means(&rows, &KMeansParams { rounds: 0, ..KMeansParams::new(1) }, |_| {}).is_err());
    assert!(communities(&rows, 1.5, 1, |_| {}).is_err());
    assert!(assign_groups(&rows, Table::from_vec(1, 2, vec![1.0; 2]).unwrap(), 0.0).is_err());
    let rows = Table::from_vec(2, 1, vec![1.0, f32::NAN]).unwrap();
    assert!(matches!(k_means(&rows, &KMeansParams::new(1), |_| {}), Err(crate::Error::NonFinite { row: 1 })));
}
