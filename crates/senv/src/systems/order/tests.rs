use senv_core::{
    StaticEncoder, Table, Tokenizer, Vocabulary, init,
    rng::stream,
    static_model::{CompressedRows, RowEncoding, order::OrderJoin},
};
use senv_data::{ParaphrasePair, ParaphraseSet};

use super::{Order, OrderInput, OrderParams};
use crate::{
    CompressParams, Error, Model, SentenceCollection, Start, StaticModel, System, TrainOptions,
    collection::SentenceCollectionParams, gradient::scored_pairs::ScoredPairs,
};

const PEOPLE: [&str; 8] = ["anna", "bert", "cleo", "dora", "emil", "fritz", "greta", "hugo"];
const VERBS: [&str; 4] = ["helps", "sees", "calls", "follows"];

/// A table of these words and a few more, with random rows.
fn table(unknown_word_length: Option<f32>) -> StaticEncoder {
    let words: Vec<(&str, u64)> =
        ["the", "not", "."].into_iter().chain(PEOPLE).chain(VERBS).zip((1..=20).rev()).collect();
    let vocabulary = Vocabulary::from_counts(words.clone(), 200).unwrap();
    let mut rows = Table::zeros(words.len(), 12).unwrap();
    for i in 0..words.len() {
        init::normal(&mut stream(3, "rows", &[i as u64]), rows.row_mut(i), 1.0).unwrap();
    }
    let rows = CompressedRows::compress(&rows, RowEncoding::Int8).unwrap();
    StaticEncoder::new(Tokenizer::words().lowercase(true), vocabulary, rows, unknown_word_length).unwrap()
}

/// Pairs of a sentence with itself, and with subject and object exchanged.
fn input() -> OrderInput {
    let mut pairs = Vec::new();
    for (i, a) in PEOPLE.iter().enumerate() {
        for (k, b) in PEOPLE.iter().enumerate().filter(|(k, _)| *k != i) {
            let verb = VERBS[(i + 3 * k) % VERBS.len()];
            let pair = |is_paraphrase, first: String, second: String| ParaphrasePair { is_paraphrase, first, second };
            pairs.push(pair(true, format!("{a} {verb} {b}."), format!("The {a} {verb} the {b}.")));
            pairs.push(pair(false, format!("{a} {verb} {b}."), format!("The {b} {verb} the {a}.")));
        }
    }
    OrderInput { labelled: vec![ParaphraseSet { path: "pairs".into(), pairs }], ..OrderInput::default() }
}

fn params(steps: u64) -> OrderParams {
    let mut params = OrderParams { dim: 16, random_features: 8, kappa: Some(1.0), ..OrderParams::default() };
    params.fit.steps = Some(steps);
    params.fit.lr = Some(0.02);
    params
}

fn train(params: &OrderParams, threads: usize) -> Order {
    let options = TrainOptions { threads, ..TrainOptions::default() };
    params.fit_table(&table(Some(3.0)), &input(), &options).unwrap().model
}

#[test]
fn it_learns_who_does_what_to_whom() {
    let model = train(&params(150), 2);
    let same = model.similarity("Anna helps Greta.", "The Anna helps the Greta.");
    let exchanged = model.similarity("Anna helps Greta.", "The Greta helps the Anna.");
    assert!(same > exchanged + 0.1, "{same} {exchanged}");
    let table = model.encoder().clone().without_order();
    let by_table = |a, b| table.similarity(a, b);
    let apart = by_table("Anna helps Greta.", "The Anna helps the Greta.")
        - by_table("Anna helps Greta.", "The Greta helps the Anna.");
    assert!(apart.abs() < 1e-6, "a table knows no order: {apart}");
}

#[test]
fn the_first_dimensions_are_the_vector_of_the_table_and_negation_has_a_column() {
    for length in [None, Some(3.0)] {
        let table = table(length);
        let model = params(3).fit_table(&table, &input(), &TrainOptions::default()).unwrap().model;
        assert_eq!(model.dim(), 12 + 16 + OrderJoin::EXTRA);
        let texts = ["Anna sees Bert.", "Anna sees not-bert, x-y!", "Nobody-knows", "", "Bert does not follow anna"];
        for text in texts {
            let (whole, of_table) = (model.encode_one(text).to_vec(), table.encode_one(text).to_vec());
            assert_eq!(whole[..12], of_table, "{text}");
            let negation = whole[29] / of_table.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-9);
            // A table that leaves out unknown words does not split compounds.
            let negated = text.contains(" not ") || length.is_some() && text.contains(" not-");
            let expected = if negated { 0.8 } else { 0.0 };
            assert!((negation - expected).abs() < 1e-5, "{text}: {negation}");
        }
        let truncated = model.encoder().clone().truncate_dim(12).unwrap();
        assert_eq!(truncated.encode(&texts).unwrap(), table.encode(&texts).unwrap());
    }
}

#[test]
fn threads_change_nothing_and_a_saved_model_is_the_same() {
    let (one, three) = (train(&params(8), 1), train(&params(8), 3));
    let texts = ["Greta calls the unheard-of Zoe", "dora not emil", "", "."];
    let vectors = one.encode(&texts).unwrap();
    assert_eq!(vectors, three.encode(&texts).unwrap());
    let other = OrderParams { fit: crate::gradient::FitParams { seed: 2, ..params(8).fit }, ..params(8) };
    assert_ne!(vectors, train(&other, 1).encode(&texts).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("order.senv");
    one.save(&path).unwrap();
    let opened = crate::open(&path).unwrap();
    assert_eq!((opened.kind(), opened.encode(&texts).unwrap()), ("order", vectors.clone()));
    assert_eq!(opened.downcast_ref::<Order>().unwrap().config(), one.config());
    // A model that already has an order part: the part is trained for its table.
    let again = params(8).fit_input(&input(), Start::Model(&opened), &TrainOptions::default()).unwrap().model;
    assert_eq!(again.encode(&texts).unwrap(), vectors);
}

#[test]
fn the_gate_takes_the_greatest_weight_that_costs_little() {
    let mut gated = OrderParams { kappa: None, negation: 0.0, ..params(60) };
    // The scores are the table's cosines, so every weight costs something.
    let table_of_scores = table(Some(3.0));
    let pair = |i: usize| {
        let (a, b) =
            (format!("{} sees {}", PEOPLE[i], PEOPLE[(i + 1) % 8]), format!("{} calls anna", PEOPLE[(i + 3) % 8]));
        (f64::from(table_of_scores.similarity(&a, &b)), a, b)
    };
    let set = ScoredPairs { name: "gate".into(), pairs: (0..8).map(pair).collect() };
    let fit = |params: &OrderParams| {
        let input = OrderInput { gate: vec![set.clone()], ..input() };
        params.fit_table(&table(Some(3.0)), &input, &TrainOptions::default()).unwrap().model
    };
    gated.gate_loss = 2.0;
    let open = fit(&gated).join().kappa;
    assert!(open > 12.0, "everything passes: {open}");
    gated.gate_loss = 0.0;
    let narrow = fit(&gated).join().kappa;
    assert!(narrow < open, "{narrow}");
}

#[test]
fn a_small_table_keeps_the_part_where_it_keeps_its_axes() {
    let model: Model = train(&params(30), 1).into();
    let params = CompressParams { encoding: RowEncoding::Int8, ..CompressParams::default() };
    let small = params.compress(&model).unwrap();
    assert_eq!(small.order().unwrap().config().encoding, RowEncoding::Int8);
    assert_eq!((small.dim(), small.encoding(), small.unknown_word_length()), (30, RowEncoding::Int8, Some(3.0)));
    let texts = ["Greta calls the unheard-of Zoe", "dora not emil", "the anna sees the bert", "", "."];
    let (before, after) = (model.encode(&texts).unwrap(), small.encode(&texts).unwrap());
    for (x, y) in before.rows().into_iter().zip(after.rows()) {
        // Rows of eight bits do not change; maps lose a little.
        assert_eq!(x.iter().take(12).collect::<Vec<_>>(), y.iter().take(12).collect::<Vec<_>>());
        let apart = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f32>().sqrt();
        assert!(apart <= 0.02 * x.iter().map(|x| x * x).sum::<f32>().sqrt(), "{apart}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.senv");
    small.save(&path).unwrap();
    let opened = crate::open(&path).unwrap();
    assert_eq!((opened.kind(), opened.encode(&texts).unwrap()), ("static", after));
    assert!(params.compress(&opened).unwrap_err().to_string().contains("already compressed"));

    let few = CompressParams { max_vocabulary: Some(5), unknown_length: 0.5, ..params }.compress(&model).unwrap();
    assert_eq!((few.vocabulary().len(), few.unknown_word_length()), (5, Some(1.5)));
    assert!(few.order().is_some());
    let four = CompressParams { encoding: RowEncoding::Int4, ..params }.compress(&model).unwrap();
    assert_eq!((four.encoding(), four.dim()), (RowEncoding::Int4, 30));
    for (other, dim) in [
        (CompressParams { dim: Some(4), ..params }, 4),
        (CompressParams { principal: Some(5), ..params }, 5),
        (CompressParams { whitening: 0.2, ..params }, 12),
    ] {
        let small = other.compress(&model).unwrap();
        assert!(small.order().is_none() && small.dim() == dim, "{dim}");
    }
    assert_eq!(params.compress_side_by_side(&model, &[&opened]).unwrap().dim(), 24);
}

#[test]
fn the_part_counts_as_much_as_is_asked_for() {
    let model: Model = train(&params(150), 1).into();
    let small: Model = StaticModel::from(CompressParams::default().compress(&model).unwrap()).into();
    for model in [model, small] {
        let exchanged = |weight| {
            let weighted = model.with_order_weight(weight).unwrap();
            weighted.similarity("Anna helps Greta.", "The Greta helps the Anna.")
        };
        let cosines = [0.0, 0.5, 1.0, 2.0].map(exchanged);
        assert!(cosines.is_sorted_by(|a, b| a > b), "{cosines:?}");
        assert_eq!(cosines[2], model.similarity("Anna helps Greta.", "The Greta helps the Anna."));
        let table = model.with_order_weight(0.0).unwrap();
        assert_eq!((table.kind(), table.dim()), ("static", 12));
        assert!(model.with_order_weight(-0.1).is_err() && model.with_order_weight(f64::NAN).is_err());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("twice.senv");
        model.with_order_weight(2.0).unwrap().save(&path).unwrap();
        let opened = crate::open(&path).unwrap();
        assert_eq!(opened.kind(), model.kind());
        assert_eq!(opened.similarity("Anna helps Greta.", "The Greta helps the Anna."), cosines[3]);
    }
    let none: Model = StaticModel::from(table(None)).into();
    assert!(matches!(none.with_order_weight(1.0), Err(Error::NoOrderPart { kind: "static" })));
}

#[test]
fn a_collection_searches_with_the_weight_that_it_was_made_with() {
    let folder = tempfile::tempdir().unwrap();
    let (path, at) = (folder.path().join("order.senv"), folder.path().join("people.index"));
    train(&params(150), 1).save(&path).unwrap();
    for (order_weight, dim) in [(1.0, 30), (2.0, 30), (0.0, 12)] {
        let _ = std::fs::remove_dir_all(&at);
        let wanted = SentenceCollectionParams { order_weight, ..SentenceCollectionParams::default() };
        let mut collection = SentenceCollection::create_with(&at, &path, &wanted).unwrap();
        collection.add(&["The Greta helps the Anna."]).unwrap();
        let collection = SentenceCollection::open(&at).unwrap();
        assert_eq!(
            (collection.rows().dim(), SentenceCollection::order_weight(collection.rows())),
            (dim, Some(order_weight))
        );
        let found = collection.search("Anna helps Greta.", 1).unwrap()[0].cosine;
        let model = crate::open(&path).unwrap();
        let model = model.with_order_weight(order_weight).unwrap();
        let expected = model.similarity("Anna helps Greta.", "The Greta helps the Anna.");
        assert!((found - expected).abs() < 1e-3, "{order_weight:?}: {found} {expected}");
    }
    let far = SentenceCollectionParams { order_weight: -1.0, ..SentenceCollectionParams::default() };
    assert!(SentenceCollection::create_with(folder.path().join("other.index"), &path, &far).is_err());
}

#[test]
fn what_cannot_be_trained_is_refused() {
    let options = TrainOptions::default();
    let none = params(3).fit_table(&table(None), &OrderInput::default(), &options);
    assert!(matches!(none, Err(Error::NoExamples { .. })));
    assert!(params(3).fit_input(&input(), Start::Random, &options).is_err());
    let mut updates = params(3);
    updates.fit.words = crate::gradient::WordUpdates::Sparse;
    assert!(updates.check().is_err());
    let model: Model = crate::RandomBow::new(crate::RandomBowParams::default()).unwrap().into();
    assert!(params(3).fit_input(&input(), Start::Model(&model), &options).is_err());
}
