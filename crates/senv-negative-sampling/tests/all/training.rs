//! Training as a whole: what it learns, that it repeats, that it can be interrupted.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

use rand::RngExt;
use senv_core::{
    Control, Corpus, FeatureList, Observer, Progress, RowId, Rows, RunOptions, Sentences, Table, TokenId,
    checkpoint::CheckpointPlan,
    init,
    rng::{Stream, stream},
};
use senv_negative_sampling::{
    ContinuousBagOfWords, DistributedBagOfWords, Error, Examples, MaskedFeatures, MaskedTargets,
    NegativeSamplingParams, NegativeSharing, Noise, NoiseSource, Outcome, Schedule, SkipGram, Subsampling, Tables,
    TextOrder, fit,
};

const DIM: usize = 24;
const TOPICS: u32 = 6;
const WORDS: u32 = 20;
const N_TOKENS: usize = (TOPICS * WORDS) as usize;

/// Sentences of one topic each: words of a topic occur together and never with those of another.
fn corpus(n_sentences: usize) -> Corpus {
    let mut rng = stream(4, "corpus", &[]);
    let mut sentences = Sentences::new();
    for _ in 0..n_sentences {
        let topic = rng.random_range(0..TOPICS);
        let n = rng.random_range(3..14);
        sentences.push((0..n).map(|_| TokenId(topic * WORDS + rng.random_range(0..WORDS))));
    }
    Corpus::from_sentences(sentences)
}

/// Words alone, the target left out.
struct Words;

impl MaskedFeatures for Words {
    type Drawn = ();

    fn n_rows(&self) -> usize {
        N_TOKENS
    }

    fn max_span(&self) -> usize {
        1
    }

    fn draw_into(&self, tokens: &[TokenId], _rng: &mut Stream, (): &mut (), out: &mut FeatureList) {
        out.clear();
        for (i, token) in tokens.iter().enumerate() {
            out.start_token();
            out.push(RowId(token.0), i);
        }
    }

    fn placeholders(&self, _tokens: &[TokenId], _position: usize, (): &(), _each: &mut dyn FnMut(RowId)) {}
}

fn keep_all() -> Subsampling {
    Subsampling::new(&[100; N_TOKENS], 100 * N_TOKENS as u64, f64::INFINITY, 1).expect("valid")
}

fn masked() -> MaskedTargets<Words> {
    MaskedTargets::new(Words, keep_all(), N_TOKENS)
}

fn tables(n_source: usize) -> senv_negative_sampling::Result<Tables> {
    let mut source = Table::zeros(n_source, DIM)?;
    init::uniform_rows(&mut source, 0..n_source, 1.0 / DIM as f32, 1)?;
    Ok(Tables { source, target: Table::zeros(N_TOKENS, DIM)? })
}

fn train<E: Examples>(
    corpus: &Corpus,
    examples: &E,
    params: &NegativeSamplingParams,
    options: &RunOptions<'_>,
) -> Result<Outcome, Error> {
    let noise = Noise::new(&[100; N_TOKENS], 0.5)?;
    fit(corpus, examples, &noise, params, "settings", || tables(examples.n_source_rows()), options)
}

fn same_bits(a: &Outcome, b: &Outcome) -> bool {
    let bits = |table: &Table| table.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    bits(&a.tables.source) == bits(&b.tables.source) && bits(&a.tables.target) == bits(&b.tables.target)
}

/// Mean cosine of word pairs within a topic minus that of pairs across topics.
fn separation(source: &Table) -> f32 {
    let (mut within, mut across, mut n_within, mut n_across) = (0.0, 0.0, 0, 0);
    for i in 0..N_TOKENS {
        for j in 0..i {
            let c = senv_core::kernels::cosine(source.row(i), source.row(j));
            if i / WORDS as usize == j / WORDS as usize {
                (within, n_within) = (within + c, n_within + 1);
            } else {
                (across, n_across) = (across + c, n_across + 1);
            }
        }
    }
    within / n_within as f32 - across / n_across as f32
}

#[test]
fn words_of_a_topic_come_together_whatever_the_schedule_and_the_sharing() {
    let corpus = corpus(2500);
    for schedule in [Schedule::Hogwild, Schedule::Deterministic] {
        for negatives_shared in [NegativeSharing::None, NegativeSharing::Sentence, NegativeSharing::Block] {
            for threads in [1, 3] {
                let params = NegativeSamplingParams {
                    schedule,
                    negatives_shared,
                    epochs: Some(3),
                    ..NegativeSamplingParams::default()
                };
                let options = RunOptions { threads, ..Default::default() };
                let outcome = train(&corpus, &masked(), &params, &options).unwrap();
                let separation = separation(&outcome.tables.source);
                assert!(separation > 0.15, "{schedule:?} {negatives_shared:?} {threads} threads: {separation}");
                assert_eq!((outcome.tokens, outcome.interrupted), (3 * corpus.n_tokens(), false));
            }
        }
    }
}

#[test]
fn windows_learn_topics_too() {
    let corpus = corpus(4000);
    let params =
        NegativeSamplingParams { lr: Some(0.1), negatives: 5, epochs: Some(3), ..NegativeSamplingParams::default() };
    let cbow =
        train(&corpus, &ContinuousBagOfWords::new(5, keep_all(), N_TOKENS), &params, &RunOptions::default()).unwrap();
    assert!(separation(&cbow.tables.source) > 0.5);
    let skip_gram = train(&corpus, &SkipGram::new(5, keep_all(), N_TOKENS), &params, &RunOptions::default()).unwrap();
    assert!(separation(&skip_gram.tables.source) > 0.5);
}

#[test]
fn sentence_rows_predict_their_words() {
    let corpus = corpus(1500);
    let n = corpus.n_sentences() as usize;
    let params =
        NegativeSamplingParams { lr: Some(0.2), negatives: 5, epochs: Some(15), ..NegativeSamplingParams::default() };
    let outcome =
        train(&corpus, &DistributedBagOfWords::new(n, keep_all(), N_TOKENS), &params, &RunOptions::default()).unwrap();
    assert_eq!(outcome.tables.source.n_rows(), n);
    // A new sentence lies with the sentences of its topic.
    let noise = Noise::new(&[100; N_TOKENS], 0.5).unwrap();
    let how = senv_negative_sampling::Inference::default();
    let infer = |tokens: &[u32]| {
        let mut out = vec![0.0; DIM];
        let tokens: Vec<TokenId> = tokens.iter().map(|&t| TokenId(t)).collect();
        senv_negative_sampling::infer(&tokens, &outcome.tables.target, &noise, &how, &mut out);
        out
    };
    let (a, b, other) = (infer(&[1, 5, 9, 3]), infer(&[2, 8, 11]), infer(&[41, 45, 49, 43]));
    let cosine = senv_core::kernels::cosine;
    assert!(cosine(&a, &b) > cosine(&a, &other) + 0.2);
    assert_eq!(infer(&[1, 5, 9, 3]), a, "the same sentence has the same vector");
    assert_eq!(infer(&[]), vec![0.0; DIM]);
}

#[test]
fn the_deterministic_schedule_gives_the_same_bits_at_1_2_and_5_threads() {
    let corpus = corpus(3000);
    let params = NegativeSamplingParams { epochs: Some(2), l1: 1e-4, ..NegativeSamplingParams::default() };
    let outcomes = [1, 2, 5]
        .map(|threads| train(&corpus, &masked(), &params, &RunOptions { threads, ..Default::default() }).unwrap());
    assert!(same_bits(&outcomes[0], &outcomes[1]));
    assert!(same_bits(&outcomes[0], &outcomes[2]));
    assert_eq!(outcomes[0].loss, outcomes[1].loss);
    let other = train(
        &corpus,
        &masked(),
        &NegativeSamplingParams { seed: 2, epochs: Some(2), ..NegativeSamplingParams::default() },
        &RunOptions::default(),
    )
    .unwrap();
    assert!(!same_bits(&outcomes[0], &other), "another seed is another run");
}

#[test]
fn a_shuffled_text_is_read_whole_in_another_order_and_gives_the_same_bits_at_1_2_and_5_threads() {
    let corpus = corpus(3000);
    let train = |params: &NegativeSamplingParams, threads| {
        train(&corpus, &masked(), params, &RunOptions { threads, ..Default::default() }).unwrap()
    };
    let params = NegativeSamplingParams {
        epochs: Some(2),
        text_order: TextOrder::Shuffled,
        ..NegativeSamplingParams::default()
    };
    let outcomes = [1, 2, 5].map(|threads| train(&params, threads));
    assert!(outcomes.iter().all(|outcome| same_bits(&outcomes[0], outcome)));
    assert_eq!(outcomes[0].tokens, 2 * corpus.n_tokens());
    let given = train(&NegativeSamplingParams { text_order: TextOrder::Given, ..params }, 2);
    assert_eq!(given.tokens, outcomes[0].tokens);
    assert!(!same_bits(&outcomes[0], &given));
}

/// Nearly all of the time goes from one block to the next, where threads learn in different moments that it begins.
#[test]
fn thousands_of_tiny_blocks_give_the_same_bits_at_any_number_of_threads() {
    let corpus = corpus(3);
    let params = NegativeSamplingParams { epochs: Some(3000), lr: Some(0.01), ..NegativeSamplingParams::default() };
    let outcomes = [1, 2, 3, 4]
        .map(|threads| train(&corpus, &masked(), &params, &RunOptions { threads, ..Default::default() }).unwrap());
    assert!(outcomes.iter().all(|outcome| same_bits(&outcomes[0], outcome)));
}

#[test]
fn hogwild_with_one_thread_repeats() {
    let corpus = corpus(2000);
    let params =
        NegativeSamplingParams { schedule: Schedule::Hogwild, epochs: Some(2), ..NegativeSamplingParams::default() };
    let run = || train(&corpus, &masked(), &params, &RunOptions { threads: 1, ..Default::default() }).unwrap();
    assert!(same_bits(&run(), &run()));
}

/// Stops at the n-th report.
struct StopAt(AtomicUsize);

impl Observer for StopAt {
    fn progress(&self, _: &Progress) -> Control {
        match self.0.fetch_sub(1, Ordering::Relaxed) {
            1 => Control::Stop,
            _ => Control::Continue,
        }
    }
}

fn long(schedule: Schedule) -> NegativeSamplingParams {
    NegativeSamplingParams { epochs: Some(12), schedule, ..NegativeSamplingParams::default() }
}

fn resuming(path: PathBuf) -> RunOptions<'static> {
    let every = Some(std::time::Duration::from_millis(100));
    RunOptions { threads: 1, checkpoint: Some(CheckpointPlan { path, every, resume: true }), ..Default::default() }
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(4000);
    let runs = [
        (Schedule::Deterministic, TextOrder::Given),
        (Schedule::Deterministic, TextOrder::Shuffled),
        (Schedule::Hogwild, TextOrder::Given),
    ];
    for (i, (schedule, text_order)) in runs.into_iter().enumerate() {
        let path = folder.path().join(i.to_string());
        let (params, options) = (NegativeSamplingParams { text_order, ..long(schedule) }, resuming(path.clone()));
        let whole = train(&corpus, &masked(), &params, &RunOptions { checkpoint: None, ..options.clone() }).unwrap();
        let stop = RunOptions { observer: &StopAt(AtomicUsize::new(1)), ..options.clone() };
        let stopped = train(&corpus, &masked(), &params, &stop).unwrap();
        assert!(stopped.interrupted && path.exists());
        assert!(stopped.tokens < whole.tokens, "stopped at {} of {} tokens", stopped.tokens, whole.tokens);
        let resumed = train(&corpus, &masked(), &params, &options).unwrap();
        assert!(!resumed.interrupted);
        assert_eq!(stopped.tokens + resumed.tokens, whole.tokens);
        assert!(same_bits(&whole, &resumed), "{schedule:?} {text_order:?}");
    }
}

/// Stops before there is anything to report.
struct StopAtOnce;

impl Observer for StopAtOnce {
    fn progress(&self, _: &Progress) -> Control {
        Control::Continue
    }

    fn stops(&self) -> bool {
        true
    }
}

#[test]
fn a_run_that_is_stopped_while_its_tables_are_made_ends_without_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let options = RunOptions { observer: &StopAtOnce, ..resuming(path.clone()) };
    let error = train(&corpus(4000), &masked(), &long(Schedule::Deterministic), &options).unwrap_err();
    assert!(matches!(error, Error::Core(senv_core::Error::Interrupted { action: "allocating the tables" })), "{error}");
    assert!(!path.exists());
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let text = corpus(4000);
    let (params, options) = (long(Schedule::Deterministic), resuming(path.clone()));
    let stop = RunOptions { observer: &StopAt(AtomicUsize::new(1)), ..options.clone() };
    train(&text, &masked(), &params, &stop).unwrap();
    let other_text = train(&corpus(3000), &masked(), &params, &options).unwrap_err();
    assert!(matches!(other_text, Error::CheckpointMismatch { what: "text", .. }), "{other_text}");
    let noise = Noise::new(&[100; N_TOKENS], 0.5).unwrap();
    let examples = masked();
    let other_settings = fit(&text, &examples, &noise, &params, "others", || tables(N_TOKENS), &options).unwrap_err();
    assert!(matches!(other_settings, Error::CheckpointMismatch { what: "set of parameters", .. }), "{other_settings}");
    std::fs::write(&path, b"something else").unwrap();
    assert!(matches!(train(&text, &masked(), &params, &options), Err(Error::Core(_))));
}

/// Sums near the largest number, in a file whose checksums fit: added to, they would overflow.
#[test]
fn a_forged_place_in_the_run_is_refused() {
    type State = (String, u64, u64, u64, f64, u64);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let text = corpus(4000);
    let (params, options) = (long(Schedule::Deterministic), resuming(path.clone()));
    let stop = RunOptions { observer: &StopAt(AtomicUsize::new(1)), ..options.clone() };
    train(&text, &masked(), &params, &stop).unwrap();
    const KIND: &str = "senv-negative-sampling";
    let (state, tables) = senv_core::checkpoint::load::<State>(&path, KIND).unwrap();
    let tables: Vec<(&str, &Table)> = tables.iter().map(|(name, table)| (name.as_str(), table)).collect();
    let forge = |change: fn(&mut State)| {
        let mut forged = state.clone();
        change(&mut forged);
        senv_core::checkpoint::save(&path, KIND, &forged, &tables).unwrap();
        train(&text, &masked(), &params, &options)
    };
    let changes: [fn(&mut State); 5] = [
        |state| state.2 = u64::MAX,
        |state| state.3 = u64::MAX,
        |state| state.4 = u64::MAX as f64 * f64::MAX,
        |state| state.5 = u64::MAX - 1,
        |state| state.4 = f64::NAN,
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let error = forge(change).unwrap_err();
        assert!(matches!(error, Error::CheckpointMismatch { what: "position in the run", .. }), "{i}: {error}");
    }
    forge(|_| ()).unwrap();
}

#[test]
fn scores_that_are_not_finite_end_the_run_and_name_the_learning_rate() {
    let corpus = corpus(2000);
    for schedule in [Schedule::Hogwild, Schedule::Deterministic] {
        let params =
            NegativeSamplingParams { lr: Some(1e30), schedule, epochs: Some(50), ..NegativeSamplingParams::default() };
        let error = train(&corpus, &masked(), &params, &RunOptions { threads: 2, ..Default::default() }).unwrap_err();
        assert!(matches!(error, Error::Diverged { lr, .. } if lr > 1e28), "{error}");
        assert!(error.to_string().contains("a lower learning rate"));
    }
}

#[test]
fn a_corpus_without_examples_is_an_error() {
    let mut sentences = Sentences::new();
    for i in 0..50 {
        sentences.push([TokenId(i % 7)]);
    }
    for schedule in [Schedule::Hogwild, Schedule::Deterministic] {
        let params = NegativeSamplingParams { schedule, ..NegativeSamplingParams::default() };
        let error =
            train(&Corpus::from_sentences(sentences.clone()), &masked(), &params, &RunOptions::default()).unwrap_err();
        assert!(matches!(error, Error::NothingToLearn { sentences: 50, tokens: 50 }), "{error}");
    }
}

#[test]
fn tables_of_another_shape_are_refused() {
    let (corpus, examples) = (corpus(10), masked());
    let noise = Noise::new(&[100; N_TOKENS], 0.5).unwrap();
    let shapes = [
        ((3, DIM), (N_TOKENS, DIM), "source table", N_TOKENS, 3),
        ((N_TOKENS, DIM), (N_TOKENS + 1, DIM), "target table", N_TOKENS, N_TOKENS + 1),
        ((N_TOKENS, DIM), (N_TOKENS, DIM - 1), "target row", DIM, DIM - 1),
    ];
    for ((rows, dim), (target_rows, target_dim), what, expected, got) in shapes {
        let wrong = || Ok(Tables { source: Table::zeros(rows, dim)?, target: Table::zeros(target_rows, target_dim)? });
        let error =
            fit(&corpus, &examples, &noise, &NegativeSamplingParams::default(), "", wrong, &RunOptions::default())
                .unwrap_err();
        let Error::Core(senv_core::Error::ShapeMismatch { what: w, expected: e, got: g }) = error else {
            panic!("{what}: {error}")
        };
        assert_eq!((w, e, g), (what, expected, got));
    }
}

/// A noise distribution of the program's own: the table, or rows that the target table has not.
enum OwnNoise {
    Table(Noise),
    Outside,
}

impl NoiseSource for OwnNoise {
    fn draw(&self, rng: &mut Stream) -> u32 {
        match self {
            Self::Table(noise) => noise.draw(rng),
            Self::Outside => N_TOKENS as u32,
        }
    }
}

#[test]
fn negatives_of_a_source_of_the_program_train_as_those_of_the_table_and_are_checked() {
    let corpus = corpus(200);
    let params = NegativeSamplingParams { epochs: Some(2), ..NegativeSamplingParams::default() };
    let (options, counts) = (RunOptions { threads: 2, ..RunOptions::default() }, [5; N_TOKENS]);
    let noise = Noise::new(&counts, 0.5).unwrap();
    let of_table = fit(&corpus, &masked(), &noise, &params, "", || tables(N_TOKENS), &options).unwrap();
    let own = OwnNoise::Table(noise);
    let of_source = fit(&corpus, &masked(), &own, &params, "", || tables(N_TOKENS), &options).unwrap();
    assert!(same_bits(&of_table, &of_source));
    let own: &dyn NoiseSource = &OwnNoise::Outside;
    let refused = fit(&corpus, &masked(), own, &params, "", || tables(N_TOKENS), &options).unwrap_err();
    assert!(refused.to_string().contains("row 120 of 120"), "{refused}");
}
