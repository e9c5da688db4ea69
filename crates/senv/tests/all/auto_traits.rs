//! Models can be sent to threads, shared between them, printed and cloned. This is checked at compile time, because a
//! new field could remove a trait unnoticed.

use std::{
    fmt::Debug,
    panic::{RefUnwindSafe, UnwindSafe},
};

use senv::{
    FastText, Index, Model, PThought, RandomBow, Relatedness, ReleasedBin, Sent2Vec, Snli, StaticModel, System,
    Trained, Weighted, average::AverageEncoder, data::TfIdf,
};

const fn shared<T: Debug + Send + Sync>() {}

/// A server that catches the panic of a request continues to use them.
const fn outlives_panics<T: UnwindSafe + RefUnwindSafe>() {}

const fn shared_and_cloned<T: Debug + Send + Sync + Clone + UnwindSafe + RefUnwindSafe>() {}

macro_rules! models_of {
    ($($params:ident),+) => { $(shared_and_cloned::<<senv::$params as System>::Model>());+ };
}

const _: () = {
    senv::text_systems!(models_of);
    senv::pair_systems!(models_of);
    senv::running_text_systems!(models_of);
    shared_and_cloned::<Model>();
    shared_and_cloned::<senv::StaticEncoder>();
    shared_and_cloned::<senv::gradient::WordEncoder>();
    shared_and_cloned::<FastText>();
    shared_and_cloned::<PThought>();
    shared_and_cloned::<Snli>();
    shared_and_cloned::<Relatedness>();
    shared_and_cloned::<Weighted>();
    shared_and_cloned::<StaticModel>();
    shared_and_cloned::<RandomBow>();
    shared_and_cloned::<AverageEncoder>();
    shared_and_cloned::<TfIdf>();
    shared_and_cloned::<Trained<Sent2Vec>>();
    // These contain an open file, or the vectors of all sentences, and are not cloned to avoid copies by mistake.
    shared::<ReleasedBin>();
    shared::<Index<Model>>();
    outlives_panics::<Index<Model>>();
};
