//! Kenter, Borisov and de Rijke 2016: Siamese CBOW.

use super::common::{
    EVAL_STS, NEWS, SMALL, STS, TEXT, cbow, skip_gram, skip_thoughts, sts_mean, sts_task, sts_values, sts_year,
};
use crate::{
    paper::{Column, Evaluation, Model, Paper, Row, Table},
    paper_name::PaperName,
};

/// What learns from little text, where the preset is the optimizer of the paper.
const ADAM: &str = "--optimizer adam --lr 1e-3";

/// Models of Table 1 beside those of word2vec and Skip-thoughts: file, name, and what differs from the preset.
const VARIANTS: [(&str, &str, &str); 6] = [
    ("scbow-sgd-mean.senv", "Siamese CBOW, SGD 1e-4 (as printed), mean of a batch", ""),
    ("scbow-sgd-sum.senv", "Siamese CBOW, SGD 1e-4, sum of a batch (= rate 1e-2)", "--lr 1e-2"),
    ("scbow-sgd-1.senv", "Siamese CBOW, SGD, rate 1", "--lr 1"),
    ("scbow-adam.senv", "Siamese CBOW, Adam", ADAM),
    (
        "scbow-from-cbow.senv",
        "Siamese CBOW, Adam, from CBOW's vectors",
        "--optimizer adam --lr 1e-3 --init-vectors $OUT/cbow.senv",
    ),
    ("scbow-temperature.senv", "Siamese CBOW, Adam, temperature .1", "--optimizer adam --lr 1e-3 --temperature 0.1"),
];

/// Figures 2 to 4, with Adam: file, name, what differs, and seconds.
const CURVES: [(&str, &str, &str, f64); 11] = [
    ("curve-base.senv", "1 epoch, 2 negatives, 300 dimensions", "", 8.0),
    ("curve-epochs-2.senv", "2 epochs", "--epochs 2", 14.0),
    ("curve-epochs-3.senv", "3 epochs", "--epochs 3", 20.0),
    ("curve-epochs-5.senv", "5 epochs", "--epochs 5", 33.0),
    ("curve-negatives-1.senv", "1 negative", "--negatives 1", 7.0),
    ("curve-negatives-5.senv", "5 negatives", "--negatives 5", 11.0),
    ("curve-negatives-10.senv", "10 negatives", "--negatives 10", 17.0),
    ("curve-dim-50.senv", "50 dimensions", "--dim 50", 4.0),
    ("curve-dim-100.senv", "100 dimensions", "--dim 100", 5.0),
    ("curve-dim-200.senv", "200 dimensions", "--dim 200", 7.0),
    ("curve-temperature.senv", "temperature .1", "--temperature 0.1", 8.0),
];

pub(super) fn paper() -> Paper {
    let model = |text: &str, file: &str, options: &str, seconds| {
        let command = format!("train siamese-cbow --preset paper --input {text} --no-check --json {options}");
        Model::new(file, seconds, command.trim_end())
    };
    let mut models: Vec<Model> =
        VARIANTS.iter().map(|(file, _, options)| model("@text", file, options, 45.0)).collect();
    models.extend(CURVES.iter().map(|(file, _, options, seconds)| {
        model("@small-text", file, format!("{ADAM} {options}").trim_end(), *seconds)
    }));
    models.extend([cbow(), skip_gram()]);
    models.extend(skip_thoughts());
    Paper {
        name: PaperName::SiameseCbow,
        title: "Siamese CBOW (Kenter, Borisov and de Rijke, ACL 2016)",
        about: "The paper trains on 74 million sentences of novels (1,057 million words), here it is .68 million sentences in order, of news, speeches and encyclopedia (15.9 million words); one epoch, two negatives, 300 dimensions, no temperature, as there. The optimizer is the paper's (gradient descent at 1e-4) where a row says SGD 1e-4, and Adam at 1e-3 where it says Adam.",
        models,
        tables: vec![table_1(), significance(), curves(), norms(), latency()],
    }
}

fn tasks() -> Vec<(Option<u16>, &'static str)> {
    STS.iter().map(|&(year, task)| (Some(year), task)).collect()
}

/// Rows that the paper has: name, data, file and the name there.
const BESIDE: [(&str, &str, &str, &str); 3] = [
    ("skip-gram", TEXT, "skip-gram.senv", "skip-gram (Siamese CBOW paper)"),
    ("CBOW", TEXT, "cbow.senv", "CBOW (Siamese CBOW paper)"),
    ("Skip-thoughts", NEWS, "combined.senv", "skip-thought (Siamese CBOW paper)"),
];

fn table_1() -> Table {
    let published = |name: &str| sts_values(name, &tasks()).into_iter().chain([None]);
    let mut rows: Vec<Row> = BESIDE
        .iter()
        .map(|(name, data, file, theirs)| Row::new(name, data, [*file]).beside(*theirs, published(theirs)))
        .collect();
    for (file, name, _) in VARIANTS.into_iter().rev() {
        let row = Row::new(name, TEXT, [file]);
        rows.insert(
            2,
            if file == "scbow-sgd-mean.senv" { row.beside("Siamese CBOW", published("Siamese CBOW")) } else { row },
        );
    }
    Table {
        title: "Table 1: STS 2012 to 2014 by cosine",
        about: "Pearson's r x 100. The paper does not say whether the loss of a batch is a mean or a sum; its program takes the mean. With SGD a sum is the same as a rate that is the batch size (100) higher. The figures of 2015 in the paper are of unfiltered pairs, by their number; SMT of 2013 is not public.",
        evaluations: vec![EVAL_STS],
        columns: STS.iter().map(|&(year, task)| sts_task(0, year, task)).chain([Column::mean()]).collect(),
        rows,
        figure: None,
    }
}

fn significance() -> Table {
    let column = |&(year, task): &(u16, &str)| {
        let path = format!("against.comparison.tasks[year={year},name={task}].p_value");
        Column::new(&format!("{year} {task}"), 0, &path).digits(4)
    };
    Table {
        title: "Table 1, significance: Wilcoxon's signed-rank test against CBOW",
        about: "Two-sided p of the similarities of two systems on the pairs of a task; the paper marks p < 1e-4. It shows whether the similarities lie at another level, not which system is better.",
        evaluations: vec![Evaluation {
            command: "eval sts --model $MODEL --against $OUT/cbow.senv --no-floor --json @sts12 @sts13 @sts14",
            seconds: 0.5,
        }],
        columns: STS.iter().map(column).collect(),
        rows: std::iter::once(Row::new("skip-gram", TEXT, ["skip-gram.senv"]))
            .chain(VARIANTS.map(|(file, name, _)| Row::new(name, TEXT, [file])))
            .collect(),
        figure: None,
    }
}

fn curves() -> Table {
    Table {
        title: "Figures 2 to 4: epochs, negatives, dimensions",
        about: "Pearson's r x 100, means over the tasks of STS 2012 to 2014; one setting changed at a time. The paper plots its curves and prints no figures. All rows are with Adam at 1e-3, which is not the paper's optimizer: SGD at 1e-4 does not move this little text.",
        evaluations: vec![EVAL_STS],
        columns: vec![
            sts_year(0, 2012),
            sts_year(0, 2013),
            sts_year(0, 2014),
            sts_mean(0),
            Column::training("loss", "loss").digits(3),
        ],
        rows: CURVES.map(|(file, name, _, _)| Row::new(name, SMALL, [file])).to_vec(),
        figure: None,
    }
}

fn norms() -> Table {
    let rows = ["scbow-sgd-mean.senv", "scbow-adam.senv", "scbow-temperature.senv"];
    let row = |file: &str| VARIANTS.iter().find(|variant| variant.0 == file).map(|variant| variant.1);
    Table {
        title: "Section 4.4: words with the shortest and the longest vectors",
        about: "The paper finds the function words to, of, and, the, a, in, that, with, on, as shortest, and personal pronouns and \"had\" among the longest.",
        evaluations: vec![Evaluation { command: "eval norms --model $MODEL --json", seconds: 0.3 }],
        columns: vec![Column::new("shortest", 0, "lowest[*].word"), Column::new("longest", 0, "highest[*].word")],
        rows: rows.iter().map(|file| Row::new(row(file).unwrap_or_default(), TEXT, [*file])).collect(),
        figure: None,
    }
}

fn latency() -> Table {
    let row = |name: &str, data, file: &str, theirs: &str, seconds: f64| {
        Row::new(name, data, [file]).beside(theirs, [Some(1e6 * seconds / 17_608.0), None])
    };
    Table {
        title: "Table 3: time for a pair",
        about: "One thread, one pair after the other, tokenizing, both vectors and the cosine; without loading the model. The paper has totals for 17,608 pairs, divided here; its Skip-thoughts are labelled 1200d and have 2,400 dimensions or more, ours 800.",
        evaluations: vec![Evaluation {
            command: "eval latency --model $MODEL --json @sts12 @sts13 @sts14",
            seconds: 5.0,
        }],
        columns: vec![
            Column::new("mean, µs", 0, "mean_seconds").times(1e6),
            Column::new("median, µs", 0, "median_seconds").times(1e6),
        ],
        rows: vec![
            row("Siamese CBOW", TEXT, "scbow-adam.senv", "Siamese CBOW", 7.7),
            row("CBOW", TEXT, "cbow.senv", "word2vec", 7.0),
            row("Skip-thoughts", NEWS, "combined.senv", "skip-thought", 98_804.0),
        ],
        figure: None,
    }
}
