//! GRAN and its variants, from pairs to encoded sentences and back.

use std::sync::atomic::{AtomicU32, Ordering};

use senv::{
    CheckpointPlan, Control, CseParams, Error, Gran, GranParams, GranVariant, Model, NoObserver, Observer, PairSystem,
    PpParams, Progress, SentenceEncoder, System, TrainOptions, Trained,
    data::{PairData, PairInput, PairKind, PairOptions},
    forms::{GranGate, MarginLoss, Selection, StatePooling},
    gradient::{FitParams, PairLoss, PairParams},
    system::PairModel,
};
use tempfile::TempDir;

/// Words of two topics. A sentence takes three words of one topic, with common words in between.
const TOPICS: [[&str; 8]; 2] = [
    ["boat", "harbour", "sail", "anchor", "tide", "captain", "rope", "wave"],
    ["oven", "bread", "flour", "dough", "crust", "baker", "yeast", "butter"],
];
const SHARED: [&str; 4] = ["the", "of", "with", "and"];

/// Sentence number `n` of a topic.
fn sentence(topic: usize, n: usize) -> String {
    let word = |i: usize| TOPICS[topic][(n * (i + 3) + i * i + n / 7) % 8];
    format!("{} {} {} {} {}", SHARED[n % 4], word(0), word(1), SHARED[(n / 4) % 4], word(2))
}

fn read(folder: &TempDir, text: &str) -> PairData {
    let path = folder.path().join("pairs.tsv");
    std::fs::write(&path, text).unwrap();
    let inputs = [PairInput { path, kind: PairKind::Pairs, weight: None }];
    PairData::read(&inputs, &PairOptions::default(), &NoObserver).unwrap()
}

fn pairs(folder: &TempDir) -> PairData {
    let line = |i: usize| format!("{}\t{}\n", sentence(i % 2, i), sentence(i % 2, 3 * i + 11));
    read(folder, &(0..200).map(line).collect::<String>())
}

/// Every encoder. If possible, its hidden size differs from the dimension of the words.
fn all() -> Vec<GranParams> {
    let gates = [
        GranGate::Word,
        GranGate::State,
        GranGate::Memory,
        GranGate::WatchedMemory,
        GranGate::WordAndState,
        GranGate::Projection,
        GranGate::Product,
    ];
    let grans = gates.map(|gate| (GranVariant::Gran { gate }, None));
    let others = [GranVariant::Lstm, GranVariant::Bilstm]
        .into_iter()
        .flat_map(|variant| [StatePooling::Last, StatePooling::Mean, StatePooling::Max].map(|p| (variant, Some(p))));
    let hidden =
        |variant| if variant == (GranVariant::Gran { gate: GranGate::WordAndState }) { None } else { Some(14) };
    let of = |(variant, pooling)| GranParams { variant, pooling, hidden: hidden(variant), ..small() };
    grans.into_iter().chain(others).map(of).collect()
}

/// Random negatives, because the hardest one is of the same topic here.
fn margin() -> PairLoss {
    PairLoss::Margin(MarginLoss { selection: Selection::Random, ..MarginLoss::default() })
}

fn small() -> GranParams {
    GranParams {
        dim: 16,
        pairs: PairParams { loss: margin(), scramble: 0.5, vector_dropout: 0.1, ..PairParams::default() },
        fit: FitParams { epochs: Some(8), batch: 20, lr: Some(0.01), ..FitParams::default() },
        ..GranParams::default()
    }
}

fn at_threads<D>(threads: usize) -> TrainOptions<'static, D> {
    TrainOptions { threads, ..Default::default() }
}

/// Mean cosine within a topic minus that between the two.
fn separation(encoder: &dyn SentenceEncoder) -> f32 {
    let mean = |other: fn(usize) -> usize| {
        (0..40).map(|i| encoder.similarity(&sentence(i % 2, 100 + i), &sentence(other(i), 200 + 3 * i))).sum::<f32>()
            / 40.0
    };
    mean(|i| i % 2) - mean(|i| (i + 1) % 2)
}

fn bits(encoder: &dyn SentenceEncoder) -> Vec<u32> {
    let texts: Vec<String> = (0..10).map(|i| sentence(i % 2, i)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    encoder.encode_batch(&texts).unwrap().0.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn every_encoder_learns_from_pairs_and_is_saved() {
    let folder = TempDir::new().unwrap();
    let data = pairs(&folder);
    for params in all() {
        let trained = |threads| params.fit(&data, &at_threads(threads)).unwrap();
        let one: Trained<Gran> = trained(1);
        let (gap, form) = (separation(&one.model), (params.variant, params.pooling));
        assert!(gap > 0.4, "{form:?}: {gap}");
        assert_eq!(bits(&one.model), bits(&trained(3).model), "{form:?}");
        let path = folder.path().join("model.senv");
        one.model.save(&path).unwrap();
        let opened = Model::open(&path).unwrap();
        let opened: &Gran = opened.downcast_ref().unwrap();
        assert_eq!(bits(opened), bits(&one.model), "{form:?}");
        assert_eq!(opened.params(), one.model.params());
    }
}

/// Stops after this many progress reports.
struct StopAt(AtomicU32);

impl Observer for StopAt {
    fn progress(&self, _: &Progress) -> Control {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 1 { Control::Stop } else { Control::Continue }
    }
}

#[test]
fn a_run_that_was_stopped_goes_on_to_the_same_bits() {
    let folder = TempDir::new().unwrap();
    let data = pairs(&folder);
    let whole = small().fit(&data, &at_threads(1)).unwrap();
    let plan = CheckpointPlan { path: folder.path().join("run.checkpoint"), every: None, resume: true };
    let resuming = TrainOptions { checkpoint: Some(plan), ..Default::default() };
    let stop = StopAt(AtomicU32::new(4));
    let stopped = small().fit(&data, &TrainOptions { observer: &stop, ..resuming.clone() });
    assert!(stopped.is_err_and(|error| error.is_interrupted()));
    let resumed = small().fit(&data, &resuming).unwrap();
    assert_eq!(bits(&resumed.model), bits(&whole.model));
    // Different settings make a different run.
    let stopped = small().fit(&data, &TrainOptions { observer: &StopAt(AtomicU32::new(4)), ..resuming.clone() });
    assert!(stopped.is_err_and(|error| error.is_interrupted()));
    let other = GranParams { pooling: Some(StatePooling::Max), ..small() };
    assert!(matches!(other.fit(&data, &resuming), Err(Error::CheckpointMismatch { .. })));
}

#[test]
fn a_second_stage_goes_on_from_words_and_encoder_of_the_first() {
    let folder = TempDir::new().unwrap();
    let data = pairs(&folder);
    let first = small().fit(&data, &at_threads(1)).unwrap().model;
    // Without an effective step, the weights are those of the first stage.
    let params = GranParams { fit: FitParams { lr: Some(1e-30), ..small().fit }, ..small() };
    let second = params.fit_from(&data, Some(&first), &at_threads(1)).unwrap();
    assert_eq!(second.initial.found, second.initial.words);
    assert_eq!(second.model.parameters(), first.parameters());
    assert!(second.model.words().iter().eq(first.words().iter()));
    // Starting from a model of a different form is rejected.
    let other = GranParams { hidden: Some(5), ..params };
    assert!(other.fit_from(&data, Some(&first), &at_threads(1)).is_err());
}

/// The learning rate that the system chooses in one epoch from random words.
fn chosen_lr<S: PairSystem>(mut system: S, data: &PairData) -> Option<f64> {
    let fit = system.shared().fit;
    (fit.lr, fit.epochs) = (None, Some(1));
    let of_model = |model: S::Model| model.params().clone().shared().fit.lr;
    let first = system.fit(data, &at_threads(1)).unwrap().model;
    let second = system.fit_from(data, Some(&first), &at_threads(1)).unwrap().model;
    let lr = of_model(first);
    assert_eq!(of_model(second), lr);
    lr
}

#[test]
fn a_learning_rate_that_is_not_set_is_chosen_and_kept_in_the_model() {
    let data = pairs(&TempDir::new().unwrap());
    assert_eq!(chosen_lr(small(), &data), Some(0.001));
    assert_eq!(chosen_lr(CseParams { dim: 16, ..CseParams::default() }, &data), Some(0.001));
    assert_eq!(chosen_lr(PpParams { dim: 16, ..PpParams::default() }, &data), Some(0.005));
}

/// A sentence of one word is unchanged by shuffling and dropout. A batch of one pair has no negatives, and its loss is
/// 0.
#[test]
fn sentences_of_one_word_are_trained_on_and_encoded() {
    let folder = TempDir::new().unwrap();
    let lines = (0..60).map(|i| format!("{}\t{}\n", TOPICS[i % 2][i / 2 % 8], TOPICS[i % 2][(i / 2 + 1) % 8]));
    let data = read(&folder, &lines.collect::<String>());
    for params in all() {
        let pairs = PairParams { scramble: 1.0, word_dropout: 0.9, ..params.pairs.clone() };
        let params = GranParams { pairs, fit: FitParams { epochs: Some(2), ..params.fit.clone() }, ..params };
        let model = params.fit(&data, &at_threads(2)).unwrap().model;
        let word = model.encode(&["anchor"]).unwrap();
        assert!(word.iter().all(|x| x.is_finite()) && word.iter().any(|&x| x != 0.0), "{params:?}");
        // An empty sentence and one without known words have zero vectors, alone and in a batch.
        let (vectors, coverage) = model.encode_batch(&["", "zyzzyva", "anchor"]).unwrap();
        assert!(vectors.row(0).iter().chain(vectors.row(1)).all(|&x| x == 0.0));
        assert_eq!(vectors.row(2), word.row(0));
        assert_eq!((coverage[1].known, coverage[2].known), (0, 1));
    }
}

#[test]
fn presets_are_the_settings_of_the_release() {
    let [gran, last, average] = GranParams::NAMED_SETTINGS else { panic!("three presets") };
    let (gran, last, average) = ((gran.settings)(), (last.settings)(), (average.settings)());
    let of = |params: &GranParams| {
        let PairParams { scramble, vector_dropout, word_dropout, .. } = params.pairs;
        (scramble, vector_dropout, word_dropout, params.fit.l2_words)
    };
    assert_eq!(of(&gran), (0.5, 0.4, 0.0, 0.0));
    assert_eq!(of(&last), (0.75, 0.0, 0.2, 1e-5));
    assert_eq!(of(&average), (0.5, 0.4, 0.0, 1e-5));
    assert_eq!((last.variant, last.pooling), (GranVariant::Lstm, Some(StatePooling::Last)));
    assert_eq!((average.variant, average.pooling), (GranVariant::Lstm, Some(StatePooling::Mean)));
    assert_eq!(gran.fit.n_epochs(), 10);
}

#[test]
fn a_hidden_size_that_gate_5_cannot_add_is_refused_and_names_what_to_do() {
    let variant = GranVariant::Gran { gate: GranGate::WordAndState };
    let error = GranParams { variant, hidden: Some(8), ..small() }.check().unwrap_err().to_string();
    assert!(error.contains("hidden size") && error.contains("gate 5"), "{error}");
    assert!(GranParams { variant, hidden: Some(16), ..small() }.check().is_ok());
}
