//! Runs every protocol with random vectors, with vectors that reveal the answers, with equal vectors, and with NaN.
//!
//! The first test fails if a protocol is missing from the list below.

use std::{collections::HashSet, f64::consts::TAU};

use rand::RngExt;
use senv_core::{Coverage, NoObserver, Scratch, SentenceEncoder, Table};
use senv_eval::{
    DEFAULT_HISTOGRAM_BINS, DictionarySet, Document, Entailment, Error, FrozenClassifier, FrozenScorer, JudgedQuery,
    LabeledSentence, LabeledSet, LearningCurveOptions, LogisticForm, MapOptions, MtebStsSet, NliLayout, NliPair,
    NliSet, OrderData, OrderItem, OrderPhenomenon, OrderResult, OrderTemplates, PairFeatures, PairGroups,
    ParaphrasePair, ParaphraseSet, ProbeOptions, RelatednessForm, Result, RetrievalSet, Scale, Scoring, SentenceGroup,
    SentenceGroups, SentenceVectors, StsPair, StsTask, evaluate_classification, evaluate_classification_on_test,
    evaluate_dictionary, evaluate_entailment, evaluate_group_ranking, evaluate_learning_curve, evaluate_map,
    evaluate_mteb_sts, evaluate_order, evaluate_p_coherence, evaluate_pair_histograms, evaluate_paraphrase_detection,
    evaluate_ranking, evaluate_relatedness, evaluate_retrieval, evaluate_scorer, evaluate_sts, evaluate_zero_shot,
};
use senv_metrics::Bootstrap;

/// What the vectors encode of the sentences below, whose text contains the answers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Vectors {
    /// Nothing: about normal values from a hash of the sentence.
    Random,
    /// The class, or the relatedness of a pair as its cosine.
    Leaking,
    /// The same vector for all sentences.
    Constant,
    /// NaN for about every sixth sentence.
    Nan,
}

const DIM: usize = 16;

/// Returns an about normally distributed value from a hash of the text.
fn noise(text: &str, place: usize) -> f32 {
    let hash = text
        .bytes()
        .chain([place as u8])
        .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let uniform = |x: u64| ((x.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    ((-2.0 * uniform(hash).ln()).sqrt() * (TAU * uniform(hash.rotate_left(31) ^ 0x55)).cos()) as f32
}

impl SentenceEncoder for Vectors {
    fn dim(&self) -> usize {
        DIM
    }

    /// Sentences are `NAME first`, `NAME second COSINE` and `NAME class CLASS`.
    fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        let words: Vec<&str> = sentence.split(' ').collect();
        match self {
            Self::Constant => out.fill(0.5),
            Self::Random | Self::Nan => {
                out.iter_mut().enumerate().for_each(|(i, x)| *x = noise(sentence, i));
                if *self == Self::Nan && noise(sentence, 99) > 1.0 {
                    out[3] = f32::NAN;
                }
            }
            Self::Leaking => {
                out.iter_mut().enumerate().for_each(|(i, x)| *x = 0.003 * noise(sentence, i));
                match words[1..] {
                    ["second", cosine] => {
                        let cosine: f32 = cosine.parse().unwrap();
                        out[0] += cosine;
                        out[1] += (1.0 - cosine * cosine).max(0.0).sqrt();
                    }
                    ["class", class] => out[class.parse::<usize>().unwrap()] += 1.0,
                    _ => out[0] += 1.0,
                }
            }
        }
        Coverage::new(words.len(), words.len())
    }
}

/// Returns pair `i`, with a cosine among 0, 1/steps, .., 1.
fn pair(name: &str, i: usize, steps: usize) -> (f64, String, String) {
    let cosine = (i * 11 % (steps + 1)) as f64 / steps as f64;
    (cosine, format!("{name}{i} first"), format!("{name}{i} second {cosine}"))
}

fn scored(name: &str, n: usize) -> StsTask {
    let pair = |i: usize| {
        let (cosine, first, second) = pair(name, i, 20);
        StsPair { relatedness: 5.0 * cosine, first, second }
    };
    StsTask {
        name: name.into(),
        year: None,
        path: name.into(),
        scale: Scale::STS,
        pairs: (0..n).map(pair).collect(),
        n_unscored: 0,
        n_empty_sentences: 0,
    }
}

fn labeled_pairs(name: &str, n: usize) -> NliSet {
    let pair = |i: usize| {
        let (cosine, premise, hypothesis) = pair(name, i, 2);
        NliPair { label: Entailment::ALL[(2.0 * cosine) as usize], premise, hypothesis }
    };
    let pairs = (0..n).map(pair).collect();
    NliSet { path: name.into(), layout: NliLayout::Snli, pairs, n_unlabeled: 0 }
}

fn paraphrases(name: &str, n: usize) -> ParaphraseSet {
    let pair = |i: usize| {
        let (cosine, first, second) = pair(name, i, 1);
        ParaphrasePair { is_paraphrase: cosine == 1.0, first, second }
    };
    ParaphraseSet { path: name.into(), pairs: (0..n).map(pair).collect() }
}

fn classes(name: &str, n: usize, k: usize) -> LabeledSet {
    let sentence = |i: usize| LabeledSentence { class: i * 5 % k, text: format!("{name}{i} class {}", i * 5 % k) };
    LabeledSet {
        path: name.into(),
        classes: (0..k).map(|class| class.to_string()).collect(),
        sentences: (0..n).map(sentence).collect(),
        n_empty: 0,
    }
}

fn groups(n: usize, each: usize) -> SentenceGroups {
    let group = |g: usize| SentenceGroup {
        name: g.to_string(),
        sentences: (0..each).map(|i| format!("g{} class {g}", g * each + i)).collect(),
    };
    SentenceGroups { path: "groups".into(), groups: (0..n).map(group).collect() }
}

/// Encodes all sentences that the protocols below read.
fn embeddings(vectors: Vectors) -> Result<SentenceVectors> {
    let mut texts = Vec::new();
    for set in [paraphrases("train", 300), paraphrases("test", 300)] {
        texts.extend(set.pairs.into_iter().flat_map(|pair| [pair.first, pair.second]));
    }
    for set in [classes("two", 300, 2), classes("six", 400, 6), classes("test", 300, 6)] {
        texts.extend(set.sentences.into_iter().map(|sentence| sentence.text));
    }
    texts.extend(groups(5, 6).sentences().map(str::to_owned));
    SentenceVectors::encode(&vectors, texts.iter().map(String::as_str))
}

/// A protocol: the functions that it covers, the range of results of random vectors, the minimum result of vectors that
/// reveal the answers, and a function that computes the result.
struct Protocol {
    functions: &'static [&'static str],
    chance: (f64, f64),
    top: f64,
    run: fn(Vectors) -> Result<Option<f64>>,
}

fn supervised(form: RelatednessForm, vectors: Vectors) -> Result<Option<f64>> {
    let scorer = FrozenScorer::train_by(form, &vectors, &[scored("a", 400)], &[scored("b", 200)], 1)?;
    let result = evaluate_scorer(&scorer, &[scored("c", 300)])?;
    Ok(result.tasks[0].result.correlations.pearson_r_x100.map(|r| r / 100.0))
}

fn order(vectors: Vectors, data: &OrderData) -> Result<OrderResult> {
    let embeddings = SentenceVectors::encode(&vectors, data.sentences())?;
    evaluate_order(&Scoring::Vectors(&embeddings), data, Bootstrap { resamples: 0, seed: 1 })
}

const PROTOCOLS: &[Protocol] = &[
    Protocol {
        functions: &["evaluate_sts", "evaluate_sts_scorer"],
        chance: (-0.15, 0.15),
        top: 0.99,
        run: |vectors| {
            let result = evaluate_sts(&vectors, &[scored("a", 400)])?;
            Ok(result.overall.plain_mean_over_tasks.pearson_r_x100.map(|r| r / 100.0))
        },
    },
    Protocol {
        functions: &["evaluate_mteb_sts"],
        chance: (-0.15, 0.15),
        top: 0.98,
        run: |vectors| {
            let folder = tempfile::tempdir().unwrap();
            let year = folder.path().join("sts/2012");
            std::fs::create_dir_all(&year).unwrap();
            let files = ["a", "b"].map(|name| {
                let pairs = scored(name, 200).pairs;
                let lines = pairs.iter().map(|pair| format!("{}\t{}\t{}\n", pair.relatedness, pair.first, pair.second));
                let path = year.join(format!("{name}.tsv"));
                std::fs::write(&path, lines.collect::<String>()).unwrap();
                path
            });
            let set = MtebStsSet::read(&files)?;
            let result = evaluate_mteb_sts(&vectors, &set, Bootstrap { resamples: 0, seed: 1 })?;
            Ok(result.mean_spearman_rho_x100.map(|rho| rho / 100.0))
        },
    },
    Protocol {
        functions: &["evaluate_relatedness"],
        chance: (-0.15, 0.15),
        top: 0.99,
        run: |vectors| {
            let result = evaluate_relatedness(&vectors, &[scored("a", 400)])?;
            Ok(result.tasks[0].result.correlations.spearman_rho_x100.map(|r| r / 100.0))
        },
    },
    Protocol {
        functions: &["evaluate_scorer"],
        chance: (-0.2, 0.2),
        top: 0.97,
        run: |vectors| supervised(RelatednessForm::Regression, vectors),
    },
    Protocol {
        functions: &[],
        chance: (-0.2, 0.2),
        top: 0.9,
        run: |vectors| supervised(RelatednessForm::SkipThoughts, vectors),
    },
    Protocol {
        functions: &[],
        chance: (-0.2, 0.2),
        top: 0.9,
        run: |vectors| supervised(RelatednessForm::SentEval, vectors),
    },
    Protocol {
        functions: &["evaluate_entailment"],
        chance: (0.22, 0.45),
        top: 0.97,
        run: |vectors| {
            let (train, dev) = ([labeled_pairs("a", 400)], [labeled_pairs("b", 200)]);
            let classifier = FrozenClassifier::train(&vectors, &train, &dev, PairFeatures::All)?;
            Ok(evaluate_entailment(&classifier, &[labeled_pairs("c", 300)])?.sets[0].accuracy)
        },
    },
    Protocol {
        functions: &["evaluate_classification"],
        chance: (0.4, 0.6),
        top: 0.99,
        run: |vectors| {
            let options = ProbeOptions { outer_folds: 5, inner_folds: 5, ..ProbeOptions::default() };
            Ok(evaluate_classification(&embeddings(vectors)?, &classes("two", 300, 2), &options)?.accuracy)
        },
    },
    Protocol {
        functions: &["evaluate_classification_on_test"],
        chance: (0.08, 0.27),
        top: 0.99,
        run: |vectors| {
            let options = ProbeOptions { form: LogisticForm::OneVsRest, ..ProbeOptions::default() };
            let (train, test) = (classes("six", 400, 6), classes("test", 300, 6));
            Ok(evaluate_classification_on_test(&embeddings(vectors)?, &train, &test, &options)?.accuracy)
        },
    },
    Protocol {
        functions: &["evaluate_paraphrase_detection"],
        chance: (0.4, 0.6),
        top: 0.99,
        run: |vectors| {
            let (train, test) = (paraphrases("train", 300), paraphrases("test", 300));
            let options = ProbeOptions::sent_eval();
            Ok(evaluate_paraphrase_detection(&embeddings(vectors)?, &train, &test, &options)?.accuracy)
        },
    },
    Protocol {
        functions: &["evaluate_learning_curve"],
        chance: (0.4, 0.6),
        top: 0.99,
        run: |vectors| {
            let (train, test) = (paraphrases("train", 300), paraphrases("test", 300));
            let options =
                LearningCurveOptions { shares: vec![0.02, 0.5], n_draws: 2, ..LearningCurveOptions::default() };
            let result = evaluate_learning_curve(&embeddings(vectors)?, &train, &test, &options)?;
            assert_eq!([result.points[0].n_training_pairs, result.points[1].n_training_pairs], [6, 150]);
            Ok(result.points[1].mean_accuracy)
        },
    },
    Protocol {
        functions: &["evaluate_zero_shot"],
        chance: (0.4, 0.62),
        top: 0.99,
        run: |vectors| Ok(evaluate_zero_shot(&vectors, &[paraphrases("a", 400)])?.sets[0].average_precision),
    },
    Protocol {
        functions: &["evaluate_order"],
        chance: (0.4, 0.6),
        top: 0.99,
        run: |vectors| {
            let data = OrderData { pairs: vec![paraphrases("a", 400)], ..OrderData::default() };
            Ok(order(vectors, &data)?.pairs[0].roc_auc.map(|auc| auc.value))
        },
    },
    Protocol {
        functions: &[],
        chance: (0.4, 0.6),
        top: 0.99,
        run: |vectors| {
            let data = OrderData { nli: vec![labeled_pairs("a", 400)], ..OrderData::default() };
            Ok(order(vectors, &data)?.nli[0].roc_auc.map(|auc| auc.value))
        },
    },
    Protocol {
        functions: &[],
        chance: (0.4, 0.6),
        top: 0.99,
        run: |vectors| {
            let item = |i: usize| {
                let sentence = |name: &str, class: usize| format!("{name}{i} class {}", class % DIM);
                OrderItem { anchor: sentence("a", i), same: sentence("b", i), different: sentence("c", i + 1) }
            };
            let (phenomenon, items) = (OrderPhenomenon::Negation, (0..400).map(item).collect());
            let data = OrderData { templates: vec![OrderTemplates { phenomenon, items }], ..OrderData::default() };
            Ok(order(vectors, &data)?.mean_share_nearer.map(|share| share.value))
        },
    },
    Protocol {
        functions: &["evaluate_pair_histograms"],
        chance: (0.0, 0.35),
        top: 0.99,
        run: |vectors| {
            let sets = [paraphrases("test", 300)];
            let groups = PairGroups::of_paraphrases(&sets);
            let found = evaluate_pair_histograms(&embeddings(vectors)?, &groups, DEFAULT_HISTOGRAM_BINS / 5)?;
            Ok(found.cosines.overlaps[0].coefficient.map(|overlap| 1.0 - overlap))
        },
    },
    Protocol {
        functions: &["evaluate_p_coherence"],
        chance: (-0.1, 0.1),
        top: 0.95,
        run: |vectors| {
            let result = evaluate_p_coherence(&vectors, &groups(5, 6), 1_000, 1)?;
            Ok(result.p_coherence.zip(result.mean_cosine_across_groups).map(|(within, across)| within - across))
        },
    },
    Protocol {
        functions: &["evaluate_group_ranking"],
        chance: (0.1, 0.45),
        top: 0.99,
        run: |vectors| Ok(evaluate_group_ranking(&vectors, &groups(5, 6))?.mean_average_precision),
    },
    Protocol {
        functions: &["evaluate_ranking"],
        chance: (0.0, 0.1),
        top: 0.99,
        run: |vectors| {
            // The two sentences of each pair are each other's only paraphrase.
            let pairs = (0..16).map(|i| ParaphrasePair {
                is_paraphrase: true,
                first: format!("a{i} class {i}"),
                second: format!("b{i} class {i}"),
            });
            let set = ParaphraseSet { path: "ranked".into(), pairs: pairs.collect() };
            Ok(evaluate_ranking(&vectors, &[set], &NoObserver)?.distinct.accuracy_at_1)
        },
    },
    Protocol {
        functions: &["evaluate_retrieval"],
        // One of six documents is relevant.
        chance: (0.1, 0.25),
        top: 0.99,
        run: |vectors| {
            let documents = classes("doc", 300, 6).sentences;
            let judgements = |class| {
                let of_class = documents.iter().enumerate().filter(move |(_, document)| document.class == class);
                of_class.map(|(i, _)| (i, 1.0)).collect()
            };
            let query = |sentence: LabeledSentence| JudgedQuery {
                judgements: judgements(sentence.class),
                id: sentence.text.clone(),
                text: sentence.text,
                missing: Vec::new(),
                own_document: None,
            };
            let queries = classes("query", 120, 6).sentences.into_iter().map(query).collect();
            let document = |sentence: &LabeledSentence| Document {
                id: sentence.text.clone(),
                title: String::new(),
                text: sentence.text.clone(),
            };
            let documents = documents.iter().map(document).collect();
            let set = RetrievalSet {
                path: "set".into(),
                documents,
                queries,
                n_without_relevant: 0,
                missing_documents: Default::default(),
                missing_queries: Default::default(),
                n_repeated_judgements: 0,
            };
            let result = evaluate_retrieval(
                &vectors,
                &set,
                senv_index::documents::Join::default(),
                Bootstrap { resamples: 0, seed: 1 },
            )?;
            Ok(Some(result.scores[1].ndcg_at_10.value_x100 / 100.0))
        },
    },
    Protocol {
        functions: &["evaluate_dictionary"],
        // By chance, half of the sixteen words rank above the defined one.
        chance: (0.06, 0.35),
        top: 0.99,
        run: |vectors| {
            let (n, dim) = (16, vectors.dim());
            let mut words = Table::zeros(n, dim)?;
            let mut scratch = Scratch::default();
            for i in 0..n {
                Vectors::Leaking.encode_into(&format!("word{i} class {i}"), &mut scratch, words.row_mut(i));
            }
            let definitions = (0..3 * n).map(|i| (i % n, format!("definition{i} class {}", i % n))).collect();
            let set = DictionarySet { name: "set".into(), definitions };
            let result = evaluate_dictionary(&vectors, &words, &[set], Bootstrap { resamples: 0, seed: 1 })?;
            Ok(Some(1.0 / result.sets[0].median_rank.value))
        },
    },
    Protocol {
        functions: &["evaluate_map"],
        chance: (-0.6, 0.2),
        top: 0.5,
        run: |vectors| Ok(evaluate_map(&embeddings(vectors)?, &groups(5, 6), &MapOptions::default())?.silhouette),
    },
];

#[test]
fn every_protocol_is_in_the_list() {
    let listed: HashSet<&str> = PROTOCOLS.iter().flat_map(|protocol| protocol.functions).copied().collect();
    let exported = include_str!("../../src/lib.rs").lines().filter(|line| !line.trim_start().starts_with("//"));
    let words: Vec<&str> = exported.flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_'))).collect();
    let protocols: HashSet<&str> = words.into_iter().filter(|word| word.starts_with("evaluate_")).collect();
    assert_eq!(listed, protocols);
}

#[test]
fn vectors_that_know_nothing_are_at_chance_and_those_that_know_everything_at_the_top() {
    for (place, protocol) in PROTOCOLS.iter().enumerate() {
        let result = |vectors| (protocol.run)(vectors).unwrap().unwrap();
        let (random, leaking) = (result(Vectors::Random), result(Vectors::Leaking));
        let (low, high) = protocol.chance;
        assert!((low..=high).contains(&random), "{place} {:?}: {random} by chance", protocol.functions);
        assert!(leaking >= protocol.top, "{place} {:?}: {leaking} at the top", protocol.functions);
        assert_eq!(random, result(Vectors::Random), "{place}: the same seed, the same number");
    }
}

#[test]
fn equal_scores_are_undefined_or_at_chance_and_never_nan() {
    for (place, protocol) in PROTOCOLS.iter().enumerate() {
        let found = (protocol.run)(Vectors::Constant).unwrap();
        assert!(found.is_none_or(f64::is_finite), "{place} {:?}: {found:?}", protocol.functions);
    }
    let equal = evaluate_sts(&Vectors::Constant, &[scored("a", 50)]).unwrap();
    assert_eq!(equal.tasks[0].correlations.pearson_r_x100, None);
    assert!(equal.to_text().contains("correlation undefined"), "{}", equal.to_text());
    let scorer = FrozenScorer::train(&Vectors::Constant, &[scored("a", 50)], &[scored("b", 50)]).unwrap();
    assert_eq!(evaluate_scorer(&scorer, &[scored("c", 50)]).unwrap().tasks[0].result.correlations.pearson_r_x100, None);
}

#[test]
fn values_that_are_not_numbers_are_errors_that_name_the_sentence() {
    for (place, protocol) in PROTOCOLS.iter().enumerate() {
        let error = (protocol.run)(Vectors::Nan).expect_err("NaN");
        assert!(matches!(error, Error::NotFinite { .. }), "{place} {:?}: {error}", protocol.functions);
        let message = error.to_string();
        assert!(message.contains("embedding of \"") || message.contains("scored pair"), "{place}: {message}");
    }
}

/// The vectors of the English model have length 11, and other models give unit vectors.
#[test]
fn short_and_long_vectors_are_classified_alike() {
    let set = classes("two", 240, 2);
    let of = |length: f32| {
        let row = |i: usize| {
            let mut rng = senv_core::rng::stream(3, "test", &[i as u64]);
            let mut normal = || (0..12).map(|_| rng.random::<f32>()).sum::<f32>() - 6.0;
            let sign = [-0.35, 0.35][set.sentences[i].class];
            let mut row: Vec<f32> = (0..40).map(|d| normal() + sign / (1 + d % 8) as f32).collect();
            let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
            row.iter_mut().for_each(|x| *x *= length / norm);
            row
        };
        let values = ndarray::Array2::from_shape_vec((240, 40), (0..240).flat_map(row).collect()).unwrap();
        let texts = set.sentences.iter().map(|sentence| &sentence.text[..]);
        let vectors = SentenceVectors::from_vectors(texts, values).unwrap();
        let options = ProbeOptions { outer_folds: 5, inner_folds: 5, ..ProbeOptions::default() };
        evaluate_classification(&vectors, &set, &options).unwrap()
    };
    let (unit, long) = (of(1.0), of(11.0));
    let (a, b) = (unit.accuracy.unwrap(), long.accuracy.unwrap());
    assert!((0.7..0.95).contains(&a) && (a - b).abs() < 0.04, "{a} {b}");
    // The best C of long vectors is below the range that starts at 1.
    assert!(long.folds.iter().any(|fold| fold.c < 1.0), "{:?}", long.folds);
}

#[test]
fn folds_that_cannot_be_are_refused() {
    let all = embeddings(Vectors::Random).unwrap();
    let options = ProbeOptions::default();
    let few = classes("two", 8, 2);
    let error = evaluate_classification(&all, &few, &options).unwrap_err();
    assert!(matches!(error, Error::TooFewExamples { needed: 10, got: 8 }), "{error}");
    // Enough examples for ten outer folds, but not for ten inner folds of the rest.
    let error = evaluate_classification(&all, &classes("two", 10, 2), &options).unwrap_err();
    assert!(matches!(error, Error::TooFewExamples { needed: 10, got: 9 }), "{error}");
    // The second class has one sentence, so without its fold only one class remains.
    let mut single = classes("two", 40, 2);
    single.sentences.retain(|sentence| sentence.class == 0 || sentence.text.starts_with("two1 "));
    assert!(single.sentences.iter().any(|sentence| sentence.class == 1));
    let error = evaluate_classification(&all, &single, &options).unwrap_err();
    assert!(matches!(error, Error::OneClass), "{error}");
    single.sentences.retain(|sentence| sentence.class == 0);
    assert!(matches!(evaluate_classification(&all, &single, &options), Err(Error::OneClass)));
    let mut positive = paraphrases("train", 100);
    positive.pairs.retain(|pair| pair.is_paraphrase);
    let test = paraphrases("test", 20);
    let error = evaluate_paraphrase_detection(&all, &positive, &test, &ProbeOptions::skip_thoughts()).unwrap_err();
    assert!(matches!(error, Error::OneClass), "{error}");
    let error = evaluate_learning_curve(&all, &positive, &test, &LearningCurveOptions::default()).unwrap_err();
    assert!(matches!(error, Error::OneClass), "{error}");
    for path in [vec![], vec![1.0, 1.0], vec![2.0, 1.0], vec![0.0], vec![f64::NAN], vec![f64::INFINITY]] {
        let options = ProbeOptions { path, ..ProbeOptions::default() };
        let error = evaluate_classification(&all, &classes("two", 100, 2), &options).unwrap_err().to_string();
        assert!(error.contains("ascending"), "{error}");
    }
    let nothing = LabeledSet { sentences: Vec::new(), ..classes("two", 1, 2) };
    assert!(matches!(evaluate_classification(&all, &nothing, &options), Err(Error::NothingToDo { .. })));
    let (train, none) = (paraphrases("train", 100), ParaphraseSet { path: "none".into(), pairs: Vec::new() });
    assert!(matches!(evaluate_paraphrase_detection(&all, &train, &none, &options), Err(Error::NothingToDo { .. })));
}

#[test]
fn products_beyond_f32_are_an_error_and_not_a_number() {
    let set = paraphrases("train", 40);
    let texts: Vec<&str> = set.pairs.iter().flat_map(|pair| [&pair.first[..], &pair.second[..]]).collect();
    let huge = ndarray::Array2::from_elem((texts.len(), 2), 1e30);
    let embeddings = SentenceVectors::from_vectors(texts, huge).unwrap();
    let error = evaluate_paraphrase_detection(&embeddings, &set, &set, &ProbeOptions::sent_eval()).unwrap_err();
    assert!(matches!(error, Error::NotFinite { .. }), "{error}");
}

#[test]
fn sentences_that_were_not_encoded_and_options_out_of_range_are_named() {
    let all = embeddings(Vectors::Random).unwrap();
    let error = evaluate_classification(&all, &classes("new", 100, 2), &ProbeOptions::default()).unwrap_err();
    assert!(error.to_string().contains("\"new0 class 0\""), "{error}");
    for perplexity in [0.9, 10.0, f64::NAN] {
        let options = MapOptions { perplexity, ..MapOptions::default() };
        assert!(evaluate_map(&all, &groups(5, 6), &options).is_err(), "{perplexity}");
    }
    for shares in [vec![0.0], vec![1.1], vec![f64::NAN]] {
        let options = LearningCurveOptions { shares, ..LearningCurveOptions::default() };
        let (train, test) = (paraphrases("train", 100), paraphrases("test", 20));
        assert!(evaluate_learning_curve(&all, &train, &test, &options).is_err());
    }
    let scripts = [RelatednessForm::SkipThoughts, RelatednessForm::SentEval];
    for form in scripts {
        let error = FrozenScorer::train_by(form, &Vectors::Random, &[scored("a", 20)], &[], 1).err().unwrap();
        assert!(error.to_string().contains("development set"), "{error}");
    }
}
