//! The settings that a training job takes from its initial model, and those that it keeps.

use senv::{Model, PpParams, Sent2VecParams, Start, TextSystem, TrainJob, Word2VecParams};
use senv_core::Tokenizer;

#[test]
fn a_tokenizer_that_was_set_holds_and_an_automatic_one_is_that_of_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.txt");
    std::fs::write(&path, "The cat sat on the mat\nThe dog lay on the rug\n".repeat(40)).unwrap();
    let text = [path];
    let whitespace = Sent2VecParams { dim: 8, tokenizer: Tokenizer::whitespace(), ..Sent2VecParams::default() };
    let model = Model::from(whitespace.train(&text[0]).unwrap());

    let tokenizer_after = |tokenizer: Tokenizer| {
        let params = Word2VecParams { dim: 5, tokenizer, ..Word2VecParams::default() };
        let job = TrainJob { start: Start::Model(&model), ..TrainJob::new(params, &text[..]) };
        let trained = job.run().unwrap().trained.model;
        assert_eq!(trained.params().dim, 8, "the dimension is that of the start");
        trained.params().tokenizer.clone()
    };
    assert_eq!(tokenizer_after(Tokenizer::automatic()), Tokenizer::whitespace());
    let lower = Tokenizer::words().lowercase(true);
    assert_eq!(tokenizer_after(lower.clone()), lower);
}

#[test]
fn a_second_stage_says_how_its_first_went() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, "the cat sat\ta cat was sitting\nthe dog ran\ta dog was running\n".repeat(8)).unwrap();
        senv::data::PairInput { path, kind: senv::data::PairKind::Pairs, weight: None }
    };
    let second = senv::data::SecondStage { inputs: vec![file("second.tsv")], epochs: Some(2), lr: None };
    let files = senv::data::PairFiles { inputs: vec![file("first.tsv")], second: Some(second), ..Default::default() };
    let mut params = PpParams { dim: 6, ..PpParams::default() };
    params.fit.epochs = Some(3);
    let outcome = TrainJob::new(params, &files).run().unwrap();
    let first = outcome.trained.first_stage.as_ref().expect("a report of the first stage");
    assert_eq!((first.units, outcome.trained.units), (48, 32));
    assert_eq!(outcome.sources.len(), 2);
}
