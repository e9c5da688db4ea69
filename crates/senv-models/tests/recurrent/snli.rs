//! SNLI models: labels, early stop, resumed runs, lengths.

use super::*;

#[test]
fn snli_models_learn_labels_with_the_same_bits_at_any_threads_and_are_saved() {
    let (train, dev) = (labelled(600, 0), labelled(90, 600));
    for encoder in [SnliEncoder::Bow, rnn()] {
        let learnt = |threads| {
            let fit = FitParams { epochs: 30, batch: 16, lr: 0.01, threads, ..FitParams::default() };
            snli(encoder.clone(), fit).fit(&train, Some(&dev), None, &NoObserver).unwrap()
        };
        let one = learnt(1);
        assert!(one.best.unwrap().1 > 0.9, "{encoder:?} {:?}", one.history);
        for threads in [2, 5] {
            assert_eq!(bits(&one.model), bits(&learnt(threads).model), "{threads} threads");
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
        let Model::Snli(opened) = opened else { panic!("another kind") };
        assert_eq!(opened.classify(&pairs).unwrap(), classified);
    }
}

#[test]
fn snli_stops_early_and_resumes_to_the_bit() {
    let (train, dev) = (labelled(120, 0), labelled(30, 240));
    let files = Files::new();
    let fit = FitParams { epochs: 400, batch: 16, lr: 0.003, ..FitParams::default() };
    let early = snli(SnliEncoder::Bow, FitParams { patience: Some(2), ..fit.clone() });
    assert_eq!(early.fit(&train, Some(&dev), None, &NoObserver).unwrap().stopped, Stopped::Early);

    let whole = snli(rnn(), fit.clone()).fit(&train, None, None, &NoObserver).unwrap();
    let plan = CheckpointPlan { path: files.path("run.checkpoint"), every: None, resume: true };
    let broken = snli(rnn(), FitParams { checkpoint: Some(plan), ..fit });
    let first = broken.fit(&train, None, None, &StopAt(AtomicU32::new(1))).unwrap();
    assert_eq!(first.stopped, Stopped::Interrupted);
    assert!(first.steps < whole.steps);
    let second = broken.fit(&train, None, None, &NoObserver).unwrap();
    assert_eq!((second.stopped, second.steps), (Stopped::Finished, whole.steps));
    assert_eq!(bits(&second.model), bits(&whole.model));
}

#[test]
fn frozen_words_stay_and_the_rest_learns() {
    let train = labelled(120, 0);
    for encoder in [SnliEncoder::Bow, rnn()] {
        let after = |epochs, words| {
            let fit = FitParams { epochs, batch: 16, lr: 0.01, words, clip: Some(1e-3), ..FitParams::default() };
            snli(encoder.clone(), fit).fit(&train, None, None, &NoObserver).unwrap().model
        };
        let values = |model: &Snli| model.words().values().to_vec();
        let (one, three) = (after(1, WordUpdates::Frozen), after(3, WordUpdates::Frozen));
        assert_eq!(values(&one), values(&three), "{encoder:?}");
        assert_ne!(one.classify(&[("boat", "tide")]).unwrap(), three.classify(&[("boat", "tide")]).unwrap());
        assert_ne!(values(&one), values(&after(1, WordUpdates::Sparse)));
    }
}

#[test]
fn long_sentences_are_cut() {
    let train = labelled(40, 0);
    let params = SnliParams { max_tokens: 2, ..snli(rnn(), FitParams { epochs: 1, ..FitParams::default() }) };
    let model = params.fit(&train, None, None, &NoObserver).unwrap().model;
    assert_eq!(model.encode(&["boat sail tide"]).unwrap(), model.encode(&["boat sail"]).unwrap());
    assert_ne!(model.encode(&["boat"]).unwrap(), model.encode(&["boat sail"]).unwrap());
    assert!(SnliParams { max_tokens: 0, ..params }.fit(&train, None, None, &NoObserver).is_err());
}
