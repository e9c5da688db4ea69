//! Arguments of a few names, each for a value of a library.

use std::path::Path;

use clap::ValueEnum;
use senv_core::{
    Observer, Tokenizer,
    optim::{AdaGradParams, AdamParams, AdamVariant, UpdateRule},
};
use senv_encoders::{Activation, Padding};
use senv_losses::{Candidates, Combine, RelatednessLoss, Selection};
use senv_models::{FilterStart, Norm, WordUpdates};

/// An argument of a few names, each for a value of the library.
macro_rules! names {
    ($(#[$meta:meta])* $name:ident for $of:ty { $($variant:ident => $value:expr),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub(crate) enum $name { $($variant),+ }

        impl From<$name> for $of {
            fn from(name: $name) -> $of {
                match name { $($name::$variant => $value),+ }
            }
        }
    };
}
pub(crate) use names;

names!(TokenizerArg for Tokenizer {
    Blank => Tokenizer::blank(), Words => Tokenizer::words(), Unicode => Tokenizer::unicode(),
});

/// The tokenizer that fits the files, in the place of `words` where none was asked for.
pub(crate) fn fit_tokenizer<P: AsRef<Path>>(
    asked_for: Option<TokenizerArg>,
    tokenizer: &mut Tokenizer,
    files: &[P],
    observer: &dyn Observer,
) {
    let lowercase = tokenizer.is_lowercase();
    if asked_for.is_none() && *tokenizer == Tokenizer::words().lowercase(lowercase) {
        *tokenizer = Tokenizer::for_files(files, observer).lowercase(lowercase);
    }
}
names!(OptimizerArg for UpdateRule {
    Adam => UpdateRule::Adam(AdamParams::default()),
    AdamFolded => UpdateRule::Adam(AdamParams::default().variant(AdamVariant::Folded)),
    AdamKiros => UpdateRule::Adam(AdamParams::default().variant(AdamVariant::Kiros)),
    Adagrad => UpdateRule::AdaGrad(AdaGradParams::default()),
    Sgd => UpdateRule::Sgd,
});
names!(UpdatesArg for WordUpdates {
    Sparse => WordUpdates::Sparse, Dense => WordUpdates::Dense, Frozen => WordUpdates::Frozen,
});
names!(NormArg for Norm { Half => Norm::Half, Full => Norm::Full });
names!(CandidatesArg for Candidates {
    BothSides => Candidates::BothSides, SameSide => Candidates::SameSide, FirstElements => Candidates::FirstElements,
});
names!(SelectionArg for Selection { Max => Selection::Max, Mix => Selection::Mix, Random => Selection::Random });
names!(ActivationArg for Activation { Linear => Activation::Linear, Tanh => Activation::Tanh });
names!(PaddingArg for Padding { PerFilter => Padding::PerFilter, WholeSentence => Padding::WholeSentence });
names!(CombineArg for Combine { Product => Combine::Product, Concat => Combine::Concat });
names!(FilterStartArg for FilterStart { Universal => FilterStart::Universal, Random => FilterStart::Random });
names!(GradeLossArg for RelatednessLoss {
    Kl => RelatednessLoss::Kl { mean_over_classes: false },
    CrossEntropy => RelatednessLoss::CrossEntropy,
    SquaredError => RelatednessLoss::SquaredError,
});

/// How the learning rate moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecayArg {
    /// Not at all.
    Constant,
    /// Up from 0 while it warms up, then down to 0 in a straight line.
    Linear,
    /// By half after each epoch, or after each quarter of --steps.
    Halve,
}

/// Sets what was given, and leaves the rest as it is.
pub(crate) fn set<T>(place: &mut T, value: Option<impl Into<T>>) {
    if let Some(value) = value {
        *place = value.into();
    }
}
