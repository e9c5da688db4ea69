//! The program, run as a user runs it. One test binary: twenty would link for minutes.

mod bad_input;
mod bench;
mod check;
mod common;
mod conformance;
mod decode;
mod destinations;
mod english;
mod formats;
mod gradient;
mod gradient_bad_input;
mod init_model;
mod nli;
mod pinned;
mod probes;
mod quality;
mod recurrent;
mod relatedness;
mod release;
mod resume;
mod similarity;
mod systems;
mod tune;
mod weights;
mod work;
