//! Training, saving and opening of PV-DM.

use super::*;
use senv_core::kernels;

/// Two alternating subjects without common words.
fn text() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let subjects = ["the cat saw the dog in the meadow", "a train left one station by night"];
    std::fs::write(file.path(), (0..60).map(|i| format!("{}\n", subjects[i % 2])).collect::<String>()).unwrap();
    file
}

fn params(combine: Composition, window_side: WindowSide) -> PvDmParams {
    let mut params = PvDmParams {
        dim: 8,
        combine,
        window: 2,
        window_side,
        min_count: Some(1),
        subsample: Some(1.0),
        ..PvDmParams::default()
    };
    (params.training.epochs, params.training.lr) = (Some(60), Some(0.2));
    params
}

#[test]
fn documents_of_a_subject_lie_together_however_vectors_are_combined_at_any_number_of_threads() {
    let text = text();
    for (combine, side) in [
        (Composition::Mean, WindowSide::Both),
        (Composition::Sum, WindowSide::Before),
        (Composition::Concatenation, WindowSide::Both),
        (Composition::Concatenation, WindowSide::Before),
    ] {
        let [one, three] = [1, 3].map(|threads| {
            let options = TrainOptions { document_vectors: true, threads, ..TrainOptions::default() };
            params(combine, side).fit_files([text.path()], &options).unwrap().model
        });
        let rows = |model: &PvDm| model.document_vectors().unwrap().iter().flatten().copied().collect::<Vec<_>>();
        assert_eq!(rows(&one), rows(&three), "{combine:?} {side:?}");
        assert_eq!((one.words.values(), one.outputs.values()), (three.words.values(), three.outputs.values()));
        let documents = one.document_vectors().unwrap();
        let cosine = |a: usize, b: usize| kernels::cosine(documents.row(a), documents.row(b));
        // On average over documents, and less so with concatenation, in which case only the words predict the next one.
        let mean = |next: usize| (0..58).map(|i| cosine(i, i + next)).sum::<f32>() / 58.0;
        let (same, different) = (mean(2), mean(1));
        let margin = if combine == Composition::Concatenation { 0.03 } else { 0.3 };
        assert!(same > different + margin, "{combine:?} {side:?}: {same} and {different}");
    }
}

#[test]
fn a_saved_model_infers_the_same_vectors_and_one_with_another_window_is_refused() {
    let (text, folder) = (text(), tempfile::tempdir().unwrap());
    let path = folder.path().join("model.senv");
    let model = params(Composition::Concatenation, WindowSide::Both).train(text.path()).unwrap();
    model.save(&path).unwrap();
    let opened = PvDm::open(&path).unwrap();
    let sentences = ["the cat saw the dog", "station", "unheard of words", ""];
    for sentence in sentences {
        assert_eq!(opened.encode_one(sentence), model.encode_one(sentence), "{sentence}");
    }
    assert_eq!(model.encode_one("").to_vec(), [0.0; 8]);
    assert_ne!(model.encode_one("station").to_vec(), [0.0; 8], "a document of one word");
    let other = PvDm { params: PvDmParams { window: 3, ..model.params.clone() }, ..model };
    other.save(&path).unwrap();
    let error = PvDm::open(&path).unwrap_err().to_string();
    assert!(error.contains("\"outputs\"") && error.contains("expected 91 rows"), "{error}");
}

#[test]
fn texts_of_one_word_and_of_one_sentence_are_trained_and_an_empty_one_is_an_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for (lines, n) in [("word\n", 1), ("one sentence of six words alone\n", 1), ("a\nb\n\na\n", 3)] {
        std::fs::write(file.path(), lines).unwrap();
        let options = TrainOptions { document_vectors: true, ..TrainOptions::default() };
        let model = params(Composition::Mean, WindowSide::Both).fit_files([file.path()], &options).unwrap().model;
        let documents = model.document_vectors().unwrap();
        assert_eq!(documents.n_rows(), n, "{lines:?}");
        assert!(documents.iter().flatten().all(|x| x.is_finite()));
    }
    std::fs::write(file.path(), "\n").unwrap();
    let error = params(Composition::Mean, WindowSide::Both).fit_files([file.path()], &TrainOptions::default());
    assert!(error.unwrap_err().to_string().contains("no text"), "names the file");
}
