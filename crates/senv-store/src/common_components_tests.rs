//! Tests of the common components: reference numbers, properties, files, bad input.

use ndarray::{Array2, Axis};
use rand::RngExt;
use senv_core::rng::stream;
use serde_json::Value;

use super::*;

fn case(kind: &str) -> Value {
    let all: Value = serde_json::from_str(include_str!("../tests/data/frequency_weights.json")).unwrap();
    all["cases"].as_array().unwrap().iter().find(|case| case["kind"] == kind).unwrap().clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn matrix(value: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}

fn random(n: usize, dim: usize) -> Array2<f32> {
    let mut rng = stream(5, "components-test", &[]);
    Array2::from_shape_fn((n, dim), |(_, j)| rng.random_range(-1.0..1.0) + if j < 2 { 0.5 } else { 0.0 })
}

fn moment(vectors: &Array2<f64>) -> SecondMoment {
    let mut moment = SecondMoment::new(vectors.ncols()).unwrap();
    vectors.rows().into_iter().for_each(|row| moment.add(&row.to_vec()).unwrap());
    moment
}

/// Removes the same components in f64, for the reference numbers.
fn removed(vectors: &Array2<f64>, pairs: &[Eigenpair], lambdas: &[f64]) -> Array2<f64> {
    let mut out = vectors.clone();
    for mut row in out.rows_mut() {
        for ((_, u), lambda) in pairs.iter().zip(lambdas) {
            let along: f64 = row.iter().zip(u).map(|(x, u)| x * u).sum();
            row.iter_mut().zip(u).for_each(|(x, u)| *x -= lambda * u * along);
        }
    }
    out
}

fn close(got: impl IntoIterator<Item = f64>, expected: impl IntoIterator<Item = f64>, tolerance: f64) {
    let (got, expected): (Vec<f64>, Vec<f64>) = (got.into_iter().collect(), expected.into_iter().collect());
    assert_eq!(got.len(), expected.len());
    for (x, y) in got.iter().zip(&expected) {
        assert!((x - y).abs() <= tolerance, "{x} is not {y}");
    }
}

#[test]
fn the_component_of_sif_is_that_of_the_reference() {
    let case = case("sif");
    let (before, after) = (matrix(&case["before"]), matrix(&case["after"]));
    let pairs = moment(&before).leading(1).unwrap();
    let u = &pairs[0].1;
    let outer = u.iter().flat_map(|a| u.iter().map(move |b| a * b));
    close(outer, matrix(&case["component_outer"]), 1e-9);
    close(removed(&before, &pairs, &[1.0]), after.clone(), 1e-9);
    let common = CommonComponents::fit(before.view(), 1, false).unwrap();
    assert_eq!(common.lambdas(), [1.0]);
    let got = before.rows().into_iter().flat_map(|row| {
        let mut row: Vec<f32> = row.iter().map(|&x| x as f32).collect();
        common.remove(&mut row);
        row.into_iter().map(f64::from)
    });
    close(got, after, 1e-6); // f32
}

#[test]
fn the_shares_of_usif_are_those_of_the_reference() {
    let case = case("piecewise_component_removal");
    let (before, after, share) = (matrix(&case["before"]), matrix(&case["after"]), numbers(&case["share"]));
    let m = case["m"].as_u64().unwrap() as usize;
    let pairs = moment(&before).leading(m).unwrap();
    close(shares(&pairs, true), share.clone(), 1e-9);
    close(removed(&before, &pairs, &share), after.clone(), 1e-9);
    let common = CommonComponents::fit(before.view(), m, true).unwrap();
    let got = before.rows().into_iter().flat_map(|row| {
        let mut row: Vec<f32> = row.iter().map(|&x| x as f32).collect();
        common.remove(&mut row);
        row.into_iter().map(f64::from)
    });
    close(got, after, 1e-6);
}

#[test]
fn what_was_taken_out_is_gone_and_the_rest_is_untouched() {
    let vectors = random(1000, 33);
    let common = CommonComponents::fit(vectors.view(), 5, false).unwrap();
    assert_eq!((common.dim(), common.lambdas().len()), (33, 5));
    let mut vector = vectors.row(17).to_vec();
    common.remove(&mut vector);
    assert!(common.vectors().iter().all(|u| kernels::dot(u, &vector).abs() < 1e-5));
    let once = vector.clone();
    common.remove(&mut vector);
    close(vector.iter().map(|&x| x.into()), once.iter().map(|&x| x.into()), 1e-6);
    // The first component of these vectors points in the two shifted dimensions.
    let first = common.vectors().row(0);
    assert!(first[0] > 0.5 && first[1] > 0.5);
}

#[test]
fn the_fit_does_not_depend_on_threads_and_hardly_on_order() {
    let vectors = random(700, 40);
    let fit = |threads: usize, vectors: ArrayView2<'_, f32>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| CommonComponents::fit(vectors, 3, true).unwrap())
    };
    let (one, four) = (fit(1, vectors.view()), fit(4, vectors.view()));
    assert_eq!(one.vectors().values(), four.vectors().values());
    assert_eq!(one.lambdas(), four.lambdas());
    let mut reversed = vectors.clone();
    reversed.invert_axis(Axis(0));
    let other = fit(2, reversed.view());
    let wide = |table: &Table| table.values().iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
    close(wide(one.vectors()), wide(other.vectors()), 1e-6);
    // The sign does not depend on that of the vectors.
    let negative = fit(1, vectors.mapv(|x| -x).view());
    assert_eq!(negative.vectors().values(), one.vectors().values());
}

#[test]
fn no_more_components_than_there_are_directions() {
    let fit = |rows: &[[f32; 3]], n, scaled| CommonComponents::fit(ndarray::aview2(rows), n, scaled).unwrap();
    let count = |common: &CommonComponents| common.lambdas().len();
    assert_eq!(count(&fit(&[[1.0, 2.0, 2.0]], 5, false)), 1);
    assert_eq!(count(&fit(&[[1.0, 2.0, 2.0]; 4], 5, true)), 1);
    assert_eq!(count(&fit(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], 5, true)), 2);
    assert_eq!(count(&fit(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]], 9, true)), 3);
    for nothing in [fit(&[[0.0; 3]; 4], 5, true), fit(&[[1.0, 2.0, 3.0]], 0, false)] {
        let mut vector = [1.0, 2.0, 3.0];
        nothing.remove(&mut vector);
        assert_eq!((count(&nothing), vector), (0, [1.0, 2.0, 3.0]));
    }
    let shares: f32 = fit(&[[1.0, 2.0, 0.5], [0.0, 1.0, -1.0], [3.0, 0.0, 1.0]], 2, true).lambdas().iter().sum();
    assert!((shares - 1.0).abs() < 1e-6);
}

#[test]
fn bad_vectors_are_named() {
    let fit = |rows: &[[f32; 2]]| CommonComponents::fit(ndarray::aview2(rows), 1, false);
    assert!(fit(&[]).unwrap_err().to_string().contains("at least 1, got 0"));
    for bad in [f32::NAN, f32::INFINITY] {
        let message = fit(&[[1.0, 2.0], [1.0, bad]]).unwrap_err().to_string();
        assert!(message.contains("in vector 1"), "{message}");
    }
    let huge = CommonComponents::fit(ndarray::aview2(&[[1e200f64, 1e200]]), 1, false);
    assert!(huge.unwrap_err().to_string().contains("overflow"));
    let mut moment = SecondMoment::new(2).unwrap();
    assert!(moment.add(&[1.0f32; 3]).is_err());
    assert_eq!(moment.n_vectors(), 0);
    assert!(SecondMoment::new(usize::MAX / 2).is_err());
}

#[test]
fn components_come_back_from_a_model_file_and_wrong_ones_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.safetensors");
    for n in [0, 3] {
        let common = CommonComponents::fit(random(50, 8).view(), n, true).unwrap();
        common.save_into(ModelWriter::new("test")).save(&path).unwrap();
        let model = ModelFile::open(&path).unwrap();
        let back = CommonComponents::load_from(&model, 8).unwrap().unwrap();
        assert_eq!((back.vectors().values(), back.lambdas()), (common.vectors().values(), common.lambdas()));
        assert!(matches!(CommonComponents::load_from(&model, 9), Err(crate::Error::Core(Core::BadFile { .. }))));
    }
    let save = |values: Vec<f32>, lambdas: &[f32]| {
        let table = Table::from_vec(values.len() / 2, 2, values).unwrap();
        ModelWriter::new("test").table(VECTORS, &table).f32s(SHARES, lambdas).save(&path).unwrap();
        CommonComponents::load_from(&ModelFile::open(&path).unwrap(), 2)
    };
    assert!(save(vec![1.0, 0.0], &[1.0]).unwrap().is_some());
    assert!(save(vec![1.0, 0.0], &[1.0, 1.0]).is_err());
    assert!(save(vec![1.0, 1.0], &[1.0]).unwrap_err().to_string().contains("norm 1.41"));
    assert!(save(vec![f32::NAN, 1.0], &[1.0]).is_err());
    for lambda in [1.5, -0.5, f32::NAN] {
        assert!(save(vec![1.0, 0.0], &[lambda]).is_err(), "{lambda}");
    }
    ModelWriter::new("test").f32s(SHARES, &[1.0]).save(&path).unwrap();
    let half = CommonComponents::load_from(&ModelFile::open(&path).unwrap(), 2);
    assert!(matches!(half, Err(crate::Error::Core(Core::MissingTensor { .. }))));
    ModelWriter::new("test").save(&path).unwrap();
    assert!(CommonComponents::load_from(&ModelFile::open(&path).unwrap(), 2).unwrap().is_none());
}

#[test]
fn vectors_are_counted_and_multiplied_a_block_at_a_time() {
    let mut moment = SecondMoment::new(2).unwrap();
    assert_eq!(moment.n_vectors(), 0);
    for n in 1..=2 * BLOCK + 1 {
        moment.add(&[1.0f32, 2.0]).unwrap();
        assert_eq!((moment.n_vectors(), moment.held.len() / 2), (n, n % BLOCK));
        let blocks = (n - n % BLOCK) as f64;
        let expected = (n >= BLOCK).then(|| ndarray::array![[blocks, 2.0 * blocks], [2.0 * blocks, 4.0 * blocks]]);
        assert_eq!(moment.sum, expected);
    }
}

#[test]
fn few_vectors_have_the_components_of_their_products_which_are_those_of_the_sum() {
    for (n, dim) in [(1, 40), (7, 40), (40, 40), (39, 300)] {
        let vectors = random(n, dim).mapv(f64::from);
        let few = moment(&vectors);
        assert!(few.sum.is_none() && few.n_vectors() == n);
        let mut sum = few.clone();
        sum.add_held(1).unwrap();
        let n_pairs = 5.min(n);
        let expected = leading_if_finite(sum.sum.unwrap(), n_pairs).unwrap();
        let got = few.leading(5).unwrap();
        assert_eq!(got.len(), n_pairs);
        for ((value, u), (other, v)) in got.iter().zip(&expected) {
            assert!((value - other).abs() <= 1e-10 * other, "{n} {dim}: {value} {other}");
            close(u.iter().copied(), v.iter().copied(), 1e-8);
        }
    }
}

#[test]
fn an_eigenvalue_within_rounding_of_the_largest_is_no_component() {
    // σ² of 1 and x² along the axes: rounding error is dim ε = 3 ε of the largest.
    let count = |x: f64| {
        let vectors = ndarray::array![[1.0, 0.0, 0.0], [0.0, x, 0.0]];
        moment(&vectors).leading(3).unwrap().len()
    };
    assert_eq!((count((3.5 * f64::EPSILON).sqrt()), count((2.5 * f64::EPSILON).sqrt())), (2, 1));
    // Proportional for larger vectors.
    let count = |x: f64| moment(&ndarray::array![[1e3, 0.0, 0.0], [0.0, 1e3 * x, 0.0]]).leading(3).unwrap().len();
    assert_eq!((count((3.5 * f64::EPSILON).sqrt()), count((2.5 * f64::EPSILON).sqrt())), (2, 1));
}
