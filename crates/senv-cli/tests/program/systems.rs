//! Every system with small settings, its training samples, and a model that is trained once for all tests.

use std::{
    fs,
    sync::{LazyLock, OnceLock},
};

use serde_json::Value;

use crate::common::{Ended, Folder};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/");

/// Name and arguments of `senv train`; later systems start from models of earlier ones.
pub(crate) const SYSTEMS: &[(&str, &str)] = &[
    ("sent2vec", "sent2vec --input text.txt --dim 24 --epochs 3"),
    ("sent2vec-paper", "sent2vec --input text.txt --preset paper --dim 40 --epochs 3 --min-count 2 --subsample 1e-3"),
    ("sent2vec-bigrams", "sent2vec --input text.txt --dim 24 --epochs 2 --word-ngrams 2 --negatives-shared none"),
    ("word2vec", "word2vec --input text.txt --dim 24 --epochs 2"),
    ("word2vec-cbow", "word2vec --input text.txt --dim 24 --epochs 3 --architecture cbow --weights sif"),
    ("pv-dbow", "pv-dbow --input text.txt --dim 16 --epochs 3"),
    ("pv-dm", "pv-dm --input text.txt --dim 16 --epochs 3"),
    ("pv-dm-concat", "pv-dm --input text.txt --dim 16 --epochs 2 --combine concat --window 2 --window-side before"),
    (
        "pv-dm-paper",
        "pv-dm --input text.txt --preset large-text --dim 16 --epochs 2 --min-count 2 --subsample 1e-3 --combine sum",
    ),
    ("fast-sent", "fast-sent --input text.txt --dim 24 --epochs 2"),
    ("fast-sent-ae", "fast-sent --input text.txt --dim 24 --epochs 1 --autoencode --preset paper"),
    ("c-phrase", "c-phrase --input trees.txt --dim 16 --epochs 2 --window-growth 1"),
    (
        "c-phrase-paper",
        "c-phrase --input trees.txt --preset paper --dim 16 --epochs 2 --min-count 2 --drop-punctuation",
    ),
    ("siamese-cbow", "siamese-cbow --input text.txt --dim 16 --epochs 1"),
    ("recipe", "--input text.txt --dim 32 --seed 3"),
    (
        "pp",
        "pp --pairs pairs.tsv:2 --neighbours text.txt:1 --loss softmax-cosine --init-vectors word2vec.senv --epochs 4",
    ),
    ("cse", "cse --pairs phrases.tsv --stage2 pairs.tsv --init-vectors word2vec.senv --epochs 2"),
    ("gran", "gran --pairs pairs.tsv --init-vectors word2vec.senv --hidden 12 --epochs 1"),
    (
        "gran-memory",
        "gran --pairs phrases.tsv --stage2 pairs.tsv --dim 12 --gate 4 --pooling max --epochs 1 --word-dropout 0.2",
    ),
    ("lstm-last", "gran --pairs pairs.tsv --dim 12 --hidden 14 --encoder lstm --preset paper-lstm-last --epochs 1"),
    ("bilstm-average", "gran --pairs pairs.tsv --dim 12 --hidden 10 --encoder bilstm --epochs 1"),
    ("relatedness-gran", "relatedness --model gran.senv --train scored.tsv --dev scored-dev.tsv --epochs 1"),
    ("relatedness", "relatedness --model cse.senv --train scored.tsv --dev scored-dev.tsv --epochs 2"),
    ("weighted", "weighted --model sent2vec.senv --input text.txt --scheme sif"),
    ("random-bow", "random-bow --dim 32 --seed 5"),
    ("bow-ae", "bow-ae --input text.txt --dim 16 --epochs 1"),
    ("rnn-ae", "rnn-ae --input text.txt --init-vectors word2vec.senv --hidden 16 --epochs 1 --softmax sampled"),
    ("sdae", "sdae --input text.txt --dim 12 --hidden 16 --epochs 1 --batch 64 --softmax sampled"),
    (
        "sdae-gru",
        "sdae --preset release --input text.txt --init-vectors word2vec.senv --updates frozen --hidden 12 --epochs 1 --batch 64 --softmax sampled",
    ),
    ("skip-thought", "skip-thought --input text.txt --dim 12 --sentence-dim 16 --softmax sampled --epochs 1"),
    ("relatedness-gru", "relatedness --model skip-thought.senv --train scored.tsv --dev scored-dev.tsv --epochs 1"),
    ("p-thought", "p-thought --pairs pairs.tsv --init-vectors word2vec.senv --hidden 12 --epochs 1"),
    (
        "dict-rep",
        "dict-rep --definitions definitions.tsv --target-vectors word2vec.senv --dim 12 --hidden 16 --epochs 2 --held-out 0.2",
    ),
    (
        "dict-rep-release",
        "dict-rep --definitions definitions.tsv --target-vectors word2vec.senv --preset release --dim 12 --hidden 16 --epochs 1",
    ),
    (
        "dict-rep-rnn-embs",
        "dict-rep --definitions definitions.tsv --target-vectors word2vec.senv --init-vectors word2vec.senv --updates frozen \
         --encoder rnn --hidden 16 --loss cosine --epochs 1",
    ),
    (
        "caption-rep",
        "caption-rep --captions captions.tsv --stand-in word2vec.senv --encoder regress --dim 12 --epochs 2",
    ),
    (
        "student",
        "student --texts sentences.txt --text-vectors sentences.npy --passages pairs.tsv:2 --query-vectors first.npy \
         --passage-vectors second.npy --dim 16 --epochs 3 --batch 32",
    ),
    (
        "student-cosine",
        "student --texts sentences.txt --text-vectors sentences.npy --pairs pairs.tsv --init-vectors word2vec.senv \
         --text-loss cosine --epochs 2",
    ),
    (
        "order",
        "order --init-model word2vec-cbow.senv --train paws.tsv --pairs pairs.tsv --neighbours text.txt --gate sts.tsv --steps 6 --dim 8",
    ),
    ("snli", "snli --train labelled.tsv --init-vectors word2vec.senv --hidden 12 --epochs 1"),
    (
        "infersent",
        "snli --preset infersent --train labelled.tsv --dev labelled.tsv --init-vectors word2vec.senv --sentence-dim 12 --hidden 12 \
         --epochs 2",
    ),
];

/// A tree over the words of a line, by a rule: pairs of words, to which the following words attach.
fn tree(line: &str) -> String {
    let words: Vec<String> =
        line.split(' ').map(|word| word.replace(['(', ')'], "")).filter(|w| !w.is_empty()).collect();
    let pair = |pair: &[String]| {
        let words: String = pair.iter().map(|word| format!("(W {word})")).collect();
        if pair.len() > 1 { format!("(P {words})") } else { words }
    };
    let inner = words.chunks(2).map(pair).reduce(|left, right| format!("(S {left}{right})"));
    inner.map_or_else(String::new, |tree| format!("{tree}\n"))
}

/// Names and contents of all samples for [`SYSTEMS`].
static SAMPLES: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(|| {
    let sample = |name: &str| fs::read_to_string(format!("{DATA}{name}")).unwrap();
    let (text, pairs) = (sample("quickstart.txt"), sample("sentence-pairs-sample.tsv"));
    let column = |n: usize| pairs.lines().filter_map(move |line| line.split('\t').nth(n)).map(letters).collect();
    let sentences: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).step_by(61).collect();
    let matrices = [
        ("sentences.npy", matrix(sentences.iter().copied().map(letters).collect())),
        ("first.npy", matrix(column(0))),
        ("second.npy", matrix(column(1))),
    ];
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    // The line is the definition of its longest word.
    let definition = |line: &str| {
        let longest = line.split(|c: char| !c.is_alphabetic()).max_by_key(|word| word.len());
        format!("{}\t{line}\n", longest.unwrap_or("none").to_lowercase())
    };
    let both = pairs.lines().filter_map(|line| line.split_once('\t')).enumerate();
    let of_pairs = || pairs.lines().filter(|line| line.contains('\t')).enumerate();
    let labels = ["entailment", "neutral", "contradiction"];
    let texts = [
        ("sentences.txt", sentences.join("\n")),
        ("trees.txt", lines().map(tree).collect()),
        ("definitions.tsv", lines().step_by(7).map(definition).collect()),
        ("captions.tsv", both.map(|(i, (a, b))| format!("{i}\t{a}\n{i}\t{b}\n")).collect()),
        ("labelled.tsv", of_pairs().map(|(i, line)| format!("{}\t{line}\n", labels[i % 3])).collect()),
        ("paws.tsv", of_pairs().map(|(i, line)| format!("{}\t{line}\n", i % 2)).collect()),
        ("phrases.tsv", sample("phrase-pairs-sample.tsv")),
        ("scored.tsv", sample("sick-train-sample.tsv")),
        ("scored-dev.tsv", sample("sick-trial-sample.tsv")),
        ("sts.tsv", sample("sts-sample.tsv")),
        ("text.txt", text.clone()),
        ("pairs.tsv", pairs.clone()),
    ];
    texts.map(|(name, text)| (name, text.into_bytes())).into_iter().chain(matrices).collect()
});

/// A teacher for students: how often each letter occurs.
fn letters(text: &str) -> Vec<f32> {
    let count = |letter: u8| text.bytes().filter(|byte| byte.eq_ignore_ascii_case(&letter)).count() as f32;
    (b'a'..=b'z').map(count).collect()
}

/// The bytes of a `.npy` file.
fn matrix(rows: Vec<Vec<f32>>) -> Vec<u8> {
    let (mut bytes, dim) = (Vec::new(), rows[0].len());
    let mut writer = senv_store::NpyWriter::new(&mut bytes, "-", rows.len(), dim).unwrap();
    rows.iter().for_each(|row| writer.write_row(row).unwrap());
    writer.finish().unwrap();
    bytes
}

/// A folder with all samples for [`SYSTEMS`].
pub(crate) fn samples() -> Folder {
    let folder = Folder::new();
    for (name, content) in &*SAMPLES {
        folder.write(name, content);
    }
    folder
}

/// The results of training a system.
pub(crate) struct Trained {
    pub(crate) model: Vec<u8>,
    /// The JSON output. Random BOW and weights are not trained and print none.
    pub(crate) json: Value,
    /// The files that training created.
    pub(crate) files: Vec<String>,
}

/// The system of this name, trained with one thread when a test first asks for it. Other tests wait meanwhile. The
/// models, ten megabytes in total, are kept in memory, so nothing is left behind when the tests end.
pub(crate) fn trained(name: &str) -> &'static Trained {
    static TRAINED: LazyLock<Vec<OnceLock<Trained>>> =
        LazyLock::new(|| SYSTEMS.iter().map(|_| OnceLock::new()).collect());
    let at =
        SYSTEMS.iter().position(|(known, _)| *known == name).unwrap_or_else(|| panic!("no system is called {name}"));
    TRAINED[at].get_or_init(|| {
        let folder = samples();
        let starts = bring_starts(&folder, name);
        let tells = !["random-bow", "weighted"].contains(&name);
        let ended = train(&folder, name, 1, if tells { &["--quiet", "--json"] } else { &["--quiet"] }).ok();
        let json = if tells { ended.json() } else { Value::Null };
        let is_new = |file: &String| !SAMPLES.iter().any(|(sample, _)| sample == file) && !starts.contains(file);
        let files = folder.names().into_iter().filter(is_new).collect();
        Trained { model: folder.read(&format!("{name}.senv")), json, files }
    })
}

/// Writes the model of a system to a folder as `name.senv`.
pub(crate) fn bring(folder: &Folder, name: &str) {
    folder.write(&format!("{name}.senv"), &trained(name).model);
}

/// Writes the models that a system starts from to a folder, and returns their names.
pub(crate) fn bring_starts(folder: &Folder, name: &str) -> Vec<String> {
    let models = arguments(name).into_iter().filter_map(|argument| argument.strip_suffix(".senv"));
    models.inspect(|model| bring(folder, model)).map(|model| format!("{model}.senv")).collect()
}

/// The arguments of `senv train` for a system.
pub(crate) fn arguments(name: &str) -> Vec<&'static str> {
    let (_, arguments) = SYSTEMS.iter().find(|(known, _)| *known == name).unwrap();
    arguments.split(' ').collect()
}

/// Trains a system to `name.senv` in a folder with its inputs.
pub(crate) fn train(folder: &Folder, name: &str, threads: usize, more: &[&str]) -> Ended {
    let (output, threads) = (format!("{name}.senv"), threads.to_string());
    let given = ["--output", &output, "--threads", &threads];
    folder.run(&[&["train"], &arguments(name)[..], &given, more].concat())
}
