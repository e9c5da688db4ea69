//! The tables of the CSE paper.

use senv_eval::{ScoringMethod, published_cse_ablations, published_sick};

use super::{BOTH, GRANS, ON_SICK, PHRASES, SENTENCES, SICK, WINDOWS, WORDS, seeded};
use crate::{
    paper::{Center, Column, Evaluation, Row, Table},
    papers::common::{EVAL_STS, STS, sts_mean, sts_task, sts_values, sts_year},
};

pub(super) fn tables() -> Vec<Table> {
    vec![tables_1_and_2(), table_3(), table_4(), table_5(), table_6(), table_6_pairs()]
}

/// Returns the tasks of the per-task tables, which exclude SMT of 2013.
fn tasks() -> Vec<(Option<u16>, &'static str)> {
    let of_paper = STS.iter().filter(|task| **task != (2013, "SMT"));
    of_paper.map(|&(year, task)| (Some(year), task)).chain([(None, "SICK")]).collect()
}

fn tables_1_and_2() -> Table {
    let tasks = tasks();
    let places = |keep: &dyn Fn(Option<u16>) -> bool| -> Vec<usize> {
        (0..tasks.len()).filter(|&place| keep(tasks[place].0)).collect()
    };
    let mut columns: Vec<Column> = tasks
        .iter()
        .map(|&(year, task)| match year {
            Some(year) => sts_task(0, year, task),
            None => Column::new(task, 1, "results[scored_by=cosine].tasks[0].pearson_r_x100"),
        })
        .collect();
    for year in 2012..=2016 {
        columns.push(Column::mean_of(&format!("mean of {year}"), places(&|of| of == Some(year))));
    }
    columns.push(Column::mean_of("total without 2016", places(&|of| of != Some(2016))));
    let beside = |row: Row, theirs: &str| row.beside(theirs, with_means(sts_values(theirs, &tasks)));
    let row = |name: &str, data, file: &str| Row::new(name, data, seeded(file));
    let grans = GRANS.map(|(file, name, _, _)| {
        let ours = row(name, SENTENCES, file);
        if name == "GRAN" { beside(ours, "GRAN (CSE paper)") } else { ours }
    });
    let mut rows = vec![
        beside(row("PP, phrases", PHRASES, "pp-phrases.senv"), "PP (CSE paper)"),
        beside(row("CSE, phrases", PHRASES, "cse-phrases.senv"), "CSE (phrases)"),
        beside(row("CSE, cumulative", BOTH, "cse-both.senv"), "CSE (cumulative)"),
        row("PP, cumulative", BOTH, "pp-both.senv"),
        row("PP, sentences", SENTENCES, "pp-sentences.senv"),
    ];
    rows.extend(grans);
    rows.push(Row::published("ATT-CCG", with_means(sts_values("ATT-CCG", &tasks))));
    rows.push(Row::new("the initial words", "15.9 M words", ["words.senv"]));
    Table {
        id: "table-1",
        title: "Tables 1 and 2: STS and SICK by cosine",
        about: "Pearson's r x 100, medians over seeds. SICK is the trial part if the test part is missing. Means are \
            over the tasks of a year, and the total is over 2012 to 2015 and SICK, each over the available tasks; the \
            paper chose CSE's parameters on 2016. To save time, GRAN and the LSTMs have 100 hidden units and 3 epochs, \
            not 300 and 10 as in the published code. Their other settings are the published code's for sentences; \
            BiLSTM average uses the settings of GRAN. PP on the same sentences is their baseline.",
        evaluations: vec![EVAL_STS, Evaluation { command: "eval sick --model $MODEL --json @sick-test", seconds: 0.3 }],
        columns,
        rows,
        center: Center::Median,
        ..Table::default()
    }
}

/// Adds empty cells for the means, which are computed.
fn with_means(values: Vec<Option<f64>>) -> Vec<Option<f64>> {
    values.into_iter().chain([None; 6]).collect()
}

fn table_3() -> Table {
    let of = |row: &senv_eval::PublishedRelatedness| {
        [row.correlations.pearson_r_x100, row.correlations.spearman_rho_x100, row.mse]
    };
    let published = || published_sick().into_iter().filter(|row| row.source.starts_with("CSE paper"));
    let row = |(file, name, _, _): (&str, &str, &str, &str)| {
        let values = published().find(|row| row.system == name).map_or([None; 3], |row| of(&row));
        Row::new(name, SICK, seeded(file)).beside(name, values)
    };
    let is_other = |row: &senv_eval::PublishedRelatedness| {
        row.scored_by == ScoringMethod::Supervised && ON_SICK.iter().all(|ours| ours.1 != row.system)
    };
    let others = published().filter(is_other).map(|row| Row::published(row.system, of(&row)));
    let column =
        |title: &str, metric: &str| Column::new(title, 0, &format!("results[scored_by=supervised].tasks[0].{metric}"));
    Table {
        id: "table-3",
        title: "Table 3: SICK, fine-tuned",
        about: "Pearson's r and Spearman's rho x 100, squared error, medians over seeds. If the test part is missing, \
            the trial part is used both to choose the weights and to report, so the figures are slightly too good.",
        evaluations: vec![Evaluation { command: "eval sick --model $MODEL --json @sick-test", seconds: 0.3 }],
        columns: vec![
            column("r", "pearson_r_x100"),
            column("rho", "spearman_rho_x100"),
            column("squared error", "mse").digits(3),
        ],
        rows: ON_SICK.map(row).into_iter().chain(others).collect(),
        center: Center::Median,
        ..Table::default()
    }
}

/// Returns the published means of a variant in the ablation tables.
fn means(name: &str) -> Vec<Option<f64>> {
    let rows = published_cse_ablations();
    let row = rows.iter().find(|row| row.system == name);
    let year = |year: u16| row.and_then(|row| row.years.iter().find(|mean| mean.0 == year)).map(|mean| mean.1);
    let total = row.and_then(|row| row.all_tasks);
    vec![year(2012), year(2013), year(2014), year(2015), total]
}

fn year_columns() -> Vec<Column> {
    vec![sts_year(0, 2012), sts_year(0, 2013), sts_year(0, 2014), sts_year(0, 2015), sts_mean(0)]
}

fn table_4() -> Table {
    let row =
        |name: &str, data, file: &str, theirs: &str| Row::new(name, data, seeded(file)).beside(theirs, means(theirs));
    Table {
        id: "table-4",
        title: "Table 4: which pairs to train on",
        about: "Pearson's r x 100, means over the tasks of a year, medians over seeds. Pairs of single words are not \
            phrases: in a window of two or three words the others are padding, most positions of a wide filter never \
            see a word, and the model is worse than its initial words.",
        evaluations: vec![EVAL_STS],
        columns: year_columns(),
        rows: vec![
            row("CSE, phrases", PHRASES, "cse-phrases.senv", "CSE (phrases)"),
            row("CSE, sentences", SENTENCES, "cse-sentences.senv", "CSE (sentences)"),
            row("CSE, cumulative", BOTH, "cse-both.senv", "CSE (cumulative)"),
            Row::new("PP, phrases", PHRASES, seeded("pp-phrases.senv")),
            Row::new("PP, sentences", SENTENCES, seeded("pp-sentences.senv")),
            Row::new("PP, cumulative", BOTH, seeded("pp-both.senv")),
            Row::new("CSE, single words", WORDS, seeded("cse-words.senv")),
            Row::new("PP, single words", WORDS, seeded("pp-words.senv")),
        ],
        center: Center::Median,
        ..Table::default()
    }
}

fn table_5() -> Table {
    let row = |(file, name, _, _): (&str, &str, &str, f64)| {
        let theirs = format!("CSE, {name}");
        let values = means(&theirs);
        Row::new(name, SENTENCES, seeded(file)).beside(theirs, values)
    };
    Table {
        id: "table-5",
        title: "Table 5: windows of the filters",
        about: "Pearson's r x 100, means over the tasks of a year, medians over seeds; the paper's total also includes \
            the tasks of 2015. Training uses `--preset paper-windows` with the windows of each row: margin .6, penalty \
            1e-6 on words and none on filters, batches of 100, Adam at 1e-3, 10 epochs, sentences only, 300 filters of \
            one width or 100 of each. The words start from Sent2Vec on 15.9 million words (in the paper: from \
            PARAGRAM-SL999), and there are a third as many simplifications as in the paper.",
        evaluations: vec![EVAL_STS],
        columns: year_columns(),
        rows: WINDOWS.map(row).to_vec(),
        center: Center::Median,
        ..Table::default()
    }
}

fn table_6() -> Table {
    let column = |title: &str, path: &str| Column::new(title, 0, &format!("against.differences.{path}")).digits(0);
    let row = |name: &str, data, file: &str| Row::new(name, data, seeded(file));
    Table {
        id: "table-6-counts",
        title: "Table 6, counted: where CSE and PP differ",
        about: "The number of STS pairs on which the system is closer to the gold score than cumulatively trained PP, \
            and the reverse, with cosines times 5. The paper shows single pairs, which `senv eval sts --differences` \
            prints.",
        evaluations: vec![Evaluation {
            command: "eval sts --model $MODEL --against $OUT/pp-both.senv --differences 20 --no-floor --json @sts12 @sts13 @sts14 @sts15| @sts16|",
            seconds: 0.5,
        }],
        columns: vec![
            column("pairs", "n_pairs"),
            column("system is closer", "n_first_nearer"),
            column("PP is closer", "n_second_nearer"),
        ],
        rows: vec![
            row("CSE, cumulative", BOTH, "cse-both.senv"),
            row("CSE, sentences", SENTENCES, "cse-sentences.senv"),
        ],
        center: Center::Median,
        ..Table::default()
    }
}

/// Scores times 100 of the eight pairs printed in the paper: CSE, PP, and people.
const EXAMPLES: [[u16; 3]; 8] = [
    [332, 314, 420],
    [488, 479, 500],
    [451, 461, 460],
    [478, 474, 480],
    [386, 389, 160],
    [389, 413, 80],
    [263, 261, 40],
    [329, 327, 0],
];

fn table_6_pairs() -> Table {
    let column =
        |i: usize| Column::new(&format!("pair {}", i + 1), 0, &format!("lines[{i}].cosine")).times(5.0).digits(2);
    let published = |which: usize| EXAMPLES.map(|scores| Some(f64::from(scores[which]) / 100.0));
    Table {
        id: "table-6",
        title: "Table 6: eight pairs",
        about: "Cosines times 5 of the eight pairs printed in the paper, in its order: few common words and the same \
            meaning (1, 2), many and the same meaning (3, 4), many and different meanings (5, 6), few and different \
            meanings (7, 8). `small/cse-examples.tsv` has one pair per line, separated by a tab.",
        evaluations: vec![Evaluation {
            command: "similarity --model $MODEL --json --input @cse-examples",
            seconds: 0.3,
        }],
        columns: (0..EXAMPLES.len()).map(column).collect(),
        rows: vec![
            Row::new("CSE, cumulative", BOTH, seeded("cse-both.senv")).beside("CSE", published(0)),
            Row::new("PP, cumulative", BOTH, seeded("pp-both.senv")).beside("PP", published(1)),
            Row::published("people", published(2)),
        ],
        center: Center::Median,
        ..Table::default()
    }
}
