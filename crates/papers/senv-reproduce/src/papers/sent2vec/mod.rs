//! Pagliardini, Gupta and Jaggi 2018: Sent2Vec.

mod claims;
mod classification;
mod similarity;
mod words;

use super::common::{
    ALL, NEWS, TEXT, TREES, c_phrase, cbow, fast_sent, pv_dbow, pv_dbow_fitted, pv_dm, scbow_words, seeded, sent2vec,
    sent2vec_bigrams, sent2vec_by, skip_gram, skip_thoughts, with_seeds,
};
use crate::{
    paper::{Model, Paper},
    paper_name::PaperName,
};

const SEEDS: [u32; 3] = [1, 2, 3];

/// Schedules and sharing of negatives, with the seconds of one run.
const SCHEDULES: [(&str, &str, f64); 6] = [
    ("deterministic", "none", 30.0),
    ("deterministic", "sentence", 17.0),
    ("deterministic", "block", 13.0),
    ("hogwild", "none", 20.0),
    ("hogwild", "sentence", 12.0),
    ("hogwild", "block", 11.0),
];

/// Options of an SDAE or SAE with fixed word vectors.
const EMBEDDINGS: &str = "--init-vectors $OUT/cbow.senv --updates frozen";

/// An SDAE, smaller and trained for fewer steps than the paper's.
fn sdae(file: &str, options: &str) -> Model {
    let command = format!(
        "train sdae --input @news {options} --min-count 3 --hidden 300 --softmax sampled --batch 64 --steps 1500 --json"
    );
    Model::new(file, 90.0, command.replace("  ", " "))
}

/// A model of the table of schedules.
fn scheduled(schedule: &str, shared: &str, seed: u32, seconds: f64) -> Model {
    // With one thread, hogwild would also be deterministic.
    let threads = if schedule == "hogwild" { " --threads 2" } else { "" };
    let options = format!("--schedule {schedule} --negatives-shared {shared} --seed {seed}{threads}");
    sent2vec_by(&format!("schedule-{schedule}-{shared}-{seed}.senv"), "@news", &options, seconds)
}

/// The training data of DictRep and CaptionRep, as printed in the tables.
const DEFINITIONS: &str = "181 k definitions";
const CAPTIONS: &str = "12 k captions; other captions in place of images";

/// Sent2Vec on words and bigrams with L1, with a penalty small enough to train.
fn with_l1() -> Model {
    let command = sent2vec_bigrams(1).command.replace("--seed 1 --no-check", "--l1 5e-5 --no-check");
    let file = "sent2vec-bi-l1.senv";
    Model { file: file.to_owned(), command: command.replace("sent2vec-bi-1.senv", file), seconds: 70.0 }
}

/// FastSent that also predicts its own sentence.
fn with_autoencoder() -> Model {
    let file = "fast-sent-ae.senv";
    let command = fast_sent().command.replace("--json", "--json --autoencode").replace("fast-sent.senv", file);
    Model { file: file.to_owned(), command, seconds: 120.0 }
}

pub(super) fn paper() -> Paper {
    let mut models: Vec<Model> = Vec::new();
    for seed in SEEDS {
        models.extend(SCHEDULES.map(|(schedule, shared, seconds)| scheduled(schedule, shared, seed, seconds)));
        models.extend([sent2vec(seed), sent2vec_bigrams(seed)]);
        let options = format!("--negatives-shared block --seed {seed}");
        models.push(sent2vec_by(&format!("sent2vec-all-{seed}.senv"), "@all-text", &options, 100.0));
    }
    let several = [
        with_l1(),
        cbow(),
        skip_gram(),
        scbow_words(),
        pv_dbow(),
        pv_dbow_fitted(),
        pv_dm(),
        c_phrase(),
        fast_sent(),
        with_autoencoder(),
        sdae("sae.senv", "--preset sae"),
        sdae("sae-embs.senv", &format!("--preset sae {EMBEDDINGS}")),
        sdae("sdae.senv", ""),
        sdae("sdae-embs.senv", EMBEDDINGS),
    ];
    models.extend(several.iter().chain(&target_models()).flat_map(with_seeds));
    models.extend(skip_thoughts());
    models.extend([
        Model::new("glove-sif.senv", 5.0, "train weighted --model @glove --input @text"),
        Model::new("sent2vec-sif.senv", 5.0, format!("train weighted --model $OUT/{} --input @text", sent2vec(1).file)),
    ]);
    let mut tables = vec![words::schedules()];
    tables.extend(similarity::tables());
    tables.extend(classification::tables());
    tables.extend([words::reverse_dictionary(), words::norms(), words::lengths()]);
    Paper {
        name: PaperName::Sent2vec,
        title: "Sent2Vec (Pagliardini, Gupta and Jaggi, NAACL 2018)",
        about: "The paper trains on 0.9 to 19.7 billion words with 600 or 700 dimensions and up to 13 epochs; we use \
            15.9 million words of news, speeches and encyclopedia text, 300 dimensions and 5 epochs. The learning \
            rate, the thresholds and the number of dropped n-grams are the paper's. Unless a row says otherwise, \
            targets share negatives, n-grams start at zero, and dropout is drawn once per sentence. The L1 penalty is \
            a tenth of the printed one. With the printed one no row ever leaves zero: target rows start at zero, and \
            the first step at learning rate .2 is smaller than the threshold of 5e-4 x .2 subtracted from it. The loss \
            then stays at that of guessing, 11 ln 2; with 5e-5 the model trains. C-PHRASE is trained on 3,914 parsed \
            sentences of the Wall Street Journal, with settings for so little text; the published model is trained on \
            2.8 billion words. SAE and SDAE have hidden size 2400 in the paper; here they have hidden size 300, a \
            sampled softmax, and see 96 thousand sentences of news (1,500 steps of 64).",
        models,
        tables,
        claims: claims::claims(),
    }
}

/// DictRep and CaptionRep, with the words of `skip_gram`. The captions have no image vectors, so the mean of the other
/// captions of an image replaces its vector.
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

/// A system to compare with the paper: name, data, models, and the name in the paper.
type System = (&'static str, &'static str, Vec<String>, &'static str);

/// The systems of Tables 1, 2, 6 and 7.
fn systems() -> Vec<System> {
    let numbered = |model: fn(u32) -> Model| SEEDS.map(|seed| model(seed).file).to_vec();
    let seeds = |file: &str| seeded(file).to_vec();
    vec![
        ("Sent2Vec, words", TEXT, numbered(sent2vec), "Sent2Vec uni books"),
        ("Sent2Vec, words and bigrams", TEXT, numbered(sent2vec_bigrams), "Sent2Vec uni+bi books"),
        ("Sent2Vec, words and bigrams, L1", TEXT, seeds("sent2vec-bi-l1.senv"), "Sent2Vec uni+bi L1 books"),
        ("CBOW", TEXT, seeds("cbow.senv"), "CBOW"),
        ("skip-gram", TEXT, seeds("skip-gram.senv"), "skip-gram"),
        ("PV-DBOW, settings for long documents", TEXT, seeds("pv-dbow.senv"), "PV-DBOW"),
        ("PV-DBOW, defaults", TEXT, seeds("pv-dbow-fit.senv"), ""),
        ("PV-DM, settings for long documents", TEXT, seeds("pv-dm.senv"), "PV-DM"),
        ("Siamese CBOW", TEXT, seeds("scbow-sgd-sum.senv"), "Siamese CBOW"),
        ("Skip-thoughts", NEWS, seeds("combined.senv"), "SkipThought"),
        ("FastSent", TEXT, seeds("fast-sent.senv"), "FastSent"),
        ("FastSent+AE", TEXT, seeds("fast-sent-ae.senv"), "FastSent + AE"),
        ("C-PHRASE", TREES, seeds("c-phrase.senv"), "C-PHRASE"),
        ("DictRep BOW", DEFINITIONS, seeds("dict-rep-bow.senv"), "DictRep BOW"),
        ("DictRep BOW, given vectors", DEFINITIONS, seeds("dict-rep-bow-embs.senv"), "DictRep BOW + embeddings"),
        ("DictRep RNN", DEFINITIONS, seeds("dict-rep-rnn.senv"), "DictRep RNN"),
        ("DictRep RNN, given vectors", DEFINITIONS, seeds("dict-rep-rnn-embs.senv"), "DictRep RNN + embeddings"),
        ("CaptionRep BOW", CAPTIONS, seeds("caption-rep-bow.senv"), "CaptionRep BOW"),
        ("CaptionRep RNN", CAPTIONS, seeds("caption-rep-rnn.senv"), "CaptionRep RNN"),
        ("SAE", NEWS, seeds("sae.senv"), "SAE"),
        ("SAE, given vectors", NEWS, seeds("sae-embs.senv"), "SAE + embeddings"),
        ("SDAE", NEWS, seeds("sdae.senv"), "SDAE"),
        ("SDAE, given vectors", NEWS, seeds("sdae-embs.senv"), "SDAE + embeddings"),
    ]
}

/// Published models of larger texts, to which none of ours corresponds.
const LARGER: [&str; 5] = [
    "Sent2Vec uni wiki",
    "Sent2Vec uni+bi wiki",
    "Sent2Vec uni+bi L1 wiki",
    "Sent2Vec uni twitter",
    "Sent2Vec uni+bi twitter",
];
