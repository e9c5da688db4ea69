//! What DictRep and CaptionRep share: texts with given target vectors, an encoder trained toward them, and its model.

mod model;
mod net;
mod objective;
mod params;
mod text_targets;
mod training;

pub use model::{TargetConfig, TargetModel, TargetSystem};
pub use params::{TargetEncoder, TargetLoss, TargetParams};
pub use text_targets::TextTargets;
pub(crate) use training::fit_targets;
