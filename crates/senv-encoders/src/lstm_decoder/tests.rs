use senv_core::{
    TokenId,
    arrays::{Parameters, TokenBatch},
    init,
    rng::stream,
};
use serde_json::Value;

use super::{Conditioning, FirstInput, LstmDecoder};
use crate::{
    Decoder, Error, LstmInit,
    recurrent::decoder_testing::{
        close, gradients_match, same_bits_at_any_number_of_threads, shapes_that_do_not_fit_are_refused,
        without_the_start_token, word_by_word,
    },
    testing::batch,
};

const CONDITIONINGS: [Conditioning; 3] =
    [Conditioning::InitialState, Conditioning::ContextMatrices, Conditioning::ContextAndState];

fn decoder(conditioning: Conditioning, first: FirstInput) -> LstmDecoder {
    let vector_dim = if conditioning == Conditioning::InitialState { 2 } else { 4 };
    LstmDecoder::new(3, 2, vector_dim, conditioning, first, LstmInit::Orthogonal).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn matrix(value: &Value, rows: usize) -> ndarray::Array2<f64> {
    let values = numbers(value);
    ndarray::Array2::from_shape_vec((rows, values.len() / rows), values).unwrap()
}

/// The targets of the reference file.
fn targets(file: &Value) -> TokenBatch {
    let sentences = file["targets"].as_array().unwrap();
    let sentences: Vec<Vec<u32>> =
        sentences.iter().map(|sentence| numbers(sentence).iter().map(|&x| x as u32).collect()).collect();
    batch(&sentences.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn decoders_give_the_reference_numbers() {
    let file: Value = serde_json::from_str(include_str!("../../tests/data/lstm_decoder.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 3);
    let targets = targets(&file);
    for case in cases {
        let name = case["conditioning"].as_str().unwrap();
        let conditioning = match name {
            "initial-state" => Conditioning::InitialState,
            "context-matrices" => Conditioning::ContextMatrices,
            _ => Conditioning::ContextAndState,
        };
        let n = targets.len();
        let (words, vectors) = (matrix(&case["words"], targets.distinct().len()), matrix(&case["vectors"], n));
        let (dim, h) = (vectors.ncols(), 4);
        let first = if case["start_token"] == true { FirstInput::Token(TokenId(0)) } else { FirstInput::Zero };
        let decoder = LstmDecoder::new(3, h, dim, conditioning, first, LstmInit::Orthogonal).unwrap();
        let mut parameters = decoder.init::<f64>(&mut stream(1, "decoder", &[])).unwrap();
        assert_eq!(parameters.len(), case["parameters"].as_object().unwrap().len(), "{name}");
        for tensor in parameters.iter_mut() {
            let values = numbers(&case["parameters"][tensor.name()]);
            tensor.values_mut().copy_from_slice(&values);
        }
        let (hidden, saved) = decoder.forward(&parameters, &targets, words.view(), vectors.view()).unwrap();
        close(&hidden, &numbers(&case["hidden"]), name);
        let d_hidden = matrix(&case["d_hidden"], targets.n_tokens());
        let (mut d_words, mut d_vectors) = (words.clone() * 0.0, vectors.clone() * 0.0);
        let mut d = parameters.zeros_like();
        let (w, v, g) = (words.view(), vectors.view(), d_hidden.view());
        let views = (Some(d_words.view_mut()), d_vectors.view_mut());
        decoder.backward(&parameters, &targets, w, v, &saved, g, views.0, views.1, &mut d).unwrap();
        close(&d_words, &numbers(&case["d_words"]), "words");
        close(&d_vectors, &numbers(&case["d_vectors"]), "vectors");
        for tensor in d.iter() {
            close(tensor.values(), &numbers(&case["d_parameters"][tensor.name()]), tensor.name());
        }
    }
}

#[test]
fn gradients_match_central_differences() {
    for conditioning in CONDITIONINGS {
        for first in [FirstInput::Zero, FirstInput::Token(TokenId(0))] {
            gradients_match(&decoder(conditioning, first));
        }
    }
}

#[test]
fn word_by_word_gives_the_states_of_teacher_forcing() {
    for conditioning in CONDITIONINGS {
        word_by_word(&decoder(conditioning, FirstInput::Token(TokenId(0))));
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for conditioning in [Conditioning::ContextMatrices, Conditioning::ContextAndState] {
        same_bits_at_any_number_of_threads(|first| {
            LstmDecoder::new(40, 64, 30, conditioning, first, LstmInit::Orthogonal).unwrap()
        });
    }
}

#[test]
fn a_decoder_says_how_it_was_made() {
    for (conditioning, first, names) in [
        (Conditioning::InitialState, FirstInput::Zero, &["input", "recurrent", "bias"][..]),
        (
            Conditioning::ContextAndState,
            FirstInput::Token(TokenId(4)),
            &["input", "recurrent", "bias", "context", "state", "state_bias"],
        ),
    ] {
        let decoder = decoder(conditioning, first);
        assert_eq!((decoder.conditioning(), decoder.first_input()), (conditioning, first));
        assert_eq!((decoder.word_dim(), decoder.hidden(), decoder.state_dim()), (3, 2, 4));
        let parameters: Parameters<f32> = decoder.init(&mut stream(1, "decoder", &[])).unwrap();
        let names: Vec<String> = names.iter().map(|name| format!("decoder.{name}")).collect();
        assert_eq!(parameters.iter().map(|tensor| tensor.name()).collect::<Vec<_>>(), names);
        assert_eq!(decoder.n_values(), parameters.n_values() as f64);
    }
}

#[test]
fn the_sentence_vector_is_the_first_state_with_a_cell_of_zeros() {
    let decoder = decoder(Conditioning::InitialState, FirstInput::Zero);
    let parameters = decoder.init::<f64>(&mut stream(1, "decoder", &[])).unwrap();
    let session = decoder.session(&parameters, ndarray::array![0.3, -0.8].view()).unwrap();
    assert_eq!(session.first_state(), [0.3, -0.8, 0.0, 0.0]);
    // With a context, both the state and the cell are the tanh of a layer.
    let decoder = self::decoder(Conditioning::ContextAndState, FirstInput::Zero);
    let mut parameters = decoder.init::<f64>(&mut stream(1, "decoder", &[])).unwrap();
    let place = parameters.place("decoder.state_bias").unwrap();
    init::normal(&mut stream(2, "bias", &[]), parameters[place].values_mut(), 1.0).unwrap();
    let session = decoder.session(&parameters, ndarray::Array1::zeros(4).view()).unwrap();
    let expected: Vec<f64> = parameters[place].values().iter().map(|x| x.tanh()).collect();
    close(session.first_state(), &expected, "first state of a vector of zeros");
}

#[test]
fn forms_and_shapes_that_do_not_fit_are_refused() {
    let new = |word_dim, hidden, vector_dim, conditioning| {
        LstmDecoder::new(word_dim, hidden, vector_dim, conditioning, FirstInput::Zero, LstmInit::Orthogonal)
    };
    assert!(matches!(new(2, 3, 4, Conditioning::InitialState), Err(Error::ShapeMismatch { .. })));
    for (word_dim, hidden, vector_dim) in [(0, 2, 2), (2, 0, 2), (2, 2, 0)] {
        let refused = new(word_dim, hidden, vector_dim, Conditioning::ContextMatrices);
        assert!(matches!(refused, Err(Error::InvalidParameter { .. })));
    }
    let huge = new(2, 2, usize::MAX / 4, Conditioning::ContextAndState);
    assert!(matches!(huge, Err(Error::TooLarge { .. })));
    for conditioning in CONDITIONINGS {
        shapes_that_do_not_fit_are_refused(&decoder(conditioning, FirstInput::Zero));
        let error = without_the_start_token(&decoder(conditioning, FirstInput::Token(TokenId(5))));
        assert!(matches!(error, Error::InvalidParameter { name: "start token", .. }), "{error}");
    }
}
