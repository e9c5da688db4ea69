//! SDAE and SAE with both kinds of cells.

use super::*;
use senv::{
    sequence::SequenceCell,
    systems::{Sdae, SdaeCell},
};

/// Small settings with the default noise.
pub(crate) fn small(fit: FitParams) -> SdaeParams {
    SdaeParams { dim: 12, hidden: 24, fit, ..SdaeParams::default() }
}

fn fit(epochs: u32) -> FitParams {
    FitParams { epochs: Some(epochs), batch: 10, lr: Some(0.01), clip: Some(5.0), ..FitParams::default() }
}

#[test]
fn sentences_are_told_word_for_word_though_words_were_deleted_and_swapped_in_training() {
    let files = Files::new();
    let (text, sentences) = ordered();
    let path = files.write("text.txt", &text);
    for cell in [SdaeCell::Lstm, SdaeCell::Gru] {
        let params = SdaeParams { cell, ..small(fit(400)) };
        let one = params.fit_files([&path], &TrainOptions::default()).unwrap();
        let said = |sentence: &&String| one.model.decode(sentence, &search(0, 1, 30)).unwrap()[0].text == **sentence;
        let right = sentences.iter().filter(said).count();
        assert!(right >= 18, "{cell:?}: {right}");
        for sentence in &sentences {
            let greedy = one.model.decode(sentence, &search(0, 1, 30)).unwrap();
            let (surprise, _) = one.model.surprise(sentence, &greedy[0].text, 0).unwrap();
            assert!(!greedy[0].ended || (surprise + greedy[0].log_probability).abs() < 1e-3, "{cell:?}");
        }
        batches_agree(&one.model);
        one.model.save(files.path("model.senv")).unwrap();
        let opened = Model::open(files.path("model.senv")).unwrap();
        assert_eq!((opened.kind(), bits(&opened)), ("sdae", bits(&one.model)));
        let opened: &Sdae = opened.downcast_ref().unwrap();
        assert_eq!(
            opened.decode(&sentences[3], &search(0, 2, 30)).unwrap(),
            one.model.decode(&sentences[3], &search(0, 2, 30)).unwrap()
        );
        let is_lstm = matches!(opened.config().parts[0].cell, SequenceCell::Lstm { .. });
        assert_eq!(is_lstm, cell == SdaeCell::Lstm);
    }
}

#[test]
fn any_number_of_threads_and_a_resumed_run_give_the_same_bits() {
    let files = Files::new();
    let path = files.write("text.txt", &ordered().0);
    for cell in [SdaeCell::Lstm, SdaeCell::Gru] {
        let params = SdaeParams { cell, ..small(fit(12)) };
        let trained = |options: &TrainOptions<'_, &[PathBuf]>| params.fit_files([&path], options).unwrap();
        let one = trained(&TrainOptions::default());
        for threads in [2, 5] {
            assert_eq!(bits(&trained(&at_threads(threads)).model), bits(&one.model), "{cell:?}, {threads} threads");
        }
        let plan = CheckpointPlan { path: files.path(&format!("{cell:?}")), every: None, resume: true };
        let resuming = TrainOptions { checkpoint: Some(plan), ..Default::default() };
        let stop = TrainOptions { observer: &StopAt(AtomicU32::new(5)), ..resuming.clone() };
        assert!(is_stopped(&params.fit_files([&path], &stop)));
        assert_eq!(bits(&trained(&resuming).model), bits(&one.model));
    }
}

#[test]
fn noise_changes_what_is_learned_but_not_a_text_of_single_words() {
    let files = Files::new();
    let several = files.write("text.txt", &ordered().0);
    let words = files.write("words.txt", "boat\nsail\ntide\nanchor\n\nboat\n");
    let run = |path: &PathBuf, noise: f64| {
        let params = SdaeParams { delete: noise, swap: noise, ..small(fit(3)) };
        bits(&params.fit_files([path], &TrainOptions::default()).unwrap().model)
    };
    assert_ne!(run(&several, 0.0), run(&several, 0.3));
    // The only word of a sentence is never deleted, at any probability.
    assert_eq!(run(&words, 0.0), run(&words, 0.9));
    let sae = SdaeParams::default().without_noise();
    assert_eq!((sae.delete, sae.swap), (0.0, 0.0));
}

#[test]
fn given_vectors_stay_as_they_are_and_words_without_one_are_unknown() {
    let files = Files::new();
    let (text, _) = ordered();
    let path = files.write("text.txt", &text);
    let learned = small(fit(2)).fit_files([&path], &TrainOptions::default()).unwrap().model;
    let words: Vec<&str> = learned.vocabulary().iter().skip(2).map(|(_, word, _)| word).collect();
    let (given, missing) = words.split_at(words.len() / 2);
    let rows = (0..3 * given.len()).map(|i| (i as f32).sin()).collect();
    let kept = Vocabulary::from_counts(given.iter().map(|&word| (word, 0)), 0).unwrap();
    let vectors = Embeddings::new(kept, Table::from_vec(given.len(), 3, rows).unwrap()).unwrap();
    let params = small(FitParams { words: WordUpdates::Frozen, ..fit(2) });
    let params = SdaeParams { dim: 3, ..params };
    let options = TrainOptions { vectors: Some(&vectors), ..Default::default() };
    let model = params.fit_files([&path], &options).unwrap().model;
    assert!(given.len() > 3 && missing.iter().all(|word| model.vocabulary().id(word).is_none()));
    for word in given {
        let id = model.vocabulary().id(word).unwrap();
        assert_eq!(senv_core::Rows::row(model.words(), id.index()), vectors.get(word).unwrap(), "{word}");
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    for (delete, swap) in [(1.0, 0.1), (-0.1, 0.1), (f64::NAN, 0.1), (0.1, 1.1), (0.1, f64::NAN)] {
        let params = SdaeParams { delete, swap, ..small(fit(1)) };
        let refused = params.fit_sentences(["boat sail", "sail tide"], &TrainOptions::default());
        assert!(matches!(refused, Err(Error::Core(senv_core::Error::InvalidParameter { .. }))), "{delete} {swap}");
    }
}
