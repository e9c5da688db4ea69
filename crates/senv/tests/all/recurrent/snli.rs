//! SNLI models: labels, early stopping, resumed runs, lengths.

use super::*;

#[test]
fn snli_models_learn_labels_with_the_same_bits_at_any_threads_and_are_saved() {
    let (train, dev) = (labelled(600, 0), labelled(90, 600));
    for encoder in [SnliEncoder::Bow, rnn()] {
        let params =
            snli(encoder.clone(), FitParams { epochs: Some(30), batch: 16, lr: Some(0.01), ..FitParams::default() });
        let trained = |threads| params.fit(&train, &TrainOptions { dev: Some(&dev), ..at_threads(threads) }).unwrap();
        let one = trained(1);
        assert!(one.best.unwrap().1 > 0.9, "{encoder:?} {:?}", one.history);
        for threads in [2, 5] {
            assert_eq!(bits(&one.model), bits(&trained(threads).model), "{threads} threads");
        }
        batches_agree(&one.model);
        let pairs = [("boat sail", "tide"), ("boat sail", "bread"), ("oven", "goal match")];
        let of = |p: &[f64; 3]| (0..3).max_by(|&i, &j| p[i].total_cmp(&p[j])).unwrap();
        let classified = one.model.classify(&pairs).unwrap();
        assert_eq!(classified.iter().map(of).collect::<Vec<_>>(), [0, 2, 1]);
        assert!(classified.iter().all(|p| (p.iter().sum::<f64>() - 1.0).abs() < 1e-6));

        let files = Files::new();
        one.model.save(files.path("model.senv")).unwrap();
        let opened = Model::open(files.path("model.senv")).unwrap();
        assert_eq!((opened.kind(), bits(&opened)), ("snli", bits(&one.model)));
        let opened: &Snli = opened.downcast_ref().unwrap();
        assert_eq!(opened.classify(&pairs).unwrap(), classified);
    }
}

#[test]
fn snli_stops_early_and_resumes_to_the_bit() {
    let (train, dev) = (labelled(120, 0), labelled(30, 240));
    let files = Files::new();
    let fit = FitParams { epochs: Some(400), batch: 16, lr: Some(0.003), ..FitParams::default() };
    let early = snli(SnliEncoder::Bow, FitParams { patience: Some(2), ..fit.clone() });
    let early = early.fit(&train, &TrainOptions { dev: Some(&dev), ..Default::default() }).unwrap();
    assert_eq!(early.stopped, Stopped::Early);

    let fit = FitParams { epochs: Some(4), ..fit };
    let whole = snli(rnn(), fit.clone()).fit(&train, &TrainOptions::default()).unwrap();
    let plan = CheckpointPlan { path: files.path("run.checkpoint"), every: None, resume: true };
    let (params, resuming) = (snli(rnn(), fit), TrainOptions { checkpoint: Some(plan), ..Default::default() });
    let stop = TrainOptions { observer: &StopAt(AtomicU32::new(5)), ..resuming.clone() };
    assert!(is_stopped(&params.fit(&train, &stop)));
    for other in [
        SnliParams { long: LongSentences::Drop, ..params.clone() },
        SnliParams { max_vocabulary: Some(99), ..params.clone() },
    ] {
        let error = other.fit(&train, &resuming).unwrap_err();
        assert!(matches!(error, Error::CheckpointMismatch { .. }), "{error}");
    }
    let second = params.fit(&train, &resuming).unwrap();
    assert_eq!((second.stopped, second.steps), (Stopped::Finished, whole.steps));
    assert_eq!(bits(&second.model), bits(&whole.model));
}

#[test]
fn frozen_words_stay_and_the_rest_learns() {
    let train = labelled(120, 0);
    for encoder in [SnliEncoder::Bow, rnn()] {
        let after = |epochs, words| {
            let fit = FitParams { epochs, batch: 16, lr: Some(0.01), words, clip: Some(1e-3), ..FitParams::default() };
            snli(encoder.clone(), fit).fit(&train, &TrainOptions::default()).unwrap().model
        };
        let values = |model: &Snli| model.words().values().to_vec();
        let (one, three) = (after(Some(1), WordUpdates::Frozen), after(Some(3), WordUpdates::Frozen));
        assert_eq!(values(&one), values(&three), "{encoder:?}");
        assert_ne!(one.classify(&[("boat", "tide")]).unwrap(), three.classify(&[("boat", "tide")]).unwrap());
        assert_ne!(values(&one), values(&after(Some(1), WordUpdates::Sparse)));
    }
}

#[test]
fn long_sentences_are_cut_in_training_and_encoded_whole() {
    let train = labelled(40, 0);
    let params = SnliParams { max_tokens: 2, ..snli(rnn(), FitParams { epochs: Some(1), ..FitParams::default() }) };
    let model = params.fit(&train, &TrainOptions::default()).unwrap().model;
    assert_ne!(model.encode(&["boat sail tide"]).unwrap(), model.encode(&["boat sail"]).unwrap());
    assert_ne!(model.encode(&["boat"]).unwrap(), model.encode(&["boat sail"]).unwrap());
    assert!(SnliParams { max_tokens: 0, ..params }.fit(&train, &TrainOptions::default()).is_err());
}

#[test]
fn long_pairs_are_cut_or_left_out_and_counted_of_held_out_pairs_too() {
    let pairs = |pairs: &[(&'static str, &'static str, &'static str)]| NliPairs::new("x", pairs.to_vec()).unwrap();
    let train = pairs(&[
        ("entailment", "boat sail tide", "boat"),
        ("neutral", "boat sail tide anchor", "oven bread flour"),
        ("contradiction", "boat", "oven"),
    ]);
    let dev = pairs(&[("entailment", "tide boat sail", "boat"), ("neutral", "boat", "oven")]);
    let run = |long, dev: &NliPairs| {
        let fit = FitParams { epochs: Some(1), ..FitParams::default() };
        let params = SnliParams { max_tokens: 2, long, ..snli(SnliEncoder::Bow, fit) };
        let notes = Notes::default();
        let trained = params.fit(&train, &TrainOptions { dev: Some(dev), observer: &notes, ..Default::default() });
        trained.map(|trained| (trained.units, notes.of_length()))
    };
    let of = |what: [&str; 2]| what.map(|what| what.to_owned()).to_vec();
    let cut = of(["3 sentences of more than 2 tokens were cut", "1 held-out sentences of more than 2 tokens were cut"]);
    assert_eq!(run(LongSentences::Cut, &dev).unwrap(), (3, cut));
    let dropped = of([
        "2 pairs with a sentence of more than 2 tokens were left out",
        "1 held-out pairs with a sentence of more than 2 tokens were left out",
    ]);
    assert_eq!(run(LongSentences::Drop, &dev).unwrap(), (1, dropped));
    let error = run(LongSentences::Drop, &pairs(&[("neutral", "boat sail tide", "oven")])).unwrap_err().to_string();
    assert!(error.contains("all 1 held-out pairs") && error.contains("raise the token limit"), "{error}");
}

#[test]
fn the_most_frequent_words_are_kept() {
    let train = labelled(120, 0);
    let params = |max_vocabulary| SnliParams {
        max_vocabulary,
        ..snli(SnliEncoder::Bow, FitParams { epochs: Some(1), ..FitParams::default() })
    };
    let words = |limit| params(limit).fit(&train, &TrainOptions::default()).unwrap().model.vocabulary().clone();
    let (all, four) = (words(None), words(Some(4)));
    assert_eq!((all.len(), four.len()), (15, 4));
    let first = |words: &Vocabulary| words.iter().take(4).map(|(_, word, n)| (word.to_owned(), n)).collect::<Vec<_>>();
    assert_eq!(first(&all), first(&four));
    let error = params(Some(0)).fit(&train, &TrainOptions::default()).unwrap_err().to_string();
    assert!(error.contains("max_vocabulary"), "{error}");
}

#[test]
fn a_vocabulary_grows_by_a_map_to_the_words_as_they_are_after_training() {
    let train = labelled(120, 0);
    let fit = FitParams { epochs: Some(3), batch: 16, lr: Some(0.01), ..FitParams::default() };
    let files = Files::new();
    let text = files.write("text.txt", &ordered().0);
    let base = skip_thought(false, FitParams { epochs: Some(2), ..FitParams::default() })
        .fit_files([&text], &TrainOptions::default())
        .unwrap()
        .model;
    let anew = |encoder| snli(encoder, fit.clone()).fit(&train, &TrainOptions::default()).unwrap().model;
    let tuned = SnliParams { fit: fit.clone(), ..SnliParams::default() };
    let tuned = tuned.fit_skip_thought(&base, 0, &train, &TrainOptions::default()).unwrap().model;
    assert_ne!(tuned.words().values(), base.words().values());
    for model in [anew(SnliEncoder::Bow), anew(rnn()), tuned] {
        let vectors = other_vectors(model.vocabulary(), model.words());
        let (expanded, report) = model.expand(&vectors, VocabularyExpansion::Affine).unwrap();
        let old = model.vocabulary().len();
        assert_eq!((report.shared, report.added, expanded.vocabulary().len()), (15, 1, old + 1));
        let row = |i| senv_core::Rows::row(expanded.words(), i);
        assert!((0..old).all(|i| row(i) == senv_core::Rows::row(model.words(), i)), "words keep their own vectors");
        for (got, expected) in row(old).iter().zip([0.75, 0.375, 1.0]) {
            assert!((got - expected).abs() < 1e-3, "{got} {expected}"); // (x + 1) / 2
        }
        assert_eq!(bits(&expanded), bits(&model));
        assert_ne!(expanded.encode(&["boat ship"]).unwrap(), expanded.encode(&["boat xyz"]).unwrap());
        let pair = [("boat sail", "tide")];
        assert_eq!(expanded.classify(&pair).unwrap(), model.classify(&pair).unwrap());
        expanded.save(files.path("model.senv")).unwrap();
        let opened = Model::open(files.path("model.senv")).unwrap();
        assert_eq!((opened.kind(), bits(&opened)), ("snli", bits(&expanded)));
        assert_eq!(opened.abilities().expandable.unwrap().usual_expansion(), VocabularyExpansion::Affine);
        assert!(model.expand(&vectors, VocabularyExpansion::Same).is_err(), "three numbers are not so many");
    }
    // If word vectors stayed frozen, new vectors are added unchanged, unless they belong to another model.
    let frozen = FitParams { words: WordUpdates::Frozen, ..fit };
    let model = snli(SnliEncoder::Bow, frozen.clone()).fit(&train, &TrainOptions::default()).unwrap().model;
    assert_eq!(Model::from(model).abilities().expandable.unwrap().usual_expansion(), VocabularyExpansion::Same);
    let tuned = SnliParams { fit: frozen, ..SnliParams::default() };
    let tuned = tuned.fit_skip_thought(&base, 0, &train, &TrainOptions::default()).unwrap().model;
    assert_eq!(Model::from(tuned).abilities().expandable.unwrap().usual_expansion(), VocabularyExpansion::Affine);
}
