//! Throughput of the losses over a vocabulary, compared with the matrix products that bound them.
//!
//! ```text
//! cargo run --release -p senv-losses --example output_layers [tokens [dim [words]]]
//! ```
#![allow(clippy::print_stdout)]

use std::{hint::black_box, time::Instant};

use ndarray::{Array2, ArrayView2};
use senv_core::{
    Sentences, TokenId,
    arrays::{Parameters, matmul_into},
    init,
    rng::stream,
};
use senv_losses::{
    AdaptiveSoftmax, HierarchicalSoftmax, InfoNce, MultiLabelLoss, SampledSoftmax, SampledWords, TokenNll,
};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn matrix(n: usize, dim: usize, seed: u64) -> Outcome<Array2<f32>> {
    let mut values = vec![0.0; n * dim];
    init::normal(&mut stream(seed, "speed", &[]), &mut values, 0.3)?;
    Ok(Array2::from_shape_vec((n, dim), values)?)
}

/// The fastest of some runs in seconds, after a warm-up.
fn seconds(runs: usize, mut run: impl FnMut() -> Outcome) -> Outcome<f64> {
    run()?;
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// The three products of forward and backward pass over a whole batch, without anything between them.
fn products(h: ArrayView2<'_, f32>, w: ArrayView2<'_, f32>) -> Outcome<f64> {
    let mut a = Array2::zeros((h.nrows(), w.nrows()));
    let mut d_h = Array2::zeros(h.raw_dim());
    let mut d_w = Array2::zeros(w.raw_dim());
    seconds(3, || {
        matmul_into(1.0, h, w.t(), 0.0, a.view_mut())?;
        matmul_into(1.0, a.view(), w, 0.0, d_h.view_mut())?;
        Ok(matmul_into(1.0, a.t(), h, 0.0, d_w.view_mut())?)
    })
}

fn main() -> Outcome {
    let sizes = std::env::args().skip(1).map(|size| size.parse()).collect::<Result<Vec<usize>, _>>()?;
    let size = |place: usize, default| sizes.get(place).copied().unwrap_or(default);
    let (n, dim, n_words) = (size(0, 128 * 12), size(1, 1200), size(2, 20_000));
    let h = matrix(n, dim, 1)?;
    // Ranks of words as in a text: log-uniform.
    let mut targets = Vec::new();
    for i in 0..n as u64 {
        targets.push(SampledWords::draw(&mut stream(2, "targets", &[i]), n_words, 1)?.ids()[0]);
    }
    let full = TokenNll::new(dim, n_words);
    let p = full.init::<f32>(&mut stream(3, "output", &[]))?;
    let mut d: Parameters<f32> = p.zeros_like();
    let flop = 6.0 * n as f64 * dim as f64 * n_words as f64;
    let threads = rayon::current_num_threads();
    println!("{n} tokens, {dim} numbers, {n_words} words, {threads} threads");
    let show = |name: &str, seconds: f64, bound: f64| {
        println!(
            "{name:32} {:9.1} ms {:8.1} GFLOP/s {:7.2} of the products' speed",
            1e3 * seconds,
            flop / seconds / 1e9,
            bound / seconds
        );
    };
    let bound = products(h.view(), p[0].view())?;
    show("three products", bound, bound);
    for shift in 21..=25 {
        let output = TokenNll { block: 1 << shift, ..full.clone() };
        let time = seconds(3, || {
            black_box(output.loss_and_gradients(&p, h.view(), &targets, 1.0, &mut d)?);
            Ok(())
        })?;
        show(&format!("full softmax, block 2^{shift}"), time, bound);
    }
    show("three products again", products(h.view(), p[0].view())?, bound);
    let mut step = 0;
    let time = seconds(5, || {
        step += 1;
        let words = SampledWords::draw(&mut stream(4, "candidates", &[step]), n_words, 512)?;
        black_box(SampledSoftmax::default().loss_and_gradients(&p, h.view(), &targets, &words, 1.0)?);
        Ok(())
    })?;
    show("sampled softmax, 512", time, bound);
    let adaptive = AdaptiveSoftmax::new(dim, n_words, &[n_words / 10, n_words * 2 / 5])?;
    let q = adaptive.init::<f32>(&mut stream(3, "output", &[]))?;
    let mut d_q = q.zeros_like();
    let time = seconds(5, || {
        black_box(adaptive.loss_and_gradients(&q, h.view(), &targets, 1.0, &mut d_q)?);
        Ok(())
    })?;
    show("adaptive softmax", time, bound);
    let mut sentences = Sentences::new();
    targets.chunks(12).for_each(|words| sentences.push(words.iter().copied().map(TokenId)));
    let encodings = h.slice(ndarray::s![..sentences.len(), ..]);
    let bound = products(encodings, p[0].view())?;
    let presence = MultiLabelLoss::new(dim, n_words);
    let time = seconds(3, || {
        black_box(presence.loss_and_gradients(&p, encodings, &sentences, 1.0, &mut d)?);
        Ok(())
    })?;
    println!("presence of {} sentences: {:.1} ms, the products {:.1} ms", sentences.len(), 1e3 * time, 1e3 * bound);
    let tree = HierarchicalSoftmax::new(dim, n_words);
    let time = seconds(5, || {
        black_box(tree.loss_and_gradients(&p, encodings, &sentences, 1.0)?);
        Ok(())
    })?;
    println!("by the tree: {:.1} ms", 1e3 * time);
    let (a, b) = (matrix(1024, 512, 5)?, matrix(1024, 512, 6)?);
    let texts: Vec<u32> = (0..2048).collect();
    let info_nce = InfoNce::default();
    let time = seconds(10, || {
        let (_, saved) = info_nce.forward(a.view(), b.view(), None, &texts)?;
        black_box(info_nce.backward(&saved, 1.0)?);
        Ok(())
    })?;
    println!("InfoNCE of 1024 pairs of 512 numbers, both passes: {:.1} ms", 1e3 * time);
    Ok(())
}
