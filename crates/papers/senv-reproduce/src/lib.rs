//! The tables of five papers on sentence embeddings, made again: ours beside theirs.
//!
//! Every figure is made by commands of the program `senv`, which stand in the report, so that each can be typed again.
//! They run one after the other; what has run is kept in a folder, so that a run that was stopped goes on where it was,
//! and nothing is run twice. A data set that is not there is a row that says so. `senv reproduce` is this library with
//! a command line.
//!
//! | step | what it does |
//! | --- | --- |
//! | [`Options`] | say which papers ([`PaperName`]), which data sets, and the folder of the output |
//! | [`Reproduction::new`] | looks which data are there, and plans the commands |
//! | [`Reproduction::list`] | lists tables, rows, commands and the time that they take, without running any |
//! | [`ReproductionRun::open`] | reads what has run before, and the checksums of the data |
//! | [`ReproductionRun::complete`] | runs what is left; a [`RunObserver`] hears of it and can stop it |
//! | [`ReproductionRun::write_reports`] | writes a report for each paper, the claims, a page with all, and a JSON |
//!
//! ```
//! use senv_reproduce::{Options, PaperName, Reproduction};
//!
//! let mut options = Options::new("data", "out");
//! options.papers = vec![PaperName::Cse];
//! let reproduction = Reproduction::new(options);
//! assert!(reproduction.commands().any(|command| command.starts_with("senv train cse --pairs ")));
//! println!("{}", reproduction.list());
//! ```
//!
//! # Where the papers are
//!
//! One folder each in `src/papers/`: the models that are trained, the tables with their rows and columns, where each
//! figure stands in the JSON of a command, and what the paper claims. Published figures are those of [`senv_eval`]. The
//! verdict on a claim is no one's opinion: `src/report/judge.rs` has the rules.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod checksums;
mod claims;
mod data;
mod error;
mod observer;
mod options;
mod paper;
mod paper_name;
mod papers;
mod plan;
mod report;
mod reproduction;
mod run;
mod runner;

pub use error::{Error, Result};
pub use observer::{Remaining, RunObserver};
pub use options::Options;
pub use paper_name::PaperName;
pub use reproduction::Reproduction;
pub use run::ReproductionRun;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
