//! Tests of what is public. One binary for all: each would be linked for itself.

mod auto_traits;
mod checkpoint;
mod model_file;
mod optim;
mod web_collection;
