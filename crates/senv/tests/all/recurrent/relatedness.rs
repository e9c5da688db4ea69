//! Fine-tuning of recurrent encoders and sums of words on scored pairs.

use senv::{RelatednessParams, gradient::ScoredPairs};

use super::*;

/// Pairs of the same topic have score 5, others 1.
fn scored(n: usize, first: usize) -> ScoredPairs {
    let pair = |i: usize| {
        let (a, b) = (i % 3, (i / 3) % 3);
        (if a == b { 5.0 } else { 1.0 }, sentence(a, i), sentence(b, 3 * i + 1))
    };
    ScoredPairs { name: "scored".into(), pairs: (first..first + n).map(pair).collect() }
}

#[test]
fn recurrent_encoders_and_sums_of_words_learn_scores() {
    let files = Files::new();
    let (train, dev) = (scored(240, 0), scored(60, 240));
    let short = FitParams { epochs: Some(2), batch: 16, lr: Some(0.01), ..FitParams::default() };
    let of_snli = |encoder| {
        Model::from(snli(encoder, short.clone()).fit(&labelled(60, 0), &TrainOptions::default()).unwrap().model)
    };
    let text = files.write("text.txt", &text());
    let skip_thought = SkipThoughtParams {
        dim: 12,
        sentence_dim: 10,
        bi: true,
        output: OutputForm::Full,
        fit: short.clone(),
        ..SkipThoughtParams::default()
    };
    let trained = skip_thought.fit_files([&text], &TrainOptions::default()).unwrap();
    let words = BowAutoencoderParams { dim: 12, min_count: 1, fit: short.clone(), ..Default::default() };
    let words = Model::from(words.fit_files([&text], &TrainOptions::default()).unwrap().model);
    let bases = [of_snli(SnliEncoder::Bow), of_snli(rnn()), words, Model::from(trained.model.clone())];
    for base in bases {
        let params = RelatednessParams {
            hidden: 8,
            fit: FitParams { epochs: Some(40), batch: 16, lr: Some(0.01), ..FitParams::default() },
            ..RelatednessParams::default()
        };
        let trained =
            |threads| params.fit(&base, &train, &TrainOptions { dev: Some(&dev), ..at_threads(threads) }).unwrap();
        let tuned = trained(1);
        assert!(tuned.best.unwrap().1 > 0.8, "{}: {:?}", base.kind(), tuned.history);
        batches_agree(&tuned.model);
        assert_eq!(bits(&tuned.model), bits(&trained(3).model), "{}", base.kind());

        let path = files.path("tuned.senv");
        tuned.model.save(&path).unwrap();
        let opened = Model::open(&path).unwrap();
        let score = tuned.model.score("boat sail", "tide").unwrap();
        assert_eq!(opened.relatedness("boat sail", "tide").unwrap(), Some(score));
        assert_eq!(bits(&opened), bits(&tuned.model));
        assert_eq!(opened.tokenizer(), base.tokenizer());
        // A fine-tuned model can be fine-tuned again.
        assert!(params.fit(&opened, &train, &at_threads(1)).is_ok());
    }
    let combined = Model::from(SkipThought::combine(trained.model.clone(), trained.model).unwrap());
    let refused = RelatednessParams::default().fit(&combined, &train, &TrainOptions::default());
    assert!(matches!(refused, Err(Error::CannotTune { kind: "skip-thought" })));
}
