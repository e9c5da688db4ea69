//! Runs stopped with one number of threads and resumed with another end with the bits of an uninterrupted run. They
//! take two dozen steps or more, and are stopped at step 16 at the latest.

use super::*;

/// Runs to the end with each number of threads, and also with two until step 16 and then with five.
#[track_caller]
fn goes_on(name: &str, run: impl Fn(&TrainOptions<'_>) -> senv::Result<(Vec<u32>, Stopped)>) {
    let files = Files::new();
    let (whole, stopped) = run(&TrainOptions::default()).unwrap();
    assert_eq!(stopped, Stopped::Finished, "{name}");
    let plan = CheckpointPlan { path: files.path("run.checkpoint"), every: None, resume: true };
    let resuming = |threads| TrainOptions { checkpoint: Some(plan.clone()), ..at_threads(threads) };
    let early = run(&TrainOptions { observer: &StopAt(AtomicU32::new(5)), ..resuming(2) });
    let early = early.unwrap_err();
    assert!(bits(early.unfinished().unwrap()) != whole, "{name}: the break is to be before the end");
    assert!(run(&resuming(5)).unwrap() == (whole, Stopped::Finished), "{name}");
}

#[test]
fn p_thought_in_three_structures() {
    let files = Files::new();
    let data = captions(&files);
    let fit = FitParams { epochs: Some(24), batch: 20, lr: Some(0.01), ..PThoughtParams::default().fit };
    use PThoughtStructure::{OneBi, TwoBi, TwoForward};
    for (structure, output) in
        [(OneBi, OutputForm::Full), (TwoForward, OutputForm::Sampled { words: 8 }), (TwoBi, OutputForm::Full)]
    {
        let fit = fit.clone();
        let params = PThoughtParams { dim: 16, hidden: 20, structure, output, fit, ..PThoughtParams::default() };
        goes_on(&format!("{structure:?}"), |options| {
            let trained = params.fit(&data, &options.with_dev(None))?;
            Ok((bits(&trained.model), trained.stopped))
        });
    }
}

#[test]
fn skip_thoughts_uni_and_bi() {
    let files = Files::new();
    let path = files.write("text.txt", &ordered().0);
    let fit = FitParams { epochs: Some(15), batch: 6, lr: Some(0.01), clip: Some(10.0), ..FitParams::default() };
    for bi in [false, true] {
        let params = skip_thought(bi, fit.clone());
        goes_on(if bi { "bi" } else { "uni" }, |options| {
            let trained = params.fit_files([&path], &options.with_dev(None))?;
            Ok((bits(&trained.model), trained.stopped))
        });
    }
}

#[test]
fn bags_of_words_on_labels() {
    let train = labelled(120, 0);
    let fit = FitParams { epochs: Some(4), batch: 16, lr: Some(0.003), ..FitParams::default() };
    let params = snli(SnliEncoder::Bow, fit);
    goes_on("SNLI BOW", |options| {
        let trained = params.fit(&train, &options.with_dev(None))?;
        Ok((bits(&trained.model), trained.stopped))
    });
}

#[test]
fn tuned_skip_thoughts() {
    let files = Files::new();
    let path = files.write("text.txt", &text());
    let fit = FitParams { epochs: Some(20), batch: 6, lr: Some(0.01), ..FitParams::default() };
    let [uni, bi] = [false, true].map(|bi| {
        let params = skip_thought(bi, fit.clone());
        params.fit_files([&path], &TrainOptions::default()).unwrap().model
    });
    let (base, train) = (SkipThought::combine(uni, bi).unwrap(), labelled(120, 0));
    for part in 0..2 {
        let fit = FitParams { epochs: Some(4), batch: 16, lr: Some(0.003), ..FitParams::default() };
        let params = SnliParams { hidden: 16, fit, ..SnliParams::default() };
        goes_on(&format!("part {part}"), |options| {
            let trained = params.fit_skip_thought(&base, part, &train, &options.with_dev(None))?;
            Ok((bits(&trained.model), trained.stopped))
        });
    }
}
