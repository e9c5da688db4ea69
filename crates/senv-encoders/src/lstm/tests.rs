use senv_core::{arrays::Parameters, rng::stream};

use super::{LstmCell, LstmInit};
use crate::recurrent::RecurrentCell;

#[test]
fn tensors_begin_as_their_initialization_says() {
    let cell = LstmCell { input: 60, hidden: 40, context: 0, peepholes: true, output_gate: true };
    let start = |start| {
        let mut parameters = Parameters::<f64>::new();
        cell.push("cell", start, &mut stream(1, "cells", &[]), &mut parameters).unwrap();
        parameters
    };
    let deviation = |values: &[f64]| (values.iter().map(|x| x * x).sum::<f64>() / values.len() as f64).sqrt();
    let orthogonal = start(LstmInit::Orthogonal);
    assert_eq!(
        orthogonal.iter().map(|tensor| tensor.shape()).collect::<Vec<_>>(),
        [[160, 60], [160, 40], [1, 160], [1, 120]]
    );
    // Rows of length 1 and a forget bias of 1; everything else is 0.
    let recurrent = orthogonal[1].view();
    assert!(recurrent.rows().into_iter().all(|row| (row.dot(&row) - 1.0).abs() < 1e-9));
    let bias = orthogonal[2].values();
    assert!(bias.iter().enumerate().all(|(i, &b)| b == f64::from(u8::from((40..80).contains(&i)))));
    assert!(orthogonal[3].values().iter().all(|&p| p == 0.0));
    // Uniform by Glorot and Bengio: 60 inputs, 40 outputs of each gate.
    let (input, limit) = (orthogonal[0].values(), (6.0_f64 / (60.0 + 40.0)).sqrt());
    assert!(input.iter().all(|x| x.abs() <= limit) && input.iter().any(|x| x.abs() > 0.99 * limit));
    assert!((deviation(input) - limit / 3.0_f64.sqrt()).abs() < 0.005);
    let normal = start(LstmInit::Normal);
    assert!(normal[2].values().iter().all(|&b| b == 0.0));
    for place in [0, 1, 3] {
        assert!((deviation(normal[place].values()) - 0.1).abs() < 0.02, "{place}");
    }
    let torch = start(LstmInit::Torch);
    let limit = 1.0 / 40.0_f64.sqrt();
    assert!(torch.iter().all(|tensor| tensor.values().iter().all(|x| x.abs() <= limit)));
    assert!((deviation(torch[0].values()) - limit / 3.0_f64.sqrt()).abs() < 0.01);
    assert_eq!(cell.n_values(), (160 * 60 + 160 * 40 + 160 + 120) as f64);
}

#[test]
fn sizes_that_make_no_cell_are_refused() {
    let cell = LstmCell { input: 3, hidden: 2, context: 0, peepholes: false, output_gate: true };
    assert!(cell.check().is_ok());
    for (input, hidden) in [(0, 2), (3, 0), (usize::MAX / 2, 2), (3, usize::MAX / 2)] {
        assert!(LstmCell { input, hidden, ..cell }.check().is_err());
    }
}
