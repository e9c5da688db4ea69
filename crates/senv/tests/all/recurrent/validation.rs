//! The loss on held-out text.

use super::*;

fn validated(on: &PathBuf) -> TrainOptions<'_, &[PathBuf]> {
    TrainOptions { dev: Some(std::slice::from_ref(on)), ..Default::default() }
}

#[test]
fn systems_with_decoders_are_validated_by_what_held_out_text_costs() {
    let files = Files::new();
    let (text, sentences) = ordered();
    let path = files.write("text.txt", &text);
    // A word that is not in the training text, and one with the name of the end token.
    let held_out = files.write("dev.txt", "boat sail bread\nxyz tide\n<eos> oven goal\npitch boat\n\n");
    let fit = FitParams { epochs: Some(2), batch: 6, lr: Some(0.01), ..FitParams::default() };
    let long = FitParams { epochs: Some(300), patience: Some(2), ..fit.clone() };

    // Every token of the held-out text separately, with the model of the best step.
    let trained = autoencoder(long.clone()).fit_files([&path], &validated(&held_out)).unwrap();
    assert_eq!(trained.stopped, Stopped::Early, "twenty sentences are soon known too well");
    let (step, score) = trained.best.unwrap();
    assert!(step < trained.steps && trained.history.iter().all(|&(_, other)| other <= score), "{:?}", trained.history);
    let cost = |model: &senv::RnnAutoencoder, text: &str| model.surprise(text, text, 0).unwrap();
    let lines = ["boat sail bread", "xyz tide", "UNK oven goal", "pitch boat"];
    let sums = lines.map(|line| cost(&trained.model, line)).iter().fold((0.0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert_eq!(sums.1, 14, "words and ends");
    assert!((score + sums.0 / 14.0).abs() < 1e-5, "{score} {}", -sums.0 / 14.0);
    // The same in one batch or many, and with sampled words, which only training uses.
    let many: String = (0..200).map(|i| sentences[i % 20].clone() + "\n").collect();
    let many = files.write("many.txt", &many);
    let sampled = RnnAutoencoderParams { output: OutputForm::Sampled { words: 8 }, ..autoencoder(fit.clone()) };
    let reports = Reports::default();
    let sampled = sampled.fit_files([&path], &TrainOptions { observer: &reports, ..validated(&many) }).unwrap();
    let sums = sentences.iter().map(|line| cost(&sampled.model, line)).fold((0.0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert!((sampled.best.unwrap().1 + sums.0 / sums.1 as f64).abs() < 1e-5);
    let last = *reports.0.lock().unwrap().last().unwrap();
    assert!(last.tokens_per_second.unwrap() > 0.0 && last.validation.is_some());
    assert!(last.metrics[0].unwrap().value > 0.0 && last.metrics[1].is_none(), "{last:?}");

    // Both neighbors count.
    let trained = skip_thought(false, fit.clone()).fit_files([&path], &validated(&held_out)).unwrap();
    let triples = [(1, 0, 2), (2, 1, 3)];
    let parts = triples.map(|(i, before, after)| {
        [(before, 0), (after, 1)].map(|(j, k): (usize, usize)| trained.model.surprise(lines[i], lines[j], k).unwrap())
    });
    let sums = parts.iter().flatten().fold((0.0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert!((trained.best.unwrap().1 + sums.0 / sums.1 as f64).abs() < 1e-5);
    let two = files.write("two.txt", "boat\nsail\n");
    let error = skip_thought(false, fit.clone()).fit_files([&path], &validated(&two)).unwrap_err();
    assert!(matches!(error, Error::NoHeldOutExamples { kind: "skip-thought", .. }), "{error}");
    assert!(error.to_string().contains("two.txt"), "{error}");

    let bow = BowAutoencoderParams { dim: 8, min_count: 1, fit: long, ..BowAutoencoderParams::default() };
    let trained = bow.fit_files([&path], &validated(&held_out)).unwrap();
    let losses = trained.model.losses(&lines).unwrap();
    assert!((trained.best.unwrap().1 + losses.iter().sum::<f64>() / 4.0).abs() < 1e-4, "{losses:?}");
    let unknown = files.write("unknown.txt", "xyz\n");
    let error = bow.fit_files([&path], &validated(&unknown)).unwrap_err();
    assert!(error.to_string().contains("unknown.txt"), "{error}");
}
