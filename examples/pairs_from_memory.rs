//! Trains on pairs from a database, a queue or a test, without writing a file.
//!
//! ```text
//! cargo run --release -p senv-examples --example pairs_from_memory
//! ```
#![allow(clippy::print_stdout)]
use senv::{
    NliPairs, SnliEncoder, SnliParams, Start, TrainJob,
    data::{MemoryText, PairFiles, PairInput, PairKind},
    prelude::*,
};

const TOPICS: [[&str; 3]; 4] = [
    ["the train is late", "the railway has delays", "trains do not run on time"],
    ["it will rain", "a storm brings showers", "the sky is full of clouds"],
    ["the soup is hot", "dinner is ready", "the meal is on the table"],
    ["the bill is wrong", "the invoice has a mistake", "you charged me twice"],
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Paraphrase pairs, from any iterator of two texts.
    let pairs = TOPICS.iter().flat_map(|[a, b, c]| [(a, b), (b, c)]).cycle().take(400);
    let model = PpParams { dim: 32, ..PpParams::default() }.train_pairs(pairs)?;
    let [alike, unlike] = [1, 4].map(|i| model.similarity(TOPICS[0][0], TOPICS[i / 3][i % 3]));
    println!("pairs    {alike:.2} {unlike:.2}");
    assert!(alike > unlike + 0.3);

    // Groups of paraphrases, starting from the English model. A job also takes options.
    let text = MemoryText::groups(TOPICS.iter().cycle().take(200))?;
    let files = PairFiles::from([PairInput::new(&text, PairKind::Captions)]);
    let english = senv::english()?;
    let job = TrainJob { start: Start::Model(&english), ..TrainJob::new(PpParams::default(), &files) };
    let trained = job.run()?.trained;
    println!("groups   {:.2}, terms {:?}", trained.model.similarity(TOPICS[0][0], TOPICS[0][1]), trained.terms());

    // Labeled pairs.
    let labelled = [
        ("entailment", "a man sleeps", "somebody sleeps"),
        ("contradiction", "a man sleeps", "the man runs"),
        ("neutral", "a man sleeps", "it is night"),
    ];
    let labelled = NliPairs::new("from memory", labelled.into_iter().cycle().take(60))?;
    let params = SnliParams { encoder: SnliEncoder::Bow, dim: 16, ..SnliParams::default() };
    let snli = params.fit(&labelled, &TrainOptions::default())?;
    println!("labelled loss {:.2}", snli.loss);
    Ok(())
}
