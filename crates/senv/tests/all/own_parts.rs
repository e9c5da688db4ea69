//! User-defined parts: tokenizers, losses, kinds of models.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use senv::{
    BowAutoencoderParams, Control, CoreError, Coverage, Error, Model, Observer, PairSystem, PpParams, Progress,
    PvDbowParams, Scratch, Sent2Vec, Sent2VecParams, SentenceEncoder, StaticModel, TextSystem, TrainOptions,
    Vocabulary,
    data::{MemoryText, PairData, PairOptions},
    forms::NegativeSamplingParams,
    gradient::{
        BatchLoss, FitOutcome, FitParams, GradientStep, PairGradients, PairLoss, PairObjective, PairParams,
        PairVectors, StepReport, Stopped, Weights, fit,
    },
    model::{OpenModel, SavedModel},
    parts::{
        core::{
            ModelFile, ModelWriter, RunOptions, Tokenizer, checkpoint::CheckpointPlan, files::Destination,
            text::Tokenize,
        },
        encoders::{Average, Pooling},
    },
};

/// Every second letter of each word.
#[derive(Debug)]
struct EverySecond;

impl Tokenize for EverySecond {
    fn for_each(&self, text: &str, token: &mut dyn FnMut(&str)) {
        for word in text.split_whitespace() {
            token(&word.chars().step_by(2).collect::<String>());
        }
    }
}

fn every_second() -> Tokenizer {
    Tokenizer::custom("every-second", Arc::new(EverySecond)).unwrap().lowercase(true)
}

const SENTENCES: [&str; 5] =
    ["the ship left the port at noon", "a boat sails to the port", "", "the rain falls", "storms bring rain at night"];

#[test]
fn models_of_many_kinds_keep_a_tokenizer_of_the_program() {
    let (tokenizer, min_count) = (every_second(), Some(1));
    let text = || SENTENCES.repeat(8);
    let training = NegativeSamplingParams { epochs: Some(2), ..NegativeSamplingParams::default() };
    let sent2vec = Sent2VecParams { dim: 8, tokenizer: tokenizer.clone(), min_count, ..Default::default() };
    let sent2vec: Model = sent2vec.train_sentences(text()).unwrap().into();
    let dbow = PvDbowParams { dim: 8, tokenizer: tokenizer.clone(), min_count, training, ..Default::default() };
    let bow = BowAutoencoderParams { dim: 8, tokenizer: tokenizer.clone(), ..Default::default() };
    let bow = bow.fit_files(&[MemoryText::new(text()).unwrap()], &TrainOptions::default()).unwrap().model;
    let options = PairOptions { tokenizer: tokenizer.clone(), ..PairOptions::default() };
    let data = PairData::of_pairs([(SENTENCES[0], SENTENCES[1]), (SENTENCES[3], SENTENCES[4])], &options).unwrap();
    let pp = PpParams { dim: 8, tokenizer: tokenizer.clone(), ..PpParams::default() };
    let pp: Model = pp.fit(&data, &TrainOptions::default()).unwrap().model.into();
    let small = senv::CompressParams::default().compress(&pp).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for model in
        [sent2vec, StaticModel::from(small).into(), dbow.train_sentences(text()).unwrap().into(), bow.into(), pp]
    {
        let kind = model.kind();
        let path = folder.path().join(kind);
        model.save(&path).unwrap();
        let opened = senv::open(&path).unwrap();
        assert_eq!((opened.kind(), opened.tokenizer(), opened.tokenizer().name()), (kind, &tokenizer, "every-second"));
        // Neither the words nor their case are those of the text.
        assert!(opened.vocabulary().id("si").is_some() && opened.vocabulary().id("ship").is_none(), "{kind}");
        let vector = opened.encode_one("The Ship");
        assert_eq!(vector, model.encode_one("The Ship"), "{kind}");
        assert_eq!(vector, model.encode_one("txe szix"), "{kind}: the same letters are read");
        assert!(vector.iter().any(|&x| x != 0.0), "{kind}");
    }
}

#[test]
fn files_of_every_kind_that_name_a_tokenizer_which_is_not_there_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let vocabulary = Vocabulary::from_counts([("ship", 2), ("rain", 1)], 3).unwrap();
    let tokenizer = r#"{"rule":{"custom":"of-another-program"},"lowercase":true}"#;
    for kind in senv::kinds().into_iter().filter(|kind| *kind != LettersOfWords::KIND) {
        for config in
            [format!(r#"{{"tokenizer":{tokenizer}}}"#), format!(r#"{{"params":{{"tokenizer":{tokenizer}}}}}"#)]
        {
            ModelWriter::new(kind).config(&config).vocabulary(&vocabulary).save(&path).unwrap();
            let error = senv::open(&path).unwrap_err();
            let missing =
                matches!(error.core(), Some(CoreError::MissingTokenizer { name, .. }) if name == "of-another-program");
            assert!(missing, "{kind}: {error}");
            let message = error.to_string();
            assert!(
                message.contains("Tokenizer::custom") && message.contains(&path.display().to_string()),
                "{message}"
            );
        }
    }
}

/// The number of letters of a sentence.
#[derive(Debug)]
struct LettersOfWords(Tokenizer, Vocabulary);

impl SentenceEncoder for LettersOfWords {
    fn dim(&self) -> usize {
        1
    }

    fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        out[0] = sentence.len() as f32;
        Coverage::new(1, 1)
    }
}

impl SavedModel for LettersOfWords {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.1
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.0
    }

    fn write(&self, to: Destination<'_>) -> senv::Result<()> {
        Ok(ModelWriter::new(Self::KIND).config("{}").write(to)?)
    }
}

impl OpenModel for LettersOfWords {
    const KIND: &'static str = "letters-of-words";

    fn from_model_file(_: &ModelFile) -> senv::Result<Self> {
        Ok(Self(Tokenizer::whitespace(), Vocabulary::from_counts([("", 0); 0], 0)?))
    }
}

/// Kinds with names that are already used.
macro_rules! kind_of {
    ($name:ident, $kind:expr) => {
        #[derive(Debug)]
        struct $name(LettersOfWords);

        impl SentenceEncoder for $name {
            fn dim(&self) -> usize {
                self.0.dim()
            }

            fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
                self.0.encode_sentence(sentence, scratch, out)
            }
        }

        impl SavedModel for $name {
            fn kind(&self) -> &'static str {
                $kind
            }

            fn vocabulary(&self) -> &Vocabulary {
                self.0.vocabulary()
            }

            fn tokenizer(&self) -> &Tokenizer {
                self.0.tokenizer()
            }

            fn write(&self, to: Destination<'_>) -> senv::Result<()> {
                self.0.write(to)
            }
        }

        impl OpenModel for $name {
            const KIND: &'static str = $kind;

            fn from_model_file(file: &ModelFile) -> senv::Result<Self> {
                LettersOfWords::from_model_file(file).map(Self)
            }
        }
    };
}

kind_of!(OtherLetters, LettersOfWords::KIND);
kind_of!(OtherSent2Vec, Sent2Vec::KIND);

#[test]
fn a_kind_of_the_program_opens_once_it_is_registered_and_its_name_is_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letters");
    let model = LettersOfWords(Tokenizer::words(), Vocabulary::from_counts([("", 0); 0], 0).unwrap());
    Model::from(model).save(&path).unwrap();
    assert!(matches!(senv::open(&path), Err(Error::NotAnEncoder { kind, .. }) if kind == LettersOfWords::KIND));
    for _ in 0..2 {
        senv::register::<LettersOfWords>().unwrap();
    }
    let opened = senv::open(&path).unwrap();
    assert!(opened.is::<LettersOfWords>() && opened.encode_one("three").to_vec() == [5.0]);
    assert_eq!(senv::kinds().iter().filter(|kind| **kind == LettersOfWords::KIND).count(), 1);
    assert!(matches!(senv::register::<OtherLetters>(), Err(Error::KindTaken { kind: LettersOfWords::KIND })));
    assert!(matches!(senv::register::<OtherSent2Vec>(), Err(Error::KindTaken { kind: "sent2vec" })));
}

/// The margin loss with another name.
struct Renamed(&'static str, PairLoss);

impl BatchLoss for Renamed {
    fn identity(&self) -> String {
        self.0.to_owned()
    }

    fn loss(&self, step: &GradientStep<'_>, pairs: &PairVectors<'_>) -> senv::Result<(StepReport, PairGradients)> {
        self.1.loss(step, pairs)
    }
}

/// Stops after this many progress reports.
struct StopAt(AtomicU64);

impl Observer for StopAt {
    fn progress(&self, _: &Progress) -> Control {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 1 { Control::Stop } else { Control::Continue }
    }
}

fn on_pairs(loss: &dyn BatchLoss, options: &RunOptions<'_>) -> senv::Result<FitOutcome> {
    let data =
        PairData::of_pairs([("rain falls", "it pours"), ("ships sail", "boats leave")], &PairOptions::default())?;
    let (encoder, params) = (Average::new(4, Pooling::Mean), PairParams::default());
    let mut objective = PairObjective::new("renamed", &encoder, loss, &data, &params);
    let initial = || Ok(Weights::random(data.vocabulary.len(), 4, &encoder, 1)?);
    fit(&mut objective, initial, &FitParams { steps: Some(40), ..FitParams::default() }, options)
}

#[test]
fn a_loss_of_the_program_is_resumed_to_the_bit_and_not_as_another() {
    let folder = tempfile::tempdir().unwrap();
    let plan = |resume| Some(CheckpointPlan { path: folder.path().join("c"), every: None, resume });
    let margin = |name| Renamed(name, PairLoss::default());
    let whole = on_pairs(&margin("margin"), &RunOptions::default()).unwrap();
    let of_library = on_pairs(&PairLoss::default(), &RunOptions::default()).unwrap();
    assert_eq!(whole.weights.words.values(), of_library.weights.words.values());
    let stop = StopAt(AtomicU64::new(2));
    let first = RunOptions { checkpoint: plan(false), observer: &stop, ..RunOptions::default() };
    assert_eq!(on_pairs(&margin("margin"), &first).unwrap().stopped, Stopped::Interrupted);
    let second = RunOptions { checkpoint: plan(true), ..RunOptions::default() };
    let other = on_pairs(&margin("another"), &second).unwrap_err();
    assert!(matches!(other, Error::CheckpointMismatch { .. }), "{other}");
    let resumed = on_pairs(&margin("margin"), &second).unwrap();
    assert_eq!(whole.weights.words.values(), resumed.weights.words.values());
}
