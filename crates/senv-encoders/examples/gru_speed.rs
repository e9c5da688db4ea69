//! How fast a step of training a recurrent encoder is, beside the matrix products that bound it.
//!
//! ```text
//! cargo run --release -p senv-encoders --example gru_speed [threads [hidden [sentences [words]]]]
//! ```
//!
//! Rates are examples a second by the clock, and a second of processor time: on a machine that does other things as well
//! the second counts.
#![allow(clippy::print_stdout)]

use std::{fs, hint::black_box, time::Instant};

use ndarray::{Array2, s};
use senv_core::{
    Parameters, TokenBatch, TokenId, init, matmul_into,
    optim::{AdamParams, ParametersOptimizer, Rule},
    stream,
};
use senv_encoders::{Encoder, GruEncoder, GruInit, GruStyle, GruTopology};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

const WORD_DIM: usize = 300;

fn matrix(n: usize, dim: usize, seed: u64) -> Outcome<Array2<f32>> {
    let mut values = vec![0.0; n * dim];
    init::normal(&mut stream(seed, "speed", &[]), &mut values, 0.1)?;
    Ok(Array2::from_shape_vec((n, dim), values)?)
}

/// Seconds that all threads of this program have run, where the system tells; else the time by the clock.
fn processor_seconds(start: Instant) -> f64 {
    let of_task = |task: fs::DirEntry| -> Option<f64> {
        fs::read_to_string(task.path().join("schedstat")).ok()?.split(' ').next()?.parse().ok()
    };
    let tasks = fs::read_dir("/proc/self/task").map(|tasks| tasks.flatten().filter_map(of_task).sum::<f64>());
    tasks.map_or_else(|_| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// The least seconds of seven runs, by the clock and of processor time, after one that does not count.
fn seconds(mut run: impl FnMut() -> Outcome) -> Outcome<(f64, f64)> {
    run()?;
    let mut best = (f64::INFINITY, f64::INFINITY);
    let origin = Instant::now();
    for _ in 0..7 {
        let (start, before) = (Instant::now(), processor_seconds(origin));
        run()?;
        best.0 = best.0.min(start.elapsed().as_secs_f64());
        best.1 = best.1.min(processor_seconds(origin) - before);
    }
    Ok(best)
}

/// The products of all steps of two readers, as they lie in memory in the encoder, and nothing else.
fn products(n: usize, words: usize, h: usize) -> Outcome<(f64, f64)> {
    let total = n * words;
    let (x, w, u) = (matrix(total, WORD_DIM, 1)?, matrix(3 * h, WORD_DIM, 2)?, matrix(3 * h, h, 3)?);
    let turned = u.t().as_standard_layout().into_owned();
    let (states, mut gates) = (matrix(total, h, 4)?, matrix(total, 3 * h, 5)?);
    let (mut d_x, mut d_w, mut d_u) = (Array2::zeros(x.raw_dim()), Array2::zeros(w.raw_dim()), u.clone());
    let mut d_h = Array2::zeros((n, h));
    seconds(|| {
        for _ in 0..2 {
            matmul_into(1.0, x.view(), w.t(), 0.0, gates.view_mut())?;
            for t in 0..words {
                let rows = s![t * n..(t + 1) * n, ..];
                matmul_into(1.0, states.slice(rows), turned.view(), 0.0, gates.slice_mut(rows))?;
            }
            for t in 0..words {
                matmul_into(1.0, gates.slice(s![t * n..(t + 1) * n, ..]), u.view(), 0.0, d_h.view_mut())?;
            }
            matmul_into(1.0, gates.t(), states.view(), 0.0, d_u.view_mut())?;
            matmul_into(1.0, gates.t(), x.view(), 0.0, d_w.view_mut())?;
            matmul_into(1.0, gates.view(), w.view(), 0.0, d_x.view_mut())?;
        }
        Ok(())
    })
}

fn main() -> Outcome {
    let sizes = std::env::args().skip(1).map(|size| size.parse()).collect::<Result<Vec<usize>, _>>()?;
    let size = |place: usize, default| sizes.get(place).copied().unwrap_or(default);
    let (threads, h, n, words) = (size(0, 1), size(1, 1200), size(2, 128), size(3, 12));
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    println!("{n} sentences of {words} words, {WORD_DIM} -> 2 x {h}, {threads} threads");
    let flop = (12 * n * words * 3 * h * (h + WORD_DIM)) as f64;
    let show = |name: &str, (clock, processor): (f64, f64)| {
        let rate = |seconds: f64| n as f64 / seconds;
        println!(
            "{name:40} {:7.1} /s {:7.1} GFLOP/s; a second of processor time {:7.1} {:7.1}",
            rate(clock),
            flop / clock / 1e9,
            rate(processor),
            flop / processor / 1e9
        );
    };
    show("products alone, every word and step", products(n, words, h)?);
    for (what, style) in [("release", GruStyle::Release), ("tf1", GruStyle::Tf1)] {
        // Words that all differ, and words as frequent as in a text of 20,000: rank by the log-uniform law.
        for n_distinct in [n * words, 20_000] {
            let mut unit = vec![0.0_f64; n * words];
            init::uniform(&mut stream(7, "words", &[]), &mut unit, 0.5)?;
            let rank = |u: &f64| ((20_001_f64.powf(u + 0.5) - 1.0) as u32).min(19_999);
            let tokens: Vec<TokenId> = match n_distinct {
                20_000 => unit.iter().map(|u| TokenId(rank(u))).collect(),
                _ => (0..n_distinct as u32).map(TokenId).collect(),
            };
            let mut batch = TokenBatch::new();
            batch.assign(tokens.chunks(words))?;
            let x = matrix(batch.distinct().len(), WORD_DIM, 1)?;
            let encoder = GruEncoder::new(WORD_DIM, h, 1, GruTopology::Separate, style, GruInit::Glorot)?;
            let mut parameters: Parameters<f32> = encoder.init(&mut stream(1, "encoder", &[]))?;
            let mut d = parameters.zeros_like();
            let d_out = matrix(n, 2 * h, 2)?;
            let mut d_words = Array2::zeros(x.raw_dim());
            let mut step = |parameters: &Parameters<f32>, d: &mut Parameters<f32>| -> Outcome {
                let (out, saved) = encoder.forward(parameters, &batch, x.view())?;
                encoder.backward(parameters, &batch, x.view(), &saved, d_out.view(), d_words.view_mut(), d)?;
                black_box(out);
                Ok(())
            };
            let label = format!("{what}, {} distinct words", batch.distinct().len());
            let forward = seconds(|| {
                black_box(encoder.forward(&parameters, &batch, x.view())?);
                Ok(())
            })?;
            show(&format!("{label}: forward"), forward);
            show(&format!("{label}: and backward"), seconds(|| step(&parameters, &mut d))?);
            let mut adam = ParametersOptimizer::new(Rule::Adam(AdamParams::default()), &parameters)?;
            let with_adam = seconds(|| {
                d.fill(0.0);
                step(&parameters, &mut d)?;
                Ok(adam.update(1e-6, &mut parameters, &d)?)
            })?;
            show(&format!("{label}: and Adam"), with_adam);
        }
    }
    show("products again", products(n, words, h)?);
    for units in [h, 2 * h] {
        encoding(units, words)?;
    }
    Ok(())
}

/// Sentences a second of a trained encoder with one reader, by itself and in batches.
fn encoding(units: usize, words: usize) -> Outcome {
    let encoder = GruEncoder::new(620, units, 1, GruTopology::Forward, GruStyle::Release, GruInit::Glorot)?;
    let parameters: Parameters<f32> = encoder.init(&mut stream(1, "encoder", &[]))?;
    let turned = encoder.turn(&parameters)?;
    for n in [1, 16, 128] {
        let tokens: Vec<TokenId> = (0..(n * words) as u32).map(TokenId).collect();
        let mut batch = TokenBatch::new();
        batch.assign(tokens.chunks(words))?;
        let x = matrix(n * words, 620, 1)?;
        for (how, turned) in [("", None), (", turned beforehand", Some(&turned))] {
            let (clock, processor) = seconds(|| {
                black_box(encoder.encode(&parameters, turned, &batch, x.view())?);
                Ok(())
            })?;
            let rate = |seconds: f64| n as f64 / seconds;
            let flop = (2 * n * words * 3 * units * (units + 620)) as f64 / processor / 1e9;
            println!(
                "620 -> {units}, {n} sentences at a time{how}: {:.1} /s; a second of processor time {:.1}, {flop:.1} GFLOP/s",
                rate(clock),
                rate(processor),
            );
        }
    }
    Ok(())
}
