//! Runs that are broken off at one number of threads and go on at another end with the bits of a whole one.

use super::*;

/// Runs as long as `fit` says at one thread, and at two until the first report and then at five.
#[track_caller]
fn goes_on(name: &str, fit: &FitParams, run: impl Fn(FitParams, &dyn Observer) -> (Vec<u32>, Stopped)) {
    let files = Files::new();
    let (whole, stopped) = run(fit.clone(), &NoObserver);
    assert_eq!(stopped, Stopped::Finished, "{name}");
    let plan = CheckpointPlan { path: files.path("run.checkpoint"), every: None, resume: true };
    let broken = |threads| FitParams { threads, checkpoint: Some(plan.clone()), ..fit.clone() };
    let (early, stopped) = run(broken(2), &StopAt(AtomicU32::new(1)));
    assert_eq!(stopped, Stopped::Interrupted, "{name}");
    assert!(early != whole, "{name}: the break is to be before the end");
    assert!(run(broken(5), &NoObserver) == (whole, Stopped::Finished), "{name}");
}

#[test]
fn p_thought_in_three_structures() {
    let files = Files::new();
    let data = captions(&files);
    let fit = FitParams { epochs: 500, batch: 20, lr: 0.01, ..PThoughtParams::default().fit };
    use PThoughtStructure::{OneBi, TwoBi, TwoForward};
    for (structure, output) in
        [(OneBi, OutputForm::Full), (TwoForward, OutputForm::Sampled { words: 8 }), (TwoBi, OutputForm::Full)]
    {
        let params = PThoughtParams { dim: 16, hidden: 20, structure, output, ..PThoughtParams::default() };
        goes_on(&format!("{structure:?}"), &fit, |fit, observer| {
            let trained = PThoughtParams { fit, ..params.clone() }.fit(&data, None, None, observer).unwrap();
            (bits(&trained.model), trained.stopped)
        });
    }
}

#[test]
fn skip_thoughts_uni_and_bi() {
    let files = Files::new();
    let path = files.write("text.txt", &ordered().0);
    let fit = FitParams { epochs: 1500, batch: 6, lr: 0.01, clip: Some(10.0), ..FitParams::default() };
    for bi in [false, true] {
        goes_on(if bi { "bi" } else { "uni" }, &fit, |fit, observer| {
            let trained = skip_thought(bi, fit).fit_files(&[&path], NO_DEV, &CorpusOptions::default(), None, observer);
            let trained = trained.unwrap();
            (bits(&trained.model), trained.stopped)
        });
    }
}

#[test]
fn bags_of_words_on_labels() {
    let train = labelled(120, 0);
    let fit = FitParams { epochs: 2000, batch: 16, lr: 0.003, ..FitParams::default() };
    goes_on("SNLI BOW", &fit, |fit, observer| {
        let trained = snli(SnliEncoder::Bow, fit).fit(&train, None, None, observer).unwrap();
        (bits(&trained.model), trained.stopped)
    });
}

#[test]
fn tuned_skip_thoughts() {
    let files = Files::new();
    let path = files.write("text.txt", &text());
    let fit = FitParams { epochs: 20, batch: 6, lr: 0.01, ..FitParams::default() };
    let [uni, bi] = [false, true].map(|bi| {
        let params = skip_thought(bi, fit.clone());
        params.fit_files(&[&path], NO_DEV, &CorpusOptions::default(), None, &NoObserver).unwrap().model
    });
    let (base, train) = (SkipThought::combine(uni, bi).unwrap(), labelled(120, 0));
    for part in 0..2 {
        let fit = FitParams { epochs: 200, batch: 16, lr: 0.003, ..FitParams::default() };
        goes_on(&format!("part {part}"), &fit, |fit, observer| {
            let params = SnliParams { hidden: 16, fit, ..SnliParams::default() };
            let trained = params.fit_skip_thought(&base, part, &train, None, observer).unwrap();
            (bits(&base.clone().with_tuned(part, &trained.model).unwrap()), trained.stopped)
        });
    }
}
