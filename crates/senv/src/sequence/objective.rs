//! The objective of the systems with decoders, which predict sentences word by word from the vector of another one.
//!
//! Equation: `sequence-objective`
//!
//! ```text
//! (F1)  L = Σ_k α_k L_k          L_k: `token-nll` or its likes of decoder k, added up or averaged over its tokens
//! ```
//!
//! Skip-thoughts: the sentences before and after, α = (1, 1). RNN AE: the sentence itself. SDAE: the sentence itself,
//! from one changed by `sentence-corruption`. P-thought: the sentence itself and a paraphrase, α = (1, α) from
//! `dual-decoder-objective`.

use ndarray::Array2;
use senv_core::{
    Result as CoreResult, Sentences, TokenId,
    arrays::{Float, Parameters, TokenBatch},
    corpus::StoredList,
    observer::Metric,
};
use senv_encoders::{Decoder, Encoder};
use senv_losses::{Reduction, RowGradients};

use super::{
    cell::{Network, with_network},
    form::{Output, Seq2Seq, targets_of},
};
use crate::{
    data::reading::END,
    error::Result,
    gradient::{
        GradientStep, Gradients, Lap, Objective, Phases, Source, StepReport, Weights, WordUpdates, add_rows,
        corruption::Corruption,
    },
};

/// The sentence to encode, and those to predict.
pub(crate) type Example = [u32; 3];

/// The number of held-out examples per batch.
const A_BATCH: usize = 128;

/// Sentences, and the examples among them.
pub(crate) struct ExampleSet {
    /// The sentences, without end tokens.
    pub(crate) sentences: Sentences,
    pub(crate) examples: StoredList<Example>,
}

/// The objective of an encoder and its decoders.
pub(crate) struct Seq2SeqObjective {
    pub(crate) kind: &'static str,
    pub(crate) seq2seq: Seq2Seq,
    pub(crate) train: ExampleSet,
    /// Held-out examples for validation.
    pub(crate) dev: Option<ExampleSet>,
    /// α of each decoder.
    pub(crate) weights: Vec<f64>,
    /// The token that the encoder reads after the last word.
    pub(crate) end: Option<TokenId>,
    /// The corruption of encoded sentences in training.
    pub(crate) corruption: Corruption,
    /// Which word vectors change, and whether rows of output matrices without a gradient do.
    pub(crate) updates: WordUpdates,
    pub(crate) identity: String,
}

/// The sentences of a step: those to encode, then those that each decoder predicts. Memory is reused between steps.
#[derive(Default)]
pub(crate) struct Seq2SeqBatch {
    batches: [TokenBatch; 3],
    sentences: Sentences,
}

impl Seq2SeqBatch {
    /// Takes these examples of a set for this many decoders; `corrupt` determines what the encoder reads of a sentence.
    fn assign<'e>(
        &mut self,
        set: &ExampleSet,
        examples: impl Iterator<Item = &'e Example> + Clone,
        n_decoders: usize,
        end: Option<TokenId>,
        mut corrupt: impl FnMut(&[TokenId], &mut Vec<TokenId>),
    ) -> Result<()> {
        let mut read = Vec::new();
        for (which, batch) in self.batches[..=n_decoders].iter_mut().enumerate() {
            self.sentences.clear();
            for example in examples.clone() {
                let sentence = set.sentences.get(example[which] as usize);
                if which == 0 {
                    corrupt(sentence, &mut read);
                    self.sentences.push(read.iter().copied().chain(end));
                } else {
                    self.sentences.push(sentence.iter().copied().chain([END]));
                }
            }
            batch.assign(self.sentences.iter())?;
        }
        Ok(())
    }
}

/// What a step needs in addition to sentences and parameters.
pub(crate) struct StepContext<'a> {
    /// α of each decoder.
    pub(crate) alphas: &'a [f64],
    /// The seed and the number of the step, which determine the sampled words.
    pub(crate) place: (u64, u64),
    /// Frozen word vectors do not need a gradient.
    pub(crate) frozen: bool,
    /// The groups whose gradients are given as rows, if any.
    pub(crate) row_groups: &'a [usize],
}

impl Seq2Seq {
    /// Computes loss and gradients of one encoded batch of sentences and one predicted by each decoder, with the
    /// vectors of the distinct words of each. Returns the gradients of the word vectors, batch by batch, and the time
    /// of each part.
    pub(crate) fn step<F: Float>(
        &self,
        batches: &[TokenBatch],
        words: &[Array2<F>],
        parameters: &[Parameters<F>],
        context: &StepContext<'_>,
        d_parameters: &mut [Parameters<F>],
        row_gradients: &mut Vec<RowGradients<F>>,
    ) -> Result<(StepReport, Vec<Array2<F>>, Phases)> {
        with_network!(&self.networks, network => {
            self.step_of(network, batches, words, parameters, context, d_parameters, row_gradients)
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn step_of<F: Float, E: Encoder<F>, D: Decoder>(
        &self,
        network: &Network<E, D>,
        batches: &[TokenBatch],
        words: &[Array2<F>],
        parameters: &[Parameters<F>],
        context: &StepContext<'_>,
        d_parameters: &mut [Parameters<F>],
        row_gradients: &mut Vec<RowGradients<F>>,
    ) -> Result<(StepReport, Vec<Array2<F>>, Phases)> {
        let (mut phases, mut lap) = (Phases::default(), Lap::start());
        let (vectors, saved) = network.encoder.forward(&parameters[0], &batches[0], words[0].view())?;
        lap.add_to(&mut phases.encode);
        let mut d_vectors = Array2::zeros(vectors.raw_dim());
        let mut d_words: Vec<Array2<F>> = words.iter().map(|words| Array2::zeros(words.raw_dim())).collect();
        // Among a few sampled words, perplexity is far below that over all words.
        let is_sampled = matches!(self.output, Output::Sampled(..));
        let name = if is_sampled { "perplexity among samples" } else { "perplexity" };
        let mut report = StepReport { tokens: batches[0].n_tokens() as u64, ..StepReport::default() };
        for (k, &alpha) in context.alphas.iter().enumerate() {
            let (decoder, (of_decoder, of_output)) = (network.decoder(k, self.form.decoders)?, self.groups(k));
            let (batch, words) = (&batches[1 + k], words[1 + k].view());
            let (hidden, saved_states) = decoder.forward(&parameters[of_decoder], batch, words, vectors.view())?;
            let (loss, d_hidden, rows) = self.output.loss_and_gradients(
                &parameters[of_output],
                hidden.view(),
                &targets_of(decoder, batch),
                alpha,
                (context.place.0, [context.place.1, k as u64]),
                &mut d_parameters[of_output],
            )?;
            match (rows, context.row_groups.iter().position(|&group| group == of_output)) {
                (Some(rows), Some(place)) => add_rows(row_gradients, place, rows)?,
                (Some(rows), None) => rows.add_to(&mut d_parameters[of_output], 0)?,
                (None, _) => {}
            }
            let per_token = if self.form.reduction == Reduction::Sum { batch.n_tokens() as f64 } else { 1.0 };
            report.loss += alpha * loss / per_token; // (F1)
            // The loss of guessing with the full softmax. Among samples it is at most that, and how much lower depends
            // on how often each word is sampled. A run near ln V has learned nothing, and one below it may also have.
            *report.chance.get_or_insert(0.0) += alpha * (self.form.n_words as f64).ln();
            report.metrics[k] = Some(Metric { name, value: (loss / per_token).exp() });
            report.tokens += batch.n_tokens() as u64;
            lap.add_to(&mut phases.loss);
            decoder.backward(
                &parameters[of_decoder],
                batch,
                words,
                vectors.view(),
                &saved_states,
                d_hidden.view(),
                (!context.frozen).then(|| d_words[1 + k].view_mut()),
                d_vectors.view_mut(),
                &mut d_parameters[of_decoder],
            )?;
            lap.add_to(&mut phases.backward);
        }
        let (source, words) = (&batches[0], words[0].view());
        let d_words_read = (!context.frozen).then(|| d_words[0].view_mut());
        let d_encoder = &mut d_parameters[0];
        network.encoder.backward(&parameters[0], source, words, &saved, d_vectors.view(), d_words_read, d_encoder)?;
        lap.add_to(&mut phases.backward);
        Ok((report, d_words, phases))
    }
}

impl Seq2SeqObjective {
    /// Adds up word gradients by token.
    fn merge(&self, sentences_of_step: &Seq2SeqBatch, parts: &[Array2<f32>], dim: usize, gradients: &mut Gradients) {
        let parts = || sentences_of_step.batches.iter().zip(parts);
        gradients.tokens.clear();
        if gradients.frozen {
            gradients.d_words = Array2::zeros((0, dim));
            return;
        }
        gradients.tokens.extend(parts().flat_map(|(batch, _)| batch.distinct()));
        gradients.tokens.sort_unstable();
        gradients.tokens.dedup();
        gradients.d_words = Array2::zeros((gradients.tokens.len(), dim));
        for (batch, d_words) in parts() {
            for (token, d) in batch.distinct().iter().zip(d_words.rows()) {
                let place = gradients.tokens.partition_point(|other| other < token);
                let mut row = gradients.d_words.row_mut(place);
                row += &d;
            }
        }
    }
}

impl Objective for Seq2SeqObjective {
    type Batch = Seq2SeqBatch;

    fn kind(&self) -> &'static str {
        self.kind
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source { n_examples: self.train.examples.len() as u32, weight: None }]
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    /// Returns the outputs with sampled words. Under the dense rule every row changes at every step, so there are none.
    fn row_groups(&self) -> Vec<usize> {
        let sampled = matches!(self.seq2seq.output, Output::Sampled(..)) && self.updates != WordUpdates::Dense;
        let mut groups: Vec<usize> = (0..self.weights.len()).map(|k| self.seq2seq.groups(k).1).collect();
        groups.dedup(); // Decoders may share one.
        if sampled { groups } else { Vec::new() }
    }

    fn prepare(&self, step: &GradientStep<'_>, sentences_of_step: &mut Seq2SeqBatch) -> Result<()> {
        let examples = step.examples.iter().map(|&i| &self.train.examples[i as usize]);
        let corrupt = self.corruption.of_step((step.seed, step.number));
        sentences_of_step.assign(&self.train, examples, self.weights.len(), self.end, corrupt)
    }

    fn gradients(
        &self,
        weights: &Weights,
        step: &GradientStep<'_>,
        sentences_of_step: &Seq2SeqBatch,
        gradients: &mut Gradients,
    ) -> Result<StepReport> {
        let (row_groups, mut gathering) = (self.row_groups(), Lap::start());
        gradients.rows.clear();
        let batches = &sentences_of_step.batches[..=self.weights.len()];
        let words = batches.iter().map(|batch| batch.gather(&weights.words)).collect::<CoreResult<Vec<_>>>()?;
        let context = StepContext {
            alphas: &self.weights,
            place: (step.seed, step.number),
            frozen: gradients.frozen,
            row_groups: &row_groups,
        };
        gathering.add_to(&mut gradients.phases.encode);
        let Gradients { d_parameters, rows, .. } = gradients;
        let (report, parts, phases) =
            self.seq2seq.step(batches, &words, &weights.parameters, &context, d_parameters, rows)?;
        gradients.phases += phases;
        self.merge(sentences_of_step, &parts, self.seq2seq.form.dim, gradients);
        Ok(report)
    }

    /// Returns the mean of ln p over the held-out tokens of all decoders, weighted by α, with the full softmax. Larger
    /// is better, as for scores.
    fn validate(&mut self, weights: &Weights) -> Result<Option<f64>> {
        let Some(dev) = &self.dev else { return Ok(None) };
        let Seq2Seq { networks, output, .. } = &self.seq2seq;
        let (mut sum, mut n, mut sentences_of_step) = (0.0, 0.0, Seq2SeqBatch::default());
        for examples in dev.examples.chunks(A_BATCH) {
            let as_it_is = Corruption::default().of_step((0, 0));
            sentences_of_step.assign(dev, examples.iter(), self.weights.len(), self.end, as_it_is)?;
            let source = &sentences_of_step.batches[0];
            let words = source.gather(&weights.words)?;
            let vectors = networks.encode(&weights.parameters[0], source, words.view())?;
            for (k, &weight) in self.weights.iter().enumerate() {
                let (of_decoder, of_output) = self.seq2seq.groups(k);
                let batch = &sentences_of_step.batches[1 + k];
                let words = batch.gather(&weights.words)?;
                let parameters = &weights.parameters[of_decoder];
                let (hidden, targets) = self.seq2seq.states(k, parameters, batch, words.view(), vectors.view())?;
                let losses = output.losses(&weights.parameters[of_output], hidden.view(), &targets)?;
                sum += weight * losses.iter().sum::<f64>();
                n += weight * losses.len() as f64;
            }
        }
        Ok(Some(-sum / n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence::{OutputForm, SequenceCell, SequenceForm};
    use rand::RngExt;
    use senv_core::{gradcheck::max_relative_error, rng::stream};
    use senv_encoders::{Conditioning, GruInit, GruStyle, LstmInit, RecurrentTopology};

    const WORDS: usize = 9;
    const DIM: usize = 2;

    /// Returns loss and all gradients, concatenated: words, then groups of parameters. `x` contains words and
    /// parameters in the same order.
    fn whole(
        seq2seq: &Seq2Seq,
        sentences_of_step: &Seq2SeqBatch,
        form: &[Parameters<f64>],
        as_rows: bool,
        x: &[f64],
    ) -> (f64, Vec<f64>) {
        let (table, mut rest) = x.split_at(WORDS * DIM);
        let mut parameters = form.to_vec();
        for tensor in parameters.iter_mut().flat_map(Parameters::iter_mut) {
            let (values, more) = rest.split_at(tensor.values().len());
            tensor.values_mut().copy_from_slice(values);
            rest = more;
        }
        let gather = |batch: &TokenBatch| {
            Array2::from_shape_fn((batch.distinct().len(), DIM), |(i, j)| table[batch.distinct()[i].index() * DIM + j])
        };
        let words: Vec<Array2<f64>> = sentences_of_step.batches.iter().map(gather).collect();
        let groups = if seq2seq.form.shared_output { vec![3] } else { vec![3, 4] };
        let row_groups = if as_rows { &groups[..] } else { &[] };
        let context = StepContext { alphas: &[1.0, 2.5], place: (7, 3), frozen: false, row_groups };
        let mut d: Vec<Parameters<f64>> = form.iter().map(Parameters::zeros_like).collect();
        let mut rows = Vec::new();
        let (report, d_words, _) =
            seq2seq.step(&sentences_of_step.batches, &words, &parameters, &context, &mut d, &mut rows).unwrap();
        for (rows, &group) in rows.iter().zip(&groups) {
            assert!(as_rows && d[group].iter().all(|tensor| tensor.values().iter().all(|&d| d == 0.0)));
            rows.add_to(&mut d[group], 0).unwrap();
        }
        let mut gradient = vec![0.0; WORDS * DIM];
        for (batch, d_words) in sentences_of_step.batches.iter().zip(&d_words) {
            for (token, d) in batch.distinct().iter().zip(d_words.rows()) {
                (0..DIM).for_each(|j| gradient[token.index() * DIM + j] += d[j]);
            }
        }
        gradient.extend(d.iter().flat_map(|group| group.iter().flat_map(|tensor| tensor.values().to_vec())));
        (report.loss, gradient)
    }

    #[test]
    fn gradients_of_whole_systems_match_central_differences() {
        let set = ExampleSet {
            sentences: {
                let mut sentences = Sentences::new();
                for tokens in [&[2, 3, 2][..], &[4], &[1, 5, 6, 8], &[7, 2]] {
                    sentences.push(tokens.iter().map(|&token| TokenId(token)));
                }
                sentences
            },
            examples: vec![[0, 0, 2], [1, 3, 0], [2, 2, 1]].into(),
        };
        let outputs =
            [OutputForm::Full, OutputForm::Sampled { words: 4 }, OutputForm::Adaptive { cutoffs: vec![3, 6] }];
        let gru = |style| SequenceCell::Gru { style, start: GruInit::Glorot };
        let lstm = SequenceCell::Lstm { lstm: LstmInit::Orthogonal };
        let skip_thought =
            (Conditioning::ContextMatrices, false, gru(GruStyle::Paper), 1, RecurrentTopology::Separate, true);
        let p_thought =
            (Conditioning::InitialState, true, gru(GruStyle::Tf1), 2, RecurrentTopology::Interleaved, false);
        let sdae = (Conditioning::ContextAndState, false, lstm, 1, RecurrentTopology::Forward, false);
        let forms = [skip_thought, p_thought, sdae];
        // Thousands of tiny steps run faster on one thread than when each is handed to another.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        for (conditioning, start_token, cell, layers, topology, shared_output) in forms {
            for output in outputs.clone() {
                let form = SequenceForm {
                    dim: DIM,
                    hidden: 2,
                    layers,
                    topology,
                    cell,
                    conditioning,
                    start_token,
                    decoders: 2,
                    shared_output,
                    n_words: WORDS,
                    output: output.clone(),
                    reduction: Reduction::Mean,
                };
                let seq2seq = form.build().unwrap();
                let zeros: Vec<Parameters<f64>> = seq2seq.init(1).unwrap().iter().map(Parameters::cast).collect();
                let mut sentences_of_step = Seq2SeqBatch::default();
                let as_it_is = Corruption::default().of_step((0, 0));
                let end = shared_output.then_some(END);
                sentences_of_step.assign(&set, set.examples.iter(), 2, end, as_it_is).unwrap();
                let n = WORDS * DIM + zeros.iter().map(Parameters::n_values).sum::<usize>();
                let mut rng = stream(5, "whole", &[]);
                let x: Vec<f64> = (0..n).map(|_| rng.random_range(-0.8..0.8)).collect();
                let (_, gradient) = whole(&seq2seq, &sentences_of_step, &zeros, false, &x);
                let loss = |x: &[f64]| whole(&seq2seq, &sentences_of_step, &zeros, false, x).0;
                let error = alone.install(|| max_relative_error(loss, &x, &gradient));
                assert!(error < 1e-7, "{output:?} {conditioning:?}: {error:e}");
                let largest = (0..n).max_by(|&i, &j| gradient[i].abs().total_cmp(&gradient[j].abs())).unwrap();
                let along_it = |value: &[f64]| loss(&[&x[..largest], value, &x[largest + 1..]].concat());
                let wrong = [-gradient[largest]];
                assert!(max_relative_error(along_it, &x[largest..=largest], &wrong) > 1.9, "a flipped sign");
                if matches!(output, OutputForm::Sampled { .. }) {
                    assert_eq!(whole(&seq2seq, &sentences_of_step, &zeros, true, &x).1, gradient, "as rows");
                }
            }
        }
    }
}
