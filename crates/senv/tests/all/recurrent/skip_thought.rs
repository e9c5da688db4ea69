//! Skip-thoughts: decoded neighbors, combined and fine-tuned models, sampled words, vocabulary expansion.

use super::*;

#[test]
fn skip_thoughts_say_their_neighbours_and_are_combined() {
    let files = Files::new();
    let (text, sentences) = ordered();
    let path = files.write("text.txt", &text);
    let fit = FitParams { epochs: Some(500), batch: 6, lr: Some(0.01), clip: Some(10.0), ..FitParams::default() };
    let trained = |params: SkipThoughtParams, threads| params.fit_files([&path], &at_threads(threads)).unwrap();
    let [uni, bi] = [false, true].map(|bi| {
        let one = trained(skip_thought(bi, fit.clone()), 0);
        assert_eq!(one.units, 500 * 12, "three triples a document");
        for i in (0..20).filter(|i| (1..4).contains(&(i % 5))) {
            let said = |decoder| one.model.decode(&sentences[i], &search(decoder, 1, 30)).unwrap()[0].text.clone();
            assert_eq!([said(0), said(1)], [sentences[i - 1].clone(), sentences[i + 1].clone()]);
        }
        let short = skip_thought(bi, FitParams { epochs: Some(10), ..fit.clone() });
        same_at_any_threads(if bi { "bi" } else { "uni" }, |threads| bits(&trained(short.clone(), threads).model));
        batches_agree(&one.model);
        one.model
    });
    let release = trained(SkipThoughtParams { fit, ..skip_thought(true, FitParams::default()).release() }, 0).model;
    assert_eq!(release.decode(&sentences[7], &search(1, 1, 30)).unwrap()[0].text, sentences[8]);

    // Concatenated, each of length 1.
    let both = SkipThought::combine(uni.clone(), bi.clone()).unwrap();
    assert_eq!((both.dim(), both.n_decoders()), (64, 4));
    let [u, b, c] = [&uni, &bi, &both].map(|model| model.encode(&[&sentences[0]]).unwrap());
    assert!(u.iter().chain(&b).eq(c.iter()));
    assert!((c.iter().map(|x| x * x).sum::<f32>() - 2.0).abs() < 1e-5);
    assert_eq!(both.decode(&sentences[1], &search(3, 1, 30)).unwrap()[0].text, sentences[2]);
    both.save(files.path("model.senv")).unwrap();
    let opened = Model::open(files.path("model.senv")).unwrap();
    assert_eq!((opened.kind(), bits(&opened)), ("skip-thought", bits(&both)));
    assert!(SkipThought::combine(both.clone(), bi).is_err());

    // Fine-tuned on labels, one part after the other.
    let (train, dev) = (labelled(300, 0), labelled(60, 300));
    let mut tuned = both.clone();
    for part in 0..2 {
        let fit = FitParams { epochs: Some(20), batch: 16, lr: Some(0.005), ..FitParams::default() };
        let snli = SnliParams { hidden: 64, fit, ..SnliParams::default() };
        let trained = snli
            .fit_skip_thought(&both, part, &train, &TrainOptions { dev: Some(&dev), ..Default::default() })
            .unwrap();
        assert!(trained.best.unwrap().1 > 0.8, "{:?}", trained.history);
        tuned = tuned.with_tuned(part, &trained.model).unwrap();
        assert!(snli.fit_skip_thought(&both, 2, &train, &TrainOptions::default()).is_err());
    }
    assert_eq!((tuned.dim(), tuned.n_decoders()), (64, 0));
    assert_ne!(bits(&tuned), bits(&both));
    tuned.save(files.path("tuned.senv")).unwrap();
    assert_eq!(bits(&Model::open(files.path("tuned.senv")).unwrap()), bits(&tuned));
    // The end token is read by default.
    assert_ne!(bits(&uni), bits(&uni.clone().with_end_token(false)));
}

#[test]
fn skip_thoughts_need_three_sentences_and_long_ones_are_cut_or_dropped() {
    let files = Files::new();
    let short = files.write("short.txt", "boat sail\ntide\n\noven\nbread\n");
    let fit = FitParams { epochs: Some(1), ..FitParams::default() };
    let error = skip_thought(false, fit.clone()).fit_files([&short], &TrainOptions::default()).unwrap_err();
    assert!(matches!(error, Error::NoExamplesIn { .. }), "{error}");

    let path = files.write("text.txt", "boat\nsail tide\noven bread flour dough\nboat\nsail\noven\n");
    let params = |long, max_tokens| SkipThoughtParams { max_tokens, long, ..skip_thought(false, fit.clone()) };
    for (long, expected, words) in
        [(LongSentences::Cut, 4, "1 sentences of more than 3"), (LongSentences::Drop, 1, "3 examples")]
    {
        let notes = Notes::default();
        let trained =
            params(long, 3).fit_files([&path], &TrainOptions { observer: &notes, ..Default::default() }).unwrap();
        assert_eq!(trained.units, expected);
        let notes = notes.0.lock().unwrap();
        assert!(notes.iter().any(|note| note.starts_with(words)), "{notes:?}");
    }
    // If a length limit removes everything, the error names it, for training text and held-out text.
    let none = |max_tokens, dev: &[PathBuf]| {
        let params = params(LongSentences::Drop, max_tokens);
        let short = files.write("words.txt", "boat\nsail\noven\n");
        params.fit_files(&[short], &TrainOptions { dev: Some(dev), ..Default::default() }).map(drop)
    };
    none(1, &[]).unwrap();
    let long = files.write("long.txt", "boat sail\nsail\noven\n");
    let error = none(1, std::slice::from_ref(&long)).unwrap_err();
    assert!(matches!(error, Error::AllTooLong { n: 1, limit: 1, .. }));
    let says = "all 1 held-out examples with a sentence of more than 1 tokens were left out";
    assert!(error.to_string().contains(says) && error.to_string().contains("cut long sentences"), "{error}");
    let text = params(LongSentences::Drop, 1).fit_files([&long], &TrainOptions::default());
    assert!(text.unwrap_err().to_string().contains("all 1 examples with a sentence of more than 1 tokens"));
}

#[test]
fn sampled_words_move_their_rows_alone_at_any_threads_and_over_a_break_unless_all_are_asked_to() {
    let files = Files::new();
    let path = files.write("text.txt", &ordered().0);
    // Two decoders share one output layer. Word vectors are updated sparsely, frozen, or updated densely.
    let fitted = |words, rule, options: &TrainOptions<'_, &[PathBuf]>| {
        let fit = FitParams {
            epochs: Some(30),
            batch: 5,
            lr: Some(0.01),
            words,
            rule,
            clip: Some(1.0),
            ..Default::default()
        };
        let output = OutputForm::Sampled { words: 3 };
        SkipThoughtParams { output, ..skip_thought(false, fit) }.fit_files([&path], options)
    };
    let run = |words, rule, options: &TrainOptions<'_, &[PathBuf]>| fitted(words, rule, options).unwrap();
    for words in [WordUpdates::Sparse, WordUpdates::Frozen] {
        let run = |options: &TrainOptions<'_, &[PathBuf]>| run(words, UpdateRule::default(), options);
        let one = run(&at_threads(1));
        for threads in [2, 5] {
            let other = run(&at_threads(threads));
            assert_eq!(bits(&one.model), bits(&other.model), "{words:?} {threads}");
        }
        let plan = CheckpointPlan { path: files.path(&format!("{words:?}")), every: None, resume: true };
        let resuming = |threads| TrainOptions { checkpoint: Some(plan.clone()), ..at_threads(threads) };
        let stop = TrainOptions { observer: &StopAt(AtomicU32::new(5)), ..resuming(1) };
        assert!(is_stopped(&fitted(words, UpdateRule::default(), &stop)));
        let resumed = run(&resuming(2));
        assert_eq!(bits(&one.model), bits(&resumed.model), "{words:?}");
    }
    // Without moments, a row without a gradient does not change, so both rules are equal up to rounding of the norm.
    let [sparse, dense] = [WordUpdates::Sparse, WordUpdates::Dense]
        .map(|words| run(words, UpdateRule::Sgd, &at_threads(1)).model.encode(&["boat bread goal"]).unwrap());
    assert!(sparse.iter().zip(&dense).all(|(a, b)| (a - b).abs() < 1e-6), "{sparse} {dense}");
    let [sparse, dense] = [WordUpdates::Sparse, WordUpdates::Dense]
        .map(|words| bits(&run(words, UpdateRule::default(), &at_threads(1)).model));
    assert_ne!(sparse, dense, "moments decay at every step by the dense rule alone");
}

#[test]
fn a_vocabulary_grows_by_a_linear_map() {
    let files = Files::new();
    let path = files.write("text.txt", &ordered().0);
    let fit = FitParams { epochs: Some(2), ..FitParams::default() };
    let model = skip_thought(false, fit).fit_files([&path], &TrainOptions::default()).unwrap().model;
    let vectors = other_vectors(model.vocabulary(), model.words());
    let (expanded, report) = model.expand(&vectors, VocabularyExpansion::Affine).unwrap();
    assert_eq!((report.shared, report.added), (15, 1));
    let old = model.vocabulary().len();
    assert_eq!(expanded.vocabulary().len(), old + 1);
    let row = |word: &str| senv_core::Rows::row(expanded.words(), expanded.vocabulary().id(word).unwrap().index());
    for (got, expected) in row("ship").iter().zip([0.75, 0.375, 1.0]) {
        assert!((got - expected).abs() < 1e-4, "{got} {expected}"); // (x + 1) / 2
    }
    assert!(expanded.vocabulary().id("new_york").is_none());
    assert_eq!(row("boat"), senv_core::Rows::row(model.words(), model.vocabulary().id("boat").unwrap().index()));
    assert_eq!(bits(&expanded), bits(&model), "words of its own are as before");
    assert_ne!(expanded.encode(&["boat ship"]).unwrap(), expanded.encode(&["boat xyz"]).unwrap());
    expanded.save(files.path("model.senv")).unwrap();
    assert_eq!(bits(&Model::open(files.path("model.senv")).unwrap()), bits(&expanded));
    assert!(model.expand(&vectors, VocabularyExpansion::Same).is_err(), "three numbers are not sixteen");
    let (linear, other) = model.expand(&vectors, VocabularyExpansion::Linear).unwrap();
    assert!(other.error > report.error && linear.vocabulary().len() == old + 1);
}
