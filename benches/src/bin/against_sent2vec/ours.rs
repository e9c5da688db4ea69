//! Runs senv through the library, in a separate process to measure its own peak memory.

use std::{
    process::{Command, Stdio},
    time::Instant,
};

use senv::{Sent2VecParams, TextSystem, TrainOptions, average::UnknownWords};
use senv_benches::peak_of;
use senv_core::{Corpus, CorpusOptions, NoObserver, Tokenizer};
use senv_negative_sampling::{NegativeSamplingParams, NegativeSharing, Schedule};

use crate::{
    Result,
    run::{Case, Measurement, Settings, Workload},
};

/// The argument before a workload, in the process that runs it.
pub(crate) const JOB_FLAG: &str = "--job";

/// Runs a workload in a new process.
pub(crate) fn run(workload: &Workload, schedule: Schedule, sharing: NegativeSharing) -> Result<Measurement> {
    let workload = serde_json::to_string(&(workload, schedule, sharing))?;
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args([JOB_FLAG, &workload]).stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("our run ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Runs a workload in this process and prints the measurement.
pub(crate) fn serve(workload: &str) -> Result<()> {
    let (workload, schedule, sharing) = serde_json::from_str(workload)?;
    println!("{}", serde_json::to_string(&measure(workload, schedule, sharing)?)?);
    Ok(())
}

fn measure(workload: Workload, schedule: Schedule, negatives_shared: NegativeSharing) -> Result<Measurement> {
    let Case { dim, word_ngrams, threads } = workload.case;
    let Settings { lr, negatives, subsample, epochs, min_count, min_target_count, buckets, dropout } =
        workload.settings;
    let params = Sent2VecParams {
        dim,
        word_ngrams,
        buckets: Some(buckets),
        dropout,
        min_count: Some(min_count),
        min_target_count: Some(min_target_count),
        subsample: Some(subsample),
        tokenizer: Tokenizer::whitespace(),
        training: NegativeSamplingParams {
            epochs: Some(epochs),
            lr: Some(lr),
            negatives,
            negatives_shared,
            schedule,
            ..NegativeSamplingParams::default()
        },
        placeholder: true,
        initial_length: None,
        weighting: None,
        unknown_words: UnknownWords::Skip,
        ..Sent2VecParams::default()
    };
    let options = CorpusOptions { tokenizer: Tokenizer::whitespace(), min_count, threads, ..CorpusOptions::default() };

    let began = Instant::now();
    let (vocabulary, corpus) = Corpus::read(&[workload.text], &options, &NoObserver)?;
    let vocabulary_seconds = began.elapsed().as_secs_f64();

    let n_words = vocabulary.len();
    let began = Instant::now();
    let trained = params.fit(vocabulary, &corpus, &TrainOptions { threads, ..Default::default() })?;
    let start_seconds = began.elapsed().saturating_sub(trained.training).as_secs_f64();
    let n_rows = trained.model.encoder().rows().n_rows() + n_words;
    Ok(Measurement {
        words: trained.units,
        training_seconds: trained.training.as_secs_f64(),
        vocabulary_seconds,
        start_seconds,
        peak_bytes: peak_of("self"),
        table_bytes: (n_rows * dim * 4) as u64,
        loss: Some(trained.loss),
        stated_words_per_cpu_second: None,
    })
}
