//! Measures how fast recurrent encoders and decoders train and encode, at the sizes at which PyTorch was measured. The
//! encoder is bidirectional, 300 -> 2 x 1200, and the decoder has 1200 units and 20,000 words. A training step takes
//! 128 sentences of 12 words, and consists of forward pass, backward pass and Adam. Encoding uses a trained
//! Skip-thought encoder with vectors of dimension 2400.
//!
//! ```text
//! cargo run --release -p senv-benches --bin recurrent-speed -- --threads 2
//! ```
//!
//! Every row is the median of several rounds, each of which runs all rows in turn. Rows can then be compared with each
//! other, and with the matrix products, even on a busy machine.

#![allow(clippy::print_stdout)]

use std::{hint::black_box, time::Instant};

use clap::Parser;
use ndarray::{Array2, s};
use rand::RngExt;
use senv_core::{
    Table, TokenId,
    arrays::{Parameters, TokenBatch, matmul_into},
    init,
    optim::{AdamParams, ParametersOptimizer, TableOptimizer, UpdateRule},
    rng::stream,
};
use senv_encoders::{
    Conditioning, Decoder, Encoder, FirstInput, GruDecoder, GruEncoder, GruInit, GruStyle, LstmEncoder, LstmForm,
    RecurrentTopology,
};
use senv_losses::{AdaptiveSoftmax, SampledSoftmax, SampledWords, TokenNll};

const WORD_DIM: usize = 300;
const WORDS: usize = 20_000;
const UNITS: usize = 1200;
const SENTENCES: usize = 128;
const LENGTH: usize = 12;

#[derive(Parser)]
struct Args {
    /// Threads.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Rounds; the median is printed.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Only rows with this text in their name.
    #[arg(long, default_value = "")]
    only: String,
}

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// A row of the table: the operation and its number of sentences.
struct Row {
    name: String,
    sentences: usize,
    run: Box<dyn FnMut() -> Outcome>,
}

fn matrix(n: usize, dim: usize, seed: u64) -> Outcome<Array2<f32>> {
    let mut values = vec![0.0; n * dim];
    init::normal(&mut stream(seed, "speed", &[]), &mut values, 0.1)?;
    Ok(Array2::from_shape_vec((n, dim), values)?)
}

/// The kind of sentences.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Text {
    /// 12 words each, all different.
    Different,
    /// 12 words each, with frequencies as in real text: ranks follow the log-uniform law.
    Frequent,
    /// Frequencies as in real text, and 3 to 21 words long, 12 on average.
    Ragged,
}

fn batch(n: usize, text: Text) -> Outcome<TokenBatch> {
    let mut rng = stream(7, "words", &[]);
    let mut rank = || ((WORDS as f64 + 1.0).powf(rng.random_range(0.0..1.0)) - 1.0) as u32;
    let tokens = 0..(2 * n * LENGTH) as u32;
    let tokens: Vec<TokenId> =
        tokens.map(|i| TokenId(if text == Text::Different { i } else { rank().min(WORDS as u32 - 1) })).collect();
    let mut at = 0;
    let sentences = (0..n).map(|i| {
        let start = at;
        at += if text == Text::Ragged { 3 + 7 * i % 19 } else { LENGTH };
        &tokens[start..at]
    });
    let mut batch = TokenBatch::new();
    batch.assign(sentences)?;
    Ok(batch)
}

fn gru(style: GruStyle, text: Text) -> Outcome<Row> {
    let encoder = GruEncoder::new(WORD_DIM, UNITS, 1, RecurrentTopology::Separate, style, GruInit::Glorot)?;
    learning(format!("encoder, {style:?}"), encoder, text)
}

/// An LSTM needs four products with a state, and a GRU needs three.
fn lstm(peepholes: bool, text: Text) -> Outcome<Row> {
    let form = LstmForm { topology: RecurrentTopology::Separate, peepholes, ..LstmForm::default() };
    let name = if peepholes { "encoder, LSTM with peepholes" } else { "encoder, LSTM" };
    learning(name.into(), LstmEncoder::new(WORD_DIM, UNITS, 1, form)?, text)
}

fn learning<E: Encoder<f32> + 'static>(name: String, encoder: E, text: Text) -> Outcome<Row> {
    let batch = batch(SENTENCES, text)?;
    let words = matrix(batch.distinct().len(), WORD_DIM, 1)?;
    let mut parameters: Parameters<f32> = encoder.init(&mut stream(1, "encoder", &[]))?;
    let mut d = parameters.zeros_like();
    let d_out = matrix(SENTENCES, 2 * UNITS, 2)?;
    let mut d_words = Array2::zeros(words.raw_dim());
    let mut adam = ParametersOptimizer::new(UpdateRule::Adam(AdamParams::default()), &parameters)?;
    let name = format!("{name}, {text:?}, {} words", batch.distinct().len());
    let run = move || -> Outcome {
        d.fill(0.0);
        let (out, saved) = encoder.forward(&parameters, &batch, words.view())?;
        encoder.backward(&parameters, &batch, words.view(), &saved, d_out.view(), Some(d_words.view_mut()), &mut d)?;
        black_box(out);
        Ok(adam.update(1e-6, &mut parameters, &d)?)
    };
    Ok(Row { name, sentences: SENTENCES, run: Box::new(run) })
}

/// Only the products of all steps of both directions, with the memory layout of the encoder.
fn encoder_products() -> Outcome<Row> {
    let total = SENTENCES * LENGTH;
    let (x, w, u) = (matrix(total, WORD_DIM, 1)?, matrix(3 * UNITS, WORD_DIM, 2)?, matrix(3 * UNITS, UNITS, 3)?);
    let (states, mut gates) = (matrix(total, UNITS, 4)?, matrix(total, 3 * UNITS, 5)?);
    let (mut d_x, mut d_w, mut d_u) = (Array2::zeros(x.raw_dim()), Array2::zeros(w.raw_dim()), u.clone());
    let mut d_h = Array2::zeros((SENTENCES, UNITS));
    let run = move || -> Outcome {
        for _ in 0..2 {
            matmul_into(1.0, x.view(), w.t(), 0.0, gates.view_mut())?;
            for t in 0..LENGTH {
                let rows = s![t * SENTENCES..(t + 1) * SENTENCES, ..];
                matmul_into(1.0, states.slice(rows), u.t(), 0.0, gates.slice_mut(rows))?;
            }
            for t in 0..LENGTH {
                let rows = s![t * SENTENCES..(t + 1) * SENTENCES, ..];
                matmul_into(1.0, gates.slice(rows), u.view(), 0.0, d_h.view_mut())?;
            }
            matmul_into(1.0, gates.t(), states.view(), 0.0, d_u.view_mut())?;
            matmul_into(1.0, gates.t(), x.view(), 0.0, d_w.view_mut())?;
            matmul_into(1.0, gates.view(), w.view(), 0.0, d_x.view_mut())?;
        }
        Ok(())
    };
    Ok(Row { name: "encoder, matrix products only".into(), sentences: SENTENCES, run: Box::new(run) })
}

/// The output layer of a decoder.
#[derive(Debug, Clone, Copy)]
enum Output {
    Full,
    Sampled,
    Adaptive,
}

fn decoder(output: Output) -> Outcome<Row> {
    let batch = batch(SENTENCES, Text::Frequent)?;
    let targets = GruDecoder::targets(&batch);
    let mut table = Table::zeros(WORDS, WORD_DIM)?;
    table.values_mut().fill(0.01);
    let (start, first) = (Conditioning::InitialState, FirstInput::Zero);
    let decoder = GruDecoder::new(WORD_DIM, UNITS, UNITS, start, first, GruStyle::Torch, GruInit::Glorot)?;
    let mut cell: Parameters<f32> = decoder.init(&mut stream(1, "decoder", &[]))?;
    let full = TokenNll::new(UNITS, WORDS);
    let adaptive = AdaptiveSoftmax::new(UNITS, WORDS, &[WORDS / 10, WORDS * 2 / 5])?;
    let mut rng = stream(2, "output", &[]);
    let mut layer: Parameters<f32> =
        if matches!(output, Output::Adaptive) { adaptive.init(&mut rng)? } else { full.init(&mut rng)? };
    let (mut d_cell, mut d_layer) = (cell.zeros_like(), layer.zeros_like());
    let vectors = matrix(SENTENCES, UNITS, 3)?;
    let adam = UpdateRule::Adam(AdamParams::default());
    let mut of_cell = ParametersOptimizer::new(adam, &cell)?;
    let mut of_layer = ParametersOptimizer::new(adam, &layer)?;
    let mut of_words = TableOptimizer::new(adam, &table)?;
    let (mut words, mut d_words, mut step) = (Array2::default((0, 0)), Array2::default((0, 0)), 0);
    let run = move || -> Outcome {
        step += 1;
        d_cell.fill(0.0);
        batch.gather_into(&table, &mut words)?;
        batch.zeros_into(WORD_DIM, &mut d_words)?;
        let mut d_vectors = Array2::zeros(vectors.raw_dim());
        let (hidden, saved) = decoder.forward(&cell, &batch, words.view(), vectors.view())?;
        let d_hidden = match output {
            Output::Full => {
                d_layer.fill(0.0);
                full.loss_and_gradients(&layer, hidden.view(), &targets, 1.0, &mut d_layer)?.1
            }
            Output::Adaptive => {
                d_layer.fill(0.0);
                adaptive.loss_and_gradients(&layer, hidden.view(), &targets, 1.0, &mut d_layer)?.1
            }
            Output::Sampled => {
                let drawn = SampledWords::draw(&mut stream(4, "candidates", &[step]), WORDS, 512)?;
                let loss = SampledSoftmax::default();
                let (_, d_hidden, rows) = loss.loss_and_gradients(&layer, hidden.view(), &targets, &drawn, 1.0)?;
                let numbers = [rows.d_w.as_slice().unwrap_or(&[]), rows.d_b.as_slice().unwrap_or(&[])];
                of_layer.update_rows(1e-6, &mut layer, &rows.rows, &numbers)?;
                d_hidden
            }
        };
        decoder.backward(
            &cell,
            &batch,
            words.view(),
            vectors.view(),
            &saved,
            d_hidden.view(),
            Some(d_words.view_mut()),
            d_vectors.view_mut(),
            &mut d_cell,
        )?;
        of_cell.update(1e-6, &mut cell, &d_cell)?;
        of_words.update_rows(1e-6, &mut table, batch.distinct(), d_words.view(), None)?;
        if !matches!(output, Output::Sampled) {
            of_layer.update(1e-6, &mut layer, &d_layer)?;
        }
        Ok(())
    };
    Ok(Row { name: format!("decoder, {output:?} softmax"), sentences: SENTENCES, run: Box::new(run) })
}

fn main() -> Outcome {
    let args = Args::parse();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build()?;
    // Run inside the pool, as training does. Work that is not distributed then runs on a thread of the pool instead of
    // an extra one.
    Ok(pool.install(|| measure(&args).map_err(|error| error.to_string()))?)
}

fn measure(args: &Args) -> Outcome {
    let mut rows: Vec<Row> = Vec::new();
    let mut add = |row: Outcome<Row>| -> Outcome {
        let row = row?;
        if row.name.contains(&args.only) {
            rows.push(row);
        }
        Ok(())
    };
    add(encoder_products())?;
    for text in [Text::Different, Text::Frequent, Text::Ragged] {
        add(gru(GruStyle::Torch, text))?;
        add(lstm(false, text))?;
    }
    add(gru(GruStyle::Release, Text::Frequent))?;
    add(lstm(true, Text::Frequent))?;
    for output in [Output::Full, Output::Sampled, Output::Adaptive] {
        add(decoder(output))?;
    }
    for n in [1, 16, 128] {
        add(encoding(n, Text::Different))?;
    }
    add(encoding(128, Text::Ragged))?;
    println!("sentences/s at {} threads: median of {} rounds [min, max]", args.threads, args.rounds);
    let mut rates = vec![Vec::new(); rows.len()];
    for round in 0..=args.rounds.max(1) {
        for (row, rates) in rows.iter_mut().zip(&mut rates) {
            let (start, mut n) = (Instant::now(), 0);
            while n == 0 || start.elapsed().as_secs_f64() < 0.7 {
                (row.run)()?;
                n += row.sentences;
            }
            if round > 0 {
                rates.push(n as f64 / start.elapsed().as_secs_f64());
            }
        }
    }
    for (row, mut rates) in rows.iter().zip(rates) {
        rates.sort_by(f64::total_cmp);
        let (least, greatest) = (rates[0], rates[rates.len() - 1]);
        println!("{:44} {:9.1} [{least:.1}, {greatest:.1}]", row.name, rates[rates.len() / 2]);
    }
    Ok(())
}

/// Encodes `n` sentences at a time to dimension 2400 with a trained encoder of one direction.
fn encoding(n: usize, text: Text) -> Outcome<Row> {
    let encoder = GruEncoder::new(620, 2 * UNITS, 1, RecurrentTopology::Forward, GruStyle::Release, GruInit::Glorot)?;
    let parameters: Parameters<f32> = encoder.init(&mut stream(1, "encoder", &[]))?;
    let batch = batch(n, text)?;
    let words = matrix(batch.distinct().len(), 620, 1)?;
    let run = move || -> Outcome {
        black_box(encoder.encode(&parameters, &batch, words.view())?);
        Ok(())
    };
    Ok(Row { name: format!("encoding, 2400 units, {text:?}, {n} at a time"), sentences: n, run: Box::new(run) })
}
