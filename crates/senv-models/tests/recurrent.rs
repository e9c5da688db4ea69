//! The systems with recurrent encoders and their relatives, from files to encoded sentences and back.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use senv_core::{
    Control, CorpusOptions, NoObserver, Observer, Progress, SentenceEncoder, Table, Vocabulary, optim::Rule,
};
use senv_models::{
    BowAutoencoderParams, CheckpointPlan, Error, Expansion, FitParams, GruInit, GruStyle, GruTopology, LongSentences,
    Model, NliPairs, OutputForm, PThoughtParams, PThoughtStructure, PairData, PairInput, PairKind, PairOptions,
    Reconstruction, RnnAutoencoderParams, SkipThought, SkipThoughtParams, SnliEncoder, SnliParams, Stopped,
    WordUpdates,
};
use senv_store::Embeddings;
use tempfile::TempDir;

/// Nothing to validate with.
const NO_DEV: &[&Path] = &[];

/// Words of three topics.
const TOPICS: [[&str; 5]; 3] = [
    ["boat", "harbour", "sail", "anchor", "tide"],
    ["oven", "bread", "flour", "dough", "crust"],
    ["goal", "match", "league", "referee", "pitch"],
];

/// A number below `below`, from two others.
fn mixed(n: usize, i: usize, below: usize) -> usize {
    let x = (n as u64 * 31 + i as u64 + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    ((x ^ x >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) as usize % below
}

/// A sentence of a topic, from a number; of one to four words.
fn sentence(topic: usize, n: usize) -> String {
    let words: Vec<&str> = (0..1 + mixed(n, 9, 4)).map(|i| TOPICS[topic][mixed(n, i, 5)]).collect();
    words.join(" ")
}

struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }
}

/// Of one topic: entailment; of the two others than the third: contradiction; with the third: neutral.
fn labelled(n: usize, first: usize) -> NliPairs {
    let pair = |i: usize| {
        let (a, b) = (i % 2, (i / 2) % 3);
        let label = if b == 2 { "neutral" } else { ["contradiction", "entailment"][usize::from(a == b)] };
        format!("{label}\t{}\t{}\n", sentence(a, i), sentence(b, 3 * i + 1))
    };
    let files = Files::new();
    NliPairs::read(files.write("pairs.tsv", &(first..first + n).map(pair).collect::<String>())).unwrap()
}

fn bits(encoder: &dyn SentenceEncoder) -> Vec<u32> {
    let texts: Vec<String> = (0..12).map(|i| sentence(i % 3, i)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    encoder.encode_batch(&texts).unwrap().0.iter().map(|x| x.to_bits()).collect()
}

/// Alone or among others, a sentence has the same vector up to rounding; one without known words is zero.
fn batches_agree(encoder: &dyn SentenceEncoder) {
    let texts: Vec<String> = (0..9).map(|i| sentence(i % 3, i)).chain(["xyz".into(), String::new()]).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (many, coverage) = encoder.encode_batch(&texts).unwrap();
    let (mut scratch, mut one) = (senv_core::Scratch::default(), vec![7.0; encoder.dim()]);
    for ((text, row), coverage) in texts.iter().zip(many.rows()).zip(coverage) {
        assert_eq!(encoder.encode_into(text, &mut scratch, &mut one), coverage);
        assert!(row.iter().zip(&one).all(|(a, b)| (a - b).abs() < 1e-5), "{text}");
        assert_eq!(coverage.is_empty(), row.iter().all(|&x| x == 0.0), "{text}");
    }
}

/// Stops a run after a time.
struct StopAt(AtomicU32);

impl Observer for StopAt {
    fn progress(&self, _: &Progress) -> Control {
        if self.0.fetch_sub(1, Ordering::Relaxed) <= 1 { Control::Stop } else { Control::Continue }
    }
}

fn snli(encoder: SnliEncoder, fit: FitParams) -> SnliParams {
    SnliParams { encoder, dim: 12, hidden: 64, fit, ..SnliParams::default() }
}

fn rnn() -> SnliEncoder {
    SnliEncoder::Rnn {
        hidden: 10,
        layers: 1,
        topology: GruTopology::Separate,
        style: GruStyle::Paper,
        start: GruInit::Orthogonal,
    }
}

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
fn long_sentences_are_cut() {
    let train = labelled(40, 0);
    let params = SnliParams { max_tokens: 2, ..snli(rnn(), FitParams { epochs: 1, ..FitParams::default() }) };
    let model = params.fit(&train, None, None, &NoObserver).unwrap().model;
    assert_eq!(model.encode(&["boat sail tide"]).unwrap(), model.encode(&["boat sail"]).unwrap());
    assert_ne!(model.encode(&["boat"]).unwrap(), model.encode(&["boat sail"]).unwrap());
    assert!(SnliParams { max_tokens: 0, ..params }.fit(&train, None, None, &NoObserver).is_err());
}

/// Twenty sentences of three topics in documents of five.
fn text() -> String {
    let line = |i: usize| format!("{}\n{}", sentence(i % 3, 5 * i), if i % 5 == 4 { "\n" } else { "" });
    (0..20).map(line).collect()
}

#[test]
fn a_bag_of_words_autoencoder_tells_its_words_again() {
    let files = Files::new();
    let path = files.write("text.txt", &text());
    for reconstruction in [Reconstruction::Full, Reconstruction::Tree] {
        let fit = FitParams { epochs: 300, batch: 8, lr: 0.02, ..FitParams::default() };
        let params = |fit| BowAutoencoderParams {
            dim: 16,
            min_count: 1,
            reconstruction,
            fit,
            ..BowAutoencoderParams::default()
        };
        let learnt = |fit, observer: &dyn Observer| {
            params(fit).fit_files(&[&path], NO_DEV, &CorpusOptions::default(), None, observer).unwrap()
        };
        let one = learnt(fit.clone(), &NoObserver);
        let text = text();
        let sentences: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let losses = one.model.losses(&sentences).unwrap();
        // Along the tree, two words cost the choice between them.
        let known =
            |(line, &loss): (&&str, &f64)| loss < 0.3 || (reconstruction == Reconstruction::Tree && line.contains(' '));
        assert!(sentences.iter().zip(&losses).all(known), "{reconstruction:?} {losses:?}");
        for threads in [2, 5] {
            assert_eq!(bits(&one.model), bits(&learnt(FitParams { threads, ..fit.clone() }, &NoObserver).model));
        }
        batches_agree(&one.model);
        let twice = one.model.encode(&["boat boat sail", "sail boat"]).unwrap();
        assert_eq!(twice.row(0), twice.row(1));

        one.model.save(files.path("model.senv")).unwrap();
        let opened = Model::open(files.path("model.senv")).unwrap();
        assert_eq!((opened.kind(), bits(&opened)), ("bow-autoencoder", bits(&one.model)));

        let plan = CheckpointPlan { path: files.path(&format!("{reconstruction:?}")), every: None, resume: true };
        let long = FitParams { epochs: 20_000, ..fit };
        let whole = learnt(long.clone(), &NoObserver);
        let broken = FitParams { checkpoint: Some(plan), ..long };
        assert_eq!(learnt(broken.clone(), &StopAt(AtomicU32::new(1))).stopped, Stopped::Interrupted);
        assert_eq!(bits(&learnt(broken, &NoObserver).model), bits(&whole.model));
    }
}

/// Twenty different sentences over few words, in documents of five.
fn ordered() -> (String, Vec<String>) {
    let sentences: Vec<String> = (0..20)
        .map(|i| {
            let word = |j: usize| TOPICS[mixed(i, j, 3)][mixed(i, j + 50, 5)];
            (0..3 + i % 4).map(word).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let line = |(i, s): (usize, &String)| format!("{s}\n{}", if i % 5 == 4 { "\n" } else { "" });
    (sentences.iter().enumerate().map(line).collect(), sentences)
}

fn autoencoder(fit: FitParams) -> RnnAutoencoderParams {
    RnnAutoencoderParams { dim: 16, hidden: 32, fit, ..RnnAutoencoderParams::default() }
}

#[test]
fn a_recurrent_autoencoder_says_twenty_sentences_word_for_word() {
    let files = Files::new();
    let (text, sentences) = ordered();
    let path = files.write("text.txt", &text);
    let fit = FitParams { epochs: 400, batch: 10, lr: 0.01, clip: Some(5.0), ..FitParams::default() };
    let learnt = |params: RnnAutoencoderParams, observer: &dyn Observer| {
        params.fit_files(&[&path], NO_DEV, &CorpusOptions::default(), None, observer).unwrap()
    };
    let one = learnt(autoencoder(fit.clone()), &NoObserver);
    for sentence in &sentences {
        let greedy = one.model.decode(sentence, 0, 1, 30).unwrap();
        assert_eq!((&greedy[0].text, greedy[0].ended), (sentence, true));
        let (surprise, tokens) = one.model.surprise(sentence, sentence, 0).unwrap();
        assert!((surprise + greedy[0].log_probability).abs() < 1e-4 && tokens == sentence.split(' ').count() + 1);
        let beam = one.model.decode(sentence, 0, 3, 30).unwrap();
        assert!(beam.len() > 1 && beam[0].text == *sentence, "{beam:?}");
    }
    assert!(matches!(one.model.decode("boat", 1, 1, 30), Err(Error::NoDecoder { n: 1, asked: 1 })));
    batches_agree(&one.model);
    one.model.save(files.path("model.senv")).unwrap();
    let opened = Model::open(files.path("model.senv")).unwrap();
    assert_eq!((opened.kind(), bits(&opened)), ("rnn-autoencoder", bits(&one.model)));
    let Model::RnnAutoencoder(opened) = opened else { panic!("another kind") };
    assert_eq!(opened.decode(&sentences[3], 0, 2, 30).unwrap(), one.model.decode(&sentences[3], 0, 2, 30).unwrap());

    for threads in [2, 5] {
        let other = learnt(autoencoder(FitParams { threads, ..fit.clone() }), &NoObserver);
        assert_eq!(bits(&other.model), bits(&one.model), "{threads} threads");
    }
    let plan = CheckpointPlan { path: files.path("run.checkpoint"), every: None, resume: true };
    let broken = autoencoder(FitParams { checkpoint: Some(plan), ..fit });
    assert_eq!(learnt(broken.clone(), &StopAt(AtomicU32::new(1))).stopped, Stopped::Interrupted);
    assert_eq!(bits(&learnt(broken, &NoObserver).model), bits(&one.model));
}

#[test]
fn outputs_sampled_and_in_clusters_learn_too() {
    let files = Files::new();
    let (text, sentences) = ordered();
    let path = files.write("text.txt", &text);
    for output in [OutputForm::Sampled { words: 12 }, OutputForm::Adaptive { cutoffs: vec![6, 11, 1000] }] {
        let fit = FitParams { epochs: 600, batch: 10, lr: 0.01, ..FitParams::default() };
        let params = RnnAutoencoderParams { output: output.clone(), ..autoencoder(fit) };
        let learnt = params.fit_files(&[&path], NO_DEV, &CorpusOptions::default(), None, &NoObserver).unwrap();
        let right = |sentence: &&String| learnt.model.decode(sentence, 0, 1, 30).unwrap()[0].text == **sentence;
        let right = sentences.iter().filter(right).count();
        assert!(right >= 18, "{output:?}: {right}");
        learnt.model.save(files.path("model.senv")).unwrap();
        assert_eq!(bits(&Model::open(files.path("model.senv")).unwrap()), bits(&learnt.model));
    }
}

fn skip_thought(bi: bool, fit: FitParams) -> SkipThoughtParams {
    SkipThoughtParams { dim: 16, sentence_dim: 32, bi, fit, ..SkipThoughtParams::default() }
}

#[test]
fn skip_thoughts_say_their_neighbours_and_are_combined() {
    let files = Files::new();
    let (text, sentences) = ordered();
    let path = files.write("text.txt", &text);
    let fit = FitParams { epochs: 500, batch: 6, lr: 0.01, clip: Some(10.0), ..FitParams::default() };
    let learnt = |params: SkipThoughtParams| {
        params.fit_files(&[&path], NO_DEV, &CorpusOptions::default(), None, &NoObserver).unwrap()
    };
    let [uni, bi] = [false, true].map(|bi| {
        let one = learnt(skip_thought(bi, fit.clone()));
        assert_eq!(one.examples, 500 * 12, "three triples a document");
        for i in (0..20).filter(|i| (1..4).contains(&(i % 5))) {
            let said = |decoder| one.model.decode(&sentences[i], decoder, 1, 30).unwrap()[0].text.clone();
            assert_eq!([said(0), said(1)], [sentences[i - 1].clone(), sentences[i + 1].clone()]);
        }
        assert_eq!(bits(&one.model), bits(&learnt(skip_thought(bi, FitParams { threads: 3, ..fit.clone() })).model));
        batches_agree(&one.model);
        one.model
    });
    let release = learnt(SkipThoughtParams { fit, ..skip_thought(true, FitParams::default()).release() }).model;
    assert_eq!(release.decode(&sentences[7], 1, 1, 30).unwrap()[0].text, sentences[8]);

    // Side by side, each of length 1.
    let both = SkipThought::combine(uni.clone(), bi.clone()).unwrap();
    assert_eq!((both.dim(), both.n_decoders()), (64, 4));
    let [u, b, c] = [&uni, &bi, &both].map(|model| model.encode(&[&sentences[0]]).unwrap());
    assert!(u.iter().chain(&b).eq(c.iter()));
    assert!((c.iter().map(|x| x * x).sum::<f32>() - 2.0).abs() < 1e-5);
    assert_eq!(both.decode(&sentences[1], 3, 1, 30).unwrap()[0].text, sentences[2]);
    both.save(files.path("model.senv")).unwrap();
    let opened = Model::open(files.path("model.senv")).unwrap();
    assert_eq!((opened.kind(), bits(&opened)), ("skip-thought", bits(&both)));
    assert!(SkipThought::combine(both.clone(), bi).is_err());

    // Tuned on labels, one part and then the other.
    let (train, dev) = (labelled(300, 0), labelled(60, 300));
    let mut tuned = both.clone();
    for part in 0..2 {
        let fit = FitParams { epochs: 20, batch: 16, lr: 0.005, ..FitParams::default() };
        let snli = SnliParams { hidden: 64, fit, ..SnliParams::default() };
        let learnt = snli.fit_skip_thought(&both, part, &train, Some(&dev), &NoObserver).unwrap();
        assert!(learnt.best.unwrap().1 > 0.8, "{:?}", learnt.history);
        tuned = tuned.with_tuned(part, &learnt.model).unwrap();
        assert!(snli.fit_skip_thought(&both, 2, &train, None, &NoObserver).is_err());
    }
    assert_eq!((tuned.dim(), tuned.n_decoders()), (64, 0));
    assert_ne!(bits(&tuned), bits(&both));
    tuned.save(files.path("tuned.senv")).unwrap();
    assert_eq!(bits(&Model::open(files.path("tuned.senv")).unwrap()), bits(&tuned));
    // The end token is read unless asked otherwise.
    assert_ne!(bits(&uni), bits(&uni.clone().with_end_token(false)));
}

#[test]
fn skip_thoughts_need_three_sentences_and_long_ones_are_cut_or_dropped() {
    let files = Files::new();
    let short = files.write("short.txt", "boat sail\ntide\n\noven\nbread\n");
    let fit = FitParams { epochs: 1, ..FitParams::default() };
    let error = skip_thought(false, fit.clone())
        .fit_files(&[&short], NO_DEV, &CorpusOptions::default(), None, &NoObserver)
        .unwrap_err();
    assert!(matches!(error, Error::NoExamplesIn { .. }), "{error}");

    let path = files.write("text.txt", "boat\nsail tide\noven bread flour dough\nboat\nsail\noven\n");
    for (long, expected, words) in
        [(LongSentences::Cut, 4, "1 sentences of more than 3"), (LongSentences::Drop, 1, "3 examples")]
    {
        let params = SkipThoughtParams { max_tokens: 3, long, ..skip_thought(false, fit.clone()) };
        let notes = Notes::default();
        let learnt = params.fit_files(&[&path], NO_DEV, &CorpusOptions::default(), None, &notes).unwrap();
        assert_eq!(learnt.examples, expected);
        let notes = notes.0.lock().unwrap();
        assert!(notes.iter().any(|note| note.starts_with(words)), "{notes:?}");
    }
}

/// Keeps what is noted.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn progress(&self, _: &Progress) -> Control {
        Control::Continue
    }

    fn note(&self, note: &str) {
        self.0.lock().unwrap().push(note.to_owned());
    }
}

fn captions(files: &Files) -> PairData {
    let (_, sentences) = ordered();
    let lines: String = (0..20).map(|i| format!("{}\t{}\n", sentences[i], sentences[(i + 10) % 20])).collect();
    let inputs = [PairInput { path: files.write("pairs.tsv", &lines), kind: PairKind::Pairs, weight: None }];
    PairData::read(&inputs, &PairOptions::default(), &NoObserver).unwrap()
}

#[test]
fn p_thought_says_sentence_and_paraphrase_in_all_structures() {
    let files = Files::new();
    let data = captions(&files);
    let (_, sentences) = ordered();
    use PThoughtStructure::{OneBi, TwoBi, TwoForward, TwoInterleaved};
    for structure in [OneBi, TwoForward, TwoBi, TwoInterleaved] {
        let params = |threads| PThoughtParams {
            dim: 16,
            hidden: 20,
            structure,
            output: OutputForm::Full,
            fit: FitParams { epochs: 400, batch: 20, lr: 0.01, threads, ..PThoughtParams::default().fit },
            ..PThoughtParams::default()
        };
        let one = params(1).fit(&data, None, None, &NoObserver).unwrap();
        assert_eq!(one.model.dim(), 40);
        for (i, sentence) in sentences.iter().enumerate() {
            let said = |decoder| one.model.decode(sentence, decoder, 1, 30).unwrap()[0].text.clone();
            assert_eq!([&said(0), &said(1)], [sentence, &sentences[(i + 10) % 20]], "{structure:?}");
        }
        assert_eq!(bits(&one.model), bits(&params(3).fit(&data, None, None, &NoObserver).unwrap().model));
        batches_agree(&one.model);
        one.model.save(files.path("model.senv")).unwrap();
        let opened = Model::open(files.path("model.senv")).unwrap();
        assert_eq!((opened.kind(), bits(&opened)), ("p-thought", bits(&one.model)));
    }
}

#[test]
fn sampled_words_move_their_rows_alone_at_any_threads_and_over_a_break_unless_all_are_asked_to() {
    let files = Files::new();
    let path = files.write("text.txt", &ordered().0);
    // Two decoders over one output, and word vectors that move, stay, or all move.
    let run = |words, rule, threads, checkpoint, observer: &dyn Observer| {
        let fit = FitParams { epochs: 30, batch: 5, lr: 0.01, words, rule, threads, checkpoint, ..Default::default() };
        let params = SkipThoughtParams {
            output: OutputForm::Sampled { words: 3 },
            ..skip_thought(false, FitParams { clip: Some(1.0), ..fit })
        };
        params.fit_files(&[&path], NO_DEV, &CorpusOptions::default(), None, observer).unwrap()
    };
    for words in [WordUpdates::Sparse, WordUpdates::Frozen] {
        let one = run(words, Rule::default(), 1, None, &NoObserver);
        for threads in [2, 5] {
            let other = run(words, Rule::default(), threads, None, &NoObserver);
            assert_eq!(bits(&one.model), bits(&other.model), "{words:?} {threads}");
        }
        let plan = CheckpointPlan { path: files.path(&format!("{words:?}")), every: None, resume: true };
        run(words, Rule::default(), 1, Some(plan.clone()), &StopAt(AtomicU32::new(1)));
        let resumed = run(words, Rule::default(), 2, Some(plan), &NoObserver);
        assert_eq!(bits(&one.model), bits(&resumed.model), "{words:?}");
    }
    // Without moments a row rests as long as it has no gradient: both rules are one, up to the rounding of the norm.
    let [sparse, dense] = [WordUpdates::Sparse, WordUpdates::Dense]
        .map(|words| run(words, Rule::Sgd, 1, None, &NoObserver).model.encode(&["boat bread goal"]).unwrap());
    assert!(sparse.iter().zip(&dense).all(|(a, b)| (a - b).abs() < 1e-6), "{sparse} {dense}");
    let [sparse, dense] = [WordUpdates::Sparse, WordUpdates::Dense]
        .map(|words| bits(&run(words, Rule::default(), 1, None, &NoObserver).model));
    assert_ne!(sparse, dense, "moments decay at every step by the dense rule alone");
}

#[test]
fn a_vocabulary_grows_by_a_linear_map() {
    let files = Files::new();
    let path = files.write("text.txt", &ordered().0);
    let fit = FitParams { epochs: 2, ..FitParams::default() };
    let model = skip_thought(false, fit)
        .fit_files(&[&path], NO_DEV, &CorpusOptions::default(), None, &NoObserver)
        .unwrap()
        .model;
    // Other vectors from which a known affine map leads to those of the model, and two more words.
    let words: Vec<(String, Vec<f32>)> = model
        .vocabulary()
        .iter()
        .skip(2)
        .map(|(id, word, _)| {
            let row = senv_core::Rows::row(model.words(), id.index());
            (word.to_owned(), row[..3].iter().map(|x| 2.0 * x - 1.0).collect())
        })
        .collect();
    let more = [("ship", vec![0.5, -0.25, 1.0]), ("new_york", vec![0.0; 3])].map(|(word, v)| (word.to_owned(), v));
    let all: Vec<_> = words.iter().chain(&more).collect();
    let vocabulary = Vocabulary::from_counts(all.iter().map(|(word, _)| (word, 0)), 0).unwrap();
    let rows: Vec<f32> = all.iter().flat_map(|(_, v)| v.clone()).collect();
    let vectors = Embeddings::new(vocabulary, Table::from_vec(all.len(), 3, rows).unwrap()).unwrap();

    let (expanded, report) = model.expand(&vectors, Expansion::Affine).unwrap();
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
    assert!(model.expand(&vectors, Expansion::Same).is_err(), "three numbers are not sixteen");
    let (linear, other) = model.expand(&vectors, Expansion::Linear).unwrap();
    assert!(other.error > report.error && linear.vocabulary().len() == old + 1);
}

/// Keeps what is reported.
#[derive(Default)]
struct Reports(Mutex<Vec<Progress>>);

impl Observer for Reports {
    fn progress(&self, progress: &Progress) -> Control {
        self.0.lock().unwrap().push(*progress);
        Control::Continue
    }
}

#[test]
fn systems_with_decoders_are_validated_by_what_held_out_text_costs() {
    let files = Files::new();
    let (text, sentences) = ordered();
    let path = files.write("text.txt", &text);
    // A word of no training sentence, and one that is named like the end token.
    let held_out = files.write("dev.txt", "boat sail bread\nxyz tide\n<eos> oven goal\npitch boat\n\n");
    let fit = FitParams { epochs: 2, batch: 6, lr: 0.01, ..FitParams::default() };
    let long = FitParams { epochs: 300, patience: Some(2), ..fit.clone() };
    let options = CorpusOptions::default();

    // Every token of the held-out text by itself, as the model of the best step says.
    let learnt = autoencoder(long.clone()).fit_files(&[&path], &[&held_out], &options, None, &NoObserver).unwrap();
    assert_eq!(learnt.stopped, Stopped::Early, "twenty sentences are soon known too well");
    let (step, score) = learnt.best.unwrap();
    assert!(step < learnt.steps && learnt.history.iter().all(|&(_, other)| other <= score), "{:?}", learnt.history);
    let cost = |model: &senv_models::RnnAutoencoder, text: &str| model.surprise(text, text, 0).unwrap();
    let lines = ["boat sail bread", "xyz tide", "UNK oven goal", "pitch boat"];
    let sums = lines.map(|line| cost(&learnt.model, line)).iter().fold((0.0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert_eq!(sums.1, 14, "words and ends");
    assert!((score + sums.0 / 14.0).abs() < 1e-5, "{score} {}", -sums.0 / 14.0);
    // The same in one batch or many, and with sampled words, which are for training alone.
    let many: String = (0..200).map(|i| sentences[i % 20].clone() + "\n").collect();
    let many = files.write("many.txt", &many);
    let sampled = RnnAutoencoderParams { output: OutputForm::Sampled { words: 8 }, ..autoencoder(fit.clone()) };
    let reports = Reports::default();
    let sampled = sampled.fit_files(&[&path], &[&many], &options, None, &reports).unwrap();
    let sums = sentences.iter().map(|line| cost(&sampled.model, line)).fold((0.0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert!((sampled.best.unwrap().1 + sums.0 / sums.1 as f64).abs() < 1e-5);
    let last = *reports.0.lock().unwrap().last().unwrap();
    assert!(last.tokens_per_second.unwrap() > 0.0 && last.validation.is_some());
    assert!(last.decoders[0].unwrap() > 0.0 && last.decoders[1].is_none(), "{last:?}");

    // Both neighbours count.
    let learnt =
        skip_thought(false, fit.clone()).fit_files(&[&path], &[&held_out], &options, None, &NoObserver).unwrap();
    let triples = [(1, 0, 2), (2, 1, 3)];
    let parts = triples.map(|(i, before, after)| {
        [(before, 0), (after, 1)].map(|(j, k): (usize, usize)| learnt.model.surprise(lines[i], lines[j], k).unwrap())
    });
    let sums = parts.iter().flatten().fold((0.0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert!((learnt.best.unwrap().1 + sums.0 / sums.1 as f64).abs() < 1e-5);
    let two = files.write("two.txt", "boat\nsail\n");
    let error = skip_thought(false, fit.clone()).fit_files(&[&path], &[&two], &options, None, &NoObserver).unwrap_err();
    assert!(matches!(error, Error::NoHeldOutExamples { kind: "skip-thought", .. }), "{error}");
    assert!(error.to_string().contains("two.txt"), "{error}");

    let bow = BowAutoencoderParams { dim: 8, min_count: 1, fit: long, ..BowAutoencoderParams::default() };
    let learnt = bow.fit_files(&[&path], &[&held_out], &options, None, &NoObserver).unwrap();
    let losses = learnt.model.losses(&lines).unwrap();
    assert!((learnt.best.unwrap().1 + losses.iter().sum::<f64>() / 4.0).abs() < 1e-4, "{losses:?}");
    let unknown = files.write("unknown.txt", "xyz\n");
    let error = bow.fit_files(&[&path], &[&unknown], &options, None, &NoObserver).unwrap_err();
    assert!(error.to_string().contains("unknown.txt"), "{error}");
}

#[test]
fn p_thought_is_validated_on_pairs_and_rare_words_keep_their_place() {
    let files = Files::new();
    let data = captions(&files);
    let inputs =
        |name: &str, text: &str| [PairInput { path: files.write(name, text), kind: PairKind::Pairs, weight: None }];
    let read = |inputs: &[PairInput]| PairData::read(inputs, &PairOptions::default(), &NoObserver).unwrap();
    let dev = read(&inputs("dev.tsv", "boat xyz sail\toven tide\n"));
    let fit = FitParams { epochs: 2, batch: 20, lr: 0.01, ..PThoughtParams::default().fit };
    let params = PThoughtParams { dim: 8, hidden: 6, fit, ..PThoughtParams::default() };
    let learnt = params.fit(&data, Some(&dev), None, &NoObserver).unwrap();
    let (alpha, mut sum, mut n) = (2.0, 0.0, 0.0);
    for (from, to) in [("boat xyz sail", "oven tide"), ("oven tide", "boat xyz sail")] {
        for (text, decoder, weight) in [(from, 0, 1.0), (to, 1, alpha)] {
            let (cost, tokens) = learnt.model.surprise(from, text, decoder).unwrap();
            (sum, n) = (sum + weight * cost, n + weight * tokens as f64);
        }
    }
    assert!((learnt.best.unwrap().1 + sum / n).abs() < 1e-5, "{:?} {}", learnt.best, -sum / n);
    let blank = PairData::new(dev.vocabulary.clone(), Vec::new());
    let error = params.fit(&data, Some(&blank), None, &NoObserver).unwrap_err();
    assert!(matches!(error, Error::NoHeldOutExamples { kind: "p-thought", .. }), "{error}");

    // Rare words are unknown where they stand: the sentences keep their lengths.
    let rare = read(&inputs("rare.tsv", "boat rare sail\tboat sail sail\nboat sail\tsail boat\n"));
    let params = PThoughtParams { min_count: 2, ..params };
    let reports = Reports::default();
    let learnt = params.fit(&rare, None, None, &reports).unwrap();
    assert!(learnt.model.vocabulary().id("rare").is_none() && learnt.model.vocabulary().id("boat").is_some());
    // An ordered pair reads 3 or 2 tokens, tells itself and the other with their ends: (3 + 4 + 4) 2 + (2 + 3 + 3) 2.
    let last = *reports.0.lock().unwrap().last().unwrap();
    let per_example = last.tokens_per_second.unwrap() / last.units_per_second;
    assert!((per_example - 38.0 / 4.0).abs() < 1e-6, "{per_example}");
}
