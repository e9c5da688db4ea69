//! Figures and their data: frames, curves, histograms, norms, sentences on a plane.

pub(crate) mod curve;
pub(crate) mod frame;
pub(crate) mod histogram;
pub(crate) mod map;
pub(crate) mod norm_plot;
pub(crate) mod norms;
pub(crate) mod pair_histograms;
pub(crate) mod rows;
pub(crate) mod scatter;
pub(crate) mod tsne;
