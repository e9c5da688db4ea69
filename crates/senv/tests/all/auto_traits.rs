//! Models are sent to threads, shared between them, printed and copied: held when this file is compiled, since a field
//! that is not loses it without a word.

use std::fmt::Debug;

use senv::{
    AverageEncoder, BowAutoencoder, Cse, FastSent, FastText, Gran, Index, Model, PThought, Pp, PvDbow, RandomBow,
    Relatedness, ReleasedBin, RnnAutoencoder, Sdae, Sent2Vec, SiameseCbow, SkipThought, Snli, StaticModel, TfIdf,
    Trained, Weighted, Word2Vec,
};

const fn shared<T: Debug + Send + Sync>() {}

const fn shared_and_cloned<T: Debug + Send + Sync + Clone>() {}

const _: () = {
    shared_and_cloned::<Model>();
    shared_and_cloned::<Sent2Vec>();
    shared_and_cloned::<Word2Vec>();
    shared_and_cloned::<PvDbow>();
    shared_and_cloned::<FastSent>();
    shared_and_cloned::<FastText>();
    shared_and_cloned::<SiameseCbow>();
    shared_and_cloned::<Pp>();
    shared_and_cloned::<Cse>();
    shared_and_cloned::<Gran>();
    shared_and_cloned::<SkipThought>();
    shared_and_cloned::<RnnAutoencoder>();
    shared_and_cloned::<Sdae>();
    shared_and_cloned::<BowAutoencoder>();
    shared_and_cloned::<PThought>();
    shared_and_cloned::<Snli>();
    shared_and_cloned::<Relatedness>();
    shared_and_cloned::<Weighted>();
    shared_and_cloned::<StaticModel>();
    shared_and_cloned::<RandomBow>();
    shared_and_cloned::<AverageEncoder>();
    shared_and_cloned::<TfIdf>();
    shared_and_cloned::<Trained<Sent2Vec>>();
    // An open file, and one that holds the vectors of all sentences: nobody copies them by mistake.
    shared::<ReleasedBin>();
    shared::<Index<Model>>();
};
