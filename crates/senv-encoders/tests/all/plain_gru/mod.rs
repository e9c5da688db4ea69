//! Recurrent encoders and decoders of realistic sizes against a plain GRU written from the equations. At these sizes
//! the products of the library use blocks, SIMD vectors and threads that small cases do not reach.

mod plain;

use ndarray::{Array1, Array2, Axis};
use senv_core::{
    TokenId,
    arrays::{Float, Parameters, TokenBatch},
    init,
    rng::stream,
};
use senv_encoders::{
    Conditioning, Decoder, Encoder, FirstInput, GruDecoder, GruEncoder, GruInit, GruStyle, RecurrentTopology,
};

use plain::Plain;

const WORD_DIM: usize = 300;

/// Twelve sentences of 0 to 11 words; many words occur twice in one, and in several.
fn sentences() -> Vec<Vec<TokenId>> {
    let word = |i: usize, t: usize| TokenId(((i * i + 3 * t * t + t) % 17) as u32);
    [5, 1, 8, 0, 3, 11, 2, 6, 4, 7, 1, 9]
        .iter()
        .enumerate()
        .map(|(i, &n)| (0..n).map(|t| word(i, t)).collect())
        .collect()
}

fn batch() -> TokenBatch {
    let mut batch = TokenBatch::new();
    batch.assign(sentences().iter().map(Vec::as_slice)).expect("few sentences");
    batch
}

fn random(n: usize, dim: usize, seed: u64) -> Array2<f64> {
    let mut x = vec![0.0; n * dim];
    init::normal(&mut stream(seed, "plain", &[]), &mut x, 1.0).expect("a spread above 0");
    Array2::from_shape_vec((n, dim), x).expect("as many numbers")
}

/// Biases that are not 0.
fn with_biases(mut parameters: Parameters<f64>) -> Parameters<f64> {
    let mut rng = stream(5, "biases", &[]);
    for tensor in parameters.iter_mut().filter(|tensor| tensor.name().ends_with("bias")) {
        init::normal(&mut rng, tensor.values_mut(), 0.5).expect("a spread above 0");
    }
    parameters
}

/// The plain GRU whose tensors in `parameters` begin with `prefix`.
fn plain_of(parameters: &Parameters<f64>, prefix: &str, style: GruStyle) -> Plain {
    let tensor = |name: &str| parameters.place(&format!("{prefix}.{name}")).map(|at| parameters[at].view().to_owned());
    let [w, u, b] = ["input", "recurrent", "bias"].map(|name| tensor(name).expect("a tensor of every cell"));
    let c = tensor("recurrent_bias").map_or(Array1::zeros(b.len()), |c| c.row(0).to_owned());
    Plain { style, w, u, b: b.row(0).to_owned(), c }
}

/// The bounds. A value in f32 is a sum of about `terms` products, each rounded once. The rounding errors grow by chance
/// as the root of that number, in units of 2⁻²⁴ of the sum. Errors accumulate from word to word, and a state or
/// gradient of states is computed `steps` times. So no value may differ by more than `2⁻²⁴ √terms steps` of the
/// largest. All of them together may differ by no more than that part of their norm. In f64 the factor is 2⁻⁵³. A wrong
/// index, gate or sign is off by the size of the values themselves.
struct Bound(f64);

impl Bound {
    fn of<F: Float>(terms: usize, steps: usize) -> Self {
        let unit = if size_of::<F>() == 4 { 2f64.powi(-24) } else { 2f64.powi(-53) };
        Self(unit * (terms as f64).sqrt() * steps as f64)
    }

    #[track_caller]
    fn holds<'a, F: Float>(
        &self,
        what: &str,
        got: impl IntoIterator<Item = &'a F>,
        expected: impl IntoIterator<Item = &'a f64>,
    ) {
        let got: Vec<f64> = got.into_iter().map(|x| x.to_f64().expect("a number")).collect();
        let expected: Vec<f64> = expected.into_iter().copied().collect();
        assert_eq!(got.len(), expected.len(), "{what}");
        let (mut worst, mut largest, mut off, mut norm) = (0.0_f64, 0.0_f64, 0.0, 0.0);
        for (g, e) in got.iter().zip(&expected) {
            assert!(g.is_finite(), "{what}");
            (worst, largest) = (worst.max((g - e).abs()), largest.max(e.abs()));
            (off, norm) = (off + (g - e).powi(2), norm + e * e);
        }
        assert!(largest > 1e-6, "{what}: only zeros");
        assert!(worst <= self.0 * largest, "{what}: {worst} of {largest}, bound {}", self.0);
        assert!(off.sqrt() <= self.0 * norm.sqrt(), "{what}: {} of {}, bound {}", off.sqrt(), norm.sqrt(), self.0);
    }
}

fn narrow<F: Float>(x: &Array2<f64>) -> Array2<F> {
    x.mapv(|x| F::from(x).expect("a number"))
}

fn threads(n: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("threads")
}

/// Sentence vectors, gradients of the words, gradients of the parameters.
type Encoded<F> = (Array2<F>, Array2<F>, Parameters<F>);

/// The library's encoder, at one thread and two.
fn encoded<F: Float>(
    encoder: &GruEncoder,
    p: &Parameters<f64>,
    words: &Array2<f64>,
    d_out: &Array2<f64>,
) -> Encoded<F> {
    let (p, words, d_out, batch) = (p.cast::<F>(), narrow::<F>(words), narrow::<F>(d_out), batch());
    let run = || {
        let (out, saved) = encoder.forward(&p, &batch, words.view()).expect("sizes that fit");
        let (mut d_words, mut d) = (Array2::zeros(words.raw_dim()), p.zeros_like());
        let to = Some(d_words.view_mut());
        encoder.backward(&p, &batch, words.view(), &saved, d_out.view(), to, &mut d).expect("sizes that fit");
        (out, d_words, d)
    };
    let one = threads(1).install(run);
    assert!(threads(2).install(run) == one, "two threads");
    one
}

fn readers_agree(style: GruStyle, hidden: usize) {
    let encoder = GruEncoder::new(WORD_DIM, hidden, 1, RecurrentTopology::Separate, style, GruInit::Orthogonal);
    let encoder = encoder.expect("a form that makes sense");
    let parameters = with_biases(encoder.init(&mut stream(1, "plain", &[])).expect("memory"));
    let (batch, sentences) = (batch(), sentences());
    let words = random(batch.distinct().len(), WORD_DIM, 2);
    let d_out = random(sentences.len(), 2 * hidden, 3);

    let cells = ["forward1", "backward1"].map(|prefix| plain_of(&parameters, prefix, style));
    let mut sums = cells.clone().map(|cell| cell.zeros_like());
    let (mut out, mut d_words) = (Array2::zeros(d_out.raw_dim()), Array2::zeros(words.raw_dim()));
    for (i, sentence) in sentences.iter().enumerate().filter(|(_, sentence)| !sentence.is_empty()) {
        for (k, cell) in cells.iter().enumerate() {
            let mut rows: Vec<usize> = sentence
                .iter()
                .map(|token| batch.distinct().binary_search(token).expect("a word of the batch"))
                .collect();
            if k == 1 {
                rows.reverse();
            }
            let inputs: Vec<_> = rows.iter().map(|&row| words.row(row).to_owned()).collect();
            let steps = cell.forward(&inputs, &Array1::zeros(hidden), &Array1::zeros(3 * hidden));
            let columns = ndarray::s![i, k * hidden..(k + 1) * hidden];
            out.slice_mut(columns).assign(&steps[steps.len() - 1].after);
            let mut d_after = vec![Array1::zeros(hidden); steps.len()];
            d_after[steps.len() - 1] = d_out.slice(columns).to_owned();
            let back = cell.backward(&steps, &d_after, &mut sums[k]);
            rows.iter().zip(&back.x).for_each(|(&row, d)| d_words.row_mut(row).scaled_add(1.0, d));
        }
    }

    fn check<F: Float>(got: &Encoded<F>, out: &Array2<f64>, d_words: &Array2<f64>, sums: &[Plain; 2], what: &str) {
        let bound = Bound::of::<F>(WORD_DIM + out.ncols() / 2, 11);
        bound.holds(&format!("{what}: sentence vectors"), &got.0, out);
        bound.holds(&format!("{what}: words"), &got.1, d_words);
        for (prefix, sum) in ["forward1", "backward1"].into_iter().zip(sums) {
            check_cell(&bound, &got.2, prefix, sum, what);
        }
    }
    check(&encoded::<f32>(&encoder, &parameters, &words, &d_out), &out, &d_words, &sums, &format!("{style:?}, f32"));
    check(&encoded::<f64>(&encoder, &parameters, &words, &d_out), &out, &d_words, &sums, &format!("{style:?}, f64"));
}

/// The gradients of a cell's tensors.
fn check_cell<F: Float>(bound: &Bound, got: &Parameters<F>, prefix: &str, sum: &Plain, what: &str) {
    let at = |name: &str| got.place(&format!("{prefix}.{name}"));
    let tensors = [("input", &sum.w), ("recurrent", &sum.u)].map(|(name, sum)| (name, sum.iter().copied().collect()));
    let biases = [("bias", &sum.b), ("recurrent_bias", &sum.c)].map(|(name, sum)| (name, sum.to_vec()));
    for (name, sum) in tensors.into_iter().chain(biases) {
        let sum: Vec<f64> = sum;
        if let Some(place) = at(name) {
            bound.holds(&format!("{what}: {prefix}.{name}"), got[place].values(), &sum);
        }
    }
}

#[test]
fn two_readers_of_1200_units_with_the_reset_after_the_product() {
    readers_agree(GruStyle::Release, 1200);
}

#[test]
fn two_readers_of_1200_units_with_the_reset_before_the_product() {
    readers_agree(GruStyle::Tf1, 1200);
}

#[test]
fn two_readers_of_odd_numbers_of_units() {
    readers_agree(GruStyle::Torch, 607);
    readers_agree(GruStyle::Paper, 601);
}

/// States, gradients of the words, of the sentence vectors and of the parameters.
type DecoderRun<F> = (Array2<F>, Array2<F>, Array2<F>, Parameters<F>);

/// The library's decoder, at one thread and two.
fn run_decoder<F: Float>(decoder: &GruDecoder, p: &Parameters<f64>, given: [&Array2<f64>; 3]) -> DecoderRun<F> {
    let (p, [words, vectors, d_hidden], batch) = (p.cast::<F>(), given.map(narrow::<F>), batch());
    let run = || {
        let (words, vectors) = (words.view(), vectors.view());
        let (hidden, saved) = decoder.forward(&p, &batch, words, vectors).expect("sizes that fit");
        let (mut d_words, mut d_vectors) = (Array2::zeros(words.raw_dim()), Array2::zeros(vectors.raw_dim()));
        let (mut d, to) = (p.zeros_like(), Some(d_words.view_mut()));
        let d_hidden = d_hidden.view();
        decoder
            .backward(&p, &batch, words, vectors, &saved, d_hidden, to, d_vectors.view_mut(), &mut d)
            .expect("sizes that fit");
        (hidden, d_words, d_vectors, d)
    };
    let one = threads(1).install(run);
    assert!(threads(2).install(run) == one, "two threads");
    one
}

fn decoders_agree(style: GruStyle, hidden: usize, vector_dim: usize, conditioning: Conditioning, first: FirstInput) {
    let decoder = GruDecoder::new(WORD_DIM, hidden, vector_dim, conditioning, first, style, GruInit::Orthogonal);
    let decoder = decoder.expect("a form that makes sense");
    let parameters = with_biases(decoder.init(&mut stream(1, "plain", &[])).expect("memory"));
    let (batch, sentences) = (batch(), sentences());
    let words = random(batch.distinct().len(), WORD_DIM, 2);
    let (vectors, d_hidden) = (random(sentences.len(), vector_dim, 3), random(batch.n_tokens(), hidden, 4));
    let place = |token: &TokenId| batch.distinct().binary_search(token).expect("a word of the batch");

    let cell = plain_of(&parameters, "decoder", style);
    let context = parameters.place("decoder.context").map(|at| parameters[at].view().to_owned());
    let mut sum = cell.zeros_like();
    let mut d_context = Array2::<f64>::zeros((3 * hidden, vector_dim));
    let mut states = Array2::zeros(d_hidden.raw_dim());
    let (mut d_words, mut d_vectors) = (Array2::zeros(words.raw_dim()), Array2::<f64>::zeros(vectors.raw_dim()));
    let mut at = 0;
    for (i, sentence) in sentences.iter().enumerate() {
        // A step reads the word before its own.
        let start = match first {
            FirstInput::Zero => None,
            FirstInput::Token(token) => Some(place(&token)),
        };
        let rows: Vec<Option<usize>> =
            (0..sentence.len()).map(|t| if t == 0 { start } else { Some(place(&sentence[t - 1])) }).collect();
        let input = |row: &Option<usize>| row.map_or(Array1::zeros(WORD_DIM), |row| words.row(row).to_owned());
        let vector = vectors.row(i).to_owned();
        let (first_state, added) = match &context {
            Some(context) => (Array1::zeros(hidden), context.dot(&vector)),
            None => (vector.clone(), Array1::zeros(3 * hidden)),
        };
        let steps = cell.forward(&rows.iter().map(input).collect::<Vec<_>>(), &first_state, &added);
        let mut d_after = Vec::new();
        for (t, step) in steps.iter().enumerate() {
            states.row_mut(at + t).assign(&step.after);
            d_after.push(d_hidden.row(at + t).to_owned());
        }
        at += steps.len();
        let back = cell.backward(&steps, &d_after, &mut sum);
        for (row, d) in rows.iter().zip(&back.x) {
            if let Some(row) = row {
                d_words.row_mut(*row).scaled_add(1.0, d);
            }
        }
        match &context {
            Some(context) => {
                for (j, &d) in back.added.iter().enumerate() {
                    d_context.row_mut(j).scaled_add(d, &vector);
                    d_vectors.row_mut(i).scaled_add(d, &context.index_axis(Axis(0), j));
                }
            }
            None => d_vectors.row_mut(i).assign(&back.first),
        }
    }

    let what = format!("{style:?}, {conditioning:?}");
    let given = [&words, &vectors, &d_hidden];
    let terms = WORD_DIM + hidden + vector_dim;
    fn check<F: Float>(got: &DecoderRun<F>, terms: usize, what: &str, e: [&Array2<f64>; 4], sum: &Plain) {
        let bound = Bound::of::<F>(terms, 11);
        bound.holds(&format!("{what}: states"), &got.0, e[0]);
        bound.holds(&format!("{what}: words"), &got.1, e[1]);
        bound.holds(&format!("{what}: sentence vectors"), &got.2, e[2]);
        check_cell(&bound, &got.3, "decoder", sum, what);
        if let Some(place) = got.3.place("decoder.context") {
            bound.holds(&format!("{what}: context"), got.3[place].values(), e[3]);
        }
    }
    let expected = [&states, &d_words, &d_vectors, &d_context];
    check(&run_decoder::<f32>(&decoder, &parameters, given), terms, &format!("{what}, f32"), expected, &sum);
    check(&run_decoder::<f64>(&decoder, &parameters, given), terms, &format!("{what}, f64"), expected, &sum);
}

#[test]
fn decoders_with_context_matrices() {
    let start = FirstInput::Token(TokenId(0));
    decoders_agree(GruStyle::Paper, 600, 1000, Conditioning::ContextMatrices, FirstInput::Zero);
    decoders_agree(GruStyle::Torch, 603, 500, Conditioning::ContextMatrices, start);
}

#[test]
fn decoders_whose_first_state_is_the_sentence_vector() {
    let start = FirstInput::Token(TokenId(0));
    decoders_agree(GruStyle::Release, 1200, 1200, Conditioning::InitialState, FirstInput::Zero);
    decoders_agree(GruStyle::Tf1, 607, 607, Conditioning::InitialState, start);
}
