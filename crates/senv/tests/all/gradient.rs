//! Siamese CBOW, PP, CSE, the relatedness head and weighted averages, from files to encoded sentences and back.

use std::{fmt::Write, fs, path::PathBuf};

use senv::{
    BowAutoencoderParams, CheckpointPlan, Cse, CseParams, Error, FilterStart, Model, PThoughtParams, PThoughtStructure,
    PairSystem, PpParams, RelatednessParams, RnnAutoencoderParams, SiameseCbowParams, System, TextSystem, TrainOptions,
    Trained, WeightedParams,
    data::{HeldOut, PairData, PairInput, PairKind, PairOptions},
    forms::{
        Activation, Combine, InfoNce, MarginLoss, NegativeCandidates, RelatednessLoss, ScoreGrid, Selection, Window,
    },
    gradient::{FitParams, L2Scaling, PairLoss, ScoredPairs, Stopped, WordUpdates},
    grid_search::SearchGrid,
};
use senv_core::{
    NoObserver, Observer, SentenceEncoder, Table, Tokenizer, optim::UpdateRule, rng::stream, text::Normalization,
};
use senv_store::Embeddings;
use tempfile::TempDir;

/// Words of two topics. A sentence takes four words of one topic, with common words in between.
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

struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Documents about one topic each.
    fn running(&self) -> PathBuf {
        let mut text = String::new();
        for document in 0..60 {
            (0..8).for_each(|i| writeln!(text, "{}", sentence(document % 2, 8 * document + i)).unwrap());
            text.push('\n');
        }
        self.write("running.txt", &text)
    }

    fn pairs(&self) -> PathBuf {
        let line = |i: usize| format!("{}\t{}\n", sentence(i % 2, i), sentence(i % 2, 3 * i + 11));
        self.write("pairs.tsv", &(0..300).map(line).collect::<String>())
    }

    /// Pairs of the same topic have a high score, and pairs of two topics a low one.
    fn scored(&self) -> PathBuf {
        let line = |i: usize| {
            let other = (i / 2 + i) % 2;
            let score = if i % 2 == other { 4.5 } else { 1.25 };
            format!("{score}\t{}\t{}\n", sentence(i % 2, i), sentence(other, 5 * i + 3))
        };
        self.write("scored.tsv", &(0..120).map(line).collect::<String>())
    }
}

fn inputs(path: PathBuf, kind: PairKind) -> Vec<PairInput> {
    vec![PairInput { path, kind, weight: None }]
}

fn data(path: PathBuf, kind: PairKind) -> PairData {
    PairData::read(&inputs(path, kind), &PairOptions::default(), &NoObserver).unwrap()
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

fn fit_params() -> FitParams {
    FitParams { epochs: Some(6), batch: 32, lr: Some(0.02), clip: None, ..FitParams::default() }
}

fn at_threads<D>(threads: usize) -> TrainOptions<'static, D> {
    TrainOptions { threads, ..Default::default() }
}

fn siamese() -> SiameseCbowParams {
    SiameseCbowParams { dim: 24, min_count: Some(1), fit: fit_params(), ..Default::default() }
}

#[test]
fn siamese_cbow_learns_from_neighbours_and_is_saved() {
    let files = Files::new();
    let text = files.running();
    let trained = |threads| siamese().fit_files([&text], &at_threads(threads)).unwrap();
    let one = trained(1);
    assert!(separation(&one.model) > 0.5, "{}", separation(&one.model));
    assert_eq!((one.stopped, one.units, one.steps), (Stopped::Finished, 6 * 360, 6 * 12));
    for threads in [2, 5] {
        assert_eq!(bits(&one.model), bits(&trained(threads).model));
    }
    let path = files.folder.path().join("model.senv");
    one.model.save(&path).unwrap();
    let opened = Model::open(&path).unwrap();
    assert_eq!((opened.kind(), bits(&opened)), ("siamese-cbow", bits(&one.model)));
}

#[test]
fn siamese_cbow_needs_documents_of_three_sentences() {
    let files = Files::new();
    let text = files.write("short.txt", "the boat\nthe oven\n\nthe rope\nthe tide\n\nthe wave\n");
    let error = siamese().fit_files([&text], &at_threads(1)).unwrap_err();
    assert!(matches!(&error, Error::NoExamplesIn { paths } if paths == std::slice::from_ref(&text)), "{error}");
}

/// Margin loss against random sentences. With two topics, the hardest negative would always be of the same topic.
fn margin() -> PairLoss {
    PairLoss::Margin(MarginLoss { selection: Selection::Random, ..MarginLoss::default() })
}

fn softmax() -> PairLoss {
    PairLoss::InfoNce(InfoNce { temperature: 0.1, ..InfoNce::default() })
}

#[test]
fn pp_learns_from_pairs_with_either_loss_and_is_saved() {
    let files = Files::new();
    let data = data(files.pairs(), PairKind::Pairs);
    for loss in [margin(), softmax()] {
        let trained = |threads| {
            let mut params = PpParams { dim: 16, fit: fit_params(), ..PpParams::default() };
            params.pairs.loss = loss.clone();
            params.pairs.word_dropout = 0.1;
            params.fit(&data, &at_threads(threads)).unwrap()
        };
        let one = trained(1);
        assert!(separation(&one.model) > 0.5, "{loss:?} {}", separation(&one.model));
        assert_eq!(bits(&one.model), bits(&trained(3).model));
        let path = files.folder.path().join("model.senv");
        one.model.save(&path).unwrap();
        assert_eq!(bits(&Model::open(&path).unwrap()), bits(&one.model));
    }
}

/// Stops at the first progress report.
struct Stop;

impl Observer for Stop {
    fn progress(&self, _: &senv_core::Progress) -> senv_core::Control {
        senv_core::Control::Stop
    }
}

#[test]
fn a_run_is_not_resumed_with_other_data() {
    let files = Files::new();
    let path = files.folder.path().join("run.checkpoint");
    let text = fs::read_to_string(files.pairs()).unwrap();
    let swap = |line: &str| line.split_once('\t').map(|(a, b)| format!("{b}\t{a}\n")).unwrap();
    let swapped: String = text.lines().map(swap).collect();
    let reversed: String = text.lines().rev().map(|line| format!("{line}\n")).collect();
    let run = |text: &str, resume, observer: &dyn Observer| {
        let data = data(files.write("run.tsv", text), PairKind::Pairs);
        let checkpoint = Some(CheckpointPlan { path: path.clone(), every: None, resume });
        let params = PpParams { dim: 8, fit: FitParams { epochs: Some(3000), ..fit_params() }, ..PpParams::default() };
        params.fit(&data, &TrainOptions { checkpoint, observer, ..Default::default() })
    };
    assert!(run(&text, false, &Stop).is_err_and(|error| error.is_interrupted()));
    for other in [&swapped, &reversed] {
        let error = run(other, true, &Stop).unwrap_err();
        assert!(matches!(error, Error::CheckpointMismatch { .. }), "{error}");
    }
    assert!(run(&text, true, &Stop).is_err_and(|error| error.is_interrupted()));
}

fn cse(activation: Activation) -> CseParams {
    let mut params = CseParams {
        dim: 12,
        windows: vec![Window { width: 1, n_filters: 8 }, Window { width: 2, n_filters: 8 }],
        activation,
        fit: fit_params(),
        ..CseParams::default()
    };
    params.pairs.loss = margin();
    params
}

#[test]
fn cse_learns_in_two_stages_with_either_activation_and_is_saved() {
    let files = Files::new();
    let data = data(files.pairs(), PairKind::Pairs);
    for activation in [Activation::Linear, Activation::Tanh] {
        let trained = |threads| cse(activation).fit(&data, &at_threads(threads)).unwrap();
        let one = trained(1);
        assert!(separation(&one.model) > 0.5, "{activation:?} {}", separation(&one.model));
        assert_eq!(bits(&one.model), bits(&trained(2).model));
        let path = files.folder.path().join("model.senv");
        one.model.save(&path).unwrap();
        let opened = Model::open(&path).unwrap();
        let opened: &Cse = opened.downcast_ref().unwrap();
        assert_eq!(bits(opened), bits(&one.model));
        // Single or in a batch, with or without the folded table, a sentence has the same vector up to rounding.
        let (alone, mut many) = (opened.encode(&[sentence(0, 5)]).unwrap(), Vec::new());
        opened.prepare_for_many();
        many.extend(opened.encode(&[sentence(0, 5)]).unwrap());
        let scale = alone.iter().fold(0.0f32, |a, b| a.max(b.abs()));
        assert!(alone.iter().zip(&many).all(|(a, b)| (a - b).abs() <= 1e-5 * scale));
        // Without an effective step, the weights are those of the first stage.
        let params = CseParams { fit: FitParams { lr: Some(1e-30), ..fit_params() }, ..cse(activation) };
        let second = params.fit_from(&data, Some(opened), &at_threads(1)).unwrap();
        assert_eq!(second.initial.found, second.initial.words);
        assert_eq!(second.model.parameters(), opened.parameters());
        assert!(second.model.words().iter().eq(opened.words().iter()));
        // Starting from a model of a different form is rejected.
        let other = CseParams { windows: vec![Window { width: 1, n_filters: 8 }], ..params };
        assert!(other.fit_from(&data, Some(opened), &at_threads(1)).is_err());
    }
}

#[test]
fn the_head_learns_scores_from_averages_and_filters() {
    let files = Files::new();
    let pairs = data(files.pairs(), PairKind::Pairs);
    let scored = ScoredPairs::read(files.scored()).unwrap();
    let path = files.folder.path().join("base.senv");
    cse(Activation::Linear).fit(&pairs, &at_threads(1)).unwrap().model.save(&path).unwrap();
    let cse = Model::open(&path).unwrap();
    let pp = PpParams { dim: 16, fit: fit_params(), ..PpParams::default() };
    pp.fit(&pairs, &TrainOptions::default()).unwrap().model.save(&path).unwrap();
    let pp = Model::open(&path).unwrap();
    for (base, filters) in [(&cse, FilterStart::Universal), (&cse, FilterStart::Random), (&pp, FilterStart::Universal)]
    {
        let params = RelatednessParams {
            hidden: 8,
            filters,
            fit: FitParams { epochs: Some(60), lr: Some(0.01), ..fit_params() },
            ..RelatednessParams::default()
        };
        let trained = |threads| -> Trained<_> {
            params.fit(base, &scored, &TrainOptions { dev: Some(&scored), ..at_threads(threads) }).unwrap()
        };
        let tuned = trained(1);
        assert!(tuned.best.unwrap().1 > 0.95, "{:?}", tuned.best);
        let score = |a: usize, b: usize| tuned.model.score(&sentence(a, 31), &sentence(b, 77)).unwrap();
        assert!(score(0, 0) > score(0, 1) + 1.0, "{} {}", score(0, 0), score(0, 1));
        assert_eq!(bits(&tuned.model), bits(&trained(3).model));
        let path = files.folder.path().join("tuned.senv");
        tuned.model.save(&path).unwrap();
        let opened = Model::open(&path).unwrap();
        assert_eq!(
            opened.relatedness("the boat", "the sail").unwrap(),
            Some(tuned.model.score("the boat", "the sail").unwrap())
        );
        assert_eq!(opened.kind(), "relatedness");
    }
    assert_eq!(pp.relatedness("a", "b").unwrap(), None);
    let outside = files.write("outside.tsv", "1\ta b\tc d\n5.5\te f\tg h\n");
    let outside = ScoredPairs::read(outside).unwrap();
    let error = RelatednessParams::default().fit(&pp, &outside, &TrainOptions::default()).unwrap_err().to_string();
    assert!(error.contains(":2:") && error.contains("5.5"), "{error}");
    let wide = RelatednessParams { grid: ScoreGrid::ZeroTo(6), ..RelatednessParams::default() };
    assert!(wide.fit(&pp, &outside, &TrainOptions::default()).is_ok());
}

/// Sections 3.2, 4.1 and 5.2 of the CSE paper. The values that it chose by grid search are not printed, but are in its
/// grid.
#[test]
fn presets_of_cse_are_what_its_paper_prints() {
    let paper = CseParams::paper();
    let windows: Vec<_> = paper.windows.iter().map(|window| (window.width, window.n_filters)).collect();
    assert_eq!((paper.dim, windows), (300, vec![(1, 100), (2, 100), (3, 100)]));
    assert_eq!((paper.activation, paper.fit.epochs, paper.fit.lr), (Activation::Linear, Some(10), Some(1e-3)));
    let penalties = |params: &CseParams| (params.fit.l2_words, params.l2_filters, params.fit.batch);
    assert_eq!((paper.fit.l2_norm, paper.fit.words), (L2Scaling::Full, WordUpdates::Dense));
    let loss = |params: &CseParams| match &params.pairs.loss {
        PairLoss::Margin(loss) => (loss.margin, loss.candidates, loss.selection, loss.exclude_equal_text),
        PairLoss::InfoNce(_) => panic!("a margin"),
    };
    assert_eq!(loss(&paper), (0.4, NegativeCandidates::FirstElements, Selection::Max, false));
    let windows = CseParams::paper_windows();
    assert_eq!(loss(&windows), (0.6, NegativeCandidates::FirstElements, Selection::Max, false));
    assert_eq!((penalties(&paper), penalties(&windows)), ((1e-6, 1e-6, 128), (1e-6, 0.0, 100)));

    let grid = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/grids/cse-paper.txt");
    let candidates = SearchGrid::read(grid).unwrap().candidates(&paper).unwrap();
    assert_eq!(candidates.len(), 3 * 3 * 4 * 4);
    assert!(candidates.iter().any(|candidate| candidate.params == paper), "the defaults lie in it");
    candidates.iter().for_each(|candidate| candidate.params.check().unwrap());
}

/// The objective is equation 5 of the CSE paper, and the sizes are those of the release of PP.
#[test]
fn the_preset_of_pp_has_the_printed_objective_and_the_sizes_of_its_release() {
    let paper = PpParams::paper();
    let PairLoss::Margin(loss) = &paper.pairs.loss else { panic!("a margin") };
    assert_eq!((loss.margin, loss.candidates), (0.4, NegativeCandidates::FirstElements));
    assert!(!loss.exclude_equal_text);
    let fit = &paper.fit;
    assert_eq!((fit.epochs, fit.batch, fit.lr, fit.clip), (Some(10), 100, Some(0.005), Some(1.0)));
    assert_eq!((fit.l2_norm, fit.words, fit.l2_words), (L2Scaling::Full, WordUpdates::Dense, 1e-6));
    assert_eq!(paper.tokenizer.normalization(), Normalization::None);
    // The other settings are the defaults.
    let default = PpParams { tokenizer: paper.tokenizer.clone(), ..PpParams::default() };
    let fit = FitParams { l2_norm: L2Scaling::Full, words: WordUpdates::Dense, lr: Some(0.005), ..default.fit.clone() };
    assert_eq!(paper, PpParams { pairs: paper.pairs.clone(), fit, ..default });
}

/// Section 4.2 and equation 6 of the CSE paper.
#[test]
fn the_preset_of_relatedness_is_what_the_cse_paper_prints() {
    let paper = RelatednessParams::paper();
    assert_eq!(
        (paper.combine, paper.grid, paper.filters),
        (Combine::Concat, ScoreGrid::OneTo(5), FilterStart::Universal)
    );
    assert_eq!(paper.loss, RelatednessLoss::Kl { mean_over_classes: false });
    let fit = &paper.fit;
    assert_eq!(
        (fit.epochs, fit.lr, fit.words, fit.l2_norm),
        (Some(10), Some(1e-3), WordUpdates::Dense, L2Scaling::Half)
    );
    paper.check().unwrap();
    // The other settings are the defaults.
    let fit = FitParams { words: WordUpdates::Dense, ..RelatednessParams::default().fit };
    assert_eq!(paper, RelatednessParams { combine: Combine::Concat, fit, ..RelatednessParams::default() });
}

/// The defaults of these systems are the settings in section 4 of P2 and section 5 of P3, except for typing.
#[test]
fn presets_of_encoder_decoders_are_what_their_papers_state() {
    let bow = BowAutoencoderParams::paper();
    assert_eq!((bow.dim, &bow.fit.rule), (620, &UpdateRule::default()));
    let rnn = RnnAutoencoderParams::paper();
    assert_eq!((rnn.dim, rnn.hidden, &rnn.fit.rule), (620, 2400, &UpdateRule::default()));
    let paper = PThoughtParams::paper();
    assert_eq!((paper.dim, paper.hidden, paper.structure), (300, 1200, PThoughtStructure::OneBi));
    assert_eq!((paper.fit.epochs, paper.fit.batch, paper.fit.words), (Some(4), 128, WordUpdates::Frozen));
    let tokenizer = Tokenizer::for_typed_text().normalize(Normalization::None);
    assert_eq!(bow, BowAutoencoderParams { tokenizer: tokenizer.clone(), ..BowAutoencoderParams::default() });
    assert_eq!(rnn, RnnAutoencoderParams { tokenizer: tokenizer.clone(), ..RnnAutoencoderParams::default() });
    assert_eq!(paper, PThoughtParams { tokenizer, ..PThoughtParams::default() });
}

/// Section 4.2 of the CSE paper: random filters on the word vectors that CSE was trained from. With a negligible
/// learning rate, the words keep their initial values, which a penalty does not change.
#[test]
fn fine_tuning_starts_at_the_word_vectors_that_are_given() {
    let files = Files::new();
    let pairs = data(files.pairs(), PairKind::Pairs);
    let scored = ScoredPairs::read(files.scored()).unwrap();
    let base = Model::from(cse(Activation::Linear).fit(&pairs, &at_threads(1)).unwrap().model);
    let flat = |table: &Table| -> Vec<f32> { table.iter().flatten().copied().collect() };
    let tuned = base.to_embeddings().unwrap();
    let rows = flat(tuned.table()).into_iter().map(|x| 0.5 - x).collect();
    let table = Table::from_vec(tuned.table().n_rows(), tuned.dim(), rows).unwrap();
    let given = Embeddings::new(base.vocabulary().clone(), table).unwrap();
    let (tuned_rows, given_rows) = (flat(tuned.table()), flat(given.table()));
    let words = |vectors: Option<&Embeddings>, l2_words: f64, lr: f64| {
        let fit = FitParams { epochs: Some(20), lr: Some(lr), l2_words, ..fit_params() };
        let params =
            RelatednessParams { hidden: 8, filters: FilterStart::Random, rescale: false, fit, ..Default::default() };
        let trained = params.fit(&base, &scored, &TrainOptions { vectors, ..at_threads(1) }).unwrap();
        assert_eq!(trained.initial.found, base.vocabulary().len());
        flat(trained.model.words())
    };
    let distance = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt();
    assert!(distance(&words(None, 1e-6, 1e-12), &tuned_rows) < 1e-3);
    assert!(distance(&words(Some(&given), 1e-6, 1e-12), &given_rows) < 1e-3);
    // The penalty pulls toward the initial vectors, not toward the words of the model.
    let (free, held) = (words(Some(&given), 0.0, 0.01), words(Some(&given), 10.0, 0.01));
    assert!(distance(&held, &given_rows) < 0.5 * distance(&free, &given_rows));
    assert!(distance(&held, &given_rows) < 0.2 * distance(&held, &tuned_rows));
    // Vectors of a different dimension.
    let other = Embeddings::new(base.vocabulary().clone(), Table::zeros(base.vocabulary().len(), 3).unwrap()).unwrap();
    let refused =
        RelatednessParams::default().fit(&base, &scored, &TrainOptions { vectors: Some(&other), ..at_threads(1) });
    assert!(matches!(refused, Err(Error::InitialVectorsDim { got: 3, .. })));
}

#[test]
fn weighted_averages_keep_their_weights_and_directions() {
    let files = Files::new();
    let text = files.running();
    let path = files.folder.path().join("base.senv");
    let siamese = siamese().fit_files([&text], &at_threads(1)).unwrap();
    siamese.model.save(&path).unwrap();
    let base = Model::open(&path).unwrap();
    for params in [WeightedParams::sif(), WeightedParams { n_components: 0, ..WeightedParams::sif() }] {
        let model = params.fit_files(&base, [&text], &TrainOptions::default()).unwrap();
        let (the, boat) = (model.vocabulary().id("the").unwrap(), model.vocabulary().id("boat").unwrap());
        assert!(model.weights()[the.index()] < model.weights()[boat.index()]);
        let path = files.folder.path().join("weighted.senv");
        model.save(&path).unwrap();
        let opened = Model::open(&path).unwrap();
        assert_eq!((opened.kind(), bits(&opened)), ("weighted", bits(&model)));
        let (_, coverage) = opened.encode_batch(&["unheard of"]).unwrap();
        assert_eq!(coverage[0].known, 1);
        // Without removed components, topics stay apart. With one, the common direction is removed from each sentence.
        if params.n_components == 0 {
            assert!(separation(&opened) > 0.2, "{}", separation(&opened));
        } else {
            let plain = WeightedParams { n_components: 0, ..params };
            let plain = plain.fit_files(&base, [&text], &TrainOptions::default()).unwrap();
            let length = |model: &dyn SentenceEncoder| {
                let texts: Vec<String> = (0..40).map(|i| sentence(i % 2, i)).collect();
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                model.encode_batch(&texts).unwrap().0.iter().map(|x| x * x).sum::<f32>()
            };
            assert!(length(&opened) < 0.6 * length(&plain), "{} {}", length(&opened), length(&plain));
        }
    }
    let few = WeightedParams::usif().fit_files(&base, [&text], &TrainOptions::default());
    assert!(few.is_err() || few.unwrap().weights().iter().all(|w| w.is_finite()));
}

#[test]
fn every_kind_of_file_becomes_groups_and_what_is_left_out_is_counted() {
    let files = Files::new();
    let options = PairOptions { held_out: HeldOut::default(), group: true, ..PairOptions::default() };
    let mut held_out = options.clone();
    held_out.held_out.add("A dog runs in the park.");
    let read = |name, text, kind, options: &PairOptions| {
        PairData::read(&inputs(files.write(name, text), kind), options, &NoObserver)
    };
    let pairs = read("p", "a b\tc d\na b\te f\nx y\tx y\ng\th\n", PairKind::Pairs, &options).unwrap();
    assert_eq!((pairs.reports[0].groups, pairs.reports[0].identical), (2, 1));
    let ungrouped = PairOptions { group: false, ..options.clone() };
    let pairs = read("p", "a b\tc d\na b\te f\nx y\tx y\ng\th\n", PairKind::Pairs, &ungrouped).unwrap();
    assert_eq!(pairs.reports[0].groups, 3);
    let captions = "1\ta dog runs in the park\n1\ta dog outside\n2\ta cat\n2\tthe cat\n2\tthe cat\n3\talone\n";
    let found = read("c", captions, PairKind::Captions, &held_out).unwrap();
    let report = &found.reports[0];
    assert_eq!((report.groups, report.contaminated, report.identical, report.singletons), (1, 1, 1, 1));
    let nli = "entailment\ta man sleeps\ta person sleeps\ncontradiction\ta man sleeps\ta man runs\nneutral\ta\tb\n\
               ENTAILMENT\ta dog runs in the park\ta dog\ncontradiction\tc d\te f\n";
    let found = read("n", nli, PairKind::Nli, &held_out).unwrap();
    assert_eq!((found.reports[0].groups, found.reports[0].contaminated), (1, 1));
    assert!(found.sources[0].has_contradictions());
    // SNLI in its published format, with an unlabeled pair, gives the same pairs.
    let tabs = "entailment\ta man sleeps\ta person sleeps\ncontradiction\ta man sleeps\ta man runs\nneutral\ta\tb\n";
    let expected = read("n", tabs, PairKind::Nli, &options).unwrap();
    let published = "gold_label\tpairID\tsentence1\tsentence2\nentailment\t1\ta man sleeps\ta person sleeps\n\
                     contradiction\t2\ta man sleeps\ta man runs\nneutral\t3\ta\tb\n-\t4\ta\tc\n";
    let object = |cells: &str| {
        let cells: Vec<&str> = cells.split('\t').collect();
        format!("{{\"gold_label\": {:?}, \"sentence1\": {:?}, \"sentence2\": {:?}}}\n", cells[0], cells[1], cells[2])
    };
    let objects: String = tabs.lines().chain(["-\ta\tc"]).map(object).collect();
    for (name, text) in [("snli_1.0_train.txt", published), ("snli_1.0_train.jsonl", &objects)] {
        let found = read(name, text, PairKind::Nli, &options).unwrap();
        assert_eq!((found.reports[0].groups, found.sources[0].has_contradictions()), (1, true), "{name}");
        assert_eq!(found.vocabulary.len(), expected.vocabulary.len());
    }
    let found = read("t", "one\ntwo\ntwo\nthree\n\nfour\nfive\n", PairKind::Neighbours, &options).unwrap();
    assert_eq!(found.reports[0].groups, 3);

    // "a b | c d" occurs twice, "one two three" is too short, and "so so so so" has equal halves.
    let text = "a b c d\n\na b x y z\na b c d\none two three\nso so so so\n";
    let found = read("t", text, PairKind::Halves, &options).unwrap();
    assert_eq!((found.reports[0].singletons, found.reports[0].identical), (1, 1));
    let source = &found.sources[0];
    let words = |i: u32| source.sentence(i).iter().map(|&id| found.vocabulary.token(id)).collect::<Vec<_>>().join(" ");
    let drawn = source.draw(0, &mut stream(1, "halves", &[]));
    assert_eq!((words(drawn.first).as_str(), source.sentences().len()), ("a b", 3));
    assert!(["c d", "x y z"].contains(&words(drawn.second).as_str()) && source.neighbours().is_none());
    let groups = read("t", text, PairKind::Halves, &ungrouped).unwrap().reports[0].groups;
    assert_eq!((found.reports[0].groups, groups), (1, 3));

    let message = |text, kind| read("bad", text, kind, &options).unwrap_err().to_string();
    assert!(message("a b c\nd\n", PairKind::Halves).contains("no training example"));
    assert!(message("a\tb\nalone\n", PairKind::Pairs).contains("bad:2: 1 column; expected 2"));
    assert!(message("a\tb\tc\n", PairKind::Pairs).contains("bad:1: 3 columns; expected 2"));
    assert!(message("a\tb\n \tc\n", PairKind::Pairs).contains("bad:2: column 1 is empty"));
    assert!(message("a\tb\n\nc\td\n", PairKind::Pairs).contains("bad:2:"));
    assert!(message("maybe\ta\tb\n", PairKind::Nli).contains("bad:1: unknown label \"maybe\""));
    assert!(message("a\ta\nb\tb\n", PairKind::Pairs).contains("no training example"));
    let weight = vec![PairInput { path: files.pairs(), kind: PairKind::Pairs, weight: Some(f64::NAN) }];
    assert!(PairData::read(&weight, &options, &NoObserver).is_err());
}
