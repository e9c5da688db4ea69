//! P-thought: output of its decoders, and validation.

use super::*;

#[test]
fn p_thought_says_sentence_and_paraphrase_in_all_structures() {
    let files = Files::new();
    let data = captions(&files);
    let (_, sentences) = ordered();
    use PThoughtStructure::{OneBi, TwoBi, TwoForward, TwoInterleaved};
    for structure in [OneBi, TwoForward, TwoBi, TwoInterleaved] {
        let params = PThoughtParams {
            dim: 16,
            hidden: 20,
            structure,
            output: OutputForm::Full,
            fit: FitParams { epochs: Some(400), batch: 20, lr: Some(0.01), ..PThoughtParams::default().fit },
            ..PThoughtParams::default()
        };
        let one = params.fit(&data, &at_threads(1)).unwrap();
        assert_eq!(one.model.dim(), 40);
        for (i, sentence) in sentences.iter().enumerate() {
            let said = |decoder| one.model.decode(sentence, &search(decoder, 1, 30)).unwrap()[0].text.clone();
            assert_eq!([&said(0), &said(1)], [sentence, &sentences[(i + 10) % 20]], "{structure:?}");
        }
        let short = PThoughtParams { fit: FitParams { epochs: Some(20), ..params.fit.clone() }, ..params.clone() };
        same_at_any_threads(&format!("{structure:?}"), |threads| {
            bits(&short.fit(&data, &at_threads(threads)).unwrap().model)
        });
        batches_agree(&one.model);
        one.model.save(files.path("model.senv")).unwrap();
        let opened = Model::open(files.path("model.senv")).unwrap();
        assert_eq!((opened.kind(), bits(&opened)), ("p-thought", bits(&one.model)));
    }
}

#[test]
fn p_thought_is_validated_on_pairs_and_rare_words_keep_their_place() {
    let files = Files::new();
    let data = captions(&files);
    let inputs =
        |name: &str, text: &str| [PairInput { path: files.write(name, text), kind: PairKind::Pairs, weight: None }];
    let read = |inputs: &[PairInput]| PairData::read(inputs, &PairOptions::default(), &NoObserver).unwrap();
    let dev = read(&inputs("dev.tsv", "boat xyz sail\toven tide\n"));
    let fit = FitParams { epochs: Some(2), batch: 20, lr: Some(0.01), ..PThoughtParams::default().fit };
    let params = PThoughtParams { dim: 8, hidden: 6, fit, ..PThoughtParams::default() };
    let trained = params.fit(&data, &TrainOptions { dev: Some(&dev), ..Default::default() }).unwrap();
    let (alpha, mut sum, mut n) = (2.0, 0.0, 0.0);
    for (from, to) in [("boat xyz sail", "oven tide"), ("oven tide", "boat xyz sail")] {
        for (text, decoder, weight) in [(from, 0, 1.0), (to, 1, alpha)] {
            let (cost, tokens) = trained.model.surprise(from, text, decoder).unwrap();
            (sum, n) = (sum + weight * cost, n + weight * tokens as f64);
        }
    }
    assert!((trained.best.unwrap().1 + sum / n).abs() < 1e-5, "{:?} {}", trained.best, -sum / n);
    let blank = PairData::new(dev.vocabulary.clone(), Vec::new());
    let error = params.fit(&data, &TrainOptions { dev: Some(&blank), ..Default::default() }).unwrap_err();
    assert!(matches!(error, Error::NoHeldOutExamples { kind: "p-thought", .. }), "{error}");

    // Rare words become the unknown word in place, so sentences keep their lengths.
    let rare = read(&inputs("rare.tsv", "boat rare sail\tboat sail sail\nboat sail\tsail boat\n"));
    let params = PThoughtParams { min_count: 2, ..params };
    let reports = Reports::default();
    let trained = params.fit(&rare, &TrainOptions { observer: &reports, ..Default::default() }).unwrap();
    assert!(trained.model.vocabulary().id("rare").is_none() && trained.model.vocabulary().id("boat").is_some());
    // An ordered pair reads 3 or 2 tokens and predicts both sentences with their end tokens: (3 + 4 + 4) 2 + (2 + 3 +
    // 3) 2.
    let last = *reports.0.lock().unwrap().last().unwrap();
    let per_example = last.tokens_per_second.unwrap() / last.units_per_second;
    assert!((per_example - 38.0 / 4.0).abs() < 1e-6, "{per_example}");
}
