use std::collections::HashSet;

use rand::RngExt;
use senv_core::{
    Corpus, CorpusOptions, Coverage, NoObserver, Scratch, Sentences, TextOptions, TokenId,
    rng::{Stream, stream},
};

use super::{pair_ranks::HeldOutPairs, *};
use crate::{
    base::train_options::TrainOptions,
    data::{
        PairData, PairInput, PairKind, PairOptions,
        tf_idf::{TfIdf, TfIdfParams},
    },
};

/// Documents of ten sentences, each about one of ten topics: four words of the topic and three that all share.
fn documents(n: usize) -> Vec<Vec<String>> {
    let mut rng = stream(3, "documents", &[]);
    let sentence = |topic: usize, rng: &mut Stream| {
        let own = (0..4).map(|_| format!("t{topic}w{}", rng.random_range(0..30))).collect::<Vec<_>>();
        let common = (0..3).map(|_| format!("c{}", rng.random_range(0..5))).collect::<Vec<_>>();
        [own, common].concat().join(" ")
    };
    (0..n).map(|document| (0..10).map(|_| sentence(document % 10, &mut rng)).collect()).collect()
}

/// The same sentences in random order, ten per document.
fn shuffled(documents: &[Vec<String>]) -> CheckText {
    let mut all = documents.concat();
    let mut rng = stream(4, "shuffle", &[]);
    for i in (1..all.len()).rev() {
        all.swap(i, rng.random_range(0..=i));
    }
    CheckText::new(all.chunks(10).map(<[String]>::to_vec))
}

/// An encoder that is a function of the sentence and knows all its words.
struct Known<F>(usize, F);

impl<F: Fn(&str, &mut [f32]) + Send + Sync> SentenceEncoder for Known<F> {
    fn dim(&self) -> usize {
        self.0
    }

    fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.1(sentence, out);
        let tokens = sentence.split_whitespace().count();
        Coverage::new(tokens, tokens)
    }
}

fn constant() -> impl SentenceEncoder {
    Known(3, |_: &str, out: &mut [f32]| out.copy_from_slice(&[1.0, -2.0, 0.5]))
}

/// A vector unrelated to the words.
fn random() -> impl SentenceEncoder {
    Known(50, |sentence: &str, out: &mut [f32]| {
        let seed = sentence.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(1_000_003) ^ u64::from(byte));
        let mut rng = stream(seed, "vector", &[]);
        out.fill_with(|| rng.random_range(-1.0..1.0));
    })
}

fn counted(sentences: &[String]) -> TfIdf {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.txt");
    std::fs::write(&path, sentences.join("\n")).unwrap();
    TfIdfParams::default().fit_files(&[path], &TrainOptions::default()).unwrap()
}

/// TF-IDF itself, as vectors with a value for each word.
fn tf_idf(sentences: &[String]) -> impl SentenceEncoder {
    let words = counted(sentences);
    Known(words.vocabulary().len(), move |sentence: &str, out: &mut [f32]| {
        out.fill(0.0);
        words.weights(sentence).iter().for_each(|(word, weight)| out[word.index()] = *weight as f32);
    })
}

fn kinds(check: &Check) -> Vec<String> {
    check.warnings.iter().map(|w| serde_json::to_value(w).unwrap()["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn one_vector_for_all_points_one_way() {
    let check = check(&constant(), &CheckText::new(documents(100)), &CheckParams::default()).unwrap();
    let (random, neighbours) = (check.random.unwrap(), check.neighbours.unwrap());
    assert!(random.mean > 0.999_999 && random.sd < 1e-6, "{random:?}");
    assert_eq!((neighbours.auc, neighbours.distance, check.tf_idf.unwrap().correlation), (0.5, 0.0, 0.0));
    assert_eq!(kinds(&check), ["one-direction", "neighbours-not-nearer", "low-tf-idf-agreement"]);
    assert!(!check.warnings.iter().any(|warning| warning.to_string().contains("weight")), "{:?}", check.warnings);
    let params = CheckParams { weights_may_help: true, ..CheckParams::default() };
    let check = super::check(&constant(), &CheckText::new(documents(100)), &params).unwrap();
    assert!(check.warnings.iter().all(|warning| warning.to_string().contains("SIF weights")), "{:?}", check.warnings);
}

#[test]
fn vectors_without_relation_to_the_words_miss_the_order_and_the_words() {
    let check = check(&random(), &CheckText::new(documents(100)), &CheckParams::default()).unwrap();
    let (random, neighbours) = (check.random.unwrap(), check.neighbours.unwrap());
    // For 50 values, cosines have mean 0 and standard deviation 1/√50 = 0.141.
    assert!(random.mean.abs() < 0.01 && (0.13..0.15).contains(&random.sd), "{random:?}");
    assert_eq!((check.sentences, neighbours.pairs), (1000, 900));
    assert!((0.47..0.53).contains(&neighbours.auc) && neighbours.distance.abs() < 0.1, "{neighbours:?}");
    assert!(neighbours.tf_idf_auc > MIN_ORDER, "{neighbours:?}");
    assert_eq!(kinds(&check), ["neighbours-not-nearer", "low-tf-idf-agreement"]);
}

#[test]
fn an_encoder_equal_to_tf_idf_agrees_with_it_and_is_sound() {
    let documents = documents(100);
    let params = CheckParams::default();
    let check = check(&tf_idf(&documents.concat()), &CheckText::new(documents), &params).unwrap();
    let (neighbours, agreement) = (check.neighbours.unwrap(), check.tf_idf.unwrap());
    assert!(agreement.correlation > 0.999 && agreement.pairs > 1000, "{agreement:?}");
    // The cosines differ only by the rounding of f32.
    assert!((neighbours.auc - neighbours.tf_idf_auc).abs() < 1e-3 && neighbours.distance > 0.5, "{neighbours:?}");
    assert_eq!(check.warnings, []);
}

#[test]
fn nothing_follows_from_the_neighbours_of_a_text_without_order() {
    let documents = documents(100);
    let (text, params) = (shuffled(&documents), CheckParams::default());
    let check_of = |encoder: &dyn SentenceEncoder| check(encoder, &text, &params).unwrap();
    let sound = check_of(&tf_idf(&documents.concat()));
    let neighbours = sound.neighbours.unwrap();
    assert!((0.45..MIN_ORDER).contains(&neighbours.auc) && neighbours.tf_idf_auc < MIN_ORDER, "{neighbours:?}");
    assert_eq!(sound.warnings, []);
    assert_eq!(kinds(&check_of(&random())), ["low-tf-idf-agreement"]);
    assert_eq!(kinds(&check_of(&constant())), ["one-direction", "low-tf-idf-agreement"]);
}

#[test]
fn nothing_follows_from_neighbours_where_no_documents_are_marked() {
    let check = check(&random(), &CheckText::new([documents(100).concat()]), &CheckParams::default()).unwrap();
    assert!(check.neighbours.unwrap().tf_idf_auc > MIN_ORDER);
    assert_eq!(kinds(&check), ["low-tf-idf-agreement"]);
}

#[test]
fn vectors_of_few_directions_are_seen_though_their_mean_cosine_is_zero() {
    let plane = Known(40, |sentence: &str, out: &mut [f32]| {
        let mut numbers = [0.0; 50];
        random().encode_into(sentence, &mut Scratch::default(), &mut numbers);
        out.fill(0.0);
        out[..2].copy_from_slice(&numbers[..2]);
    });
    let check = check(&plane, &CheckText::new(documents(100)), &CheckParams::default()).unwrap();
    let found = check.random.unwrap();
    assert!(found.mean.abs() < 0.02 && (1.8..2.2).contains(&found.directions()), "{found:?}");
    assert_eq!(kinds(&check)[0], "few-directions");
}

#[test]
fn loss_words_and_coverage_warn_from_their_thresholds_on() {
    let text = CheckText::new(documents(20));
    let warned = |params: &CheckParams, known: usize| {
        let encoder = Partly(known);
        kinds(&check(&encoder, &text, params).unwrap())
    };
    let with = |mean: f64, words| CheckParams {
        loss: Some(LossAgainstChance::negative_sampling(mean, 10)),
        training_words: Some(words),
        ..CheckParams::default()
    };
    let chance = 11.0 * std::f64::consts::LN_2;
    assert_eq!(warned(&with(0.9989 * chance, MIN_TRAINING_WORDS), 7), [""; 0]);
    assert_eq!(warned(&with(0.9991 * chance, MIN_TRAINING_WORDS), 7), ["loss-at-chance"]);
    assert_eq!(warned(&with(chance, MIN_TRAINING_WORDS), 7), ["loss-at-chance"]);
    assert_eq!(warned(&with(f64::NAN, MIN_TRAINING_WORDS), 7), ["loss-at-chance"]);
    assert_eq!(warned(&with(3.0, MIN_TRAINING_WORDS - 1), 7), ["few-words"]);
    let from_vectors = CheckParams { starts_from_vectors: true, ..with(3.0, 10) };
    assert_eq!(warned(&from_vectors, 7), [""; 0]);
    let few = CheckWarning::FewWords { words: 1_000_027, least: MIN_TRAINING_WORDS, start_may_help: true }.to_string();
    assert!(few.starts_with("1,000,027 words") && few.contains("fewer than 150,000,"), "{few}");
    assert_eq!(warned(&CheckParams::default(), 6), [""; 0]);
    assert_eq!(warned(&CheckParams::default(), 5), ["many-unknown-words"]);
    assert_eq!(warned(&CheckParams::default(), 0), ["many-unknown-words", "many-empty-sentences"]);
}

/// Knows this many of the seven words of each sentence. A vector counts the words of the topic.
struct Partly(usize);

impl SentenceEncoder for Partly {
    fn dim(&self) -> usize {
        300
    }

    fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        out.fill(0.0);
        for (topic, word) in sentence.split(' ').filter_map(|word| word.strip_prefix('t')?.split_once('w')) {
            out[30 * topic.parse::<usize>().unwrap() + word.parse::<usize>().unwrap()] += 1.0;
        }
        Coverage::new(7, self.0)
    }
}

#[test]
fn vectors_that_are_no_numbers_are_counted_and_left_out() {
    let encoder = Known(2, |sentence: &str, out: &mut [f32]| {
        out.copy_from_slice(&[1.0, if sentence.starts_with("t0") { f32::NAN } else { sentence.len() as f32 }]);
    });
    let check = check(&encoder, &CheckText::new(documents(100)), &CheckParams::default()).unwrap();
    assert_eq!(check.not_finite, 100);
    assert!(check.random.unwrap().mean.is_finite() && kinds(&check).contains(&"not-finite".to_owned()));
}

#[test]
fn a_text_without_sentences_is_refused_and_one_of_a_few_gives_no_numbers() {
    let params = CheckParams::default();
    let error = check(&constant(), &CheckText::default(), &params).unwrap_err().to_string();
    assert!(error.contains("text to check on"), "{error}");
    let check = check(&constant(), &CheckText::new([["one sentence"]]), &params).unwrap();
    assert_eq!((check.random, check.neighbours, check.tf_idf, check.sentences), (None, None, None, 1));
}

/// Returns the sample of at most this many sentences, in three ways, from files of numbered documents of 25 sentences.
fn samples(n_documents: usize, n_sentences: usize) -> [CheckText; 3] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.txt");
    let document = |d: usize| (0..25).map(|s| format!("s{} d{d}\n", 25 * d + s)).collect::<String>();
    std::fs::write(&path, (0..n_documents).map(document).collect::<Vec<_>>().join("\n")).unwrap();
    let params = CheckParams { n_sentences, ..CheckParams::default() };
    let options = CorpusOptions { min_count: 1, ..CorpusOptions::default() };
    let (vocabulary, corpus) = Corpus::read(std::slice::from_ref(&path), &options, &NoObserver).unwrap();
    let inputs = [PairInput { path: path.clone(), kind: PairKind::Neighbours, weight: None }];
    let data = PairData::read(&inputs, &PairOptions::default(), &NoObserver).unwrap();
    [
        CheckText::read(&[&path], &TextOptions::default(), &params).unwrap(),
        CheckText::of_corpus(&corpus, &vocabulary, &params).unwrap(),
        CheckText::of_pairs(&data, &params).unwrap(),
    ]
}

fn number(sentence: &str) -> usize {
    sentence.split(' ').next().unwrap()[1..].parse().unwrap()
}

#[test]
fn a_short_text_is_taken_whole_with_the_ends_of_its_documents() {
    for text in samples(7, 175) {
        let numbers: Vec<usize> = text.sentences.iter().map(|sentence| number(sentence)).collect();
        assert_eq!(numbers, (0..175).collect::<Vec<_>>());
        assert_eq!(text.goes_on, (0..175).map(|i| i % 25 != 24).collect::<Vec<_>>());
        assert_eq!(text.n_documents, 7);
    }
}

#[test]
fn a_long_text_is_sampled_in_runs_from_all_of_it() {
    for text in samples(400, 400) {
        let numbers: Vec<usize> = text.sentences.iter().map(|sentence| number(sentence)).collect();
        assert!((393..=400).contains(&numbers.len()), "{}", numbers.len());
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        assert!(numbers[0] < 1000 && numbers[numbers.len() - 1] > 9000, "{numbers:?}");
        for (i, pair) in numbers.windows(2).enumerate() {
            let follows = pair[0] + 1 == pair[1] && pair[0] % 25 != 24;
            assert!(follows || !text.goes_on[i], "{pair:?}");
        }
        let n_neighbours = text.goes_on.iter().filter(|&&goes_on| goes_on).count();
        assert!((320..350).contains(&n_neighbours), "{n_neighbours}");
        assert_eq!(text.n_documents, 400);
    }
}

#[test]
fn a_sample_of_the_training_text_knows_its_words_and_how_many_were_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.txt");
    std::fs::write(&path, "the cat sat\nthe cat slept\n").unwrap();
    let options = CorpusOptions { min_count: 2, ..CorpusOptions::default() };
    let (vocabulary, corpus) = Corpus::read(&[path], &options, &NoObserver).unwrap();
    let text = CheckText::of_corpus(&corpus, &vocabulary, &CheckParams::default()).unwrap();
    assert_eq!(text.sentences, ["the cat", "the cat"]);
    let check = check(&constant(), &text, &CheckParams::default()).unwrap();
    assert_eq!((check.unknown_words, check.training_words), (1.0 - 4.0 / 6.0, Some(6)));
}

#[test]
fn pairs_without_running_text_give_no_sample() {
    let mut sentences = Sentences::new();
    [[0, 1], [1, 2]].iter().for_each(|ids| sentences.push(ids.map(TokenId)));
    let source = crate::data::PairSource::from_pairs("pairs", sentences, &[[0, 1]]).unwrap();
    let vocabulary = senv_core::Vocabulary::from_counts([("a", 1), ("b", 2), ("c", 1)], 4).unwrap();
    assert_eq!(CheckText::of_pairs(&PairData::new(vocabulary, vec![source]), &CheckParams::default()), None);
}

#[test]
fn a_model_that_ranks_held_out_pairs_below_tf_idf_gets_a_warning() {
    let pairs = (0..60).map(|i| [format!("a red car number {i}"), format!("car {i} of that color")]);
    let text = CheckText { held_out_pairs: HeldOutPairs::new(pairs, usize::MAX), ..CheckText::new(documents(50)) };
    let check = check(&random(), &text, &CheckParams::default()).unwrap();
    let found = check.pairs.unwrap();
    assert_eq!((found.pairs, found.tf_idf_mrr, found.tf_idf_auc), (60, 1.0, 1.0));
    assert!(found.mrr < 0.3 && found.tf_idf_ahead > SIGNIFICANT, "{found:?}");
    assert!(check.warnings.contains(&CheckWarning::PairsBelowTfIdf { mrr: found.mrr, tf_idf_mrr: 1.0 }), "{check:?}");
}

#[test]
fn the_seed_decides_everything() {
    let text = CheckText::new(documents(50));
    let check_with = |seed| check(&random(), &text, &CheckParams { seed, ..CheckParams::default() }).unwrap();
    assert_eq!(check_with(5), check_with(5));
    assert_ne!(check_with(5).random, check_with(6).random);
}

/// Running text, pairs, running text: this many sentences of text in total, in documents of ten, each of numbered
/// words.
fn two_texts(n: usize) -> PairData {
    let folder = tempfile::tempdir().unwrap();
    let line = |i: usize| format!("s{i} d{} {}\n{}", i / 10, i % 7, if i % 10 == 9 { "\n" } else { "" });
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let kind = if name == "pairs" { PairKind::Pairs } else { PairKind::Neighbours };
        PairInput { path, kind, weight: None }
    };
    let first = n / 10 * 4;
    let inputs = [
        write("first", (0..first).map(line).collect()),
        write("pairs", "s1 d0\ts2 d0\n".into()),
        write("second", (first..n).map(line).collect()),
    ];
    PairData::read(&inputs, &PairOptions::default(), &NoObserver).unwrap()
}

fn words(data: &PairData, source: usize, sentence: u32) -> String {
    let ids = data.sources[source].sentence(sentence).iter();
    ids.map(|&id| data.vocabulary.token(id).to_owned()).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_held_out_has_no_pair_left() {
    let mut data = two_texts(40_000);
    let before: Vec<usize> = data.sources.iter().map(crate::data::PairSource::n_groups).collect();
    let text = CheckText::hold_out(&mut data, &CheckParams::default()).unwrap().unwrap();
    assert_eq!(text.n_held_out(), 400);
    let (trained_on, held_out) = text.sentences.split_at(text.n_sentences() - 400);
    let held_out: HashSet<&String> = held_out.iter().collect();
    assert!(held_out.len() == 400 && (3_850..=4_000).contains(&trained_on.len()), "{}", trained_on.len());
    assert!(trained_on.iter().all(|sentence| !held_out.contains(sentence)));
    let n_of_second = held_out.iter().filter(|sentence| number(sentence) >= 16_000).count();
    assert!((200..=280).contains(&n_of_second), "{n_of_second}");
    let mut lost = 0;
    for source in [0, 2] {
        let starts = data.sources[source].neighbours().unwrap();
        lost += before[source] - starts.len();
        for &i in starts {
            assert!(!held_out.contains(&words(&data, source, i)) && !held_out.contains(&words(&data, source, i + 1)));
        }
        assert_eq!(data.reports[source].groups, starts.len());
    }
    // Fifty runs: the pairs inside each, and those with the sentences before and after in the same document.
    assert!((300..=450).contains(&lost), "{lost}");
    assert_eq!(data.sources[1].n_groups(), 1);
    // Neighbors within the runs are recognized.
    let within: Vec<usize> = (trained_on.len()..text.n_sentences()).filter(|&i| text.goes_on[i]).collect();
    assert!((300..=350).contains(&within.len()), "{}", within.len());
    assert!(within.iter().all(|&i| number(&text.sentences[i]) + 1 == number(&text.sentences[i + 1])));
    let again = CheckText::hold_out(&mut two_texts(40_000), &CheckParams::default()).unwrap().unwrap();
    assert_eq!(again, text);
}

#[test]
fn a_shorter_text_is_trained_on_as_a_whole() {
    let mut data = two_texts(31_990);
    let before = data.fingerprint();
    let text = CheckText::hold_out(&mut data, &CheckParams::default()).unwrap().unwrap();
    assert_eq!((text.n_held_out(), data.fingerprint()), (0, before));
    assert_eq!(text, CheckText::of_pairs(&data, &CheckParams::default()).unwrap());
}

#[test]
fn neighbours_that_were_learned_by_heart_show_where_a_part_was_held_out() {
    let mut data = two_texts(40_000);
    let whole = CheckText::of_pairs(&data, &CheckParams::default()).unwrap();
    let text = CheckText::hold_out(&mut data, &CheckParams::default()).unwrap().unwrap();
    let held_out: HashSet<String> = text.sentences[text.n_sentences() - 400..].iter().cloned().collect();
    // One direction for each document of the training text, and any direction for unseen text.
    let by_heart = Known(20, |sentence: &str, out: &mut [f32]| {
        // Sentences that the check makes up do not have a number.
        let number: u64 = sentence.split(' ').next().and_then(|word| word.get(1..)?.parse().ok()).unwrap_or(0);
        let seed = if held_out.contains(sentence) { 1_000_000 + number } else { number / 10 };
        let mut rng = stream(seed, "vector", &[]);
        out.fill_with(|| rng.random_range(-1.0..1.0));
    });
    let params = CheckParams { on_training_text: true, ..CheckParams::default() };
    let [seen, unseen] = [&whole, &text].map(|text| check(&by_heart, text, &params).unwrap());
    let neighbours = |check: &Check| check.neighbours.unwrap();
    assert!(neighbours(&seen).auc > 0.95 && neighbours(&seen).held_out_sentences == 0, "{seen:?}");
    assert!((neighbours(&unseen).auc - 0.5).abs() < 0.07, "{unseen:?}");
    assert_eq!(neighbours(&unseen).held_out_sentences, 400);
    assert!(seen.on_training_text && unseen.on_training_text && unseen.random.is_some());
}
