//! Tests of students on small texts whose teacher is known.

use std::path::PathBuf;

use senv_core::{NoObserver, Rows, Table, kernels};

use super::*;
use crate::{
    TrainOptions,
    data::{HeldOut, PairFiles, PairInput, PairKind},
    model::saved::SavedModel,
};

const TOPICS: [[&str; 6]; 3] = [
    ["boat", "sail", "harbour", "wave", "anchor", "crew"],
    ["oven", "bread", "flour", "dough", "baker", "crust"],
    ["train", "rail", "station", "ticket", "engine", "guard"],
];

/// Sentences of three words of one topic, without any two in the same order, and the topic of each.
fn sentences() -> (Vec<String>, Vec<usize>) {
    let mut all = (Vec::new(), Vec::new());
    for i in 0..120 {
        let topic = i % 3;
        let word = |k: usize| TOPICS[topic][(i / 3 * (k + 1) + k * k + i / 18) % 6];
        all.0.push(format!("{} {} {}", word(0), word(1), word(2)));
        all.1.push(topic);
    }
    all
}

/// A vector of four values for each sentence: that of its topic, and a little of its own.
fn teacher(topics: &[usize]) -> Table {
    let mut rows = Table::zeros(topics.len(), 4).unwrap();
    for (i, &topic) in topics.iter().enumerate() {
        let row = rows.row_mut(i);
        row[topic] = 2.0;
        row[3] = 0.2 * (i as f32).sin();
    }
    rows
}

struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn texts(&self, lines: &str, rows: Table) -> StudentInput {
        let path = self.write("texts.txt", lines);
        let vectors = TeacherVectors { name: "texts.npy".into(), rows };
        StudentInput { texts: vec![TaughtTexts { path, weight: None, vectors }], ..StudentInput::default() }
    }
}

fn params() -> StudentParams {
    let own = StudentParams::default();
    let fit = FitParams { batch: 32, epochs: Some(30), ..own.fit };
    StudentParams { dim: 8, word_dropout: 0.0, fit, ..own }
}

fn train(params: &StudentParams, input: &StudentInput) -> Result<Trained<Student>> {
    params.fit_input(input, Start::Random, &TrainOptions::default())
}

#[test]
fn similarities_of_a_student_follow_those_of_the_teacher() {
    let (lines, topics) = sentences();
    let rows = teacher(&topics);
    let case = Case::new();
    let input = case.texts(&lines.join("\n"), rows.clone());
    for text_loss in [TextLoss::Similarities, TextLoss::Cosine] {
        let trained = train(&StudentParams { text_loss, ..params() }, &input).unwrap();
        if let Some(chance) = trained.against_chance {
            assert!(chance.mean < 0.3 * chance.chance, "{text_loss:?}: {chance:?}");
        }
        let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
        let vectors = trained.model.encode(&texts).unwrap();
        let cosine = |a: &[f32], b: &[f32]| kernels::dot(a, b) / (kernels::norm(a) * kernels::norm(b));
        let mut worst = 0.0_f32;
        for i in 0..40 {
            let own = cosine(vectors.row(i), vectors.row(i + 40));
            worst = worst.max((own - cosine(rows.row(i), rows.row(i + 40))).abs());
        }
        assert!(worst < 0.35, "{text_loss:?}: a cosine is {worst} from that of the teacher");
    }
}

#[test]
fn with_the_cosine_loss_vectors_are_those_of_the_teacher_on_its_axes() {
    let (lines, topics) = sentences();
    let case = Case::new();
    let input = case.texts(&lines.join("\n"), teacher(&topics));
    // More dimensions than the teacher has: the others stay near zero.
    let trained = train(&StudentParams { text_loss: TextLoss::Cosine, dim: 6, ..params() }, &input).unwrap();
    let vectors = trained.model.encode(&[&*lines[0], &*lines[1], &*lines[2]]).unwrap();
    for vector in vectors.rows() {
        let norm = vector.dot(&vector).sqrt();
        assert!(vector.iter().skip(4).all(|x| x.abs() < 0.2 * norm), "{vector}");
    }
}

#[test]
fn queries_find_passages_that_share_no_word_with_them() {
    let case = Case::new();
    let asked = ["how do i sail", "where is bread made", "when does it leave"];
    let (lines, topics) = sentences();
    let pairs: String = lines.iter().zip(&topics).map(|(line, &topic)| format!("{}\t{line}\n", asked[topic])).collect();
    let path = case.write("pairs.tsv", &pairs);
    let vectors = || TeacherVectors { name: "vectors.npy".into(), rows: teacher(&topics) };
    let passages = vec![TaughtPassages { path, weight: Some(2.0), vectors: [vectors(), vectors()] }];
    let trained = train(&params(), &StudentInput { passages, ..StudentInput::default() }).unwrap();
    for (topic, query) in asked.iter().enumerate() {
        let similarity = |other: usize| trained.model.similarity(query, &lines[other]);
        let (own, others) = (similarity(topic), [similarity((topic + 1) % 3), similarity((topic + 2) % 3)]);
        assert!(others.iter().all(|other| own > other + 0.1), "{query}: {own} {others:?}");
    }
}

#[test]
fn pairs_without_a_teacher_are_trained_on_besides_and_share_the_words() {
    let case = Case::new();
    let (lines, topics) = sentences();
    let pairs = case.write("pairs.tsv", "boat sail\tvessel canvas\noven bread\tstove loaf\ntrain rail\ttram track\n");
    let mut input = case.texts(&lines.join("\n"), teacher(&topics));
    input.pairs = PairFiles::from([PairInput::new(pairs, PairKind::Pairs)]);
    let trained = train(&params(), &input).unwrap();
    let model = &trained.model;
    assert!(model.vocabulary().id("canvas").is_some() && model.vocabulary().id("crust").is_some());
    assert!(model.similarity("vessel canvas", "wave anchor") > model.similarity("vessel canvas", "dough crust") + 0.2);
}

#[test]
fn rows_belong_to_lines_with_text_or_to_all_lines() {
    let case = Case::new();
    let (lines, topics) = sentences();
    let rows = teacher(&topics);
    let plain = train(&params(), &case.texts(&lines.join("\n"), rows.clone())).unwrap().model;
    // A blank line after every tenth.
    let mut spaced = (String::new(), Vec::new());
    for (i, line) in lines.iter().enumerate() {
        spaced.0 += line;
        spaced.0.push('\n');
        spaced.1.extend_from_slice(rows.row(i));
        if i % 10 == 9 {
            spaced.0.push('\n');
            spaced.1.extend([f32::from(i as u8); 4]);
        }
    }
    // A blank line has no direction in some programs, and no matter what it has, it is not an example.
    let all = Table::from_vec(132, 4, spaced.1).unwrap();
    for rows in [rows, all] {
        let model = train(&params(), &case.texts(&spaced.0, rows)).unwrap().model;
        assert_eq!(model.encoder().rows().values(), plain.encoder().rows().values());
    }
}

#[test]
fn a_matrix_that_does_not_fit_is_named_with_both_numbers() {
    let case = Case::new();
    let (lines, topics) = sentences();
    let message = |rows: Table| train(&params(), &case.texts(&lines.join("\n"), rows)).unwrap_err().to_string();
    let short = message(teacher(&topics[1..]));
    assert!(["texts.npy", "119 rows", "120 texts"].iter().all(|part| short.contains(part)), "{short}");
    let mut bad = teacher(&topics);
    bad.row_mut(6)[1] = f32::NAN;
    let bad = message(bad);
    assert!(bad.contains("texts.npy") && bad.contains("row 7"), "{bad}");
    let path = case.write("pairs.tsv", "a b\tc\nonly one\n");
    let vectors = || TeacherVectors { name: "v.npy".into(), rows: Table::zeros(2, 4).unwrap() };
    let passages = vec![TaughtPassages { path, weight: None, vectors: [vectors(), vectors()] }];
    let ragged = train(&params(), &StudentInput { passages, ..StudentInput::default() }).unwrap_err().to_string();
    assert!(ragged.contains("pairs.tsv:2"), "{ragged}");
}

#[test]
fn texts_without_a_vector_are_left_out_and_counted() {
    let case = Case::new();
    let (lines, topics) = sentences();
    let mut rows = teacher(&topics);
    rows.row_mut(5).fill(0.0);
    let input = case.texts(&lines.join("\n"), rows);
    let mut system = params();
    let data = system.read_input(&input, Start::Random, &TrainOptions::default()).unwrap();
    let report = data.reports()[0];
    assert_eq!((report.groups, report.singletons), (119, 1));
}

#[test]
fn texts_that_are_held_out_leave_the_other_rows_in_place() {
    let case = Case::new();
    let (lines, topics) = sentences();
    let long: Vec<String> = lines.iter().map(|line| format!("{line} today")).collect();
    let mut input = case.texts(&long.join("\n"), teacher(&topics));
    let held = case.write("held.tsv", &format!("3\t{}\tnobody says this now\n", long[3]));
    input.pairs.options.held_out = HeldOut::read(&[held]).unwrap();
    let without: Vec<usize> = (0..120).filter(|&i| long[i] != long[3]).collect();
    let rows = teacher(&topics);
    let mut kept = Table::zeros(without.len(), 4).unwrap();
    without.iter().enumerate().for_each(|(to, &from)| kept.row_mut(to).copy_from_slice(rows.row(from)));
    let same = without.iter().map(|&i| &*long[i]).collect::<Vec<_>>().join("\n");
    let (model, expected) = (train(&params(), &input).unwrap(), train(&params(), &case.texts(&same, kept)).unwrap());
    assert_eq!(model.model.encoder().rows().values(), expected.model.encoder().rows().values());
}

#[test]
fn the_same_bits_at_any_number_of_threads() {
    let (lines, topics) = sentences();
    let case = Case::new();
    let input = case.texts(&lines.join("\n"), teacher(&topics));
    let with = |threads| {
        let options = TrainOptions { threads, observer: &NoObserver, ..TrainOptions::default() };
        params().fit_input(&input, Start::Random, &options).unwrap().model.encoder().rows().values().to_vec()
    };
    assert_eq!(with(1), with(3));
}
