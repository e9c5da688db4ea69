//! Tests of the public interface. They share one binary, because linking each one separately takes longer.

mod bench;
mod letters;
mod mteb;
mod nano_beir;
mod own_data;
mod protocols;
mod relatedness;
mod similarity;
mod sts;
