//! The figures of the Siamese CBOW paper, and its section on words.

use super::{CURVES, VARIANTS};
use crate::{
    paper::{Column, Curves, Drawing, Evaluation, Row, Table},
    papers::common::{EVAL_STS, SMALL, STS, TEXT, seeded, sts_mean, sts_task, sts_year},
};

pub(super) fn tables() -> Vec<Table> {
    vec![curves(), norms(), nearest()]
}

/// Iterates over the public tasks of 2012 to 2014.
fn tasks() -> impl Iterator<Item = (u16, &'static str)> {
    STS.iter().copied().filter(|&(year, task)| year < 2015 && task != "SMT")
}

fn curves() -> Table {
    let mut columns = vec![sts_year(0, 2012), sts_year(0, 2013), sts_year(0, 2014), sts_mean(0)];
    columns.push(Column::training("loss", "loss").digits(3));
    let first_task = columns.len();
    columns.extend(tasks().map(|(year, task)| sts_task(0, year, task)));
    let place = |file: &str| CURVES.iter().position(|curve| curve.0 == file);
    let rows = |files: &[(f64, &str)]| files.iter().filter_map(|&(x, file)| Some((x, place(file)?))).collect();
    let drawing = |title, file, x_label, files: &[(f64, &str)]| {
        let columns = [3].into_iter().chain(first_task..first_task + tasks().count()).collect();
        Drawing::Curves(Curves { title, file, x_label, y_label: "Pearson's r x 100", rows: rows(files), columns })
    };
    let epochs = [
        (1.0, "curve-base.senv"),
        (2.0, "curve-epochs-2.senv"),
        (3.0, "curve-epochs-3.senv"),
        (4.0, "curve-epochs-4.senv"),
        (5.0, "curve-epochs-5.senv"),
    ];
    let negatives = [
        (1.0, "curve-negatives-1.senv"),
        (2.0, "curve-base.senv"),
        (5.0, "curve-negatives-5.senv"),
        (10.0, "curve-negatives-10.senv"),
    ];
    let dimensions = [
        (50.0, "curve-dim-50.senv"),
        (100.0, "curve-dim-100.senv"),
        (200.0, "curve-dim-200.senv"),
        (300.0, "curve-base.senv"),
    ];
    Table {
        id: "curves",
        title: "Figures 2 to 4: epochs, negatives, dimensions",
        about: "Pearson's r x 100, means over the tasks of a year, and each task; one setting changed at a time, means \
            of three seeds. The paper plots its curves without numbers. All rows use Adam at 1e-3, which is not the \
            paper's optimizer: with so little text, SGD at 1e-4 changes almost nothing.",
        evaluations: vec![EVAL_STS],
        columns,
        rows: CURVES.map(|(file, name, _, _)| Row::new(name, SMALL, seeded(file))).to_vec(),
        drawings: vec![
            drawing("Figure 2: over epochs", "figures/scbow-epochs.svg", "epochs", &epochs),
            drawing("Figure 3: over negatives", "figures/scbow-negatives.svg", "negatives", &negatives),
            drawing("Figure 4: over dimensions", "figures/scbow-dimensions.svg", "dimensions", &dimensions),
        ],
        ..Table::default()
    }
}

fn norms() -> Table {
    let rows = ["scbow-sgd-mean.senv", "scbow-sgd-sum.senv", "scbow-adam.senv", "scbow-temperature.senv"];
    let row = |file: &str| VARIANTS.iter().find(|variant| variant.0 == file).map(|variant| variant.1);
    Table {
        id: "norms",
        title: "Section 4.4: words with the shortest and the longest vectors",
        about: "In the paper, the function words to, of, and, the, a, in, that, with, on, as have the shortest \
            vectors, and personal pronouns and \"had\" are among the longest. Gradient descent at 1e-2 shows the same; \
            at 1e-4 and with so little text the lengths stay at their random initial values, and Adam, which moves \
            every word equally far, hardly orders them.",
        evaluations: vec![Evaluation { command: "eval norms --model $MODEL --json", seconds: 0.3 }],
        columns: vec![Column::new("shortest", 0, "lowest[*].word"), Column::new("longest", 0, "highest[*].word")],
        rows: rows.iter().map(|file| Row::new(row(file).unwrap_or_default(), TEXT, [*file])).collect(),
        ..Table::default()
    }
}

/// Models whose nearest words are listed: file, name.
const NEIGHBOURS: [(&str, &str); 4] = [
    ("cbow.senv", "CBOW"),
    ("scbow-sgd-sum.senv", "Siamese CBOW, SGD 1e-2"),
    ("scbow-adam.senv", "Siamese CBOW, Adam"),
    ("scbow-temperature.senv", "Siamese CBOW, Adam, temperature .1"),
];

fn nearest() -> Table {
    let words = |title: &str, evaluation| Column::new(title, evaluation, "neighbours[*].text");
    let cosine = |title: &str, evaluation| Column::new(title, evaluation, "neighbours[0].cosine").digits(2);
    Table {
        id: "nearest",
        title: "Section 4.4: the words nearest to her and me",
        about: "The five nearest words, and the cosine of the first. With a cosine above .6, the paper finds she, \
            his, my and hers near \"her\" with word2vec, and only she with Siamese CBOW; near \"me\" it finds him with \
            word2vec, and I and my with Siamese CBOW.",
        evaluations: vec![
            Evaluation { command: "nearest --model $MODEL --words --query her -k 5 --json", seconds: 0.3 },
            Evaluation { command: "nearest --model $MODEL --words --query me -k 5 --json", seconds: 0.3 },
        ],
        columns: vec![words("her", 0), cosine("her, the first", 0), words("me", 1), cosine("me, the first", 1)],
        rows: NEIGHBOURS.map(|(file, name)| Row::new(name, TEXT, [file])).to_vec(),
        ..Table::default()
    }
}
