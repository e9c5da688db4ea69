//! The objective against reference numbers and central differences.

use ndarray::Array2;
use senv_negative_sampling::objective::{Composition, Example, gradient, gradient_composed, sequential_step};
use serde_json::Value;

fn cases() -> Vec<Value> {
    let text = include_str!("../data/objective.json");
    let value: Value = serde_json::from_str(text).expect("fixture");
    value["cases"].as_array().expect("cases").clone()
}

fn matrix(value: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = serde_json::from_value(value.clone()).expect("matrix");
    Array2::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).expect("rectangular")
}

fn close(a: &Array2<f64>, b: &Array2<f64>) -> bool {
    a.dim() == b.dim() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1e-10 * (1.0 + y.abs()))
}

#[test]
fn gradients_and_release_steps_equal_the_reference_numbers() {
    let mut seen = 0;
    for case in cases() {
        let (mut source, mut target) = (matrix(&case["source"]), matrix(&case["target_rows"]));
        let context: Vec<usize> = serde_json::from_value(case["context"].clone()).unwrap();
        let negatives: Vec<usize> = serde_json::from_value(case["negatives"].clone()).unwrap();
        let example =
            Example { context: &context, target: case["target"].as_u64().unwrap() as usize, negatives: &negatives };
        let loss = case["loss"].as_f64().unwrap();
        if case["kind"] == "exact_gradient" {
            let g = gradient(&source, &target, example);
            assert!((g.loss - loss).abs() < 1e-10);
            assert!(close(&g.d_source, &matrix(&case["grads"]["source"])));
            assert!(close(&g.d_target, &matrix(&case["grads"]["target_rows"])));
        } else {
            let (lr, tau) = (case["lr"].as_f64().unwrap(), case["tau"].as_f64().unwrap());
            let got = sequential_step(&mut source, &mut target, example, lr, tau);
            assert!((got - loss).abs() < 1e-10, "tau {tau}: {got} {loss}");
            assert!(close(&source, &matrix(&case["source_after"])), "tau {tau}");
            assert!(close(&target, &matrix(&case["target_rows_after"])), "tau {tau}");
        }
        seen += 1;
    }
    assert_eq!(seen, 3);
}

#[test]
fn the_gradient_matches_central_differences_and_a_flipped_sign_does_not() {
    let (source, target) = (matrix(&cases()[0]["source"]), matrix(&cases()[0]["target_rows"]));
    // Four rows side by side are four times as wide.
    let wide = Array2::from_shape_fn((target.nrows(), 4 * target.ncols()), |(i, j)| ((i * 17 + j) as f64 * 0.61).sin());
    let example = Example { context: &[1, 2, 2, 5], target: 3, negatives: &[4, 6, 4] };
    assert_eq!(
        gradient(&source, &target, example).loss,
        gradient_composed(&source, &target, example, Composition::Mean).loss
    );
    let step = 1e-5;
    for (composition, target) in
        [(Composition::Mean, &target), (Composition::Sum, &target), (Composition::Concatenation, &wide)]
    {
        let exact = gradient_composed(&source, target, example, composition);
        for (table, d) in [(0, &exact.d_source), (1, &exact.d_target)] {
            for index in 0..d.len() {
                let loss_at = |shift: f64| {
                    let (mut s, mut t) = (source.clone(), target.clone());
                    let changed = if table == 0 { &mut s } else { &mut t };
                    changed.as_slice_mut().unwrap()[index] += shift;
                    gradient_composed(&s, &t, example, composition).loss
                };
                let numeric = (loss_at(step) - loss_at(-step)) / (2.0 * step);
                let analytic = d.as_slice().unwrap()[index];
                assert!((numeric - analytic).abs() < 1e-8, "{composition:?} {table} {index}: {numeric} {analytic}");
                if analytic.abs() > 1e-3 {
                    assert!((numeric + analytic).abs() > 1e-4);
                }
            }
        }
    }
}
