//! The CSE paper: sums of filters over windows of words.

use senv_eval::{ScoringMethod, published_cse_ablations, published_sick};

use super::common::{EVAL_STS, STS, sts_mean, sts_task, sts_values, sts_year};
use crate::{
    paper::{Column, Evaluation, Model, Paper, Row, Table},
    paper_name::PaperName,
};

const PHRASES: &str = "193 K lexical pairs";
const SENTENCES: &str = "58 K simplifications";
const BOTH: &str = "193 K lexical pairs, then 58 K simplifications";
const SICK: &str = "4,500 pairs of SICK";

/// What every stage of PP and CSE shares: Adam at 1e-3, 10 epochs, and no sentence of a test set.
const COMMON: &str = "--init-vectors $OUT/words.senv --epochs 10 --decontaminate @sts12 @sts13 @sts14 @stsb-test @sick-train @sick-test --json --no-check";

/// Windows of Table 5: file, name, options, seconds.
const WINDOWS: [(&str, &str, &str, f64); 5] = [
    ("cse-window-1.senv", "window 1", "--windows 1 --filters 300", 30.0),
    ("cse-window-2.senv", "window 2", "--windows 2 --filters 300", 40.0),
    ("cse-window-3.senv", "window 3", "--windows 3 --filters 300", 55.0),
    ("cse-window-4.senv", "window 4", "--windows 4 --filters 300", 70.0),
    ("cse-windows.senv", "windows 1 to 3", "--windows 1,2,3 --filters 100", 45.0),
];

/// GRAN and its sister models, which the paper has as one row: file, name, options, seconds.
const GRANS: [(&str, &str, &str, f64); 4] = [
    ("gran.senv", "GRAN", "--preset paper", 90.0),
    ("lstm-last.senv", "LSTM last", "--preset paper-lstm-last", 45.0),
    ("lstm-average.senv", "LSTM average", "--preset paper-lstm-average", 70.0),
    ("bilstm-average.senv", "BiLSTM average", "--encoder bilstm", 120.0),
];

/// Smaller than published, 300 units and 10 epochs, for time; the last options count.
const SMALLER: &str = "--hidden 100 --epochs 3";

pub(super) fn paper() -> Paper {
    let pp = "train pp --loss margin --lr 1e-3 --optimizer adam";
    let mut models = vec![
        Model::new(
            "words.senv",
            60.0,
            "train sent2vec --input @text --dim 300 --epochs 10 --weights none --unknown-words skip --no-check --json",
        ),
        Model::new("pp-phrases.senv", 30.0, format!("{pp} --pairs @phrases {COMMON}")),
        Model::new("pp-both.senv", 60.0, format!("{pp} --pairs @phrases --stage2 @simplifications {COMMON}")),
        Model::new("pp-sentences.senv", 40.0, format!("{pp} --pairs @simplifications {COMMON}")),
        Model::new("cse-phrases.senv", 60.0, format!("train cse --pairs @phrases {COMMON}")),
        Model::new("cse-sentences.senv", 50.0, format!("train cse --pairs @simplifications {COMMON}")),
        Model::new("cse-both.senv", 110.0, format!("train cse --pairs @phrases --stage2 @simplifications {COMMON}")),
    ];
    for (file, _, windows, seconds) in WINDOWS {
        let published = "--margin 0.6 --l2-words 1e-6 --l2-filters 0 --batch 100";
        models.push(Model::new(
            file,
            seconds,
            format!("train cse --pairs @simplifications {windows} {published} {COMMON}"),
        ));
    }
    for (file, _, options, seconds) in GRANS {
        let common = COMMON.replace("--epochs 10", SMALLER);
        models.push(Model::new(file, seconds, format!("train gran --pairs @simplifications {options} {common}")));
    }
    // As printed in section 4.2: "random" is a CSE of random filters on the words that all stages start from.
    for (file, model, start) in [
        ("sick-cse-universal.senv", "cse-both.senv", "universal"),
        ("sick-cse-random.senv", "cse-both.senv", "random --init-vectors $OUT/words.senv"),
        ("sick-pp-universal.senv", "pp-both.senv", "universal"),
        ("sick-gran-universal.senv", "gran.senv", "universal"),
    ] {
        let command = format!(
            "train relatedness --model $OUT/{model} --train @sick-train --dev @sick-trial --filters-start {start} --epochs 10 --json"
        );
        models.push(Model::new(file, 15.0, command));
    }
    Paper {
        name: PaperName::Cse,
        title: "CSE, the convolutional sentence encoder (Jiao, Wang and Feng, COLING 2018)",
        about: "The paper starts from PARAGRAM-SL999 and trains on 3 million phrase pairs, then 168 thousand sentence pairs; here words start from Sent2Vec on 15.9 million words, phrases are 193 thousand pairs of single words, sentences five sets of simplifications. Adam at 1e-3, 10 epochs; the paper chooses the margin and the penalties on STS 2016, which is not here: the defaults are taken (margin .4, penalties 1e-6).",
        models,
        tables: vec![table_1(), table_3(), table_4(), table_5(), table_6()],
    }
}

fn table_1() -> Table {
    let tasks: Vec<(Option<u16>, &str)> =
        STS.iter().map(|&(year, task)| (Some(year), task)).chain([(None, "SICK")]).collect();
    let row = |name: &str, data, file: &str, theirs: &str| {
        Row::new(name, data, [file]).beside(theirs, sts_values(theirs, &tasks).into_iter().chain([None]))
    };
    Table {
        title: "Tables 1 and 2: STS and SICK by cosine",
        about: "Pearson's r x 100. SICK is the trial part where the test part is not there. GRAN and the LSTMs have 100 hidden units and 3 epochs for time, where the published program has 300 and 10; the other settings are those of that program for sentences, of BiLSTM average those for GRAN. PP on the same sentences is their floor.",
        evaluations: vec![EVAL_STS, Evaluation { command: "eval sick --model $MODEL --json @sick-test", seconds: 0.3 }],
        columns: STS
            .iter()
            .map(|&(year, task)| sts_task(0, year, task))
            .chain([Column::new("SICK", 1, "results[scored_by=cosine].tasks[0].pearson_r_x100"), Column::mean()])
            .collect(),
        rows: vec![
            row("PP, phrases", PHRASES, "pp-phrases.senv", "PP (CSE paper)"),
            row("CSE, phrases", PHRASES, "cse-phrases.senv", "CSE (phrases)"),
            row("CSE, cumulative", BOTH, "cse-both.senv", "CSE (cumulative)"),
            Row::new("PP, cumulative", BOTH, ["pp-both.senv"]),
            row("GRAN", SENTENCES, "gran.senv", "GRAN (CSE paper)"),
            Row::new("LSTM last", SENTENCES, ["lstm-last.senv"]),
            Row::new("LSTM average", SENTENCES, ["lstm-average.senv"]),
            Row::new("BiLSTM average", SENTENCES, ["bilstm-average.senv"]),
            Row::new("PP, sentences", SENTENCES, ["pp-sentences.senv"]),
            Row::new("the initial words", "15.9 M words", ["words.senv"]),
        ],
        figure: None,
    }
}

fn table_3() -> Table {
    let published = |name: &str| {
        let mut rows = published_sick().into_iter().filter(|row| row.scored_by == ScoringMethod::Supervised);
        let row = rows.find(|row| row.system == name);
        let correlations = row.as_ref().map(|row| row.correlations);
        [
            correlations.and_then(|c| c.pearson_r_x100),
            correlations.and_then(|c| c.spearman_rho_x100),
            row.as_ref().and_then(|row| row.mse),
        ]
    };
    let row = |file: &str, name: &str| Row::new(name, SICK, [file]).beside(name, published(name));
    let column =
        |title: &str, metric: &str| Column::new(title, 0, &format!("results[scored_by=supervised].tasks[0].{metric}"));
    Table {
        title: "Table 3: SICK, fine-tuned",
        about: "Pearson's r and Spearman's rho x 100, squared error. Where the test part is not there the trial part chooses the weights and is reported, which is a little too good.",
        evaluations: vec![Evaluation { command: "eval sick --model $MODEL --json @sick-test", seconds: 0.3 }],
        columns: vec![
            column("r", "pearson_r_x100"),
            column("rho", "spearman_rho_x100"),
            column("squared error", "mse").digits(3),
        ],
        rows: vec![
            row("sick-cse-universal.senv", "CSE-universal"),
            row("sick-cse-random.senv", "CSE-random"),
            row("sick-pp-universal.senv", "PP-universal"),
            row("sick-gran-universal.senv", "GRAN-universal"),
        ],
        figure: None,
    }
}

/// The means of a variant in the tables of ablations, for the years that we have.
fn means(name: &str, total: bool) -> Vec<Option<f64>> {
    let rows = published_cse_ablations();
    let row = rows.iter().find(|row| row.system == name);
    let year = |year: u16| row.and_then(|row| row.years.iter().find(|mean| mean.0 == year)).map(|mean| mean.1);
    let total = row.and_then(|row| row.all_tasks).filter(|_| total);
    vec![year(2012), year(2013), year(2014), total]
}

fn year_columns() -> Vec<Column> {
    vec![sts_year(0, 2012), sts_year(0, 2013), sts_year(0, 2014), sts_mean(0)]
}

fn table_4() -> Table {
    let row =
        |name: &str, data, file: &str, theirs: &str| Row::new(name, data, [file]).beside(theirs, means(theirs, false));
    Table {
        title: "Table 4: which pairs to train on",
        about: "Pearson's r x 100, means over the tasks of a year.",
        evaluations: vec![EVAL_STS],
        columns: year_columns(),
        rows: vec![
            row("CSE, phrases", PHRASES, "cse-phrases.senv", "CSE (phrases)"),
            row("CSE, sentences", SENTENCES, "cse-sentences.senv", "CSE (sentences)"),
            row("CSE, cumulative", BOTH, "cse-both.senv", "CSE (cumulative)"),
        ],
        figure: None,
    }
}

fn table_5() -> Table {
    let row = |(file, name, _, _): (&str, &str, &str, f64)| {
        let theirs = format!("CSE, {name}");
        let values = means(&theirs, true);
        Row::new(name, SENTENCES, [file]).beside(theirs, values)
    };
    Table {
        title: "Table 5: windows of the filters",
        about: "Pearson's r x 100, means over the tasks of a year; the paper's total has the tasks of 2015 as well. Margin .6, penalty 1e-6 on words and none on filters, batches of 100, Adam at 1e-3, 10 epochs, sentences alone, 300 filters of one width or 100 of each, as published. Not as printed: half the penalty (as in the program of PP and GRAN; the paper's own was not found), Adam moves the words of a batch alone, negatives are either member of another pair where the formula below equation 5 has first members, and an equal text is no negative. `--l2-scaling full --updates dense --candidates first-elements --exclude-equal-text false` is as printed. The words start from Sent2Vec of 15.9 million words, in the paper from PARAGRAM-SL999, and simplifications are a third of the paper's.",
        evaluations: vec![EVAL_STS],
        columns: year_columns(),
        rows: WINDOWS.map(row).to_vec(),
        figure: None,
    }
}

fn table_6() -> Table {
    let column = |title: &str, path: &str| Column::new(title, 0, &format!("against.differences.{path}")).digits(0);
    let row = |name: &str, data, file: &str| Row::new(name, data, [file]);
    Table {
        title: "Table 6: where CSE and PP differ",
        about: "Pairs of STS 2012 to 2014 on which the system is nearer to the gold score than PP trained cumulatively, and the reverse, cosines times 5. The paper shows single pairs, which `senv eval sts --differences` prints.",
        evaluations: vec![Evaluation {
            command: "eval sts --model $MODEL --against $OUT/pp-both.senv --differences 20 --no-floor --json @sts12 @sts13 @sts14",
            seconds: 0.5,
        }],
        columns: vec![
            column("pairs", "n_pairs"),
            column("it is nearer", "n_first_nearer"),
            column("PP is nearer", "n_second_nearer"),
        ],
        rows: vec![
            row("CSE, cumulative", BOTH, "cse-both.senv"),
            row("CSE, sentences", SENTENCES, "cse-sentences.senv"),
        ],
        figure: None,
    }
}
