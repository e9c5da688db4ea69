//! A progress bar, a cancel button, and a run that resumes where it was canceled, with bit-identical results.
//!
//! ```text
//! cargo run --release -p senv-examples --example progress_and_cancel
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr)]
use senv::{CheckpointPlan, prelude::*};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/data/quickstart.txt");
    let params = Sent2VecParams { dim: 32, ..Sent2VecParams::default() };
    let whole = params.train(text)?;

    // Here the bar cancels at 30 %. A button, a deadline or a signal would call `cancel` from another thread.
    let cancel = CancelToken::new();
    let button = cancel.clone();
    let bar = cancel.with(|progress: &Progress| {
        let width = (30.0 * progress.done) as usize;
        eprint!("\r[{:<30}] {:>3.0} %", "=".repeat(width), 100.0 * progress.done);
        if progress.done > 0.3 {
            button.cancel();
        }
        Control::Continue
    });
    let plan = |resume| Some(CheckpointPlan { resume, ..CheckpointPlan::new(folder.path().join("run.checkpoint")) });
    let options = TrainOptions { observer: &bar, checkpoint: plan(false), ..TrainOptions::default() };
    let error = params.fit_files([text], &options).expect_err("it was cancelled");
    assert!(error.is_interrupted()); // while reading, training or writing
    eprintln!("\n{error}");
    if let Some(model) = error.unfinished() {
        println!("with the partly trained model: {:.2}", model.similarity("Rain is coming.", "A storm brings rain."));
    }

    let options = TrainOptions { checkpoint: plan(true), ..TrainOptions::default() };
    let resumed = params.fit_files([text], &options)?.model;
    let sentence = "The train is late.";
    assert_eq!(resumed.encode_one(sentence), whole.encode_one(sentence), "the same bits as an uninterrupted run");
    println!("resumed to the end");
    Ok(())
}
