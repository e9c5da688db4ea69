use ndarray::{Array2, ArrayView2};
use senv_core::{Error, Result, arrays::Parameters, init, rng::stream};

use super::{BeamSearch, Hypothesis, beam_search};
use crate::{Conditioning, Decoder, FirstInput, GruDecoder, GruInit, GruStyle, testing::matrix_of};

const WORDS: usize = 4;
const END: u32 = 1;

/// A decoder over four words with random weights.
struct Setting {
    decoder: GruDecoder,
    parameters: Parameters<f64>,
    words: Array2<f64>,
    output: Array2<f64>,
    vector: Array2<f64>,
}

impl Setting {
    fn new(seed: u64) -> Self {
        let (first, style) = (FirstInput::Zero, GruStyle::Release);
        let decoder = GruDecoder::new(3, 5, 5, Conditioning::InitialState, first, style, GruInit::Orthogonal).unwrap();
        let mut rng = stream(seed, "decoding", &[]);
        let mut parameters = decoder.init(&mut rng).unwrap();
        parameters.iter_mut().for_each(|tensor| init::normal(&mut rng, tensor.values_mut(), 1.0).unwrap());
        let [words, output, vector] = [(WORDS, 3), (WORDS, 5), (1, 5)].map(|(n, d)| matrix_of(n, d, seed));
        Self { decoder, parameters, words, output, vector }
    }

    fn search(&self, search: &BeamSearch) -> Vec<Hypothesis> {
        let session = self.decoder.session(&self.parameters, self.vector.row(0)).unwrap();
        let embed = |word: Option<u32>, out: &mut [f64]| {
            if let Some(word) = word {
                out.copy_from_slice(self.words.row(word as usize).as_slice().unwrap());
            }
        };
        let logits = |h: ArrayView2<'_, f64>| Ok::<_, Error>(h.dot(&self.output.t()) * 3.0);
        beam_search(&session, search, embed, logits).unwrap()
    }

    /// All sentences of up to `longest` words, including the end token, with ln p.
    fn all(&self, longest: usize) -> Vec<Hypothesis> {
        let session = self.decoder.session(&self.parameters, self.vector.row(0)).unwrap();
        let state = Array2::from_shape_vec((1, 5), session.first_state().to_vec()).unwrap();
        let (mut open, mut done) = (vec![(Vec::new(), 0.0, state)], Vec::new());
        for _ in 0..longest {
            let mut next = Vec::new();
            for (tokens, log_probability, state) in open {
                let word = match tokens.last() {
                    Some(&last) => self.words.select(ndarray::Axis(0), &[last as usize]),
                    None => Array2::zeros((1, 3)),
                };
                let state = session.step(word.view(), state.view()).unwrap();
                let logits = state.dot(&self.output.t()) * 3.0;
                let total = logits.iter().map(|x: &f64| x.exp()).sum::<f64>().ln();
                for (word, logit) in (0..).zip(&logits) {
                    let (mut tokens, log_probability): (Vec<u32>, f64) =
                        (tokens.clone(), log_probability + logit - total);
                    if word == END {
                        done.push(Hypothesis { tokens, log_probability, ended: true });
                    } else {
                        tokens.push(word);
                        next.push((tokens, log_probability, state.clone()));
                    }
                }
            }
            open = next;
        }
        let cut = |(tokens, log_probability, _)| Hypothesis { tokens, log_probability, ended: false };
        done.extend(open.into_iter().map(cut));
        done
    }
}

fn close(a: &Hypothesis, b: &Hypothesis) -> bool {
    a.tokens == b.tokens && a.ended == b.ended && (a.log_probability - b.log_probability).abs() < 1e-12
}

#[test]
fn a_beam_that_holds_everything_finds_the_best_of_all_sentences() {
    for seed in 0..12 {
        let setting = Setting::new(seed);
        for power in [0.0, 1.0] {
            let search = BeamSearch { power, ..BeamSearch::new(END, 4, 200) };
            let mut all = setting.all(4);
            all.sort_by(|a, b| search.score(b).total_cmp(&search.score(a)));
            let found = setting.search(&search);
            assert_eq!(found.len(), all.len().min(200));
            for (found, expected) in found.iter().zip(&all).take(20) {
                assert!(close(found, expected), "{seed} {power}: {found:?} for {expected:?}");
            }
        }
    }
}

#[test]
fn greedy_takes_the_likeliest_word_each_time_and_a_beam_is_no_worse() {
    let (mut ended, mut better) = (0, 0);
    for seed in 0..60 {
        let setting = Setting::new(seed);
        let greedy = setting.search(&BeamSearch::greedy(END, 5));
        assert_eq!(greedy.len(), 1);
        let all = setting.all(5);
        // Word by word: no sentence with the same prefix has a likelier next word.
        let mut beginning: Vec<u32> = Vec::new();
        let mass = |prefix: &[u32], end: bool| -> f64 {
            let fits =
                |s: &&Hypothesis| s.tokens.starts_with(prefix) && (!end || s.ended && s.tokens.len() == prefix.len());
            all.iter().filter(fits).map(|s| s.log_probability.exp()).sum()
        };
        for t in 0..5 {
            let next = |word: u32| {
                if word == END { mass(&beginning, true) } else { mass(&[&beginning[..], &[word]].concat(), false) }
            };
            let best = (0..WORDS as u32).max_by(|&a, &b| next(a).total_cmp(&next(b))).unwrap();
            if best == END {
                assert!(greedy[0].ended && greedy[0].tokens == beginning);
                ended += 1;
                break;
            }
            assert_eq!(greedy[0].tokens[t], best);
            beginning.push(best);
        }
        let wide = setting.search(&BeamSearch::new(END, 5, 8));
        better += u32::from(wide[0].log_probability > greedy[0].log_probability + 1e-9);
        assert!(wide.windows(2).all(|pair| pair[0].log_probability >= pair[1].log_probability));
    }
    assert!(ended > 10 && better > 3, "{ended} {better}");
}

#[test]
fn edges_and_bad_numbers() {
    let setting = Setting::new(1);
    assert_eq!(setting.search(&BeamSearch::greedy(END, 0))[0].tokens, [0u32; 0]);
    let session = setting.decoder.session(&setting.parameters, setting.vector.row(0)).unwrap();
    let run = |search: &BeamSearch, row: &[f64]| -> Result<Vec<Hypothesis>> {
        let logits = |h: ArrayView2<'_, f64>| {
            Ok::<_, Error>(Array2::from_shape_fn((h.nrows(), row.len()), |(_, word)| row[word]))
        };
        beam_search(&session, search, |_, _| {}, logits)
    };
    let greedy = BeamSearch::greedy(END, 3);
    // Ties go to the lower word. A word of −∞ is never taken, and the search ends if there is no other.
    assert_eq!(run(&greedy, &[0.5, 0.0, 0.5]).unwrap()[0].tokens, [0, 0, 0]);
    let never = f64::NEG_INFINITY;
    assert_eq!(run(&greedy, &[never, 0.0, 1.0]).unwrap()[0].tokens, [2, 2, 2]);
    let certain = run(&greedy, &[never, 0.0, never]).unwrap();
    assert_eq!(certain, [Hypothesis { tokens: vec![], log_probability: 0.0, ended: true }]);
    assert!(run(&greedy, &[never; 3]).unwrap().is_empty());
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(matches!(run(&greedy, &[0.0, bad, 0.0]), Err(Error::InvalidParameter { name: "logits", .. })));
        assert!(run(&BeamSearch { power: bad, ..greedy }, &[0.0; 3]).is_err());
    }
    assert!(run(&BeamSearch { width: 0, ..greedy }, &[0.0; 3]).is_err());
    assert!(run(&BeamSearch { power: -1.0, ..greedy }, &[0.0; 3]).is_err());
}

/// The sentences found if the probabilities of a step do not depend on earlier words, and the number of steps. Word 0
/// has the probabilities `p[t][0]` and so on.
fn search_in<const N: usize>(search: &BeamSearch, p: &[[f64; N]]) -> (Vec<Hypothesis>, usize) {
    let setting = Setting::new(1);
    let session = setting.decoder.session(&setting.parameters, setting.vector.row(0)).unwrap();
    let mut n_steps = 0;
    let logits = |h: ArrayView2<'_, f64>| {
        n_steps += 1;
        Ok::<_, Error>(Array2::from_shape_fn((h.nrows(), N), |(_, word)| p[n_steps - 1][word].ln()))
    };
    let found = beam_search(&session, search, |_, _| {}, logits).unwrap();
    (found, n_steps)
}

#[test]
fn the_search_goes_on_while_an_open_hypothesis_may_exceed_the_complete_ones_and_no_longer() {
    let by_mean = |longest| BeamSearch { power: 1.0, ..BeamSearch::greedy(END, longest) };
    // The end first, with ln 0.5 per word. Or word 0 and then the end with certainty: ln 0.4 over two words. Before the
    // second step the bound is ln 0.4 / 2.
    let p = [[0.4, 0.5, 0.1], [0.0, 1.0, 0.0]];
    let (found, n_steps) = search_in(&by_mean(2), &p);
    assert_eq!((&found[0].tokens[..], found[0].ended, n_steps), (&[0][..], true, 2));
    // By probability, nothing can exceed 0.5.
    let (found, n_steps) = search_in(&BeamSearch::greedy(END, 2), &p);
    assert_eq!((&found[0].tokens[..], found[0].ended, n_steps), (&[][..], true, 1));
    // ln 0.2 / 2 is below ln 0.6: not even the mean per word can get that high.
    let (found, n_steps) = search_in(&by_mean(2), &[[0.2, 0.6, 0.2], [0.0, 1.0, 0.0]]);
    assert_eq!((&found[0].tokens[..], n_steps), (&[][..], 1));
    // A hypothesis that can only reach the score of a complete one is not extended.
    let (found, n_steps) = search_in(&BeamSearch::greedy(END, 2), &[[0.0, 0.5, 0.5], [0.0, 1.0, 0.0]]);
    assert_eq!((&found[0].tokens[..], n_steps), (&[][..], 1));
    let (found, n_steps) = search_in(&BeamSearch::new(END, 3, 2), &[[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]);
    assert_eq!(
        (found[0].tokens.len(), found[1].tokens.len(), n_steps),
        (0, 1, 2),
        "two complete, the open one no likelier"
    );
}

#[test]
fn sentences_that_end_leave_the_beam_as_wide_as_it_was() {
    // Three hypotheses, of words 0, 2 and 3. In the second step the end is the likeliest word for each, then word 0.
    let p = [[0.3, 0.1, 0.3, 0.3], [0.35, 0.4, 0.15, 0.1], [0.0, 1.0, 0.0, 0.0]];
    let search = BeamSearch { power: 1.0, ..BeamSearch::new(END, 3, 3) };
    let (found, n_steps) = search_in(&search, &p);
    // ln 0.105 / 3 for the longer ones is above ln 0.12 / 2 for the shorter ones.
    let tokens: Vec<&[u32]> = found.iter().map(|hypothesis| &hypothesis.tokens[..]).collect();
    assert_eq!((tokens, n_steps), (vec![&[0, 0][..], &[2, 0], &[3, 0]], 3));
}
