//! The encoder is sent to threads, shared between them, printed and copied: held when this file is compiled, since a
//! field that is not loses it without a word.

use std::fmt::Debug;

use senv_core::StaticEncoder;

const fn shared_and_cloned<T: Debug + Send + Sync + Clone>() {}

const _: () = shared_and_cloned::<StaticEncoder>();
