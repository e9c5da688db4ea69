//! Tests of the bench through its public interface: chance, the maximum, bad input, comparisons.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fmt::Write as _,
    fs,
    path::Path,
};

use ndarray::Array2;
use rand::RngExt;
use senv_core::{
    NoObserver,
    rng::{Stream, stream},
};
use senv_eval::{
    BenchData, BenchOptions, BenchPart, BenchRecord, DataFolder, Entailment, Error, FrozenClassifier, FrozenScorer,
    MIN_ITEMS, NliSet, OrderData, OrderTemplates, PairClassifier, PairFeatures, ParaphraseSet, Scoring,
    SentenceVectors, SickSet, StsTask, SystemKind, SystemRecord, TaskResult, choose_protocols, compare_systems,
    evaluate_entailment, evaluate_order, evaluate_relatedness, evaluate_scorer, evaluate_sts, evaluate_zero_shot,
    protocols, summarize,
};
use senv_metrics::Bootstrap;

const DIM: usize = 24;
const OPTIONS: BenchOptions = BenchOptions { seed: 1 };
const BOOTSTRAP: Bootstrap = Bootstrap { resamples: 500, seed: 1 };
/// Enough draws for a difference to be significant over all tasks.
const COMPARED: Bootstrap = Bootstrap { resamples: 2_000, seed: 1 };

/// A folder with data of every protocol, and a vector for each sentence that reveals the answer.
#[derive(Default)]
struct Made {
    files: HashMap<&'static str, String>,
    leaks: Vec<(String, Vec<f32>)>,
}

/// Returns a unit vector with this cosine to the first axis, in the plane of the first two values.
fn at_angle(cosine: f32) -> Vec<f32> {
    let mut v = vec![0.0; DIM];
    (v[0], v[1]) = (cosine, (1.0 - cosine * cosine).sqrt());
    v
}

fn random(rng: &mut Stream) -> Vec<f32> {
    (0..DIM).map(|_| rng.random_range(-1.0..1.0)).collect()
}

impl Made {
    fn sentence(&mut self, what: &str, vector: Vec<f32>) -> String {
        let sentence = format!("{what} {}", self.leaks.len());
        self.leaks.push((sentence.clone(), vector));
        sentence
    }

    /// Adds pairs whose cosine is the gold score, on a scale from `low` to 5.
    fn scored(&mut self, rng: &mut Stream, low: f32, n: usize, with_label: bool) -> String {
        let mut text = String::new();
        for _ in 0..n {
            let gold: f32 = (rng.random_range(0.0..=1.0f32) * 100.0).round() / 100.0;
            // Labels are ranges of the gold score, so that one vector can reveal both.
            let label = ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"][((3.0 * gold) as usize).min(2)];
            let (a, b) = (self.sentence("left", at_angle(1.0)), self.sentence("right", at_angle(gold)));
            let label = if with_label { format!("{label}\t") } else { String::new() };
            let _ = writeln!(text, "{:.3}\t{label}{a}\t{b}", low + (5.0 - low) * gold);
        }
        text
    }

    fn new() -> Self {
        let (mut made, mut rng) = (Self::default(), stream(3, "made", &[]));
        for path in ["sts/2012/a.tsv", "sts/2012/b.tsv", "sts/2014/c.tsv", "stsb/train.tsv", "stsb/dev.tsv"] {
            let text = made.scored(&mut rng, 0.0, 300, false);
            made.files.insert(path, text);
        }
        for path in ["sick/train.tsv", "sick/trial.tsv"] {
            let text = made.scored(&mut rng, 1.0, 400, true);
            made.files.insert(path, text);
        }
        for path in ["msrp/train.tsv", "order/paws-val.tsv"] {
            let mut text = String::new();
            for i in 0..300 {
                let v = random(&mut rng);
                let other = if i % 3 == 0 { v.iter().map(|x| -x).collect() } else { v.clone() };
                let (a, b) = (made.sentence("one", v), made.sentence("two", other));
                let _ = writeln!(text, "{}\t{a}\t{b}", u8::from(i % 3 != 0));
            }
            made.files.insert(path, text);
        }
        let mut text = String::new();
        for group in 0..100 {
            let v = random(&mut rng);
            for _ in 0..3 {
                let _ = writeln!(text, "{group}\t{}", made.sentence("caption", v.clone()));
            }
        }
        made.files.insert("coco/captions.tsv", text);
        for path in ["mr/all.tsv", "cr/all.tsv", "subj/all.tsv", "mpqa/all.tsv", "trec/train.tsv", "trec/test.tsv"] {
            let mut text = String::new();
            for i in 0..300 {
                let class = i % 2;
                let mut v = vec![0.0; DIM];
                v[class] = 1.0;
                let _ = writeln!(text, "{class}\t{}", made.sentence("review", v));
            }
            made.files.insert(path, text);
        }
        for group in senv_eval::SentenceGroups::soup().groups {
            let v = random(&mut rng);
            group.sentences.iter().for_each(|sentence| made.leaks.push((sentence.clone(), v.clone())));
        }
        made.templates(&mut rng);
        made.own(&mut rng);
        made
    }

    /// Adds data of any name: scored pairs, labeled text, and documents of which each answers one query.
    fn own(&mut self, rng: &mut Stream) {
        let text = self.scored(rng, -2.0, 300, false);
        self.files.insert("tickets.tsv", text);
        let mut text = String::from("kind,message\n");
        for i in 0..300 {
            let mut v = vec![0.0; DIM];
            v[i % 2] = 1.0;
            let _ = writeln!(text, "{},\"{}\"", ["refund", "order"][i % 2], self.sentence("message, number", v));
        }
        self.files.insert("support/kinds.csv", text);
        let (mut corpus, mut queries) = (String::new(), String::new());
        let mut judgments = String::from("query\tdocument\tgrade\n");
        for i in 0..100 {
            let v = random(rng);
            let (document, query) = (self.sentence("document", v.clone()), self.sentence("query", v));
            let _ = writeln!(corpus, "{{\"_id\": \"d{i}\", \"title\": \"\", \"text\": \"{document}\"}}");
            let _ = writeln!(queries, "{{\"_id\": \"q{i}\", \"text\": \"{query}\"}}");
            let _ = writeln!(judgments, "q{i}\td{i}\t1");
        }
        self.files.extend([
            ("answers/corpus.jsonl", corpus),
            ("answers/queries.jsonl", queries),
            ("answers/qrels/test.tsv", judgments),
        ]);
    }

    /// Adds one vector for each meaning of the built-in templates.
    fn templates(&mut self, rng: &mut Stream) {
        let templates = OrderTemplates::all_built_in();
        let mut meanings: HashMap<&str, usize> = HashMap::new();
        for (i, item) in templates.iter().flat_map(|of| &of.items).enumerate() {
            let [anchor, same] = [&item.anchor, &item.same].map(|sentence| meanings.get(&sentence[..]).copied());
            let kept = anchor.or(same).unwrap_or(i);
            let joined = same.unwrap_or(kept);
            meanings.values_mut().filter(|of| **of == joined).for_each(|of| *of = kept);
            meanings.extend([(&item.anchor[..], kept), (&item.same[..], kept)]);
        }
        let mut vectors: HashMap<usize, Vec<f32>> = HashMap::new();
        let mut seen = HashSet::new();
        for sentence in templates.iter().flat_map(OrderTemplates::sentences).filter(|of| seen.insert(*of)) {
            let own = random(rng);
            let vector = match meanings.get(sentence) {
                Some(&meaning) => vectors.entry(meaning).or_insert(own).clone(),
                None => own,
            };
            self.leaks.push((sentence.to_owned(), vector));
        }
    }

    fn write(&self, folder: &Path) {
        for (path, text) in &self.files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn leaking(&self) -> SentenceVectors {
        let values: Vec<f32> = self.leaks.iter().flat_map(|(_, vector)| vector.clone()).collect();
        let values = Array2::from_shape_vec((self.leaks.len(), DIM), values).unwrap();
        SentenceVectors::from_vectors(self.leaks.iter().map(|(sentence, _)| sentence.clone()), values).unwrap()
    }

    fn random(&self, seed: u64) -> SentenceVectors {
        let mut rng = stream(seed, "vectors", &[]);
        let values: Vec<f32> = (0..self.leaks.len() * DIM).map(|_| rng.random_range(-1.0..1.0)).collect();
        let values = Array2::from_shape_vec((self.leaks.len(), DIM), values).unwrap();
        SentenceVectors::from_vectors(self.leaks.iter().map(|(sentence, _)| sentence.clone()), values).unwrap()
    }
}

fn run(data: &BenchData, embeddings: &SentenceVectors) -> Vec<TaskResult> {
    data.run(&Scoring::Vectors(embeddings), &OPTIONS, BOOTSTRAP, &NoObserver, |_| true).unwrap()
}

fn system(name: &str, results: Vec<TaskResult>) -> SystemRecord {
    SystemRecord {
        name: name.to_owned(),
        kind: SystemKind::Vectors,
        source: String::new(),
        sha256: None,
        bytes: None,
        dim: Some(DIM),
        known_word_share: None,
        sentences_per_second: None,
        results,
        figures: Vec::new(),
    }
}

fn record(data: &BenchData, systems: Vec<SystemRecord>) -> BenchRecord {
    data.record("test".into(), &OPTIONS, BOOTSTRAP, systems).unwrap()
}

/// Reads the data of all protocols except these. The folder is deleted afterwards.
fn data_without(made: &Made, without: &[&str]) -> BenchData {
    let folder = tempfile::tempdir().unwrap();
    made.write(folder.path());
    let without: Vec<String> = without.iter().map(|&name| name.to_owned()).collect();
    let chosen = choose_protocols(&[], &without).unwrap();
    BenchData::read(&DataFolder::open(folder.path()).unwrap(), &chosen).unwrap()
}

/// Reads the data without the protocols that train many regressions.
fn data(made: &Made) -> BenchData {
    data_without(made, &["msrp", "mr", "cr", "subj", "mpqa", "own-entailment"])
}

#[test]
fn random_vectors_score_at_chance_and_leaking_ones_at_the_top_in_every_protocol() {
    let made = Made::new();
    let data = data_without(&made, &["own-entailment"]);
    let mut covered: Vec<&str> = data.tasks.iter().map(|task| task.protocol.name).collect();
    covered.dedup();
    let of_vectors = protocols().iter().filter(|protocol| !protocol.needs_classifier);
    let all: Vec<&str> = of_vectors.map(|protocol| protocol.name).collect();
    assert_eq!(covered, all, "each protocol has data here; add some for a new one");
    let leaking = run(&data, &made.leaking());
    let random: Vec<Vec<TaskResult>> = (0..4).map(|seed| run(&data, &made.random(seed))).collect();
    for (i, task) in data.tasks.iter().enumerate() {
        let factor = task.protocol.factor;
        let top = leaking[i].value.unwrap_or_else(|| panic!("{}: {:?}", task.key(), leaking[i].note));
        assert!(top > 0.95 * factor, "{}: leaking vectors reach {top}", task.key());
        let values: Vec<f64> = random.iter().map(|run| run[i].value.unwrap()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean - task.chance()).abs() < 0.08 * factor, "{}: {mean}, chance {}", task.key(), task.chance());
        // The soup test has six items, too few for an interval.
        assert_eq!(leaking[i].interval.is_none(), task.protocol.name == "soup", "{}", task.key());
        assert!(leaking[i].interval.is_none_or(|(low, high)| low <= top && top <= high));
    }
}

#[test]
fn a_classifier_of_the_system_is_judged_by_itself_and_left_out_where_no_system_has_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("snli")).unwrap();
    let lines = "neutral\ta\tb\nneutral\ta\tc\nentailment\ta\td\ncontradiction\ta\te\n";
    fs::write(folder.path().join("snli/test.tsv"), lines).unwrap();
    let chosen = choose_protocols(&["own-entailment".to_owned(), "soup".to_owned()], &[]).unwrap();
    let data = BenchData::read(&DataFolder::open(folder.path()).unwrap(), &chosen).unwrap();
    let soup = data.sentences();
    assert_eq!(soup.len(), 6, "the classifier reads the pairs itself");
    let vectors = Array2::from_shape_fn((6, 2), |(i, j)| (i + 2 * j) as f32 + 1.0);
    let embeddings = SentenceVectors::from_vectors(soup.iter().copied(), vectors).unwrap();
    let right = |pairs: &[(&str, &str)]| {
        let label = |hypothesis: &str| match hypothesis {
            "d" => Entailment::Entailment,
            "e" => Entailment::Contradiction,
            _ => Entailment::Neutral,
        };
        Ok(pairs.iter().map(|pair| label(pair.1)).collect())
    };
    let neutral = |pairs: &[(&str, &str)]| Ok(vec![Entailment::Neutral; pairs.len()]);
    let short = |_: &[(&str, &str)]| Ok(vec![Entailment::Neutral]);
    let run = |scoring: &Scoring<'_>| data.run(scoring, &OPTIONS, BOOTSTRAP, &NoObserver, |_| true).unwrap();
    let of = |classifier: &dyn PairClassifier| run(&Scoring::Classifier(&embeddings, classifier));
    assert_eq!([of(&right)[1].value, of(&neutral)[1].value], [Some(100.0), Some(50.0)]);
    assert_eq!(data.tasks[1].chance(), 50.0);
    assert!(of(&short)[1].note.as_ref().unwrap().contains("labels"));
    assert_eq!(of(&right)[0], run(&Scoring::Vectors(&embeddings))[0], "the vectors are used as ever");
    let without = run(&Scoring::Vectors(&embeddings));
    assert!(without[1].value.is_none() && without[1].note.as_ref().unwrap().contains("classifier"));
    let alone = record(&data, vec![system("without", without.clone())]);
    assert_eq!((alone.tasks.len(), alone.systems[0].results.len()), (1, 1));
    let both = record(&data, vec![system("without", without), system("with", of(&right))]);
    assert_eq!((both.tasks.len(), both.systems[0].results.len()), (2, 2));
    assert!(BenchRecord::from_json(&both.to_json()).is_ok() && BenchRecord::from_json(&alone.to_json()).is_ok());
}

#[test]
fn numbers_are_those_of_the_single_protocols() {
    let made = Made::new();
    let folder = tempfile::tempdir().unwrap();
    made.write(folder.path());
    let opened = DataFolder::open(folder.path()).unwrap();
    let data = BenchData::read(&opened, &choose_protocols(&["sts".into()], &[]).unwrap()).unwrap();
    let embeddings = made.random(5);
    let results = run(&data, &embeddings);
    let tasks: Vec<StsTask> = ["2012/a", "2012/b", "2014/c"]
        .map(|name| StsTask::read(folder.path().join(format!("sts/{name}.tsv"))).unwrap())
        .to_vec();
    let single = evaluate_sts(&embeddings, &tasks).unwrap().with_intervals(&tasks, BOOTSTRAP).unwrap();
    let close = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9;
    let intervals = single.intervals.as_ref().unwrap();
    for (task, result) in intervals.tasks.iter().zip(&results) {
        assert!(close(task.correlations.pearson_r_x100.unwrap(), result.interval.unwrap()), "{task:?}");
    }
    for (task, result) in single.tasks.iter().zip(&results) {
        let (expected, got) = (task.correlations.pearson_r_x100.unwrap(), result.value.unwrap());
        assert!((expected - got).abs() < 1e-9, "{expected} {got}");
        assert_eq!(task.scores.iter().map(|&score| score as f32).collect::<Vec<_>>(), result.scores);
    }
    let record = record(&data, vec![system("random", results)]);
    let summary = &summarize(&record).unwrap()[0];
    let years: Vec<f64> = single.years.iter().map(|y| y.plain_mean_over_tasks.pearson_r_x100.unwrap()).collect();
    let cells: Vec<f64> = summary.rows[0].cells.iter().map(|cell| cell.value.unwrap()).collect();
    assert_eq!(
        summary.columns.iter().map(|column| &column.title[..]).collect::<Vec<_>>(),
        ["STS 2012 (own)", "STS 2014 (own)"]
    );
    assert!(years.iter().zip(&cells).all(|(a, b)| (a - b).abs() < 1e-9), "{years:?} {cells:?}");
    let mean = summary.rows[0].mean.value.unwrap();
    assert!((mean - (years[0] + years[1]) / 2.0).abs() < 1e-9);
    let of_years = intervals.overall.plain_mean_of_year_means.unwrap().pearson_r_x100.unwrap();
    assert!(close(of_years, summary.rows[0].mean.interval.unwrap()), "{of_years:?}");
}

#[test]
fn scores_and_details_are_those_of_the_functions_that_single_commands_call() {
    let made = Made::new();
    let folder = tempfile::tempdir().unwrap();
    made.write(folder.path());
    let only = ["sick", "detection", "sick-probe", "sick-entailment"].map(str::to_owned);
    let data =
        BenchData::read(&DataFolder::open(folder.path()).unwrap(), &choose_protocols(&only, &[]).unwrap()).unwrap();
    let vectors = made.random(6);
    let results = run(&data, &vectors);
    let [sick, detection, probe, entailment] = &results[..] else { panic!("a task for each protocol") };
    let detail = |result: &TaskResult, name: &str| {
        let found = result.details.iter().find(|detail| detail.name == name);
        found.unwrap_or_else(|| panic!("{name} is no detail")).value
    };
    let in_f32 = |scores: &[f64]| scores.iter().map(|&score| score as f32).collect::<Vec<_>>();
    let file = |name: &str| folder.path().join(name);
    let [train, trial] = ["sick/train.tsv", "sick/trial.tsv"].map(|name| [SickSet::read(file(name)).unwrap().task]);
    let scorer = FrozenScorer::train(&vectors, &train, &[]).unwrap();
    let by_cosine = evaluate_relatedness(&vectors, &trial).unwrap();
    for (result, single) in [(sick, by_cosine), (probe, evaluate_scorer(&scorer, &trial).unwrap())] {
        let single = &single.tasks[0];
        assert_eq!(result.scores, in_f32(&single.result.scores), "{}", result.task);
        let correlations = single.result.correlations;
        assert_eq!(detail(result, "Spearman's rho x 100"), correlations.spearman_rho_x100, "{}", result.task);
        assert_eq!(detail(result, "squared error"), single.mse, "{}", result.task);
    }
    let single = evaluate_zero_shot(&vectors, &[ParaphraseSet::read(file("msrp/train.tsv")).unwrap()]).unwrap();
    assert_eq!(detection.scores, in_f32(&single.sets[0].cosines));
    let best_f1 = single.sets[0].best_f1.map(|f1| 100.0 * f1);
    assert_eq!(detail(detection, "best F1 of any threshold x 100"), best_f1);
    let [train, trial] = ["sick/train.tsv", "sick/trial.tsv"].map(|name| [NliSet::read(file(name)).unwrap()]);
    let classifier = FrozenClassifier::train(&vectors, &train, &[], PairFeatures::Symmetric).unwrap();
    let single = evaluate_entailment(&classifier, &trial).unwrap();
    let right = trial[0].pairs.iter().zip(&single.sets[0].predicted).map(|(pair, label)| pair.label == *label);
    assert_eq!(entailment.scores, right.map(|right| f32::from(u8::from(right))).collect::<Vec<_>>());
    let accuracy = single.sets[0].accuracy.unwrap();
    assert!((entailment.value.unwrap() - 100.0 * accuracy).abs() < 1e-9);
}

#[test]
fn word_order_has_the_numbers_of_its_command() {
    let made = Made::new();
    let folder = tempfile::tempdir().unwrap();
    made.write(folder.path());
    let only = ["order-pairs", "order-entailment", "order-templates"].map(str::to_owned);
    let data =
        BenchData::read(&DataFolder::open(folder.path()).unwrap(), &choose_protocols(&only, &[]).unwrap()).unwrap();
    let vectors = made.random(7);
    let results = run(&data, &vectors);
    let keys: Vec<&str> = results.iter().map(|result| &result.task[..]).collect();
    assert_eq!(keys[..3], ["order-pairs/PAWS dev", "order-entailment/SICK dev", "order-templates/swapped roles"]);
    let judged = OrderData {
        pairs: vec![ParaphraseSet::read(folder.path().join("order/paws-val.tsv")).unwrap()],
        nli: vec![NliSet::read(folder.path().join("sick/trial.tsv")).unwrap()],
        templates: OrderTemplates::all_built_in(),
    };
    let single = evaluate_order(&Scoring::Vectors(&vectors), &judged, BOOTSTRAP).unwrap();
    let close = |a: Option<f64>, b: f64| (a.unwrap() - 100.0 * b).abs() < 1e-9;
    assert!(close(results[0].value, single.pairs[0].roc_auc.unwrap().value));
    assert!(close(results[0].details[0].value, single.pairs[0].average_precision.unwrap().value));
    assert!(close(results[1].value, single.nli[0].roc_auc.unwrap().value));
    for (result, of) in results[2..].iter().zip(&single.templates) {
        let (share, (low, high)) = (of.share_nearer.unwrap(), result.interval.unwrap());
        assert!(close(result.value, share.value), "{}", result.task);
        let (own_low, own_high) = share.interval.unwrap();
        assert!(close(Some(low), own_low) && close(Some(high), own_high), "{}", result.task);
    }
    // The templates column is the mean over the phenomena, with the interval that `senv eval order` prints.
    let summary = &summarize(&record(&data, vec![system("random", results)])).unwrap()[0];
    let titles: Vec<&str> = summary.columns.iter().map(|column| &column.title[..]).collect();
    assert_eq!(titles, ["PAWS dev AUC", "SICK dev entailment AUC", "Templates (built in)"]);
    let (mean, cell) = (single.mean_share_nearer.unwrap(), &summary.rows[0].cells[2]);
    assert!(close(cell.value, mean.value) && close(cell.interval.map(|ends| ends.0), mean.interval.unwrap().0));
    assert_eq!(summary.chance, [50.0; 3]);
}

#[test]
fn protocols_that_need_no_data_run_without_a_data_set() {
    let empty = tempfile::tempdir().unwrap();
    let chosen = choose_protocols(&["soup".to_owned(), "order-templates".to_owned()], &[]).unwrap();
    let data = BenchData::read(&DataFolder::open(empty.path()).unwrap(), &chosen).unwrap();
    assert_eq!((data.tasks.len(), data.missing.len()), (8, 0));
    // The words of templates are counted only if there are no other tasks.
    assert_eq!((data.counted_sentences(BenchPart::Published).len(), data.sentences().len() > 2_000), (6, true));
    let chosen = choose_protocols(&["order-templates".to_owned()], &[]).unwrap();
    let data = BenchData::read(&DataFolder::open(empty.path()).unwrap(), &chosen).unwrap();
    assert_eq!(data.counted_sentences(BenchPart::Published), data.sentences());
}

#[test]
fn a_record_goes_through_json_and_its_tables_rank_systems_with_marks() {
    let made = Made::new();
    let data = data(&made);
    let systems = vec![system("random", run(&data, &made.random(1))), system("leaking", run(&data, &made.leaking()))];
    let record = record(&data, systems);
    let again = BenchRecord::from_json(&record.to_json()).unwrap();
    assert_eq!(again, record);
    for summary in summarize(&record).unwrap() {
        assert_eq!(summary.rows[0].system, 1, "the leaking system is first");
        assert!(summary.rows[0].mean.best && !summary.rows[1].mean.best);
        // The reference is the first system of the record and has no marks.
        assert!(summary.rows[1].cells.iter().all(|cell| cell.mark.is_none()));
        let above = |cell: &senv_eval::Cell| cell.mark == Some(senv_eval::Mark::Above);
        assert!(summary.rows[0].cells.iter().filter(|cell| above(cell)).count() >= summary.columns.len() - 1);
        for (cell, chance) in summary.rows[1].cells.iter().zip(&summary.chance) {
            // The soup test has six items, too few for an interval.
            assert_eq!(cell.interval.is_none(), cell.too_few);
            let value = cell.value.unwrap();
            assert!(cell.interval.is_none_or(|(low, high)| low <= value && value <= high) && chance.is_finite());
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let made = Made::new();
    let data = data(&made);
    let on = |n| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(|| {
            let record = record(&data, vec![system("random", run(&data, &made.random(1)))]);
            let tables: Vec<_> = summarize(&record).unwrap().into_iter().map(|summary| summary.rows).collect();
            (record.to_json(), tables)
        })
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn equal_scores_are_undefined_and_say_so() {
    let made = Made::new();
    let data = data(&made);
    let sentences: Vec<String> = made.leaks.iter().map(|(sentence, _)| sentence.clone()).collect();
    let ones = Array2::ones((sentences.len(), DIM));
    let results = run(&data, &SentenceVectors::from_vectors(sentences, ones).unwrap());
    let of = |key: &str| results.iter().find(|result| result.task == key).unwrap();
    assert_eq!((of("sts/2012/a").value, of("sts/2012/a").interval), (None, None));
    assert!(of("sts/2012/a").note.as_ref().unwrap().contains("all scores are equal"));
    let record = record(&data, vec![system("ones", results)]);
    let summary = &summarize(&record).unwrap()[0];
    assert_eq!(summary.rows[0].mean.value, None, "a mean of nothing is not 0");
    assert!(summary.rows[0].cells[0].note.is_some());
}

#[test]
fn missing_vectors_are_a_note_of_the_task() {
    let made = Made::new();
    let data = data(&made);
    let few = SentenceVectors::from_vectors([made.leaks[0].0.clone()], Array2::ones((1, DIM))).unwrap();
    let results = run(&data, &few);
    assert_eq!(results.len(), data.tasks.len());
    assert!(results.iter().all(|result| result.value.is_none() && result.note.is_some()));
    let scorer = |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|(a, b)| a.len().abs_diff(b.len()) as f64).collect());
    let results = data.run(&Scoring::Pairs(&scorer), &OPTIONS, BOOTSTRAP, &NoObserver, |_| true).unwrap();
    let ranking = results.iter().find(|result| result.task.starts_with("ranking")).unwrap();
    assert_eq!(ranking.note.as_deref(), Some("needs sentence vectors"));
}

#[test]
fn a_run_ends_when_asked_to() {
    let made = Made::new();
    let data = data(&made);
    let (mut n, embeddings) = (0, made.random(1));
    let stopped = data.run(&Scoring::Vectors(&embeddings), &OPTIONS, BOOTSTRAP, &NoObserver, |_| {
        n += 1;
        n < 3
    });
    assert!(matches!(stopped, Err(Error::Core(senv_core::Error::Interrupted { .. }))));
}

#[test]
fn folders_without_data_names_without_protocols_and_twins_are_refused() {
    let empty = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(empty.path()).unwrap();
    let error = BenchData::read(&folder, &choose_protocols(&[], &[]).unwrap()).unwrap_err().to_string();
    assert!(error.contains("no data sets in the folder"), "{error}");
    let error = choose_protocols(&["stss".into()], &[]).unwrap_err().to_string();
    assert!(error.contains("\"stss\"") && error.contains("sts, stsb, sick"), "{error}");
    assert_eq!(choose_protocols(&["sts".into(), "sick".into()], &["sick".into()]).unwrap().len(), 1);
    let made = Made::new();
    let data = data(&made);
    let twins = vec![system("a", vec![]), system("a", vec![])];
    let error = data.record(String::new(), &OPTIONS, BOOTSTRAP, twins).unwrap_err();
    assert!(matches!(error, Error::SameName { .. }), "{error}");
}

#[test]
fn a_missing_data_set_is_a_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("sts/2013")).unwrap();
    fs::write(folder.path().join("sts/2013/x.tsv"), "5\ta\tb\n1\tc\td\n2\te\tf\n").unwrap();
    let opened = DataFolder::open(folder.path()).unwrap();
    let data = BenchData::read(&opened, &choose_protocols(&[], &[]).unwrap()).unwrap();
    let missing: Vec<&str> = data.missing.iter().map(|missing| &missing.protocol[..]).collect();
    assert!(missing.contains(&"sick") && missing.contains(&"ranking"), "{missing:?}");
    let of = |protocol: &str| -> Vec<String> {
        let lines = data.missing.iter().filter(|missing| missing.protocol == protocol);
        lines.map(|missing| missing.reason.clone()).collect()
    };
    assert!(of("stsb")[0].starts_with("no data in the folder") && of("stsb")[0].contains("sts-test.csv"));
    // Each missing year has its own line.
    let years: Vec<String> = of("sts").iter().map(|line| line.chars().take(8).collect()).collect();
    assert_eq!(years, ["STS 2012", "STS 2014", "STS 2015", "STS 2016"]);
}

#[test]
fn comparisons_are_of_the_same_data_and_have_signs_and_corrections() {
    let made = Made::new();
    let data = data(&made);
    let leaking = record(&data, vec![system("leaking", run(&data, &made.leaking()))]);
    let random = record(&data, vec![system("random", run(&data, &made.random(2)))]);
    let compared = compare_systems((&leaking, &leaking.systems[0]), (&random, &random.systems[0]), COMPARED).unwrap();
    assert_eq!(compared.tasks.len(), data.tasks.len());
    for task in compared.tasks.iter().filter(|task| !task.task.starts_with("soup")) {
        assert!(task.difference.unwrap() > 0.0, "{task:?}");
        assert!(task.p_bootstrap_holm.unwrap() >= task.p_bootstrap.unwrap());
        assert!(task.p_bootstrap_holm.unwrap() < 0.05, "{task:?}");
        let (low, high) = task.interval.unwrap();
        assert!(low > 0.0 && low <= high);
    }
    // A level says nothing about a correlation, a precision or an area.
    let has_levels = |task: &&senv_eval::TaskDifference| task.p_wilcoxon.is_some();
    let protocols = |task: &senv_eval::TaskDifference| task.task.split('/').next().unwrap().to_owned();
    let levels: BTreeSet<String> = compared.tasks.iter().filter(has_levels).map(protocols).collect();
    assert!(levels.contains("trec") && !levels.contains("sts") && !levels.contains("stsb"), "{levels:?}");
    assert!(compared.to_text().contains("sts 2012 a"));
    let same = compare_systems((&random, &random.systems[0]), (&random, &random.systems[0]), COMPARED).unwrap();
    assert!(
        same.tasks
            .iter()
            .all(|task| task.difference == Some(0.0) && task.p_bootstrap == (task.n_items >= MIN_ITEMS).then_some(1.0))
    );
    assert!(same.tasks.iter().all(|task| task.p_wilcoxon.is_none()), "nothing differs");

    let mut other = random.clone();
    other.tasks[0].files[0].sha256 = "0".repeat(64);
    let error = compare_systems((&leaking, &leaking.systems[0]), (&other, &other.systems[0]), COMPARED).unwrap_err();
    assert!(matches!(error, Error::DifferentPairs { .. }), "{error}");
    other.tasks.clear();
    let error = compare_systems((&leaking, &leaking.systems[0]), (&other, &other.systems[0]), COMPARED).unwrap_err();
    assert!(matches!(error, Error::DifferentPairs { .. }), "{error}");
}

#[test]
fn broken_records_are_refused_with_the_reason() {
    let made = Made::new();
    let data = data(&made);
    let good = record(&data, vec![system("random", run(&data, &made.random(2)))]);
    let fails = |json: String, says: &str| {
        let message = BenchRecord::from_json(&json).unwrap_err().to_string();
        assert!(message.contains(says), "{says:?} is missing in {message}");
    };
    fails("{}".into(), "not a bench record");
    fails(good.to_json().replacen("\"senv_bench\":1", "\"senv_bench\":7", 1), "format 7");
    let mut broken = good.clone();
    broken.systems[0].results[0].scores.pop();
    fails(broken.to_json(), "random on sts/2012/a");
    let mut broken = good.clone();
    broken.systems[0].results[0].task = "sts/1999/x".into();
    fails(broken.to_json(), "sts/1999/x");
    let mut broken = good.clone();
    broken.systems.push(good.systems[0].clone());
    fails(broken.to_json(), "two systems");
}
