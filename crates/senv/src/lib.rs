//! Sentence embeddings: train an encoder on your own text, or open one, and get vectors whose cosine means similarity.
//!
//! What users do, a line each:
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
//! let english = senv::english()?; // the English model that is part of the library
//! # assert!(english.dim() > 0); }
//! let model = senv::train(&text)?; // a file, or several: one sentence a line, a blank line between documents
//! let model = senv::train_sentences(&sentences)?; // sentences in memory
//! model.save(&path)?; // a file that is there is replaced at once, or not at all
//! let model = senv::open(&path)?; // memory-mapped; also .bin of fastText and Sent2Vec, and word vectors
//! let vector = model.encode_one("The train is late."); // one sentence: an ndarray of `dim` values, not of length 1
//! let vectors = model.encode(&sentences)?; // many: one row a sentence, on all cores
//! let cosine = model.similarity("Rain is coming.", "A storm brings rain."); // from -1 to 1; 0 without a known word
//! let index = Index::new(&model, &sentences)?; // in memory
//! let hits = index.search("The train is late.", 3)?;
//!
//! // The same on disk, for millions of sentences. "english" in place of the path is the English model.
//! let mut collection = SentenceCollection::create(folder.path().join("my.index"), &path)?;
//! let ids = collection.add(&sentences)?;
//! collection.replace(&[(ids[0], "the tram is late")])?;
//! collection.delete(&ids[1..3])?;
//! let collection = SentenceCollection::open(folder.path().join("my.index"))?;
//! let hits = collection.search("The train is late.", 3)?;
//!
//! // A system by name, with three settings changed; what is not set fits the text.
//! let training = NegativeSamplingParams { epochs: Some(20), ..NegativeSamplingParams::default() };
//! let params = Sent2VecParams { dim: 16, word_ngrams: 2, training, ..Sent2VecParams::default() };
//! let sent2vec = params.train(&text)?;
//!
//! // Go on from a model with more text, in order.
//! let tuned = senv::fine_tune(&model, &text)?;
//!
//! # #[cfg(feature = "eval")] {
//! // With the feature `eval`: how well do cosines agree with people?
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
//! Training and encoding are loops over numbers: in a dev build, which does not optimise, they take ten times as long
//! and more. Two lines in your `Cargo.toml` optimise what you depend on in every build:
//!
//! ```toml
//! [profile.dev.package."*"]
//! opt-level = 3
//! ```
//!
//! The systems of five papers are here side by side, each in a file of [`systems`]: Sent2Vec, averages of word2vec
//! vectors, PV-DBOW, PV-DM, FastSent, C-PHRASE; Siamese CBOW, PP, CSE and GRAN; Skip-thoughts, SNLI models,
//! autoencoders and P-thought; DictRep and CaptionRep. Default settings fit the text; the papers' are `paper()` and for
//! billions of words. Beside the systems [`data::TfIdf`] has no vectors and compares sentences all the same.
//!
//! No equation lives here. The parts do the arithmetic: text becomes a corpus (`senv-core`), words and n-grams name
//! rows (`senv-ngram`), the rows are trained (`senv-negative-sampling`) and stored (`senv-store`). Systems trained by
//! gradient bring an encoder (`senv-encoders`) and a loss (`senv-losses`) to one loop, [`gradient`].
//!
//! The root has models, systems and the ways to train, search and open. What belongs to one job has a module:
//!
//! | module | |
//! | --- | --- |
//! | [`jobs`] | encode files and folders, near-duplicates, pairs, groups, samples, odd sentences |
//! | [`collection`], [`index`], [`documents`] | sentences on disk, vectors in memory, documents ranked by words and meaning |
//! | [`data`], [`recipe`], [`train_job`], [`grid_search`], [`check`](mod@check) | what is trained on, and how it is chosen, run, tuned and judged |
//! | [`system`], [`gradient`], [`sequence`], [`targets`], [`forms`] | for authors of systems: contracts, the loop of training, settings |
//! | [`model`], [`average`] | what models can do; means of words, their weights, unknown words |
//! | [`parts`] | the crates that all this is made of, for what a program brings itself: encoders, losses, samplers, rows |
//!
//! | feature | what it brings | |
//! | --- | --- | --- |
//! | `english` | [`english()`]: an English model inside the program, 7.8 MB | default |
//! | `arrow` | Parquet and Arrow IPC: columns of text wherever text is read, `senv::jobs::encode_table` writes vectors beside them | |
//! | `tokenizers` | folders of Model2Vec with tokenizers of any type, by Hugging Face's crate | |
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

/// What the core has and a caller needs, so that a caller needs no other crate of senv.
pub use senv_core::{
    CancelToken, Control, CorpusOptions, Coverage, Error as CoreError, FewKnownWords, KnownWords, NoObserver,
    Normalized, Observer, Progress, Remedy, RunOptions, Scratch, SentenceEncoder, SentenceEncoderExt, StaticEncoder,
    Tokenizer, Vocabulary, checkpoint::CheckpointPlan,
};
/// Share of known words below which a text is nothing for the English model.
#[cfg(feature = "english")]
pub use senv_english::MIN_KNOWN_SHARE as MIN_KNOWN_SHARE_ENGLISH;
#[cfg(feature = "eval")]
pub use senv_eval as eval;
/// Search among vectors, which [`Index`] and [`SentenceCollection`] are made of.
pub use senv_index as index;
/// Documents that are ranked by words and meaning.
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
