//! Autoencoders of bags of words, and of sentences word by word.

use super::*;
use senv::RnnAutoencoder;

#[test]
fn a_bag_of_words_autoencoder_tells_its_words_again() {
    let files = Files::new();
    let path = files.write("text.txt", &text());
    for reconstruction in [Reconstruction::Full, Reconstruction::Tree] {
        let fit = FitParams { epochs: Some(300), batch: 8, lr: Some(0.02), ..FitParams::default() };
        let params = |fit| BowAutoencoderParams {
            dim: 16,
            min_count: 1,
            reconstruction,
            fit,
            ..BowAutoencoderParams::default()
        };
        let run = |fit, options: &TrainOptions<'_, &[PathBuf]>| params(fit).fit_files([&path], options);
        let trained = |fit, options: &TrainOptions<'_, &[PathBuf]>| run(fit, options).unwrap();
        let one = trained(fit.clone(), &TrainOptions::default());
        let text = text();
        let sentences: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let losses = one.model.losses(&sentences).unwrap();
        // With the tree, two words cost the choice between them.
        let known =
            |(line, &loss): (&&str, &f64)| loss < 0.3 || (reconstruction == Reconstruction::Tree && line.contains(' '));
        assert!(sentences.iter().zip(&losses).all(known), "{reconstruction:?} {losses:?}");
        for threads in [2, 5] {
            assert_eq!(bits(&one.model), bits(&trained(fit.clone(), &at_threads(threads)).model));
        }
        batches_agree(&one.model);
        let twice = one.model.encode(&["boat boat sail", "sail boat"]).unwrap();
        assert_eq!(twice.row(0), twice.row(1));

        one.model.save(files.path("model.senv")).unwrap();
        let opened = Model::open(files.path("model.senv")).unwrap();
        assert_eq!((opened.kind(), bits(&opened)), ("bow-ae", bits(&one.model)));

        let plan = CheckpointPlan { path: files.path(&format!("{reconstruction:?}")), every: None, resume: true };
        let resuming = TrainOptions { checkpoint: Some(plan), ..Default::default() };
        let stop = TrainOptions { observer: &StopAt(AtomicU32::new(5)), ..resuming.clone() };
        assert!(is_stopped(&run(fit.clone(), &stop)));
        assert_eq!(bits(&trained(fit, &resuming).model), bits(&one.model));
    }
}

#[test]
fn a_recurrent_autoencoder_says_twenty_sentences_word_for_word() {
    let files = Files::new();
    let (text, sentences) = ordered();
    let path = files.write("text.txt", &text);
    let fit = FitParams { epochs: Some(400), batch: 10, lr: Some(0.01), clip: Some(5.0), ..FitParams::default() };
    let one = autoencoder(fit.clone()).fit_files([&path], &TrainOptions::default()).unwrap();
    for sentence in &sentences {
        let greedy = one.model.decode(sentence, &search(0, 1, 30)).unwrap();
        assert_eq!((&greedy[0].text, greedy[0].ended), (sentence, true));
        let (surprise, tokens) = one.model.surprise(sentence, sentence, 0).unwrap();
        assert!((surprise + greedy[0].log_probability).abs() < 1e-4 && tokens == sentence.split(' ').count() + 1);
        let beam = one.model.decode(sentence, &search(0, 3, 30)).unwrap();
        assert!(beam.len() > 1 && beam[0].text == *sentence, "{beam:?}");
    }
    assert!(matches!(one.model.decode("boat", &search(1, 1, 30)), Err(Error::NoDecoder { n: 1, asked: 1 })));
    batches_agree(&one.model);
    one.model.save(files.path("model.senv")).unwrap();
    let opened = Model::open(files.path("model.senv")).unwrap();
    assert_eq!((opened.kind(), bits(&opened)), ("rnn-ae", bits(&one.model)));
    let opened: &RnnAutoencoder = opened.downcast_ref().unwrap();
    assert_eq!(
        opened.decode(&sentences[3], &search(0, 2, 30)).unwrap(),
        one.model.decode(&sentences[3], &search(0, 2, 30)).unwrap()
    );

    let short = autoencoder(FitParams { epochs: Some(15), ..fit });
    let trained = |options: &TrainOptions<'_, &[PathBuf]>| short.fit_files([&path], options).unwrap();
    same_at_any_threads("RNN autoencoder", |threads| bits(&trained(&at_threads(threads)).model));
    let plan = CheckpointPlan { path: files.path("run.checkpoint"), every: None, resume: true };
    let resuming = TrainOptions { checkpoint: Some(plan), ..Default::default() };
    let stop = TrainOptions { observer: &StopAt(AtomicU32::new(5)), ..resuming.clone() };
    assert!(is_stopped(&short.fit_files([&path], &stop)));
    assert_eq!(bits(&trained(&resuming).model), bits(&trained(&at_threads(1)).model));
}

#[test]
fn outputs_sampled_and_in_clusters_learn_too() {
    let files = Files::new();
    let (text, sentences) = ordered();
    let path = files.write("text.txt", &text);
    for output in [OutputForm::Sampled { words: 12 }, OutputForm::Adaptive { cutoffs: vec![6, 11, 1000] }] {
        let fit = FitParams { epochs: Some(600), batch: 10, lr: Some(0.01), ..FitParams::default() };
        let params = RnnAutoencoderParams { output: output.clone(), ..autoencoder(fit) };
        let trained = params.fit_files([&path], &TrainOptions::default()).unwrap();
        let right =
            |sentence: &&String| trained.model.decode(sentence, &search(0, 1, 30)).unwrap()[0].text == **sentence;
        let right = sentences.iter().filter(right).count();
        assert!(right >= 18, "{output:?}: {right}");
        trained.model.save(files.path("model.senv")).unwrap();
        assert_eq!(bits(&Model::open(files.path("model.senv")).unwrap()), bits(&trained.model));
    }
}

#[test]
fn long_sentences_of_a_bag_of_words_are_cut_or_left_out_and_counted() {
    let files = Files::new();
    let text = files.write("text.txt", "boat sail tide\nboat\nsail tide anchor\nsail tide\n");
    let dev = files.write("dev.txt", "boat sail tide\nboat\n");
    let run = |long, dev: &PathBuf| {
        let fit = FitParams { epochs: Some(1), ..FitParams::default() };
        let params = BowAutoencoderParams { dim: 4, min_count: 1, max_tokens: 2, long, fit, ..Default::default() };
        let notes = Notes::default();
        let options = TrainOptions { dev: Some(std::slice::from_ref(dev)), observer: &notes, ..Default::default() };
        let trained = params.fit_files([&text], &options);
        trained.map(|trained| (trained.units, notes.of_length()))
    };
    for (long, examples, done) in [(LongSentences::Cut, 4, "cut"), (LongSentences::Drop, 2, "left out")] {
        let expected = [("2", ""), ("1", "held-out ")]
            .map(|(n, name)| format!("{n} {name}sentences of more than 2 tokens were {done}"));
        assert_eq!(run(long, &dev).unwrap(), (examples, expected.to_vec()));
    }
    let long = files.write("long.txt", "boat sail tide\n");
    let error = run(LongSentences::Drop, &long).unwrap_err().to_string();
    assert!(error.contains("all 1 held-out sentences of more than 2 tokens"), "{error}");
}
