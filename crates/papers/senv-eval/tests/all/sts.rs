//! The STS protocol with an encoder whose cosines can be computed by hand.

use std::{path::PathBuf, sync::Mutex};

use senv_core::{Coverage, Scratch, SentenceEncoder};
use senv_eval::{Correlations, Error, Scale, StsPair, StsTask, compare_sts, evaluate_sts, published_sts, to_json};

/// Counts the letters a to z. Each letter is a token, and capitals are unknown. Records the sentences it encodes.
#[derive(Default)]
struct Letters {
    asked: Mutex<Vec<String>>,
}

impl SentenceEncoder for Letters {
    fn dim(&self) -> usize {
        26
    }

    fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.asked.lock().unwrap().push(sentence.to_owned());
        out.fill(0.0);
        let (mut tokens, mut known) = (0, 0);
        for byte in sentence.bytes().filter(u8::is_ascii_alphabetic) {
            tokens += 1;
            if byte.is_ascii_lowercase() {
                known += 1;
                out[usize::from(byte - b'a')] += 1.0;
            }
        }
        Coverage::new(tokens, known)
    }
}

/// Fills every embedding with this number.
struct Constant(f32);

impl SentenceEncoder for Constant {
    fn dim(&self) -> usize {
        1
    }

    fn encode_sentence(&self, _: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        out[0] = self.0;
        Coverage::new(1, 1)
    }
}

fn task(name: &str, year: Option<u16>, pairs: &[(f64, &str, &str)]) -> StsTask {
    let pair = |&(relatedness, a, b): &(f64, &str, &str)| StsPair { relatedness, first: a.into(), second: b.into() };
    StsTask {
        name: name.into(),
        year,
        path: PathBuf::from(format!("{name}.tsv")),
        scale: Scale::STS,
        pairs: pairs.iter().map(pair).collect(),
        n_unscored: 0,
        n_empty_sentences: 0,
    }
}

/// Cosines of pairs of letters: `a`/`a` 1, `ab`/`bc` 0.5, `a`/`b` 0.
///
/// Task A, gold 5, 3, 1 against cosines 1, 0.5, 0: r = 1, ρ = 1.
///
/// Task B, gold 0, 2, 1 against cosines 1, 0.5, 0. Deviations are (-1, 1, 0) and (.5, 0, -.5), so r = -.5 / √(2·.5) =
/// -.5. Ranks are (1, 3, 2) and (3, 2, 1), so ρ = -.5.
///
/// Task C, gold 5, 1, 3, 0 against cosines 1, 1, 0, 0. Deviations are (2.75, -1.25, .75, -2.25) and (.5, .5, -.5, -.5),
/// so r = 1.5 / √(14.75·1) = 0.390567. Ranks are (4, 2, 3, 1) and (3.5, 3.5, 1.5, 1.5). They deviate by (1.5, -.5, .5,
/// -1.5) and (1, 1, -1, -1), so ρ = 2 / √(5·4) = 0.447214.
fn three_tasks() -> Vec<StsTask> {
    vec![
        task("A", Some(2013), &[(5.0, "a", "a"), (3.0, "ab", "bc"), (1.0, "a", "b")]),
        task("B", Some(2013), &[(0.0, "c", "c"), (2.0, "ab", "bc"), (1.0, "a", "b")]),
        task("C", Some(2014), &[(5.0, "a", "aa"), (1.0, "xy", "yx"), (3.0, "a", "b"), (0.0, "Q", "a")]),
    ]
}

fn close(got: Correlations, r: f64, rho: f64) {
    let (got_r, got_rho) = (got.pearson_r_x100.unwrap(), got.spearman_rho_x100.unwrap());
    // Cosines are f32, so allow 1e-7 of 100 and some more.
    assert!((got_r - 100.0 * r).abs() < 1e-4 && (got_rho - 100.0 * rho).abs() < 1e-4, "{got:?}, expected {r} {rho}");
}

#[test]
fn tasks_years_and_overall_means_are_those_worked_out_by_hand() {
    let result = evaluate_sts(&Letters::default(), &three_tasks()).unwrap();
    let (r_c, rho_c) = (1.5 / 14.75f64.sqrt(), 2.0 / 20f64.sqrt());
    for (task, (r, rho)) in result.tasks.iter().zip([(1.0, 1.0), (-0.5, -0.5), (r_c, rho_c)]) {
        close(task.correlations, r, rho);
    }
    let [y2013, y2014] = &result.years[..] else { panic!("two years") };
    assert_eq!((y2013.year, y2013.n_tasks, y2013.n_pairs, y2014.year, y2014.n_pairs), (2013, 2, 6, 2014, 4));
    close(y2013.plain_mean_over_tasks, 0.25, 0.25);
    close(y2013.mean_weighted_by_pairs, 0.25, 0.25);
    close(y2014.plain_mean_over_tasks, r_c, rho_c);
    let all = &result.overall;
    assert_eq!((all.n_tasks, all.n_pairs), (3, 10));
    close(all.plain_mean_over_tasks, (0.5 + r_c) / 3.0, (0.5 + rho_c) / 3.0);
    close(all.plain_mean_of_year_means.unwrap(), (0.25 + r_c) / 2.0, (0.25 + rho_c) / 2.0);
    close(all.mean_weighted_by_pairs, (3.0 * 0.5 + 4.0 * r_c) / 10.0, (3.0 * 0.5 + 4.0 * rho_c) / 10.0);
}

#[test]
fn a_sentence_without_a_known_token_scores_zero_and_is_counted() {
    let result = evaluate_sts(&Letters::default(), &three_tasks()).unwrap();
    let c = &result.tasks[2];
    assert_eq!((c.n_pairs_without_known_token, c.scores[3]), (1, 0.0));
    // a, aa, xy, yx, a, b, a have 10 known letters; Q is the eleventh letter.
    assert_eq!(c.known_token_share, Some(10.0 / 11.0));
    assert_eq!(result.tasks[0].n_pairs_without_known_token, 0);
    let text = result.to_text();
    assert!(text.contains("2014 C: 1 pair with a sentence without known tokens, scored 0"), "{text}");
}

#[test]
fn each_distinct_sentence_is_encoded_once() {
    let encoder = Letters::default();
    evaluate_sts(&encoder, &three_tasks()).unwrap();
    let mut asked = encoder.asked.into_inner().unwrap();
    asked.sort_unstable();
    assert_eq!(asked, ["Q", "a", "aa", "ab", "b", "bc", "c", "xy", "yx"]);
}

#[test]
fn the_order_of_tasks_does_not_change_the_means() {
    let forwards = evaluate_sts(&Letters::default(), &three_tasks()).unwrap();
    let mut tasks = three_tasks();
    tasks.reverse();
    let backwards = evaluate_sts(&Letters::default(), &tasks).unwrap();
    let close = |a: Option<f64>, b: Option<f64>| assert!((a.unwrap() - b.unwrap()).abs() < 1e-12);
    let (a, b) = (forwards.overall, backwards.overall);
    close(a.plain_mean_over_tasks.pearson_r_x100, b.plain_mean_over_tasks.pearson_r_x100);
    close(a.mean_weighted_by_pairs.spearman_rho_x100, b.mean_weighted_by_pairs.spearman_rho_x100);
    assert_eq!(forwards.years.len(), backwards.years.len());
    assert_eq!((backwards.years[0].year, backwards.years[1].year), (2013, 2014));
}

#[test]
fn an_undefined_correlation_is_null_a_dash_and_a_note_never_nan() {
    let mut tasks = three_tasks();
    let result = evaluate_sts(&Constant(2.0), &tasks).unwrap();
    assert_eq!(result.tasks[0].correlations, Correlations::default());
    assert_eq!(result.overall.mean_weighted_by_pairs, Correlations::default());
    assert!(result.to_text().contains("2013 A: correlation undefined"));
    let json: serde_json::Value = serde_json::from_str(&to_json(&result)).unwrap();
    assert!(json["tasks"][0]["pearson_r_x100"].is_null());
    // A single pair has no correlation, so the mean over all tasks is undefined.
    tasks.push(task("one", None, &[(1.0, "a", "b")]));
    let result = evaluate_sts(&Letters::default(), &tasks).unwrap();
    assert_eq!(result.tasks[3].correlations, Correlations::default());
    assert_eq!(result.overall.plain_mean_over_tasks, Correlations::default());
    assert!(result.years[0].plain_mean_over_tasks.pearson_r_x100.is_some());
    // Not every task has a year, so there is no mean of year means.
    assert_eq!(result.overall.plain_mean_of_year_means, None);
}

#[test]
fn every_mean_is_named_in_text_and_json() {
    let result = evaluate_sts(&Letters::default(), &three_tasks()).unwrap();
    let expected = "\
task                         pairs  pearson r x100  spearman rho x100
---------------------------------------------------------------------
2013 A                           3          100.00             100.00
2013 B                           3          -50.00             -50.00
2014 C                           4           39.06              44.72
---------------------------------------------------------------------
2013 plain mean over 2 tasks     6           25.00              25.00
2013 mean weighted by pairs      6           25.00              25.00
2014 plain mean over 1 task      4           39.06              44.72
2014 mean weighted by pairs      4           39.06              44.72
all plain mean over 3 tasks     10           29.69              31.57
all plain mean of 2 year means  10           32.03              34.86
all mean weighted by pairs      10           30.62              32.89
2014 C: 1 pair with a sentence without known tokens, scored 0
";
    let squeeze = |text: &str| -> Vec<String> {
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.lines().map(words).filter(|line| !line.starts_with('-')).collect()
    };
    assert_eq!(squeeze(&result.to_text()), squeeze(expected));
    let width = |line: &str| line.chars().count();
    let text = result.to_text();
    let lines: Vec<&str> = text.lines().take(13).collect();
    assert!(lines.iter().all(|line| width(line) == width(lines[0])), "{text}");

    let json: serde_json::Value = serde_json::from_str(&to_json(&result)).unwrap();
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&json), ["overall", "tasks", "years"]);
    for key in ["plain_mean_over_tasks", "plain_mean_of_year_means", "mean_weighted_by_pairs"] {
        assert!(json["overall"][key]["pearson_r_x100"].is_f64() && json["overall"][key]["spearman_rho_x100"].is_f64());
    }
    assert_eq!(json["tasks"][0]["name"], "A");
    assert!((json["tasks"][1]["spearman_rho_x100"].as_f64().unwrap() + 50.0).abs() < 1e-4);
    assert!(json["tasks"][0].get("scores").is_none());
}

#[test]
fn published_numbers_stand_beside_ours_where_the_paper_has_them() {
    let published = published_sts();
    let siamese: Vec<_> = published.into_iter().filter(|s| s.system == "Siamese CBOW").collect();
    let mut tasks = three_tasks();
    tasks[0].name = "SMT".into();
    tasks[1].name = "headlines".into();
    let text = evaluate_sts(&Letters::default(), &tasks).unwrap().to_text_beside(&siamese);
    let cells = |start: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {text}"));
        line[start.len()..].split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(cells("2013 SMT"), ["3", "100.00", "100.00", "33.12", "33.56"]);
    assert_eq!(cells("2013 headlines"), ["3", "-50.00", "-50.00", "65.34", "65.16"]);
    // (33.12 + 65.34) / 2 and (33.56 + 65.16) / 2.
    assert_eq!(cells("2013 plain mean over 2 tasks"), ["6", "25.00", "25.00", "49.23", "49.36"]);
    assert_eq!(cells("2014 C"), ["4", "39.06", "44.72", "-", "-"]);
    assert_eq!(cells("all plain mean over 3 tasks")[3..], ["-", "-"]);
    assert!(text.ends_with("Siamese CBOW: Kenter, Borisov and de Rijke, ACL 2016, Table 1\n"), "{text}");
}

#[test]
fn broken_encoders_and_empty_input_are_errors() {
    let nan = evaluate_sts(&Constant(f32::NAN), &three_tasks());
    assert!(nan.unwrap_err().to_string().starts_with("the score of scored pair 1 of 2013 A is not finite"));
    assert!(matches!(evaluate_sts(&Letters::default(), &[]), Err(Error::NothingToDo { .. })));
    let empty = task("empty", None, &[]);
    assert!(matches!(evaluate_sts(&Letters::default(), &[empty]), Err(Error::NothingToDo { .. })));
}

/// Reports one dimension and returns a batch with another.
struct Liar;

impl SentenceEncoder for Liar {
    fn dim(&self) -> usize {
        3
    }

    fn encode_sentence(&self, _: &str, _: &mut Scratch, _: &mut [f32]) -> Coverage {
        Coverage::default()
    }

    fn encode_batch(&self, sentences: &[&str]) -> senv_core::Result<(ndarray::Array2<f32>, Vec<Coverage>)> {
        Constant(1.0).encode_batch(sentences)
    }
}

#[test]
fn an_encoder_of_another_shape_than_it_says_is_an_error() {
    let error = evaluate_sts(&Liar, &three_tasks()).unwrap_err();
    assert!(matches!(error, Error::Core(senv_core::Error::ShapeMismatch { expected: 3, got: 1, .. })), "{error}");
}

/// "a" is a unit vector, and a number is one with the cosine that the function gives for it.
struct Angle<F>(F);

impl<F: Fn(usize) -> f64 + Send + Sync> SentenceEncoder for Angle<F> {
    fn dim(&self) -> usize {
        2
    }

    fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        let cosine = sentence.parse::<usize>().map_or(1.0, &self.0);
        out.copy_from_slice(&[cosine as f32, (1.0 - cosine * cosine).sqrt() as f32]);
        Coverage::new(1, 1)
    }
}

#[test]
fn correlations_that_differ_are_marked_and_levels_that_differ_are_not() {
    let texts: Vec<String> = (0..200).map(|i| i.to_string()).collect();
    let gold = |i: usize| (i * 7 % 10) as f64 / 2.0;
    let pairs: Vec<(f64, &str, &str)> = texts.iter().enumerate().map(|(i, text)| (gold(i), "a", &text[..])).collect();
    let tasks = [task("all", Some(2014), &pairs), task("few", None, &pairs[..3])];
    // Cosines that follow the gold scores, with noise from -1/2 to 1/2 times a factor.
    let of = |level: f64, factor: f64| {
        let noise = |i: usize| (i * 37 % 101) as f64 / 101.0 - 0.5;
        evaluate_sts(&Angle(move |i| level + 0.06 * gold(i) + factor * noise(i)), &tasks).unwrap()
    };
    let (low, high, worse) = (of(0.2, 0.1), of(0.5, 0.1), of(0.2, 0.4));

    let levels = compare_sts(&low, &high).unwrap();
    let [all, few] = &levels.tasks[..] else { panic!("two tasks") };
    assert!((all.between.pearson_r_x100.unwrap() - 100.0).abs() < 1e-3, "{all:?}");
    assert!(all.p_wilcoxon.unwrap() < 1e-30, "every cosine is .3 higher: {all:?}");
    // Only rounding to f32 is left, which is noise to the test.
    assert!(all.p_pearson.unwrap() > 0.001 && all.p_spearman.unwrap() > 0.001, "{all:?}");
    assert_eq!((few.p_pearson, few.p_pearson_holm), (None, None), "three pairs are too few");
    assert_eq!(levels.to_text("low", "high").matches('†').count(), 1, "only the explanation");

    let differ = compare_sts(&low, &worse).unwrap();
    let all = &differ.tasks[0];
    let (a, b) = (all.first.pearson_r_x100.unwrap(), all.second.pearson_r_x100.unwrap());
    assert!(a > 90.0 && b < 80.0, "{a} {b}");
    // The test of the correlations that are shown; only one task has a p-value, so Holm's correction changes nothing.
    let between = all.between.pearson_r_x100.unwrap();
    let p = senv_metrics::correlation_difference_p(a / 100.0, b / 100.0, between / 100.0, 200).unwrap();
    assert_eq!((all.p_pearson, all.p_pearson_holm), (p, p));
    assert!(differ.is_significant(all.p_pearson_holm) && differ.is_significant(all.p_spearman_holm));
    let text = differ.to_text("low", "worse");
    assert_eq!(text.matches('†').count(), 3, "one mark for each correlation and the explanation: {text}");
}

#[test]
fn results_of_different_pairs_are_not_compared() {
    let tasks = three_tasks();
    let all = evaluate_sts(&Letters::default(), &tasks).unwrap();
    let two = evaluate_sts(&Letters::default(), &tasks[..2]).unwrap();
    assert!(matches!(compare_sts(&all, &two), Err(Error::DifferentPairs { .. })));
    let mut shorter = all.clone();
    shorter.tasks[1].scores.pop();
    let message = compare_sts(&all, &shorter).unwrap_err().to_string();
    assert!(message.contains("2013 B with 3 pairs and 2013 B with 2 pairs"), "{message}");
    let mut damaged = all.clone();
    damaged.tasks[0].scores[1] = f64::NAN;
    assert!(matches!(compare_sts(&all, &damaged), Err(Error::Metrics(_))));
    let mut other_year = all.clone();
    other_year.tasks[0].year = None;
    assert!(matches!(compare_sts(&all, &other_year), Err(Error::DifferentPairs { .. })));
}
