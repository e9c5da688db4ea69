//! Classifiers and regressions on frozen vectors.

pub(crate) mod classification;
pub(crate) mod cross_validation;
pub(crate) mod features;
pub(crate) mod folds;
pub(crate) mod frozen;
pub(crate) mod frozen_scorer;
pub(crate) mod learning_curve;
pub(crate) mod linear_probe;
pub(crate) mod logistic;
pub(crate) mod paraphrase_detection;
