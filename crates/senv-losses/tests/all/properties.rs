//! Properties for any batch: order, scale, precision, threads.

use ndarray::{Array2, Axis, concatenate};
use proptest::prelude::*;
use senv_core::{arrays::Float, init, rng::stream};
use senv_losses::{
    CandidateCounts, InfoNce, InfoNceDirections, MarginLoss, NegativeCandidates, Prefix, RelatednessHead,
    RelatednessLoss, SoftmaxCosine,
};

fn matrix(n: usize, dim: usize, seed: u64) -> Array2<f64> {
    let mut x = Array2::zeros((n, dim));
    init::normal(&mut stream(seed, "properties", &[]), x.as_slice_mut().unwrap(), 1.0).unwrap();
    x
}

fn cast<F: Float>(x: &Array2<f64>) -> Array2<F> {
    x.mapv(F::of)
}

/// Pairs in which b is near a.
fn pairs(m: usize, dim: usize, seed: u64) -> (Array2<f64>, Array2<f64>) {
    let a = matrix(m, dim, seed);
    let b = &a + matrix(m, dim, seed + 1) * 1.6;
    (a, b)
}

/// A loss, and its gradients below each other.
type Run<F> = (f64, Array2<F>);

fn margin<F: Float>(a: &Array2<F>, b: &Array2<F>, texts: &[u32], candidates: NegativeCandidates) -> Run<F> {
    let loss = MarginLoss { candidates, ..MarginLoss::default() };
    let (value, saved) = loss.forward(a.view(), b.view(), texts, &mut stream(1, "", &[])).unwrap();
    let (d_a, d_b) = loss.backward(&saved, 1.0);
    (value, concatenate![Axis(0), d_a, d_b])
}

fn info_nce<F: Float>(a: &Array2<F>, b: &Array2<F>, hard: &Array2<F>, texts: &[u32], nested: bool) -> Run<F> {
    let dim = a.ncols();
    let prefixes =
        if nested { vec![Prefix { dim: dim / 3, weight: 0.5 }, Prefix { dim, weight: 1.0 }] } else { vec![] };
    let loss = InfoNce { prefixes, ..InfoNce::default() };
    let (value, saved) = loss.forward(a.view(), b.view(), Some(hard.view()), texts).unwrap();
    let (d_a, d_b, d_hard) = loss.backward(&saved, 1.0).unwrap();
    (value, concatenate![Axis(0), d_a, d_b, d_hard.unwrap()])
}

fn softmax<F: Float>(a: &Array2<F>, b: &Array2<F>, more: &Array2<F>) -> Run<F> {
    // Of each sentence: its partner and two others.
    let rows: Vec<F> = (0..a.nrows())
        .flat_map(|i| [b.row(i), more.row(i), more.row((i + 1) % a.nrows())])
        .flat_map(|row| row.to_vec())
        .collect();
    let candidates = Array2::from_shape_vec((3 * a.nrows(), a.ncols()), rows).unwrap();
    let counts = vec![CandidateCounts { positives: 1, negatives: 2 }; a.nrows()];
    let loss = SoftmaxCosine::default();
    let (value, saved) = loss.forward(a.view(), candidates.view(), &counts).unwrap();
    let (d_s, d_v) = loss.backward(&saved, 1.0);
    (value, concatenate![Axis(0), d_s, d_v])
}

fn head<F: Float>(u: &Array2<F>, v: &Array2<F>) -> Run<F> {
    let head = RelatednessHead::new(u.ncols());
    let parameters = head.init::<f64>(&mut stream(5, "head", &[])).unwrap().cast();
    let (predictions, saved) = head.forward(&parameters, u.view(), v.view()).unwrap();
    let scores: Vec<f64> = (0..u.nrows()).map(|i| 1.0 + 4.0 * i as f64 / u.nrows() as f64).collect();
    let targets = head.grid.targets(&scores).unwrap();
    let value = RelatednessLoss::default().forward(&predictions, targets.view()).unwrap();
    let d_logits = RelatednessLoss::default().backward(&predictions, targets.view(), 1.0);
    let mut d = parameters.zeros_like();
    let (d_u, d_v) = head.backward(&parameters, &saved, u.view(), v.view(), d_logits.view(), &mut d).unwrap();
    let numbers: Vec<F> = d.iter().flat_map(|tensor| tensor.values().to_vec()).collect();
    let rest = numbers.len() / u.ncols() * u.ncols();
    let d = Array2::from_shape_vec((rest / u.ncols(), u.ncols()), numbers[..rest].to_vec()).unwrap();
    (value, concatenate![Axis(0), d_u, d_v, d])
}

fn texts(n: usize) -> Vec<u32> {
    // Every tenth sentence repeats the one seven before it.
    (0..n as u32).map(|k| if k % 10 == 9 { k - 7 } else { k }).collect()
}

/// All losses, on a batch of realistic size.
fn all<F: Float>(m: usize, dim: usize) -> Vec<Run<F>> {
    let (a, b) = pairs(m, dim, 1);
    let (a, b, more) = (cast::<F>(&a), cast::<F>(&b), cast::<F>(&matrix(m, dim, 3)));
    vec![
        margin(&a, &b, &texts(2 * m), NegativeCandidates::BothSides),
        margin(&a, &b, &texts(2 * m), NegativeCandidates::SameSide),
        margin(&a, &b, &texts(2 * m), NegativeCandidates::FirstElements),
        softmax(&a, &b, &more),
        info_nce(&a, &b, &more, &texts(3 * m), false),
        info_nce(&a, &b, &more, &texts(3 * m), true),
        head(&a, &b),
    ]
}

#[test]
fn f32_is_within_1e_5_of_f64_at_real_sizes() {
    for (i, ((value, d), (exact, exact_d))) in all::<f32>(128, 300).iter().zip(all::<f64>(128, 300)).enumerate() {
        assert!(((value - exact) / exact).abs() < 1e-5, "loss {i}: {value} for {exact}");
        let norm = |x: &Array2<f64>| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let error = norm(&(cast::<f64>(&d.mapv(f64::from)) - &exact_d)) / norm(&exact_d);
        assert!(norm(&exact_d) > 0.0 && error < 1e-5, "loss {i}: {error}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let run = |n: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(|| all::<f32>(130, 96))
    };
    let one = run(1);
    assert!(one.iter().all(|(value, _)| value.is_finite()));
    assert!(run(2) == one && run(5) == one);
}

/// The rows of `x` in the order `order`.
fn reordered(x: &Array2<f64>, order: &[usize]) -> Array2<f64> {
    x.select(Axis(0), order)
}

fn assert_close(got: &Run<f64>, expected: &Run<f64>) -> Result<(), TestCaseError> {
    prop_assert!((got.0 - expected.0).abs() < 1e-11 * (1.0 + expected.0.abs()), "{} for {}", got.0, expected.0);
    prop_assert!(got.1.dim() == expected.1.dim());
    for (got, expected) in got.1.iter().zip(&expected.1) {
        prop_assert!((got - expected).abs() < 1e-10 * (1.0 + expected.abs()), "{got} for {expected}");
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_order_of_a_batch_orders_the_gradients_alone(
        seed in 0..1000_u64,
        order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let ((a, b), hard) = (pairs(6, 4, seed), matrix(6, 4, seed + 9));
        let texts: Vec<u32> = vec![0, 1, 2, 3, 0, 4, 5, 6, 7, 3, 8, 9, 1, 10, 11, 12, 13, 14];
        let mut moved = texts.clone();
        for (i, &from) in order.iter().enumerate() {
            moved[2 * i] = texts[2 * from];
            moved[2 * i + 1] = texts[2 * from + 1];
        }
        let (a2, b2) = (reordered(&a, &order), reordered(&b, &order));
        let places = |blocks: usize| -> Vec<usize> {
            (0..blocks).flat_map(|block| order.iter().map(move |i| 6 * block + i)).collect()
        };
        let pairs = margin(&a, &b, &texts[..12], NegativeCandidates::BothSides);
        let expected = (pairs.0, reordered(&pairs.1, &places(2)));
        assert_close(&margin(&a2, &b2, &moved[..12], NegativeCandidates::BothSides), &expected)?;
        for nested in [false, true] {
            let all = info_nce(&a, &b, &hard, &texts, nested);
            let places: Vec<usize> = places(2).into_iter().chain(12..18).collect();
            assert_close(&info_nce(&a2, &b2, &hard, &moved, nested), &(all.0, reordered(&all.1, &places)))?;
        }
    }

    #[test]
    fn the_length_of_a_vector_scales_its_gradient_alone(seed in 0..1000_u64, log_scale in -3.0..3.0_f64) {
        let scale = 10f64.powf(log_scale);
        let ((a, b), more) = (pairs(5, 4, seed), matrix(5, 4, seed + 9));
        let texts: Vec<u32> = (0..15).collect();
        let mut longer = a.clone();
        longer.row_mut(2).mapv_inplace(|x| scale * x);
        let runs = |a: &Array2<f64>| [
            margin(a, &b, &texts[..10], NegativeCandidates::BothSides),
            softmax(a, &b, &more),
            info_nce(a, &b, &more, &texts, true),
        ];
        for (mut got, expected) in runs(&longer).into_iter().zip(runs(&a)) {
            got.1.row_mut(2).mapv_inplace(|d| scale * d);
            assert_close(&got, &expected)?;
            // No gradient along a vector: its length does not matter.
            prop_assert!(got.1.row(2).dot(&a.row(2)).abs() < 1e-9);
        }
    }

    #[test]
    fn first_and_second_members_may_be_exchanged(seed in 0..1000_u64) {
        let (a, b) = pairs(5, 4, seed);
        let texts: Vec<u32> = (0..10).collect();
        let swapped = |run: Run<f64>| {
            let m = run.1.nrows() / 2;
            let order: Vec<usize> = (m..2 * m).chain(0..m).collect();
            (run.0, reordered(&run.1, &order))
        };
        for candidates in [NegativeCandidates::BothSides, NegativeCandidates::SameSide] {
            assert_close(&margin(&a, &b, &texts, candidates), &swapped(margin(&b, &a, &texts, candidates)))?;
        }
        let none = Array2::zeros((0, 4));
        let run = |a, b| info_nce(a, b, &none, &texts, false);
        assert_close(&run(&a, &b), &swapped(run(&b, &a)))?;
        let forward = InfoNce { directions: InfoNceDirections::Forward, ..InfoNce::default() };
        let value = |a: &Array2<f64>, b: &Array2<f64>| forward.forward(a.view(), b.view(), None, &texts).unwrap().0;
        prop_assert!((0.5 * (value(&a, &b) + value(&b, &a)) - run(&a, &b).0).abs() < 1e-11);
    }
}
