//! The program, run as a user runs it. One test binary: twenty would link for minutes.

mod bad_input;
mod check;
mod common;
mod conformance;
mod damage;
mod decode;
mod destinations;
mod english;
mod formats;
mod fuzz;
mod gradient;
mod gradient_bad_input;
mod init_model;
mod nli;
mod pinned;
mod quality;
mod recurrent;
mod relatedness;
mod release;
mod resume;
mod scarce;
mod similarity;
mod systems;
mod tune;
mod weights;
mod work;
