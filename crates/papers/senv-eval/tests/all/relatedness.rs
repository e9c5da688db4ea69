//! SICK, the STS benchmark and the table of differing pairs, with an encoder whose cosines can be computed by hand.

use std::path::PathBuf;

use senv_core::{Coverage, Scratch, SentenceEncoder};
use senv_eval::{
    Agreement, Error, Scale, ScoringMethod, StsPair, StsTask, error_analysis, evaluate_relatedness, evaluate_scorer,
    evaluate_sts, published_sick, published_stsb, to_json,
};

use crate::letters::Letters;

/// Encodes only the first letter.
struct First;

impl SentenceEncoder for First {
    fn dim(&self) -> usize {
        26
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        Letters.encode_into(sentence.get(..1).unwrap_or(""), scratch, out)
    }
}

fn task(name: &str, scale: Scale, pairs: &[(f64, &str, &str)]) -> StsTask {
    let pair = |&(relatedness, a, b): &(f64, &str, &str)| StsPair { relatedness, first: a.into(), second: b.into() };
    StsTask {
        name: name.into(),
        year: None,
        path: PathBuf::from(format!("{name}.tsv")),
        scale,
        pairs: pairs.iter().map(pair).collect(),
        n_unscored: 0,
        n_empty_sentences: 0,
    }
}

/// Cosines 1, 0.5, 0, and 0 for the unknown Q.
fn sick() -> Vec<StsTask> {
    vec![
        task("one", Scale::SICK, &[(5.0, "a", "a"), (3.5, "ab", "bc"), (1.0, "a", "b")]),
        task("two", Scale::SICK, &[(4.0, "c", "c"), (2.0, "Q", "b")]),
    ]
}

fn close(got: Option<f64>, expected: f64) {
    assert!((got.unwrap() - expected).abs() < 1e-5, "{got:?}, expected {expected}");
}

#[test]
fn cosines_are_mapped_for_the_error_and_pooled_for_all_pairs() {
    let result = evaluate_relatedness(&Letters, &sick()).unwrap();
    assert_eq!(result.scored_by, ScoringMethod::Cosine);
    // Predicted 5, 3, 1: errors 0, .5, 0. Then 5 and 1: errors 1 and 1.
    close(result.tasks[0].mse, 0.25 / 3.0);
    close(result.tasks[1].mse, 1.0);
    let together = result.together.unwrap();
    assert_eq!(together.n_pairs, 5);
    close(together.mse, 2.25 / 5.0);
    // Gold 5, 3.5, 1, 4, 2 (mean 3.1) with cosines 1, .5, 0, 1, 0 (mean .5). Products are .95 + 0 + 1.05 + .45 + .55 =
    // 3. Squares are 3.61 + .16 + 4.41 + .81 + 1.21 = 10.2 and 4 · .25 = 1.
    close(together.correlations.pearson_r_x100, 100.0 * 3.0 / 10.2f64.sqrt());
    // Ranks 5, 3, 1, 4, 2 and 4.5, 3, 1.5, 4.5, 1.5. Products are 3 + 0 + 3 + 1.5 + 1.5 = 9, squares 10 and 9.
    close(together.correlations.spearman_rho_x100, 100.0 * 9.0 / 90f64.sqrt());
    assert_eq!(result.tasks[1].result.n_pairs_without_known_token, 1);
    let text = result.to_text();
    assert!(text.contains("two: 1 pair with a sentence without known tokens, scored 0"), "{text}");
    assert!(
        text.lines()
            .any(|line| line.split_whitespace().eq("all pairs together cosine 5 93.93 94.87 0.4500".split(' '))),
        "{text}"
    );

    let single = evaluate_relatedness(&Letters, &sick()[..1]).unwrap();
    assert_eq!(single.together, None);
    // 5 max(0, cos) on the scale of STS: 5, 2.5, 0 against 5, 3.5, 1.
    let stsb = [StsTask { scale: Scale::STS, ..sick().remove(0) }];
    close(evaluate_relatedness(&Letters, &stsb).unwrap().tasks[0].mse, (0.0 + 1.0 + 1.0) / 3.0);
}

#[test]
fn a_scorer_is_judged_on_its_own_scores() {
    let scorer = |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|(a, b)| (a.len() + b.len()) as f64).collect());
    let result = evaluate_scorer(&scorer, &sick()).unwrap();
    assert_eq!(result.scored_by, ScoringMethod::Supervised);
    // Scores 2, 4, 2 against 5, 3.5, 1.
    close(result.tasks[0].mse, (9.0 + 0.25 + 1.0) / 3.0);
    assert_eq!(result.tasks[0].result.scores, [2.0, 4.0, 2.0]);
    assert_eq!(result.tasks[0].result.known_token_share, None);
    let json: serde_json::Value = serde_json::from_str(&to_json(&result)).unwrap();
    assert_eq!((&json["scored_by"], &json["tasks"][0]["n_pairs"]), (&"supervised".into(), &3.into()));
    assert!(json["tasks"][0]["mse"].is_f64() && json["together"]["pearson_r_x100"].is_f64());
    // All scores of the second file are 2, so the text says that its correlation is undefined.
    assert!(json["tasks"][1]["pearson_r_x100"].is_null());
    assert!(result.to_text().contains("two: correlation undefined"));
}

#[test]
fn bad_scorers_and_empty_input_are_errors() {
    let short = |_: &[(&str, &str)]| Ok(vec![1.0]);
    let error = evaluate_scorer(&short, &sick()).unwrap_err();
    assert!(matches!(error, Error::Core(senv_core::Error::ShapeMismatch { expected: 3, got: 1, .. })), "{error}");
    let nan = |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|(a, _)| if *a == "ab" { f64::NAN } else { 1.0 }).collect());
    let message = evaluate_scorer(&nan, &sick()).unwrap_err().to_string();
    assert!(message.starts_with("the score of scored pair 2 of one is not finite"), "{message}");
    let failing = |_: &[(&str, &str)]| Err(senv_core::Error::TooLarge { rows: 1, dim: 1 });
    assert!(matches!(evaluate_scorer(&failing, &sick()), Err(Error::Core(senv_core::Error::TooLarge { .. }))));
    assert!(matches!(evaluate_scorer(&short, &[]), Err(Error::NothingToDo { .. })));
    assert!(matches!(evaluate_scorer(&short, &[task("none", Scale::SICK, &[])]), Err(Error::NothingToDo { .. })));
    assert!(matches!(evaluate_relatedness(&Letters, &[]), Err(Error::NothingToDo { .. })));
    assert!(matches!(Agreement::between(&[1.0], &[1.0, 2.0]), Err(Error::Metrics(_))));
    assert_eq!(Agreement::between(&[], &[]).unwrap().mse, None);
}

#[test]
fn published_rows_stand_below_ours_with_their_sources() {
    let text = evaluate_relatedness(&Letters, &sick()).unwrap().to_text_beside(&published_sick());
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}"));
    let cells = |start: &str| -> Vec<String> { line(start).split_whitespace().map(str::to_owned).collect() };
    assert_eq!(cells("CSE-universal")[1..], ["[1]", "supervised", "86.96", "80.87", "0.2480"]);
    assert_eq!(cells("ECNU")[1..], ["[1]", "supervised", "84.14", "-", "-"]);
    assert!(text.contains("[1] CSE paper, Table 3, on the test part\n"), "{text}");
    let text = evaluate_relatedness(&Letters, &sick()).unwrap().to_text_beside(&published_stsb());
    assert!(text.contains("P-thought one-layer bi [1]"), "{text}");
}

#[test]
fn the_pairs_that_differ_most_come_first() {
    let tasks = [
        // Cosines by letters: .5, 1, 0; by the first letter: 1, 1, 0.
        StsTask { year: Some(2014), ..task("a", Scale::STS, &[(2.0, "ab", "ac"), (5.0, "x", "x"), (0.0, "p", "q")]) },
        // Cosines by letters: 2/√(2·2) = 1 and 1/√(5) = .447; by the first letter: 0 and 1. The scale is 1 to 5.
        task("b", Scale::SICK, &[(4.0, "mn", "nm"), (5.0, "c", "cdd")]),
    ];
    let (letters, first) = (evaluate_sts(&Letters, &tasks).unwrap(), evaluate_sts(&First, &tasks).unwrap());
    let got = error_analysis(&tasks, &letters, &first, 2).unwrap();
    assert_eq!((got.n_pairs, got.n_first_nearer, got.n_second_nearer), (5, 2, 1));
    let [far, next] = &got.pairs[..] else { panic!("two pairs") };
    assert_eq!((&far.first_sentence[..], far.relatedness, far.first.round(), far.second), ("mn", 4.0, 5.0, 1.0));
    assert_eq!((&next.task[..], next.year, &next.second_sentence[..]), ("a", Some(2014), "ac"));
    assert!((next.first - 2.5).abs() < 1e-6 && next.second == 5.0);
    assert_eq!(error_analysis(&tasks, &letters, &first, 99).unwrap().pairs.len(), 5);

    let text = got.to_text("letters", "first letter");
    let rows: Vec<String> =
        text.lines().skip(2).map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let end = "closer to the gold score: letters in 2, first letter in 1 of 5 pairs";
    assert_eq!(rows, ["b 4.00 5.00 1.00 mn", "nm", "2014 a 2.00 2.50 5.00 ab", "ac", end]);
    let json: serde_json::Value = serde_json::from_str(&to_json(&got)).unwrap();
    assert_eq!((&json["pairs"][0]["relatedness"], &json["n_pairs"]), (&4.0.into(), &5.into()));

    let shorter = evaluate_sts(&First, &tasks[..1]).unwrap();
    assert!(matches!(error_analysis(&tasks, &letters, &shorter, 1), Err(Error::DifferentPairs { .. })));
    let mut renamed = letters.clone();
    renamed.tasks[1].name = "c".into();
    let message = error_analysis(&tasks, &renamed, &first, 1).unwrap_err().to_string();
    assert!(message.contains("b with 2 pairs and c with 2 pairs"), "{message}");
}
