//! Pagliardini, Gupta and Jaggi 2018: Sent2Vec.

use senv_eval::published_classification;

use super::common::{
    ALL, EVAL_CR, EVAL_MPQA, EVAL_MR, EVAL_MSRP, EVAL_STS, EVAL_SUBJ, EVAL_TREC, NEWS, STS_2014, TEXT, TREES, accuracy,
    c_phrase, cbow, msrp, pv_dbow, pv_dm, sent2vec, sent2vec_bigrams, sent2vec_by, skip_gram, sts_mean, sts_task,
    sts_values, sts_year,
};
use crate::{
    paper::{Column, Evaluation, Model, Paper, Row, Source, Table},
    paper_name::PaperName,
};

const SEEDS: [u32; 3] = [1, 2, 3];

/// Schedules and sharing of negatives, with the seconds that one run takes.
const SCHEDULES: [(&str, &str, f64); 6] = [
    ("deterministic", "none", 30.0),
    ("deterministic", "sentence", 17.0),
    ("deterministic", "block", 13.0),
    ("hogwild", "none", 20.0),
    ("hogwild", "sentence", 12.0),
    ("hogwild", "block", 11.0),
];

/// Fixed word vectors of an SDAE or SAE.
const EMBEDDINGS: &str = "--init-vectors $OUT/cbow.senv --updates frozen";

/// An SDAE, small and trained for few steps beside the paper's.
fn sdae(file: &str, options: &str) -> Model {
    let command = format!(
        "train sdae --input @news {options} --min-count 3 --hidden 300 --softmax sampled --batch 64 --steps 1500 --json"
    );
    Model::new(file, 90.0, command.replace("  ", " "))
}

/// A model of the table of schedules.
fn scheduled(schedule: &str, shared: &str, seed: u32, seconds: f64) -> Model {
    // With one thread hogwild would be deterministic, too.
    let threads = if schedule == "hogwild" { " --threads 2" } else { "" };
    let options = format!("--schedule {schedule} --negatives-shared {shared} --seed {seed}{threads}");
    sent2vec_by(&format!("schedule-{schedule}-{shared}-{seed}.senv"), "@news", &options, seconds)
}

pub(super) fn paper() -> Paper {
    let mut models: Vec<Model> = Vec::new();
    for seed in SEEDS {
        models.extend(SCHEDULES.map(|(schedule, shared, seconds)| scheduled(schedule, shared, seed, seconds)));
        models.extend([sent2vec(seed), sent2vec_bigrams(seed)]);
    }
    let l1 = sent2vec_bigrams(1)
        .command
        .replace("--no-check", "--l1 5e-4 --no-check")
        .replace("sent2vec-bi-1", "sent2vec-bi-l1");
    models.push(Model { file: "sent2vec-bi-l1.senv".to_owned(), command: l1, seconds: 90.0 });
    models.push(sent2vec_by("sent2vec-all.senv", "@all-text", "--negatives-shared block --seed 1", 100.0));
    let fast_sent = "train fast-sent --preset paper --input @text --dim 300 --epochs 3 --no-check --json";
    models.extend([
        cbow(),
        skip_gram(),
        pv_dbow(),
        pv_dm(),
        c_phrase(),
        Model::new("fast-sent.senv", 40.0, fast_sent),
        Model::new("fast-sent-ae.senv", 45.0, format!("{fast_sent} --autoencode")),
        sdae("sae.senv", "--preset sae"),
        sdae("sae-embs.senv", &format!("--preset sae {EMBEDDINGS}")),
        sdae("sdae.senv", ""),
        sdae("sdae-embs.senv", EMBEDDINGS),
        Model::new("glove-sif.senv", 5.0, "train weighted --model @glove --input @text"),
        Model::new("sent2vec-sif.senv", 5.0, format!("train weighted --model $OUT/{} --input @text", sent2vec(1).file)),
    ]);
    models.extend(target_models());
    Paper {
        name: PaperName::Sent2vec,
        title: "Sent2Vec (Pagliardini, Gupta and Jaggi, NAACL 2018)",
        about: "The paper trains on 0.9 to 19.7 thousand million words with 600 or 700 dimensions and up to 13 epochs; here it is 15.9 million words of news, speeches and encyclopedia, 300 dimensions and 5 epochs. The learning rate, the thresholds and the number of dropped n-grams are those of the paper; targets share negatives, n-grams start at zero, and dropout is drawn once a sentence, where nothing else is said. C-PHRASE has 3,914 parsed sentences of the Wall Street Journal, where the published model has 2.8 thousand million words, and settings that fit so few. SAE and SDAE have hidden sizes of 2400 there; here they have 300, sampled words, and see 96 thousand sentences of news (1,500 steps of 64).",
        models,
        tables: vec![
            schedules(),
            unsupervised(),
            without_training(),
            supervised(),
            reverse_dictionary(),
            sif(),
            norms(),
        ],
    }
}

/// DictRep and CaptionRep. Their words are those of `skip_gram`; the captions have no image vectors, and the mean of
/// other captions of the image stands in for one.
fn target_models() -> [Model; 6] {
    let words = skip_gram().file;
    let dict = format!("train dict-rep --preset paper --definitions @definitions --target-vectors $OUT/{words}");
    let caption = format!("train caption-rep --preset paper --captions @coco --stand-in $OUT/{words}");
    let embeddings = format!("--init-vectors $OUT/{words} --updates frozen");
    let (bow, rnn) = ("--epochs 3 --json", "--encoder rnn --hidden 256 --batch 64 --epochs 2 --json");
    [
        Model::new("dict-rep-bow.senv", 10.0, format!("{dict} {bow}")),
        Model::new("dict-rep-bow-embs.senv", 10.0, format!("{dict} {embeddings} {bow}")),
        Model::new("dict-rep-rnn.senv", 30.0, format!("{dict} {rnn}")),
        Model::new("dict-rep-rnn-embs.senv", 30.0, format!("{dict} {embeddings} {rnn}")),
        Model::new("caption-rep-bow.senv", 10.0, format!("{caption} --epochs 10 --json")),
        Model::new("caption-rep-rnn.senv", 40.0, format!("{caption} --encoder rnn --hidden 256 --epochs 10 --json")),
    ]
}

/// The definitions of seen and unseen words among all words.
fn reverse_dictionary() -> Table {
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
    let row = |(name, file): (&str, &str)| Row::new(name, DEFINITIONS, [file]);
    Table {
        title: "Reverse dictionary",
        about: "Not in the paper. Where the word of a definition stands among all words that are defined and have a vector, for 500 definitions of words that were trained on and 500 of words that were held out; accuracies in percent. The floor is the mean of the word vectors of the definition.",
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
        figure: None,
    }
}

/// What DictRep and CaptionRep are trained on, for the tables.
const DEFINITIONS: &str = "181 k definitions";
const CAPTIONS: &str = "12 k captions, no images: other captions stand in";

/// The systems that ours stand beside, with their models.
fn systems() -> Vec<(&'static str, &'static str, Vec<String>, &'static str)> {
    let seeds = |model: fn(u32) -> Model| SEEDS.map(|seed| model(seed).file).to_vec();
    let one = |file: &str| vec![file.to_owned()];
    vec![
        ("Sent2Vec, words", TEXT, seeds(sent2vec), "Sent2Vec uni books"),
        ("Sent2Vec, words and bigrams", TEXT, seeds(sent2vec_bigrams), "Sent2Vec uni+bi books"),
        ("Sent2Vec, words and bigrams, L1", TEXT, one("sent2vec-bi-l1.senv"), "Sent2Vec uni+bi L1 books"),
        ("CBOW", TEXT, one("cbow.senv"), "CBOW"),
        ("skip-gram", TEXT, one("skip-gram.senv"), "skip-gram"),
        ("PV-DBOW", TEXT, one("pv-dbow.senv"), "PV-DBOW"),
        ("PV-DM", TEXT, one("pv-dm.senv"), "PV-DM"),
        ("FastSent", TEXT, one("fast-sent.senv"), "FastSent"),
        ("FastSent+AE", TEXT, one("fast-sent-ae.senv"), "FastSent + AE"),
        ("C-PHRASE", TREES, one("c-phrase.senv"), "C-PHRASE"),
        ("DictRep BOW", DEFINITIONS, one("dict-rep-bow.senv"), "DictRep BOW"),
        ("DictRep BOW, given vectors", DEFINITIONS, one("dict-rep-bow-embs.senv"), "DictRep BOW + embeddings"),
        ("DictRep RNN", DEFINITIONS, one("dict-rep-rnn.senv"), "DictRep RNN"),
        ("DictRep RNN, given vectors", DEFINITIONS, one("dict-rep-rnn-embs.senv"), "DictRep RNN + embeddings"),
        ("CaptionRep BOW", CAPTIONS, one("caption-rep-bow.senv"), "CaptionRep BOW"),
        ("CaptionRep RNN", CAPTIONS, one("caption-rep-rnn.senv"), "CaptionRep RNN"),
        ("SAE", NEWS, one("sae.senv"), "SAE"),
        ("SAE with fixed CBOW vectors", NEWS, one("sae-embs.senv"), "SAE + embeddings"),
        ("SDAE", NEWS, one("sdae.senv"), "SDAE"),
        ("SDAE with fixed CBOW vectors", NEWS, one("sdae-embs.senv"), "SDAE + embeddings"),
    ]
}

fn tasks() -> Vec<(Option<u16>, &'static str)> {
    STS_2014.iter().map(|&task| (Some(2014), task)).chain([(None, "SICK")]).collect()
}

fn unsupervised() -> Table {
    let mut columns: Vec<Column> = STS_2014.iter().map(|task| sts_task(0, 2014, task)).collect();
    for column in &mut columns {
        column.title = column.title.replace("2014 ", "");
    }
    columns.push(Column::new("SICK", 1, "results[scored_by=cosine].together.pearson_r_x100"));
    columns.push(Column::mean());
    let published = |name: &str| sts_values(name, &tasks()).into_iter().chain([None]);
    let row = |(name, data, models, theirs): (&str, &'static str, Vec<String>, &str)| {
        let n_seeds = models.len();
        let name = if n_seeds > 1 { format!("{name} ({n_seeds} seeds)") } else { name.to_owned() };
        Row::new(&name, data, models).beside(theirs, published(theirs))
    };
    let mut rows: Vec<Row> = systems().into_iter().map(row).collect();
    rows.push(Row::new("Sent2Vec, words, with novels and reviews", ALL, ["sent2vec-all.senv"]));
    Table {
        title: "Tables 2 and 7: STS 2014 and SICK by cosine",
        about: "Pearson's r x 100 (the paper also prints Spearman). SICK is the parts that are there; the paper has training and test part.",
        evaluations: vec![
            Evaluation { command: "eval sts --model $MODEL --no-floor --json @sts14", seconds: 0.3 },
            Evaluation { command: "eval sick --model $MODEL --json @sick-train @sick-test", seconds: 0.3 },
        ],
        columns,
        rows,
        figure: None,
    }
}

/// TF-IDF, which the bench runs beside every model.
fn without_training() -> Table {
    let mut columns: Vec<Column> = STS_2014
        .iter()
        .map(|task| Column::new(task, 0, &format!("systems[name=$KEY].results[task=sts/2014/{task}].value")))
        .collect();
    columns.push(Column::mean());
    let tasks = tasks();
    let theirs = sts_values("TF-IDF", &tasks[..6]).into_iter().chain([None]);
    let row = |name: &str, key| Row::new(name, "", [sent2vec(1).file]).key(key);
    Table {
        title: "Table 2, what takes no training",
        about: "Pearson's r x 100 on STS 2014. TF-IDF is counted on the sentences that are judged; the paper counts it on its corpus.",
        evaluations: vec![Evaluation {
            command: "eval all --data $DATA --models $MODEL --only sts --fast --json $RESULT",
            seconds: 15.0,
        }],
        columns,
        rows: vec![
            row("TF-IDF", "TF-IDF").beside("TF-IDF", theirs),
            row("word overlap", "word overlap"),
            row("random vectors", "random vectors"),
        ],
        figure: None,
    }
}

fn supervised() -> Table {
    let [detection, f1] = msrp(0);
    let rows = published_classification();
    let published = |name: &str| -> Vec<Option<f64>> {
        let row = rows.iter().find(|row| row.system == name);
        let value = |set| row.and_then(|row| row.accuracy(set));
        vec![
            value("msrp"),
            value("mr"),
            value("cr"),
            value("subj"),
            value("mpqa"),
            value("trec"),
            None,
            row.map(|row| row.msrp_f1),
        ]
    };
    let row = |(name, data, models, theirs): (&str, &'static str, Vec<String>, &str)| {
        Row::new(name, data, models.into_iter().take(1)).beside(theirs, published(theirs))
    };
    Table {
        title: "Tables 1 and 6: classifiers on frozen vectors",
        about: "Accuracy in percent, seed 1. Logistic regression; MR, CR, SUBJ and MPQA by nested cross-validation (10 x 10 folds). MSRP is tested on the last quarter of its training part where the test part is not there.",
        evaluations: vec![EVAL_MSRP, EVAL_MR, EVAL_CR, EVAL_SUBJ, EVAL_MPQA, EVAL_TREC],
        columns: vec![
            detection,
            accuracy("MR", 1),
            accuracy("CR", 2),
            accuracy("SUBJ", 3),
            accuracy("MPQA", 4),
            accuracy("TREC", 5),
            Column::mean(),
            f1,
        ],
        rows: self::systems().into_iter().map(row).collect(),
        figure: None,
    }
}

fn sif() -> Table {
    let row = |name: &str, file: &str, theirs: &str, sts: f64, sick: f64| {
        Row::new(name, TEXT, [file]).beside(theirs, [Some(sts), Some(sick)])
    };
    Table {
        title: "Table 4: beside SIF weights",
        about: "Pearson's r x 100. The paper has GloVe trained on 840 thousand million words; here it is the 5,050 most frequent words with 50 dimensions, counted on the same text as Sent2Vec.",
        evaluations: vec![
            Evaluation { command: "eval sts --model $MODEL --no-floor --json @sts14", seconds: 0.3 },
            Evaluation { command: "eval sick --model $MODEL --json @sick-train @sick-test", seconds: 0.3 },
        ],
        columns: vec![
            Column::new("STS 2014", 0, "overall.plain_mean_over_tasks.pearson_r_x100"),
            Column::new("SICK", 1, "results[scored_by=cosine].together.pearson_r_x100"),
        ],
        rows: vec![
            row("GloVe with SIF", "glove-sif.senv", "GloVe with SIF", 68.5, 72.2),
            row("Sent2Vec, words", &sent2vec(1).file, "Sent2Vec uni twitter", 71.0, 71.0),
            row("Sent2Vec, words and bigrams", &sent2vec_bigrams(1).file, "Sent2Vec uni+bi twitter", 70.1, 71.5),
            Row::new("Sent2Vec, words, with SIF", TEXT, ["sent2vec-sif.senv"]),
        ],
        figure: None,
    }
}

fn schedules() -> Table {
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
        title: "Schedules and shared negatives",
        about: "Not in the paper, whose program has the schedule hogwild and negatives per target. STS 2012 to 2014, Pearson's r x 100, means over the tasks; words, 5 epochs, seeds 1 to 3. Speeds are of training alone, hogwild with two threads.",
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
        figure: None,
    }
}

fn norms() -> Table {
    let column = |title: &str, path: &str| Column::new(title, 0, path).digits(2);
    Table {
        title: "Figure 1: norm and frequency",
        about: "Mean norm of the word vectors in 50 equal bins of the logarithm of the frequency: the first bin has the rarest words. The paper's curve rises and falls again, as SIF weights do towards frequent words.",
        evaluations: vec![Evaluation {
            command: "eval norms --model $MODEL --svg $OUT/figures/norms.svg --force --json",
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
        figure: Some("figures/norms.svg"),
    }
}
