//! Protocols whose numbers people compare: MTEB's STS tasks, and NanoBEIR.

pub(crate) mod nano_beir;
pub(crate) mod result;
pub(crate) mod set;
pub(crate) mod task;
