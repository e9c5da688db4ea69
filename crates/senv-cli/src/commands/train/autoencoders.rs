//! `senv train rnn-ae` and `senv train bow-ae`: text to a model that reconstructs a sentence, in order or as a set of words.

use senv::{BowAutoencoder, BowAutoencoderParams, RnnAutoencoder, RnnAutoencoderParams};

use super::text_args::{RunningText, text_system};

/// Arguments of RNN AE.
pub(crate) type RnnAeArgs = RunningText<RnnAutoencoderParams>;
/// Arguments of BOW AE.
pub(crate) type BowAeArgs = RunningText<BowAutoencoderParams>;

text_system!(RnnAutoencoderParams => RnnAutoencoder);
text_system!(BowAutoencoderParams => BowAutoencoder);
