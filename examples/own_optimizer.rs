//! Your own update rule, for any system trained by gradient: here PP on pairs of sentences.
//!
//! ```text
//! cargo run --release -p senv-examples --example own_optimizer
//! ```
#![allow(clippy::print_stdout)]
use std::sync::Arc;

use senv::{
    gradient::FitParams,
    parts::core::optim::{CustomUpdate, UpdateRule},
    prelude::*,
};

const PAIRS: [(&str, &str); 4] = [
    ("the ship left the port", "the boat sailed from the harbour"),
    ("rain falls on the hills", "it pours in the mountains"),
    ("sow lettuce in spring", "plant salad in april"),
    ("the train is late", "the railway runs behind time"),
];

/// Lion: steps of fixed size against the sign of a running mean of gradients. X. Chen et al., Symbolic Discovery of
/// Optimization Algorithms, NeurIPS 2023, algorithm 2.
#[derive(Debug)]
struct Lion;

impl CustomUpdate for Lion {
    /// One value per parameter, kept between steps and stored in checkpoints.
    fn n_moments(&self) -> usize {
        1
    }

    fn update(&self, _: u64, lr: f64, x: &mut [f32], d_x: &[f32], [mean, _]: [&mut [f32]; 2]) {
        for ((x, d), mean) in x.iter_mut().zip(d_x).zip(mean) {
            let direction = 0.9 * *mean + 0.1 * d;
            if direction != 0.0 {
                *x -= lr as f32 * direction.signum();
            }
            *mean = 0.99 * *mean + 0.01 * d;
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rule = UpdateRule::custom("lion", Arc::new(Lion))?;

    let fit = FitParams { rule, lr: Some(0.003), epochs: Some(60), ..PpParams::default().fit };
    let params = PpParams { dim: 32, fit, ..PpParams::default() };
    let model: Model = params.train_pairs(PAIRS)?.into();
    let (alike, unlike) = (model.similarity("the ship", "the boat"), model.similarity("the ship", "rain"));
    println!("the ship, the boat {alike:.2}; the ship, rain {unlike:.2}");
    assert!(alike > unlike);

    // The model names the rule. Programs without it can open the model, but cannot continue its training.
    assert!(model.config_json().contains(r#""rule":{"custom":"lion"}"#));
    Ok(())
}
