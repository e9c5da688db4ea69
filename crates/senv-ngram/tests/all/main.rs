//! Tests of the public interface. A single binary, because linking each file separately takes longer.

mod dropout;
mod word_ngrams;
