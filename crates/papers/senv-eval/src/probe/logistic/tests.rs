//! Comparisons with scikit-learn, with central differences, and of fits with each other.

use senv_core::gradcheck;

use super::*;

pub(super) struct Few {
    x: Vec<Vec<f64>>,
    targets: Vec<Vec<f64>>,
}

impl Few {
    /// Creates examples from features and classes, with one output for two classes.
    fn new(x: Vec<Vec<f64>>, classes: &[usize], n_classes: usize) -> Self {
        let share = |class: usize, j: usize| f64::from(u8::from(class == j));
        let target = |&class: &usize| match n_classes {
            2 => vec![share(class, 1)],
            _ => (0..n_classes).map(|j| share(class, j)).collect(),
        };
        Self { x, targets: classes.iter().map(target).collect() }
    }
}

impl Examples for Few {
    fn len(&self) -> usize {
        self.x.len()
    }

    fn n_features(&self) -> usize {
        self.x[0].len()
    }

    fn n_outputs(&self) -> usize {
        self.targets[0].len()
    }

    fn write<F: Float>(&self, i: usize, out: &mut [F]) {
        out.iter_mut().zip(&self.x[i]).for_each(|(out, &x)| *out = F::of(x));
    }

    fn target(&self, i: usize) -> &[f64] {
        &self.targets[i]
    }
}

/// Points on a circle, in three classes by their angle.
pub(super) fn circle(n: usize) -> Few {
    let angle = |i: usize| i as f64 * 2.399_963;
    let classes: Vec<usize> = (0..n).map(|i| (angle(i).rem_euclid(std::f64::consts::TAU) / 2.1) as usize).collect();
    Few::new((0..n).map(|i| vec![angle(i).cos(), angle(i).sin()]).collect(), &classes, 3)
}

fn fitted<F: Float>(examples: &Few, link: Link, c: f64, tolerance: f64) -> Model {
    let mut model = None;
    fit_path::<F, _>(examples, link, &Roles::all(examples.len()), &[c], tolerance, |_, models| {
        model = models.first().cloned();
        Ok(())
    })
    .unwrap();
    model.unwrap()
}

/// Computes L at these parameters.
fn objective(examples: &Few, link: Link, c: f64, x: &[f64]) -> f64 {
    let mut pass = loss::pass::<f64, _>(examples, link, &Roles::all(examples.len()), &[0], &[x]).unwrap();
    c * pass.losses[0] + penalize(x, examples.n_features() + 1, c, &mut pass.gradients[0])
}

#[test]
fn gradient_matches_central_differences() {
    let mut examples = circle(50);
    for link in [Link::Softmax, Link::Sigmoid] {
        if link == Link::Softmax {
            examples.targets[7] = vec![0.25, 0.0, 0.75];
        }
        let x: Vec<f64> = (0..9).map(|i| (i as f64 * 0.7).sin()).collect();
        for c in [0.3, 4.0] {
            let roles = Roles::all(50);
            let mut gradient = loss::pass::<f64, _>(&examples, link, &roles, &[0], &[&x]).unwrap().gradients.remove(0);
            penalize(&x, 3, c, &mut gradient);
            let f = |x: &[f64]| objective(&examples, link, c, x);
            assert!(gradcheck::max_relative_error(f, &x, &gradient) < 1e-7);
            gradient[4] = -gradient[4];
            assert!(gradcheck::max_relative_error(f, &x, &gradient) > 1.0);
        }
    }
}

/// Optima found by scikit-learn: `tests/data/logistic_regression.json`.
#[test]
fn optima_agree_with_the_reference() {
    let file: serde_json::Value =
        serde_json::from_str(include_str!("../../../tests/data/logistic_regression.json")).unwrap();
    for case in file["cases"].as_array().unwrap() {
        let list = |name: &str| -> Vec<Vec<f64>> { serde_json::from_value(case[name].clone()).unwrap() };
        let classes: Vec<usize> = serde_json::from_value(case["y"].clone()).unwrap();
        let (k, c) = (case["K"].as_u64().unwrap() as usize, case["C"].as_f64().unwrap());
        let examples = Few::new(list("X"), &classes, k);
        let link = if k == 2 { Link::Sigmoid } else { Link::Softmax };
        let model = fitted::<f64>(&examples, link, c, 1e-10);
        let got = objective(&examples, link, c, model.parameters());
        let expected = case["objective"].as_f64().unwrap();
        assert!((got / expected - 1.0).abs() < 1e-8, "{k} classes: {got} for {expected}");
        let intercepts: Vec<f64> = serde_json::from_value(case["intercept"].clone()).unwrap();
        let columns = examples.n_features() + 1;
        let rows: Vec<&[f64]> = model.parameters().chunks_exact(columns).collect();
        let mean = if k == 2 { 0.0 } else { rows.iter().map(|row| row[columns - 1]).sum::<f64>() / k as f64 };
        for ((row, coefficients), intercept) in rows.iter().zip(list("coef")).zip(intercepts) {
            for (got, expected) in row.iter().zip(coefficients) {
                assert!((got - expected).abs() < 1e-5, "{k} classes: {got} for {expected}");
            }
            assert!((row[columns - 1] - mean - intercept).abs() < 1e-5, "{k} classes: intercept {intercept}");
        }
        let right = (0..examples.len()).filter(|&i| model.class(&examples.x[i]) == classes[i]).count();
        assert_eq!(right as f64 / examples.len() as f64, case["train_accuracy"].as_f64().unwrap());
        // In f32, as in the protocols, the optimum is the same within rounding.
        let single = fitted::<f32>(&examples, link, c, TOLERANCE);
        assert!((objective(&examples, link, c, single.parameters()) / expected - 1.0).abs() < 1e-4);
    }
}

#[test]
fn one_vs_rest_is_a_binary_regression_for_each_class() {
    let examples = circle(90);
    let together = fitted::<f64>(&examples, Link::Sigmoid, 2.0, 1e-9);
    for class in 0..3 {
        let classes: Vec<usize> = examples.targets.iter().map(|t| t[class] as usize).collect();
        let alone = fitted::<f64>(&Few::new(examples.x.clone(), &classes, 2), Link::Sigmoid, 2.0, 1e-9);
        for (a, b) in together.parameters()[3 * class..][..3].iter().zip(alone.parameters()) {
            assert!((a - b).abs() < 1e-6, "class {class}: {a} {b}");
        }
    }
    let softmax = fitted::<f64>(&examples, Link::Softmax, 2.0, 1e-9);
    assert_ne!(softmax.parameters(), together.parameters());
    assert!((softmax.probabilities(&examples.x[0]).iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn regressions_fitted_together_are_those_fitted_alone_and_a_small_c_keeps_weights_small() {
    let examples = circle(300);
    // The first regression trains on even examples, the second on the first hundred.
    let role = |i: usize, p: usize| match p {
        0 if i.is_multiple_of(2) => Role::Train,
        1 if i < 100 => Role::Train,
        _ => Role::Judge,
    };
    let fit_both = || {
        let mut all = Vec::new();
        fit_path::<f32, _>(&examples, Link::Softmax, &Roles::new(300, 2, role), &[1e-3, 1e3], 1e-5, |_, models| {
            all.push((models.to_vec(), predict::<f32, _>(&examples, models)?));
            Ok(())
        })
        .unwrap();
        all
    };
    let both = fit_both();
    let norm = |model: &Model| model.parameters.chunks(3).map(|row| row[0] * row[0] + row[1] * row[1]).sum::<f64>();
    assert!(norm(&both[0].0[0]) < 0.1 && norm(&both[1].0[0]) > 100.0);
    for p in 0..2 {
        let kept: Vec<usize> = (0..300).filter(|&i| role(i, p) == Role::Train).collect();
        let alone = Few {
            x: kept.iter().map(|&i| examples.x[i].clone()).collect(),
            targets: kept.iter().map(|&i| examples.targets[i].clone()).collect(),
        };
        let alone_fitted = fitted::<f64>(&alone, Link::Softmax, 1e3, 1e-8);
        let (a, b) = (&both[1].0[p], &alone_fitted);
        let of = |model: &Model| objective(&alone, Link::Softmax, 1e3, model.parameters());
        assert!((of(a) / of(b) - 1.0).abs() < 1e-3, "{} {}", of(a), of(b));
        let right = (0..300).filter(|&i| examples.targets[i][both[1].1[i][p]] > 0.0).count();
        assert!(right > 285, "{right}");
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
    assert_eq!(pool.install(fit_both), both, "the same bits at any number of threads");
}
