//! The encoder is sent to threads, shared between them, printed and copied. Compiling this file checks that, because a
//! field that cannot would silently remove the trait.

use std::fmt::Debug;

use senv_core::StaticEncoder;

const fn shared_and_cloned<T: Debug + Send + Sync + Clone>() {}

const _: () = shared_and_cloned::<StaticEncoder>();
