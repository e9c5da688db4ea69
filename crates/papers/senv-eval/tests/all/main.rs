//! Tests of the public interface. They share one binary, because linking each one separately takes longer.

mod bench;
mod own_data;
mod protocols;
mod relatedness;
mod similarity;
mod sts;
