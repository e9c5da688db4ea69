//! Training an encoder over word vectors on pairs, shared by all systems whose model is such an encoder.

use senv_core::rng::stream;
use senv_store::Embeddings;

use super::pair_system::{PairModel, PairSystem, PairSystemParams};
use crate::{
    base::{file, train_options::TrainOptions},
    data::PairData,
    error::Result,
    gradient::{
        PairObjective, fit,
        scored_pairs::{ScoredPairs, Validation},
    },
    model::{
        encoder_model::{EncoderModel, EncoderSystem},
        trained::Trained,
    },
    start::{encoder_weights::encoder_weights, initial::vectors_fingerprint},
};

impl<S: PairSystem + EncoderSystem<Params = S>> PairModel<S> for EncoderModel<S> {
    fn params(&self) -> &S {
        self.config()
    }

    fn fit_pairs(
        system: &S,
        data: &PairData,
        start: Option<&Self>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<Trained<Self>> {
        system.check()?;
        let mut params = system.clone();
        let PairSystemParams { dim, tokenizer, initial, pairs, fit: training } = params.shared();
        let vectors = options.vectors.filter(|_| start.is_none());
        let fingerprints = (vectors_fingerprint(vectors), start.map_or(String::new(), Self::fingerprint));
        let settings = format!("{} {} {}", file::to_json(system)?, fingerprints.0, fingerprints.1);
        let encoder = system.form().encoder(*dim)?;
        let validation = Validation::new(options.dev.unwrap_or_default(), tokenizer, &data.vocabulary)?;
        let penalty = training.penalty(system.l2_encoder());
        let mut objective =
            PairObjective::of_system(Self::KIND, &*encoder, data, pairs, validation, &settings, penalty);
        objective.may_explode = encoder.is_recurrent();
        let mut rng = stream(training.seed, S::ENCODER_STREAM, &[]);
        let (of_words, trained) = ((&*initial, *dim, training.seed), start.map(Self::trained));
        let (weights, found) = encoder_weights(&*encoder, &mut rng, of_words, &data.vocabulary, vectors, trained)?;
        let fitted = fit(&mut objective, || Ok(weights), training, &options.run())?;
        Trained::of_gradient(fitted, found, |weights| {
            let terms = start.map(Self::vocabulary).or(vectors.map(Embeddings::vocabulary));
            Self::new(system.clone(), data.vocabulary.clone().with_terms_of(terms), weights)
        })
    }
}
