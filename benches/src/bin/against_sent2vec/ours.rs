//! A run of senv: a library call, in a process of its own so that its peak memory is its own.

use std::{
    process::{Command, Stdio},
    time::Instant,
};

use senv::{Sent2VecParams, TextSystem, TrainOptions, UnknownWords};
use senv_benches::peak_of;
use senv_core::{Corpus, CorpusOptions, NoObserver, Tokenizer};
use senv_negative_sampling::{NegativeSamplingParams, NegativeSharing, Schedule};

use crate::{
    Result,
    run::{Case, Job, Run, Settings},
};

/// The argument before a job, in the process that does it.
pub(crate) const JOB_FLAG: &str = "--job";

/// Runs a job in a new process.
pub(crate) fn run(job: &Job, schedule: Schedule, sharing: NegativeSharing) -> Result<Run> {
    let job = serde_json::to_string(&(job, schedule, sharing))?;
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args([JOB_FLAG, &job]).stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("our run ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Does a job in this process and prints what it came to.
pub(crate) fn serve(job: &str) -> Result<()> {
    let (job, schedule, sharing) = serde_json::from_str(job)?;
    println!("{}", serde_json::to_string(&measure(job, schedule, sharing)?)?);
    Ok(())
}

fn measure(job: Job, schedule: Schedule, negatives_shared: NegativeSharing) -> Result<Run> {
    let Case { dim, word_ngrams, threads } = job.case;
    let Settings { lr, negatives, subsample, epochs, min_count, min_target_count, buckets, dropout } = job.settings;
    let params = Sent2VecParams {
        dim,
        word_ngrams,
        buckets: Some(buckets),
        dropout,
        min_count: Some(min_count),
        min_target_count: Some(min_target_count),
        subsample,
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
    let (vocabulary, corpus) = Corpus::read(&[job.text], &options, &NoObserver)?;
    let vocabulary_seconds = began.elapsed().as_secs_f64();

    let n_words = vocabulary.len();
    let began = Instant::now();
    let trained = params.fit(vocabulary, &corpus, &TrainOptions { threads, ..Default::default() })?;
    let start_seconds = began.elapsed().saturating_sub(trained.training).as_secs_f64();
    let n_rows = trained.model.encoder().rows().n_rows() + n_words;
    Ok(Run {
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
