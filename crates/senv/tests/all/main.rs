//! Tests of what is public. One binary for all: each would be linked for itself.

mod auto_traits;
mod gradient;
mod gran;
mod initial_model;
mod models;
mod noise;
mod pv_dm_gensim;
mod ranks;
mod recurrent;
mod released_bin;
mod released_skip_thoughts;
mod weights;
