//! Tests of the public interface. They form one binary, because linking one per file would take long.

mod auto_traits;
mod checkpoint;
mod model_file;
mod optim;
mod web_collection;
