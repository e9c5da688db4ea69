//! P-coherence, paraphrase ranking, detection without training, the soup test and entailment, with encoders whose
//! cosines are given or can be computed by hand.

use std::{path::PathBuf, sync::Mutex};

use senv_core::{Control, Coverage, NoObserver, Observer, Progress, Scratch, SentenceEncoder};
use senv_eval::{
    Entailment, Error, NliLayout, NliPair, NliSet, ParaphrasePair, ParaphraseSet, SentenceGroup, SentenceGroups,
    evaluate_entailment, evaluate_group_ranking, evaluate_p_coherence, evaluate_ranking, evaluate_zero_shot,
    published_p_coherence, published_ranking, published_sick_entailment, published_soup, to_json,
};
use serde_json::Value;

use crate::letters::Letters;

/// Encodes each sentence as a given vector, or as zero if it has none.
struct Given(Vec<(String, Vec<f32>)>);

impl Given {
    /// The sentences are `0`, `1`, ...
    fn numbered(vectors: &[Vec<f64>]) -> Self {
        let entry = |(i, v): (usize, &Vec<f64>)| (i.to_string(), v.iter().map(|&x| x as f32).collect());
        Self(vectors.iter().enumerate().map(entry).collect())
    }
}

impl SentenceEncoder for Given {
    fn dim(&self) -> usize {
        self.0[0].1.len()
    }

    fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        out.fill(0.0);
        let found = self.0.iter().find(|(name, _)| name == sentence);
        found.iter().for_each(|(_, vector)| out.copy_from_slice(vector));
        Coverage::new(1, usize::from(found.is_some()))
    }
}

/// Encodes every sentence in the same direction.
struct Collapsed(f32);

impl SentenceEncoder for Collapsed {
    fn dim(&self) -> usize {
        2
    }

    fn encode_sentence(&self, _: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        out.copy_from_slice(&[self.0, 4.0]);
        Coverage::new(1, 1)
    }
}

/// Encodes sentences as pseudo-random values that depend only on the sentence.
struct Noise(usize);

impl SentenceEncoder for Noise {
    fn dim(&self) -> usize {
        self.0
    }

    fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        // The text after a bar is ignored, so different strings can have the same vector.
        let seen = sentence.split('|').next().unwrap_or_default();
        let mut state = seen.bytes().fold(7_u64, |s, b| s.wrapping_mul(31).wrapping_add(u64::from(b)));
        for x in out {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *x = (state >> 40) as f32 / (1 << 23) as f32 - 1.0;
        }
        Coverage::new(1, 1)
    }
}

fn groups(groups: &[(&str, &[&str])]) -> SentenceGroups {
    let group = |&(name, sentences): &(&str, &[&str])| SentenceGroup {
        name: name.to_owned(),
        sentences: sentences.iter().map(|s| (*s).to_owned()).collect(),
    };
    SentenceGroups { path: PathBuf::from("groups.tsv"), groups: groups.iter().map(group).collect() }
}

fn set(pairs: &[(u8, &str, &str)]) -> ParaphraseSet {
    let pair = |&(label, first, second): &(u8, &str, &str)| ParaphrasePair {
        is_paraphrase: label == 1,
        first: first.into(),
        second: second.into(),
    };
    ParaphraseSet { path: PathBuf::from("pairs.tsv"), pairs: pairs.iter().map(pair).collect() }
}

fn golden(kind: &str) -> Value {
    let file: Value = serde_json::from_str(include_str!("../data/ranking.json")).unwrap();
    file["cases"].as_array().unwrap().iter().find(|case| case["kind"] == kind).unwrap().clone()
}

fn vectors(case: &Value) -> Vec<Vec<f64>> {
    let row = |row: &Value| row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    case["embeddings"].as_array().unwrap().iter().map(row).collect()
}

#[track_caller]
fn assert_close(got: Option<f64>, expected: f64, tolerance: f64) {
    assert!(got.is_some_and(|got| (got - expected).abs() <= tolerance), "{got:?} instead of {expected}");
}

#[test]
fn p_coherence_of_the_reference_vectors() {
    let case = golden("p_coherence");
    let encoder = Given::numbered(&vectors(&case));
    let result =
        evaluate_p_coherence(&encoder, &groups(&[("a", &["0", "1", "2"]), ("b", &["3", "4", "5", "6"])]), 50, 1)
            .unwrap();
    // The vectors are rounded to f32.
    assert_close(result.p_coherence, case["total"].as_f64().unwrap(), 1e-7);
    assert_eq!((result.n_groups, result.n_single_groups, result.n_sentences), (2, 0, 7));
}

#[test]
fn the_control_is_the_mean_over_pairs_across_groups() {
    // Cosines within groups: 0.5 in x (ab, bc) and 1 in y (d, d). The cosines of Q, in w and across groups, are 0.
    let captions = groups(&[("x", &["ab", "bc"]), ("y", &["d", "d"]), ("z", &["ad"]), ("w", &["Q", "e"])]);
    let result = evaluate_p_coherence(&Letters, &captions, 200_000, 3).unwrap();
    assert_close(result.p_coherence, (0.5 + 1.0 + 0.0) / 3.0, 1e-12);
    assert_eq!((result.n_groups, result.n_single_groups, result.n_sentences), (3, 1, 7));
    assert_eq!(result.n_sentences_without_known_token, 1);
    // There are 21 pairs, 3 of them within groups. Of the 18 across, ad has 1/2 with ab and 1/√2 with each d.
    let expected = (0.5 + 2.0 * 0.5_f64.sqrt()) / 18.0;
    assert_close(result.mean_cosine_across_groups, expected, 1e-9);
    assert_close(result.random_pairs.mean_cosine, expected, 5.0 * 0.25 / 200_000_f64.sqrt());
    assert_eq!(result, evaluate_p_coherence(&Letters, &captions, 200_000, 3).unwrap());
    let other = evaluate_p_coherence(&Letters, &captions, 200_000, 4).unwrap();
    assert_ne!(other.random_pairs.mean_cosine, result.random_pairs.mean_cosine);
    assert_eq!(other.p_coherence, result.p_coherence);

    let text = result.to_text_beside(&published_p_coherence());
    for part in
        ["P-coherence", "0.5000", "seed 3", "InferSent [1]", "0.7454", "1 without a known token", "1 the only one"]
    {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[test]
fn a_collapsed_encoder_shows_in_the_control() {
    let captions = groups(&[("x", &["a", "b"]), ("y", &["c", "d"])]);
    let result = evaluate_p_coherence(&Collapsed(3.0), &captions, 10, 1).unwrap();
    for value in [result.p_coherence, result.random_pairs.mean_cosine, result.mean_cosine_across_groups] {
        assert_close(value, 1.0, 1e-6);
    }
    let alone = evaluate_p_coherence(&Letters, &groups(&[("x", &["a", "b"])]), 10, 1).unwrap();
    assert_eq!((alone.random_pairs.mean_cosine, alone.mean_cosine_across_groups), (None, None));
    assert_eq!(alone.random_pairs.n_pairs, 0);
    assert!(alone.to_text().lines().any(|line| line.starts_with("of different images") && line.ends_with('-')));
}

#[test]
fn ranks_of_the_reference_vectors() {
    let case = golden("paraphrase_ranking");
    let encoder = Given::numbered(&vectors(&case));
    let pairs = [(1, "0", "3"), (1, "1", "5"), (1, "2", "4"), (1, "5", "6")];
    let result = evaluate_ranking(&encoder, &[set(&pairs[..2]), set(&pairs[2..])], &NoObserver).unwrap();
    let distinct = result.distinct;
    assert_eq!((distinct.n_pool, distinct.n_queries, result.n_pairs, result.n_paraphrases), (7, 7, 4, 4));
    assert_close(distinct.mean_rank, case["mean_rank"].as_f64().unwrap(), 1e-12);
    assert_close(distinct.accuracy_at_1, case["accuracy_at"]["1"].as_f64().unwrap(), 1e-12);
    assert_close(distinct.accuracy_at_10, 1.0, 0.0);
    // Sentence 5 is in two pairs.
    assert_eq!((result.raw.n_pool, result.raw.n_queries), (8, 8));
}

#[test]
fn the_raw_pool_repeats_sentences_and_the_distinct_one_does_not() {
    // Query "ab" has the paraphrase "abc". Its own string occurs three times, the paraphrase once.
    let pairs = [(1, "ab", "abc"), (0, "ab", "x"), (0, "ab", "abx"), (1, "yz", "yz")];
    let result = evaluate_ranking(&Letters, &[set(&pairs)], &NoObserver).unwrap();
    // "ab" finds "abc" tied with "abx", and "abc" finds "ab" first. "yz" is only paired with itself, so it is not a
    // query.
    let distinct = result.distinct;
    assert_eq!((distinct.n_pool, distinct.n_queries, distinct.n_tied_queries), (5, 2, 1));
    assert_eq!((distinct.mean_rank, distinct.accuracy_at_1), (Some(1.0), Some(1.0)));
    // In the raw pool the other two "ab" rank above "abc" (rank 3), "abc" has rank 1, and each "yz" finds the other.
    let raw = result.raw;
    assert_eq!((raw.n_pool, raw.n_queries, raw.n_tied_queries), (8, 4, 1));
    assert_eq!((raw.mean_rank, raw.accuracy_at_1, raw.accuracy_at_10), (Some(1.5), Some(0.75), Some(1.0)));

    let text = result.to_text_beside(&published_ranking());
    for part in ["distinct strings", "raw", "MRC", "finetuned Skip-thoughts [1]", "4 pairs, 2 of them paraphrases"] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

/// Records reports, and stops after a given number.
struct Reports {
    seen: Mutex<Vec<Progress>>,
    stop_after: usize,
}

impl Observer for Reports {
    fn progress(&self, progress: &Progress) -> Control {
        let mut seen = self.seen.lock().unwrap();
        seen.push(*progress);
        if seen.len() >= self.stop_after { Control::Stop } else { Control::Continue }
    }
}

#[test]
fn blocks_and_threads_give_what_pair_by_pair_gives() {
    // 700 paraphrase pairs need more than one block. Every third sentence has the same vector as another.
    let sentence = |i: usize| if i.is_multiple_of(3) { format!("s{}|{i}", i / 6) } else { format!("s{i}") };
    let sentences: Vec<String> = (0..1400).map(sentence).collect();
    let pairs: Vec<(u8, &str, &str)> =
        sentences.chunks(2).map(|pair| (1, pair[0].as_str(), pair[1].as_str())).collect();
    let encoder = Noise(37);
    let reports = Reports { seen: Mutex::default(), stop_after: usize::MAX };
    let result = evaluate_ranking(&encoder, &[set(&pairs)], &reports).unwrap();

    let vectors: Vec<Vec<f64>> = sentences
        .iter()
        .map(|sentence| {
            let mut vector = vec![0.0; 37];
            encoder.encode_into(sentence, &mut Scratch::default(), &mut vector);
            let norm = vector.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
            vector.iter().map(|&x| f64::from(x) / norm).collect()
        })
        .collect();
    let (mut total, mut tied, mut at_10) = (0, 0, 0);
    for query in 0..1400 {
        let cosine = |j: usize| vectors[query].iter().zip(&vectors[j]).map(|(x, y)| x * y).sum::<f64>();
        let best = cosine(query ^ 1);
        let others = (0..1400).filter(|&j| j != query && j != query ^ 1).map(|j| (j, cosine(j)));
        let others: Vec<(usize, f64)> = others.collect();
        // The next higher cosine differs by far more than f32 rounding, or the vectors are equal.
        let same = |j: usize| vectors[j] == vectors[query ^ 1];
        let rank = 1 + others.iter().filter(|&&(j, cosine)| cosine > best && !same(j)).count();
        total += rank;
        at_10 += usize::from(rank <= 10);
        tied += usize::from(others.iter().any(|&(j, _)| same(j)));
    }
    // Cosines that differ by f32 rounding may swap ranks.
    assert_close(result.distinct.mean_rank, f64::from(total as u32) / 1400.0, 0.01);
    assert_close(result.distinct.accuracy_at_10, f64::from(at_10 as u32) / 1400.0, 1e-12);
    assert_eq!(result.distinct.n_tied_queries, tied, "same vectors have the same score to the bit");
    assert!(tied > 300);
    let seen = reports.seen.into_inner().unwrap();
    assert_eq!(seen.len(), 3);
    assert!(seen.windows(2).all(|pair| pair[0].done < pair[1].done));
    assert_eq!((seen[2].done, seen[2].units), (1.0, 1400));

    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| evaluate_ranking(&encoder, &[set(&pairs)], &NoObserver)).unwrap(), result);
    }
    let stopping = Reports { seen: Mutex::default(), stop_after: 2 };
    let stopped = evaluate_ranking(&encoder, &[set(&pairs)], &stopping);
    assert!(matches!(stopped, Err(Error::Core(senv_core::Error::Interrupted { .. }))), "{stopped:?}");
    assert_eq!(stopping.seen.into_inner().unwrap().len(), 2);
}

#[test]
fn the_cosine_alone_detects_paraphrases() {
    let first = set(&[(1, "ab", "ab"), (0, "ab", "bc"), (1, "ab", "ac"), (0, "a", "b")]);
    let second = set(&[(0, "a", "a"), (1, "a", "Q")]);
    let result = evaluate_zero_shot(&Letters, &[first.clone(), second]).unwrap();
    let [one, two] = &result.sets[..] else { panic!("{result:?}") };
    // Cosines 1*, 0.5 and 0.5* tied, 0: AP = 1/2 · 1 + 1/2 · 2/3.
    assert_close(one.average_precision, 5.0 / 6.0, 1e-12);
    // "ab" is one word. The overlap is 1* once and 0 three times, tied: 1/2 · 1 + 1/2 · 2/4.
    assert_close(one.average_precision_of_word_overlap, 0.75, 1e-12);
    assert_close(one.best_f1, 0.8, 1e-12);
    assert_close(one.best_f1_threshold, 0.5, 1e-6);
    assert_close(one.mean_cosine_of_paraphrases, 0.75, 1e-6);
    assert_close(one.mean_cosine_of_others, 0.25, 1e-6);
    assert_eq!((one.points.len(), one.n_pairs, one.n_paraphrases), (3, 4, 2));
    assert_eq!((two.average_precision, two.n_pairs_without_known_token), (Some(0.5), 1));
    let together = result.together.as_ref().unwrap();
    // 1*, 1 tied; 0.5*, 0.5 tied; 0, 0* tied: 1/3 (1/2 + 2/4 + 3/6).
    assert_close(together.average_precision, 0.5, 1e-12);
    // 1*, 1 tied, then all others: 1/3 · 1/2 + 2/3 · 3/6.
    assert_close(together.average_precision_of_word_overlap, 0.5, 1e-12);
    assert_eq!((together.n_pairs, together.n_paraphrases, &together.path), (6, 3, &None));
    let text = result.to_text();
    assert!(text.contains("all pairs together") && text.contains("0.8333"), "{text}");
    assert_eq!(result.curve().series[0].points.len(), 3);
    assert!(evaluate_zero_shot(&Letters, &[first]).unwrap().together.is_none());
    let none = evaluate_zero_shot(&Letters, &[set(&[(0, "a", "b")])]).unwrap();
    assert_eq!((none.sets[0].average_precision, none.sets[0].best_f1), (None, None));
}

#[test]
fn the_soup_test_by_hand() {
    let sentences = groups(&[("hot", &["ab", "ac"]), ("cold", &["d", "ad", "Q"])]);
    let result = evaluate_group_ranking(&Letters, &sentences).unwrap();
    let first = &result.references[0];
    // ab: ac 0.5*, ad 0.5, then d and Q 0. The tied cosines count together: 1/2. The gap is 0.5 − 0.5.
    assert_eq!((&first.sentence[..], &first.group[..], first.ranked.len()), ("ab", "hot", 4));
    assert_eq!(first.ranked.iter().map(|other| &other.sentence[..]).collect::<Vec<_>>(), ["ac", "ad", "d", "Q"]);
    assert_close(first.average_precision, 0.5, 1e-12);
    assert_close(first.gap, 0.0, 1e-6);
    // d: ad 0.71*, then ab, ac and Q*, all 0: (1 + 2/4) / 2. The gap is 0 − 0.
    let d = &result.references[2];
    assert_close(d.average_precision, 0.75, 1e-12);
    assert_close(d.gap, 0.0, 1e-12);
    assert_eq!((result.n_sentences_without_known_token, result.n_separated), (1, 0));

    let apart = evaluate_group_ranking(&Letters, &groups(&[("x", &["ab", "abb"]), ("y", &["c", "cd"])])).unwrap();
    assert_eq!((apart.mean_average_precision, apart.n_separated), (Some(1.0), 4));
    assert!(apart.mean_gap.is_some_and(|gap| gap > 0.7));

    let soup = evaluate_group_ranking(&Letters, &SentenceGroups::soup()).unwrap();
    assert_eq!(soup.references.len(), 6);
    let text = soup.to_text_beside(&published_soup());
    for part in ["My soup is not hot anymore", "SNLI RNN [1]", "0.51*  0.47*", "references with a gap above 0"] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    // A sentence that is alone in its group has no relevant sentences.
    let lone = evaluate_group_ranking(&Letters, &groups(&[("x", &["a", "b"]), ("y", &["c"])])).unwrap();
    assert_eq!((lone.references[2].average_precision, lone.references[2].gap), (None, None));
}

#[test]
fn entailment_by_hand() {
    use Entailment::{Contradiction as C, Entailment as E, Neutral as N};
    let pair = |label, hypothesis: &str| NliPair { label, premise: "p".into(), hypothesis: hypothesis.into() };
    let pairs = vec![pair(E, "e"), pair(E, "n"), pair(N, "n"), pair(C, "e"), pair(E, "e")];
    let sets = [NliSet { path: PathBuf::from("dev.tsv"), layout: NliLayout::Snli, pairs, n_unlabeled: 2 }];
    let classifier = |pairs: &[(&str, &str)]| {
        assert!(pairs.iter().all(|pair| pair.0 == "p"));
        Ok(pairs.iter().map(|pair| if pair.1 == "e" { E } else { N }).collect())
    };
    let result = evaluate_entailment(&classifier, &sets).unwrap();
    let set = &result.sets[0];
    assert_eq!((set.accuracy, set.majority_accuracy, set.n_pairs), (Some(0.6), Some(0.6), 5));
    assert_eq!(set.confusion, [[0, 0, 1], [0, 1, 0], [0, 1, 2]]);
    let [contradiction, neutral, entailment] = set.labels;
    assert_eq!((contradiction.precision, contradiction.recall), (None, Some(0.0)));
    assert_eq!((neutral.precision, neutral.recall), (Some(0.5), Some(1.0)));
    assert_close(entailment.f1, 2.0 / 3.0, 1e-12);
    let text = result.to_text_beside(&published_sick_entailment());
    for part in ["dev.tsv", "0.6000", "  contradiction", "SNLI RNN [1]", "skipped 2 pairs without a label"] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    let json: Value = serde_json::from_str(&to_json(&result)).unwrap();
    assert_eq!(json["sets"][0]["labels"][2]["label"], "ENTAILMENT");

    let short = |_: &[(&str, &str)]| Ok(vec![E]);
    let error = evaluate_entailment(&short, &sets).unwrap_err();
    assert!(matches!(error, Error::Core(senv_core::Error::ShapeMismatch { expected: 5, got: 1, .. })), "{error}");
}

#[test]
fn nothing_to_judge_and_damaged_models_are_refused() {
    let nothing = |result: Result<(), Error>| assert!(matches!(result, Err(Error::NothingToDo { .. })), "{result:?}");
    let captions = groups(&[("x", &["a", "b"]), ("y", &["c"])]);
    nothing(evaluate_p_coherence(&Letters, &groups(&[("x", &["a"])]), 10, 1).map(drop));
    nothing(evaluate_ranking(&Letters, &[set(&[(0, "a", "b")])], &NoObserver).map(drop));
    nothing(evaluate_ranking(&Letters, &[], &NoObserver).map(drop));
    nothing(evaluate_zero_shot(&Letters, &[]).map(drop));
    nothing(evaluate_group_ranking(&Letters, &groups(&[("x", &["a", "b"])])).map(drop));
    let classifier = |_: &[(&str, &str)]| Ok(Vec::new());
    nothing(evaluate_entailment(&classifier, &[]).map(drop));

    let bad = |result: Result<(), Error>| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains("the embedding of \"a\" is not finite; the model is damaged"), "{message}");
    };
    for value in [f32::NAN, f32::INFINITY] {
        let encoder = Collapsed(value);
        bad(evaluate_p_coherence(&encoder, &captions, 10, 1).map(drop));
        bad(evaluate_ranking(&encoder, &[set(&[(1, "a", "b")])], &NoObserver).map(drop));
        bad(evaluate_zero_shot(&encoder, &[set(&[(1, "a", "b")])]).map(drop));
        bad(evaluate_group_ranking(&encoder, &captions).map(drop));
    }
    let many: Vec<String> = (0..2001).map(|i| i.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let error = evaluate_group_ranking(&Letters, &groups(&[("x", &many[..5]), ("y", &many[5..])])).unwrap_err();
    assert!(error.to_string().contains("at most 2000"), "{error}");
}
