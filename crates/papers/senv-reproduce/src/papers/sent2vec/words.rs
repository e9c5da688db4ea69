//! Tables about schedules, the reverse dictionary, word norms and sentence lengths.

use super::{DEFINITIONS, NEWS, SCHEDULES, SEEDS, TEXT, scheduled, seeded};
use crate::{
    paper::{Column, Drawing, Evaluation, Row, Source, Table},
    papers::common::{EVAL_STS, STS_2014, sent2vec, sts_mean, sts_year},
};

pub(super) fn schedules() -> Table {
    let row = |(schedule, shared, seconds): (&str, &str, f64)| {
        let name = format!(
            "{schedule}, negatives {}",
            match shared {
                "none" => "per target",
                "sentence" => "per sentence",
                _ => "shared by a block",
            }
        );
        Row::new(&name, NEWS, SEEDS.map(|seed| scheduled(schedule, shared, seed, seconds).file))
    };
    Table {
        id: "schedules",
        title: "Schedules and shared negatives",
        about: "This table is not in the paper, whose code uses the hogwild schedule and negatives per target. STS \
            2012 to 2014, Pearson's r x 100, means over the tasks; word models, 5 epochs, seeds 1 to 3. Speeds are for \
            training only, hogwild with two threads.",
        evaluations: vec![EVAL_STS],
        columns: vec![
            sts_year(0, 2012),
            sts_year(0, 2013),
            sts_year(0, 2014),
            sts_mean(0),
            Column::training("loss", "loss").digits(3),
            Column::training("M words/s", "tokens_per_second").times(1e-6).digits(2),
        ],
        rows: SCHEDULES.map(row).to_vec(),
        ..Table::default()
    }
}

pub(super) fn reverse_dictionary() -> Table {
    let column = |title: &str, of: &str, set: &str, figure: &str| {
        Column::new(&format!("{title}, {set}"), 0, &format!("{of}sets[name={set}].{figure}"))
    };
    let of = |of: &'static str| {
        ["seen", "unseen"].into_iter().flat_map(move |set| {
            let prefix = if of.is_empty() { String::new() } else { "floor ".to_owned() };
            [
                column(&format!("{prefix}median rank"), of, set, "median_rank.value"),
                column(&format!("{prefix}acc@10"), of, set, "accuracy_at_10_x100.value"),
                column(&format!("{prefix}acc@100"), of, set, "accuracy_at_100_x100.value"),
            ]
        })
    };
    let row = |(name, file): (&str, &str)| Row::new(name, DEFINITIONS, seeded(file));
    Table {
        id: "reverse-dictionary",
        title: "Reverse dictionary",
        about: "This table is not in the paper. It shows the rank of the defined word among all words that have a \
            definition and a vector, for 500 definitions of training words and 500 of held-out words; accuracies in \
            percent. The baseline is the mean of the word vectors of the definition.",
        evaluations: vec![Evaluation { command: "eval dictionary --model $MODEL --json @definitions", seconds: 10.0 }],
        columns: of("").chain(of("floor.")).collect(),
        rows: [
            ("DictRep BOW", "dict-rep-bow.senv"),
            ("DictRep BOW, given vectors", "dict-rep-bow-embs.senv"),
            ("DictRep RNN", "dict-rep-rnn.senv"),
            ("DictRep RNN, given vectors", "dict-rep-rnn-embs.senv"),
        ]
        .map(row)
        .to_vec(),
        ..Table::default()
    }
}

pub(super) fn norms() -> Table {
    let column = |title: &str, path: &str| Column::new(title, 0, path).digits(2);
    Table {
        id: "figure-1",
        title: "Figure 1: norm and frequency",
        about: "Mean norm of the word vectors in 50 equal bins of the logarithm of the frequency, the rarest words \
            first. The paper's curve rises and then falls, as SIF weights fall toward frequent words.",
        evaluations: vec![Evaluation {
            command: "eval norms --model $MODEL --svg $OUT/figures/norms-$STEM.svg --force --json",
            seconds: 0.3,
        }],
        columns: vec![
            column("bin 1", "bins[0].mean"),
            column("bin 10", "bins[9].mean"),
            column("bin 20", "bins[19].mean"),
            column("bin 30", "bins[29].mean"),
            column("bin 40", "bins[39].mean"),
            column("bin 50", "bins[49].mean"),
            Column { source: Source::Evaluation(0), ..column("longest", "highest[*].word") },
        ],
        rows: vec![Row::new("Sent2Vec, words", TEXT, [sent2vec(1).file])],
        drawings: vec![Drawing::OfRows("figures/norms-$STEM.svg")],
        ..Table::default()
    }
}

/// Sentence lengths.
pub(super) fn lengths() -> Table {
    let set = |title: &str, name: &str| Column::new(title, 0, &format!("sets[name={name}].$KEY")).digits(2);
    let mut columns: Vec<Column> = STS_2014.iter().map(|task| set(task, task)).collect();
    columns.extend([set("SICK", "SICK"), set("the text", "text")]);
    let row = |name: &str, key, theirs: [f64; 7], books: f64| {
        let values = theirs.into_iter().chain([books]).map(Some);
        Row::new(name, TEXT, ["english"]).key(key).beside("its text is the Toronto books", values)
    };
    Table {
        id: "table-8",
        title: "Table 8: lengths of sentences",
        about: "Words and punctuation marks per sentence. For SICK we use the available parts. The paper's text is the \
            Toronto books; its sentences of Wikipedia have 25.25 words (standard deviation 12.56), its tweets 16.31 \
            (7.22).",
        evaluations: vec![Evaluation {
            command: "eval sizes --sts @sts14 --sick @sick-train @sick-test --text @text --json",
            seconds: 10.0,
        }],
        columns,
        rows: vec![
            row("mean", "mean_length", [17.23, 10.12, 8.85, 11.64, 10.17, 7.82, 9.67], 13.32),
            row("standard deviation", "length_deviation", [8.66, 3.30, 3.10, 5.28, 2.77, 2.21, 3.75], 8.94),
        ],
        ..Table::default()
    }
}
