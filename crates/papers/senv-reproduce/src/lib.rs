//! Reproduces the tables of five papers on sentence embeddings, with our figures next to theirs.
//!
//! Commands of the program `senv` compute every figure. The report lists them, so you can run each one yourself.
//! Commands run one at a time, and a folder keeps their results. A stopped run resumes from them, and nothing runs
//! twice. A row whose data set is missing says so. `senv reproduce` is this library with a command line.
//!
//! | step | what it does |
//! | --- | --- |
//! | [`Options`] | sets the papers ([`PaperName`]), the data sets and the output folder |
//! | [`Reproduction::new`] | finds the data sets and plans the commands |
//! | [`Reproduction::list`] | lists tables, rows and commands with their expected times, without running any |
//! | [`ReproductionRun::open`] | reads the results of earlier runs, and the checksums of the data |
//! | [`ReproductionRun::complete`] | runs the remaining commands; a [`RunObserver`] is notified and can stop the run |
//! | [`ReproductionRun::write_reports`] | writes a report per paper, the claims, a page with all papers, and JSON |
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
//! # The papers in the source code
//!
//! Each paper has a folder in `src/papers/`. It lists the models to train, the tables with their rows and columns,
//! where each figure is in the JSON of a command, and the claims. Published figures come from [`senv_eval`]. The rules
//! in `src/report/judge.rs` decide on each claim.

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
