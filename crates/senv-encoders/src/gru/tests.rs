use ndarray::Array2;
use senv_core::{
    arrays::{Parameters, TokenBatch},
    gradcheck, init,
    rng::stream,
};
use serde_json::Value;

use super::{Cell, GruInit, GruStyle};
use crate::{
    recurrent::{CellInput, RecurrentCell, Steps, Upstream, view},
    testing::{batch, matrix_of},
};

const STYLES: [GruStyle; 4] = [GruStyle::Paper, GruStyle::Release, GruStyle::Torch, GruStyle::Tf1];

/// All numbers in a nested list, in order.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn close(got: &[f64], expected: &[f64], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() <= 1e-10 + 1e-10 * e.abs(), "{what}: {g} for {e}");
    }
}

#[test]
fn weights_begin_within_the_limits_of_glorot() {
    let cell = Cell { input: 30, hidden: 20, context: 50, style: GruStyle::Torch };
    let mut parameters = Parameters::<f64>::new();
    cell.push("cell", GruInit::Glorot, &mut stream(1, "cells", &[]), &mut parameters).unwrap();
    let fills = |values: &[f64], limit: f64| {
        let largest = values.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        largest <= limit && largest > 0.97 * limit
    };
    // One matrix takes input, state and context, 100 values, to both gates, 40 values; another takes them to the
    // candidate, 20.
    for name in ["cell.input", "cell.recurrent", "cell.context"] {
        let values = parameters[parameters.place(name).unwrap()].values();
        let (gates, candidate) = values.split_at(values.len() / 3 * 2);
        assert!(fills(gates, (6.0_f64 / 140.0).sqrt()) && fills(candidate, (6.0_f64 / 120.0).sqrt()), "{name}");
    }
    let bias = parameters[parameters.place("cell.bias").unwrap()].values();
    assert!(bias[..40].iter().all(|&b| b == 1.0) && bias[40..].iter().all(|&b| b == 0.0));
    // The layer that computes a decoder's first state: 70 values to 20.
    let first = crate::FirstInput::Zero;
    let given = crate::Conditioning::ContextAndState;
    let decoder = crate::GruDecoder::new(30, 20, 70, given, first, GruStyle::Torch, GruInit::Glorot).unwrap();
    let parameters = crate::Decoder::init::<f64>(&decoder, &mut stream(1, "decoder", &[])).unwrap();
    let state = parameters[parameters.place("decoder.state").unwrap()].values();
    assert!(fills(state, (6.0_f64 / 90.0).sqrt()));
}

#[test]
fn cells_give_the_reference_numbers() {
    let file: Value = serde_json::from_str(include_str!("../../tests/data/gru.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 4);
    for (case, style) in cases.iter().zip(STYLES) {
        let name = case["style"].as_str().unwrap();
        let (d, h, longest) = (3, 4, 4);
        let cell = Cell { input: d, hidden: h, context: 0, style };
        let joined = |values: &Value, name: &str| -> Vec<f64> {
            ["r", "z", "n"].iter().flat_map(|gate| numbers(&values[format!("{name}_{gate}")])).collect()
        };
        let mut parameters = Parameters::new();
        for (tensor, (_, shape)) in ["W", "U", "b", "c"].iter().zip(cell.form()) {
            parameters.push(*tensor, shape, joined(&case["params"], tensor)).unwrap();
        }
        // Keeps the padding: rows of x that no step reads.
        let (x, lengths) = (numbers(&case["x"]), [4_usize, 2]);
        let steps = Steps::new(lengths.into_iter()).unwrap();
        let index: Vec<u32> =
            (0..steps.len()).flat_map(|t| (0..steps.active(t)).map(move |i| (i * longest + t) as u32)).collect();
        let initial = numbers(&case["h0"]);
        let rows = view(&x, 2 * longest, d);
        let cell_input = CellInput { steps: &steps, rows, index: Some(&index), initial: Some(&initial), context: None };
        let weights = cell.weights(&parameters, 0);
        let activations = cell.forward(&weights, &cell_input).unwrap();

        let (hidden, upstream) = (numbers(&case["hidden_all"]), numbers(&case["upstream_all"]));
        let (mut d_states, mut d_last) = (vec![0.0; steps.total() * h], numbers(&case["upstream_last"]));
        for (i, &length) in lengths.iter().enumerate() {
            for t in 0..longest {
                let at = (i * longest + t) * h;
                if t < length {
                    let packed = (steps.start(t) + i) * h;
                    close(&activations.states()[packed..packed + h], &hidden[at..at + h], name);
                    d_states[packed..packed + h].copy_from_slice(&upstream[at..at + h]);
                } else {
                    // A step on padding copies the last state.
                    (0..h).for_each(|j| d_last[i * h + j] += upstream[at + j]);
                }
            }
            close(activations.last(&steps, i), &numbers(&case["hidden_last"][i]), name);
        }
        let mut d = parameters.zeros_like();
        let below = {
            let mut gradients = cell.gradients(&mut d.iter_mut());
            let upstream = Upstream { states: Some(&d_states), last: Some(&d_last) };
            cell.backward(&weights, &cell_input, &activations, &upstream, &mut gradients).unwrap()
        };
        for (tensor, name) in d.iter().zip(["W", "U", "b", "c"]) {
            let expected = if name == "c" && case["grads"].get("c_r").is_none() {
                continue;
            } else {
                joined(&case["grads"], name)
            };
            close(tensor.values(), &expected, name);
        }
        close(below.projections.dot(&weights.input).as_slice().unwrap(), &numbers(&case["grads"]["x"]), name);
        close(&below.initial, &numbers(&case["grads"]["h0"]), name);
    }
}

/// Σ g over states and last states for a cell with first states and a context, and its gradients.
struct Problem {
    cell: Cell,
    parameters: Parameters<f64>,
    batch: TokenBatch,
    words: Array2<f64>,
    initial: Vec<f64>,
    context: Vec<f64>,
    backward: bool,
}

/// Gradients of words, first states, context and parameters.
type ProblemGradients = (Array2<f64>, Vec<f64>, Vec<f64>, Parameters<f64>);

/// The hidden size. Not 2, as its double equals its square.
const H: usize = 3;

impl Problem {
    fn new(style: GruStyle, backward: bool) -> Self {
        let cell = Cell { input: 3, hidden: H, context: 2, style };
        let mut parameters = Parameters::new();
        let mut rng = stream(7, "cells", &[]);
        cell.push("cell", GruInit::Orthogonal, &mut rng, &mut parameters).unwrap();
        parameters.iter_mut().for_each(|tensor| init::normal(&mut rng, tensor.values_mut(), 0.7).unwrap());
        let batch = batch(&[&[3, 1, 3], &[], &[1], &[7, 3, 1, 7, 9], &[9, 9, 3]]);
        let words = matrix_of(batch.distinct().len(), 3, 1);
        let [initial, context] =
            [(H, 2), (3 * H, 3)].map(|(n, seed)| matrix_of(5, n, seed).into_raw_vec_and_offset().0);
        Self { cell, parameters, batch, words, initial, context, backward }
    }

    /// The value, or with `want` the gradients of words, first states, context and parameters.
    fn run(&self, want: bool) -> (f64, Option<ProblemGradients>) {
        let steps = Steps::of(&self.batch).unwrap();
        let index = steps.words(&self.batch, self.backward);
        let cell_input = CellInput {
            steps: &steps,
            rows: self.words.view(),
            index: Some(&index),
            initial: Some(&self.initial),
            context: Some(&self.context),
        };
        let weights = self.cell.weights(&self.parameters, 0);
        let activations = self.cell.forward(&weights, &cell_input).unwrap();
        let (d_states, d_last) = (matrix_of::<f64>(steps.total(), H, 8), matrix_of::<f64>(5, H, 9));
        let (d_states, d_last) = (d_states.as_slice().unwrap(), d_last.as_slice().unwrap());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let last: f64 = (0..5).map(|i| dot(activations.last(&steps, i), &d_last[H * i..H * (i + 1)])).sum();
        let value = dot(activations.states(), d_states) + last;
        if !want {
            return (value, None);
        }
        let mut d = self.parameters.zeros_like();
        let upstream = Upstream { states: Some(d_states), last: Some(d_last) };
        let mut gradients = self.cell.gradients(&mut d.iter_mut());
        let below = self.cell.backward(&weights, &cell_input, &activations, &upstream, &mut gradients).unwrap();
        let d_words = below.projections.dot(&weights.input);
        (value, Some((d_words, below.initial, below.context, d)))
    }
}

#[test]
fn gradients_match_central_differences_with_first_states_and_context() {
    for style in STYLES {
        for backward in [false, true] {
            let problem = Problem::new(style, backward);
            let (_, gradients) = problem.run(true);
            let (d_words, d_initial, d_context, d) = gradients.unwrap();
            let check = |x: &[f64], g: &[f64], what: &str, set: &dyn Fn(&mut Problem, &[f64])| {
                let f = |x: &[f64]| {
                    let mut moved = Problem::new(style, backward);
                    set(&mut moved, x);
                    moved.run(false).0
                };
                let error = gradcheck::max_relative_error(f, x, g);
                assert!(error < 1e-7, "{what} of {style:?}: {error}");
                let flipped: Vec<f64> = g.iter().map(|g| -g).collect();
                assert!(gradcheck::max_relative_error(f, x, &flipped) > 1.9, "{what}, a flipped sign");
            };
            check(problem.words.as_slice().unwrap(), d_words.as_slice().unwrap(), "words", &|p, x| {
                p.words.as_slice_mut().unwrap().copy_from_slice(x);
            });
            check(&problem.initial, &d_initial, "first states", &|p, x| p.initial.copy_from_slice(x));
            check(&problem.context, &d_context, "context", &|p, x| p.context.copy_from_slice(x));
            // The decoder handles the matrix of the context.
            for (place, tensor) in d.iter().enumerate().filter(|(_, tensor)| tensor.name() != "cell.context") {
                check(problem.parameters[place].values(), tensor.values(), tensor.name(), &|p, x| {
                    p.parameters[place].values_mut().copy_from_slice(x);
                });
            }
        }
    }
}

#[test]
fn forms_differ_where_they_should_and_torch_without_its_biases_is_the_release() {
    let value = |style| {
        let mut problem = Problem::new(GruStyle::Torch, false);
        problem.parameters[3].values_mut().fill(0.0);
        let (torch, tensors) = (problem.run(false).0, problem.parameters.clone());
        let mut parameters = Parameters::new();
        for place in [0, 1, 2, 4] {
            let tensor = &tensors[place];
            parameters.push(tensor.name(), tensor.shape(), tensor.values().to_vec()).unwrap();
        }
        problem.cell.style = style;
        problem.parameters = parameters;
        (torch, problem.run(false).0)
    };
    let (torch, release) = value(GruStyle::Release);
    assert!((torch - release).abs() < 1e-13);
    let ((_, paper), (_, tf1)) = (value(GruStyle::Paper), value(GruStyle::Tf1));
    assert!((paper - tf1).abs() > 1e-3 && (tf1 - release).abs() > 1e-3 && (paper - release).abs() > 1e-3);
}

#[test]
fn cells_start_as_their_systems_say() {
    let cell = Cell { input: 30, hidden: 20, context: 0, style: GruStyle::Tf1 };
    let push = |start| {
        let mut parameters = Parameters::<f64>::new();
        cell.push("a", start, &mut stream(1, "cells", &[]), &mut parameters).unwrap();
        parameters
    };
    let skip = push(GruInit::Orthogonal);
    let names: Vec<_> = skip.iter().map(|tensor| (tensor.name(), tensor.shape())).collect();
    assert_eq!(names, [("a.input", [60, 30]), ("a.recurrent", [60, 20]), ("a.bias", [1, 60])]);
    // U[−0.1, 0.1), the published limit; 1,800 values reach within a hundredth of it.
    let largest = skip[0].values().iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    assert!(largest <= 0.1 && largest > 0.099, "{largest}");
    assert!(skip[2].values().iter().all(|&x| x == 0.0));
    for gate in skip[1].values().chunks_exact(400) {
        let u = view(gate, 20, 20);
        let products = u.t().dot(&u);
        assert!((&products - &Array2::<f64>::eye(20)).iter().all(|x: &f64| x.abs() < 1e-13));
    }
    let glorot = push(GruInit::Glorot);
    for tensor in [&glorot[0], &glorot[1]] {
        let (gates, candidate) = tensor.values().split_at(tensor.values().len() / 3 * 2);
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let (gates, candidate) = (largest(gates), largest(candidate));
        assert!(gates <= (6.0_f64 / 90.0).sqrt() && gates > 0.97 * (6.0_f64 / 90.0).sqrt());
        assert!(candidate <= (6.0_f64 / 70.0).sqrt() && candidate > 0.97 * (6.0_f64 / 70.0).sqrt());
    }
    let (gates, candidate) = glorot[2].values().split_at(40);
    assert!(gates.iter().all(|&b| b == 1.0) && candidate.iter().all(|&b| b == 0.0));
    for (input, hidden) in [(0, 1), (1, 0)] {
        assert!(Cell { input, hidden, ..cell }.check().is_err());
    }
    assert!(Cell { hidden: usize::MAX / 2, ..cell }.check().is_err());
}
