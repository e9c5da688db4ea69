//! Tests of the optimizers against reference numbers; the data file names their origin.
#![cfg(feature = "train")]

use senv_core::optim::{AdaDeltaParams, AdaGradParams, AdamParams, AdamVariant, Optimizer, clip_by_global_norm};
use serde_json::Value;

/// The tolerance of the reference numbers, absolute and relative.
const TOLERANCE: f64 = 1e-10;

fn cases() -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../data/optim.json")).unwrap();
    file["cases"].as_array().unwrap().clone()
}

fn case<'a>(cases: &'a [Value], variant: &str) -> &'a Value {
    cases.iter().find(|case| case["variant"] == variant).unwrap()
}

/// All numbers of a JSON value, in order.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

fn assert_close(seen: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(seen.len(), expected.len(), "{what}");
    for (seen, expected) in seen.iter().zip(expected) {
        assert!((seen - expected).abs() <= tolerance * (1.0 + expected.abs()), "{what}: {seen}, expected {expected}");
    }
}

fn follow<O: Optimizer<f64> + Optimizer<f32>>(rule: &O, case: &Value) {
    let what = case["variant"].as_str().unwrap();
    let lr = case["lr"].as_f64().unwrap();
    let mut x = numbers(&case["x0"]);
    let mut x32: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    let mut state = Optimizer::<f64>::state(rule, x.len());
    let mut state32 = Optimizer::<f32>::state(rule, x.len());
    let steps = case["gradients"].as_array().unwrap().iter().zip(case["trajectory"].as_array().unwrap());
    assert_eq!(steps.len(), 5);
    for (gradient, expected) in steps {
        let d_x = numbers(gradient);
        rule.update(&mut state, lr, &mut x, &d_x).unwrap();
        assert_close(&x, &numbers(expected), TOLERANCE, what);
        let d_x: Vec<f32> = d_x.iter().map(|&g| g as f32).collect();
        rule.update(&mut state32, lr as f32, &mut x32, &d_x).unwrap();
        let wide: Vec<f64> = x32.iter().map(|&x| x.into()).collect();
        assert_close(&wide, &numbers(expected), 1e-6, what);
    }
}

#[test]
fn adam_follows_the_reference_in_every_variant_and_the_variants_differ() {
    let cases = cases();
    let names = ["standard", "folded_rate", "skip_thought_release"];
    let variants = [AdamVariant::Standard, AdamVariant::Folded, AdamVariant::ReleasedSkipThoughts];
    for (name, variant) in names.iter().zip(variants) {
        let case = case(&cases, name);
        let number = |key: &str| case[key].as_f64().unwrap();
        let params = AdamParams::default().variant(variant);
        assert_eq!(params, params.beta1(number("beta1")).beta2(number("beta2")).epsilon(number("eps")), "defaults");
        follow(&params.check().unwrap(), case);
    }
    let last = |name| numbers(&case(&cases, name)["trajectory"][4]);
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        let gap = last(names[a]).iter().zip(last(names[b])).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(gap > 10.0 * TOLERANCE, "{} and {}: {gap}", names[a], names[b]);
    }
}

#[test]
fn adagrad_follows_the_reference() {
    let cases = cases();
    let case = case(&cases, "adagrad");
    assert_eq!(AdaGradParams::default(), AdaGradParams::default().epsilon(case["eps"].as_f64().unwrap()));
    follow(&AdaGradParams::default().check().unwrap(), case);
}

#[test]
fn adadelta_follows_the_reference() {
    let cases = cases();
    let case = case(&cases, "adadelta");
    let number = |key: &str| case[key].as_f64().unwrap();
    assert_eq!(AdaDeltaParams::default(), AdaDeltaParams::default().rho(number("rho")).epsilon(number("eps")));
    assert_eq!(number("lr"), AdaDeltaParams::PAPER_LR);
    follow(&AdaDeltaParams::default().check().unwrap(), case);
}

#[test]
fn clipping_follows_the_reference_above_and_below_the_norm() {
    let cases = cases();
    let clips: Vec<&Value> = cases.iter().filter(|case| case["variant"] == "global_norm_clip").collect();
    assert_eq!(clips.len(), 2);
    for case in clips {
        let mut arrays: Vec<Vec<f64>> = case["gradients"].as_array().unwrap().iter().map(numbers).collect();
        let mut views: Vec<&mut [f64]> = arrays.iter_mut().map(Vec::as_mut_slice).collect();
        let norm = clip_by_global_norm(&mut views, case["max_norm"].as_f64().unwrap()).unwrap();
        assert_close(&[norm], &[case["norm"].as_f64().unwrap()], TOLERANCE, "norm");
        assert_close(&arrays.concat(), &numbers(&case["clipped"]), TOLERANCE, "clipped");
    }
}

#[test]
fn a_saved_state_goes_on_with_the_same_bits() {
    let adam = AdamParams::default().check().unwrap();
    let (mut x, d_x) = ([1.0_f64, -2.0], [0.3, 0.7]);
    let mut state = adam.state(2);
    adam.update(&mut state, 0.01, &mut x, &d_x).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("adam");
    senv_core::checkpoint::save(&path, "test", &state, &[]).unwrap();
    let (mut loaded, _) = senv_core::checkpoint::load(&path, "test").unwrap();
    assert_eq!(loaded, state);
    let mut resumed = x;
    adam.update(&mut state, 0.01, &mut x, &d_x).unwrap();
    adam.update(&mut loaded, 0.01, &mut resumed, &d_x).unwrap();
    assert_eq!(x.map(f64::to_bits), resumed.map(f64::to_bits));
}
