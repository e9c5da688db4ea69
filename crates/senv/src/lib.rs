//! Sentence embeddings: vectors of sentences, whose cosine measures how similar the sentences are in meaning.
//!
//! Open the built-in English model ([`english()`]) or a model file ([`open`]), or train on your own text ([`train`],
//! [`train_sentences`], [`fine_tune`]). Every [`Model`] encodes and compares sentences. [`Index`] searches them in
//! memory, [`SentenceCollection`] on disk.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let (text, path) = (folder.path().join("text.txt"), folder.path().join("my.senv"));
//! # let sentence = |i: usize| format!("the {} is {}", ["train", "bus", "rain", "storm"][i / 10 % 4], ["late", "near", "cold"][i % 3]);
//! # let sentences: Vec<String> = (0..200).map(sentence).collect();
//! # std::fs::write(&text, sentences.join("\n"))?;
//! use senv::{Index, prelude::*};
//!
//! # #[cfg(feature = "english")] {
//! let english = senv::english()?; // the built-in English model
//! # assert!(english.dim() > 0); }
//! let model = senv::train(&text)?; // one file or several: one sentence per line, a blank line between documents
//! let model = senv::train_sentences(&sentences)?; // sentences in memory
//! model.save(&path)?; // replaces an existing file atomically
//! let model = senv::open(&path)?; // memory-mapped; also opens fastText and Sent2Vec `.bin` files and word vectors
//! let vector = model.encode_one("The train is late."); // an ndarray of `dim` values, not normalized
//! let vectors = model.encode(&sentences)?; // one row per sentence, computed on all cores
//! let cosine = model.similarity("Rain is coming.", "A storm brings rain."); // in [-1, 1]; 0 without a known word
//! let index = Index::new(&model, &sentences)?; // in memory
//! let hits = index.search("The train is late.", 3)?;
//!
//! // The same on disk, for millions of sentences. Pass "english" instead of a path to use the English model.
//! let mut collection = SentenceCollection::create(folder.path().join("my.index"), &path)?;
//! let ids = collection.add(&sentences)?;
//! collection.replace(&[(ids[0], "the tram is late")])?;
//! collection.delete(&ids[1..3])?;
//! let collection = SentenceCollection::open(folder.path().join("my.index"))?;
//! let hits = collection.search("The train is late.", 3)?;
//!
//! // A system by name, with three settings changed. The other settings adapt to the text.
//! let training = NegativeSamplingParams { epochs: Some(20), ..NegativeSamplingParams::default() };
//! let params = Sent2VecParams { dim: 16, word_ngrams: 2, training, ..Sent2VecParams::default() };
//! let sent2vec = params.train(&text)?;
//!
//! // Train a model further on more text.
//! let tuned = senv::fine_tune(&model, &text)?;
//!
//! # #[cfg(feature = "eval")] {
//! // With the feature `eval`: how well do cosines agree with human judgments?
//! # let pairs = folder.path().join("pairs.tsv");
//! # std::fs::write(&pairs, "5\tthe train is late\tthe train is late\n1\tthe bus is near\tthe rain is cold\n3\tthe bus is near\tthe bus is cold\n")?;
//! let task = senv::eval::StsTask::read(&pairs)?; // gold score, sentence, sentence, separated by tabs
//! println!("{}", senv::eval::evaluate_sts(&model, &[task])?.to_text());
//! # }
//! # assert!(hits.len() == 3 && vector.len() == vectors.ncols() && cosine.is_finite() && sent2vec.dim() == 16);
//! # assert!(collection.len() == 198 && tuned.dim() == model.dim());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Training and encoding are at least ten times slower in an unoptimized dev build. Two lines in your `Cargo.toml`
//! optimize your dependencies in every build:
//!
//! ```toml
//! [profile.dev.package."*"]
//! opt-level = 3
//! ```
//!
//! Encoding and searching use all cores, through the global thread pool of rayon. To use fewer, set the environment
//! variable `RAYON_NUM_THREADS`, or call senv inside `rayon::ThreadPool::install`. Training takes the number of threads
//! from [`TrainOptions`].
//!
//! # Systems
//!
//! [`train`] chooses a system and its settings by the data. To choose yourself, use one of the [`systems`]:
//!
//! * trained by negative sampling: Sent2Vec, averages of word2vec vectors, PV-DBOW, PV-DM, FastSent, C-PHRASE;
//! * averages and small encoders trained by gradient: Siamese CBOW, PP, CSE, GRAN;
//! * encoders with decoders or classifiers: Skip-thoughts, SNLI models, autoencoders, P-thought;
//! * sentences mapped to given vectors: DictRep, CaptionRep, and [`Student`]s of a larger model.
//!
//! Settings are serde types. `serde_json::from_str::<Sent2VecParams>(r#"{"dim": 64}"#)` uses the default for every
//! field that is left out and refuses unknown names. An enum with fields, such as an optimizer, needs all fields of its
//! variant: `serde_json::to_string(&Sent2VecParams::default())` shows the form.
//!
//! Default settings adapt to the size of the text. The settings of the papers, `paper()`, are for billions of words.
//! [`data::TfIdf`] compares sentences without vectors.
//!
//! The arithmetic is in other crates. `senv-core` reads text into a corpus and `senv-ngram` maps words and n-grams to
//! rows. `senv-negative-sampling` trains the rows and `senv-store` stores them. Systems trained by gradient use one
//! loop, [`gradient`], with encoders from `senv-encoders` and losses from `senv-losses`.
//!
//! # Modules
//!
//! The root has the models, the systems, and the functions that train, search and open.
//!
//! | module | contents |
//! | --- | --- |
//! | [`jobs`] | encode files and folders, find near-duplicates, pairs and outliers, group and sample sentences |
//! | [`collection`], [`index`], [`documents`] | sentences on disk, vectors in memory, documents ranked by words and meaning |
//! | [`data`], [`recipe`], [`train_job`], [`grid_search`], [`check`](mod@check) | training data, choice of system, training runs, tuning, checks of a model |
//! | [`system`], [`gradient`], [`sequence`], [`targets`], [`forms`] | for authors of systems: traits, the training loop, settings |
//! | [`model`], [`average`] | what models can do; averages of word vectors, their weights, unknown words |
//! | [`parts`] | the underlying crates, for programs that bring their own encoders, losses, samplers or rows |
//!
//! # Features
//!
//! | feature | adds | |
//! | --- | --- | --- |
//! | `english` | [`english()`]: an English model inside the program, 7.8 MB | default |
//! | `arrow` | Parquet and Arrow IPC: text columns as input, and `senv::jobs::encode_table` adds vectors to a table | |
//! | `tokenizers` | Model2Vec folders with tokenizers of any type, through Hugging Face's crate | |
//! | `eval` | `senv::eval`: the crate `senv-eval` | |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod average;
mod base;
pub mod check;
pub mod collection;
mod compress;
pub mod data;
mod error;
#[cfg(feature = "eval")]
pub mod evaluation;
pub mod forms;
pub mod gradient;
pub mod grid_search;
pub mod jobs;
pub mod model;
mod model2vec;
pub mod parts;
pub mod prelude;
pub mod recipe;
mod sentence_index;
pub mod sequence;
mod start;
pub mod system;
pub mod systems;
pub mod targets;
pub mod train_job;

// Items of the core that callers need, so programs depend on one crate of senv only.
pub use senv_core::{
    CancelToken, Control, CorpusOptions, Coverage, Error as CoreError, FewKnownWords, KnownWords, NoObserver,
    Normalized, Observer, Progress, Remedy, RunOptions, Scratch, SentenceEncoder, SentenceEncoderExt, StaticEncoder,
    Terms, TextKind, Tokenizer, Vocabulary, checkpoint::CheckpointPlan,
};
// The share of known words below which the English model does not fit a text.
#[cfg(feature = "english")]
pub use senv_english::MIN_KNOWN_SHARE as MIN_KNOWN_SHARE_ENGLISH;
#[cfg(feature = "eval")]
pub use senv_eval as eval;
/// Search among vectors, on which [`Index`] and [`SentenceCollection`] are built.
pub use senv_index as index;
// Documents ranked by words and meaning.
pub use senv_index::documents;

#[cfg(feature = "english")]
pub use base::english_name::is_english;
pub use base::train_options::TrainOptions;
pub use check::check;
pub use collection::SentenceCollection;
#[cfg(feature = "english")]
pub use compress::english::english;
pub use compress::{model2vec::write_model2vec, table::CompressParams};
pub use error::{Error, Result};
pub use model::{handle::Model, trained::Trained};
pub use model2vec::Model2Vec;
pub use recipe::{Recipe, fine_tune, fine_tune_with, train, train_sentences, train_sentences_with, train_with};
pub use sentence_index::Index;
pub use system::{contract::System, pair_system::PairSystem, start::Start, text_system::TextSystem};
pub use systems::{pretraining::Pretraining, *};
pub use train_job::TrainJob;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
