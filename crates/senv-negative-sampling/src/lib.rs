//! negative-sampling
