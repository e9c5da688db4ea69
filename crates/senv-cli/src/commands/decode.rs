//! `senv decode`: generates text from sentence vectors.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::builder::RangedU64ValueParser;
use senv::{
    Model,
    jobs::CoverageCounts,
    model::{DecodeParams, DecodedSentence},
};
use senv_core::{
    Coverage, Scratch, SentenceEncoder, TextReader,
    text::{LineBatch, for_line_batches, is_blank},
};
use serde::Serialize;

use crate::{
    commands::{ModelArg, named, unread::warn_of_unread},
    destination,
    failure::{Failure, Result},
    output::{self, plural},
    text::{TextArgs, note_typing},
};

/// Generate text from a sentence vector.
///
/// A decoder generates a sentence word by word from only the vector, by beam search. Skip-thoughts generate the
/// previous and the next sentence, an autoencoder the sentence itself, and P-thought the sentence and a paraphrase.
///
/// Prints SENTENCE, DECODER, LN-PROBABILITY and the generated text, separated by tabs, most likely first; … marks text
/// that did not reach its end. Without sentences, reads the lines of --input and skips blank ones.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("model", named),
    after_help = "\
Examples:
  senv decode --model skip-thought.senv \"He opened the door .\"
  senv decode --model p-thought.senv --decoder paraphrase --n 3 --input captions.txt
  senv decode --model autoencoder.senv --between 3 \"a man rides a horse\" \"two dogs play in the snow\""
)]
pub(crate) struct Decode {
    /// Sentences to encode and decode.
    #[arg(value_name = "SENTENCE", conflicts_with = "input")]
    sentences: Vec<String>,
    /// Text, one sentence per line; plain, .gz or .zst; - is standard input.
    #[arg(long, short, value_name = "FILE", num_args = 1.., default_value = "-")]
    input: Vec<PathBuf>,
    /// Decoder to use: previous, next, itself, paraphrase, or a number from 0; can be repeated [default: all]
    #[arg(long, value_name = "DECODER")]
    decoder: Vec<String>,
    /// Beam width, 1 to 1000; 1 always takes the most likely word [default: 5, at least --n]
    #[arg(long, value_name = "WIDTH", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    beam: Option<usize>,
    /// Largest number of words, including the end, 1 to 1000.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    longest: usize,
    /// Number of texts to print for each decoder, 1 to 1000.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    n: usize,
    /// Decode N points between the vectors of two sentences, 0 to 1000.
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(0..=1000))]
    between: Option<usize>,
    /// Print JSON, one object per sentence.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    model: ModelArg,
}

/// What to decode for every sentence.
struct Wanted<'a> {
    model: &'a Model,
    /// The numbers and names of the decoders.
    decoders: Vec<(usize, &'static str)>,
    width: usize,
    longest: usize,
    n: usize,
    json: bool,
}

/// A sentence, or a point between two, and the decoded texts.
#[derive(Debug, Serialize)]
struct Decoded<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<&'a str>,
    /// The position between the first sentence (0) and the second (1).
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    known_tokens: Option<usize>,
    said: Vec<Saying>,
}

#[derive(Debug, Serialize)]
struct Saying {
    decoder: &'static str,
    #[serde(flatten)]
    sentence: DecodedSentence,
}

impl Decode {
    pub(crate) fn run(self, threads: usize) -> Result {
        if self.sentences.is_empty() && self.between.is_none() {
            self.text.check_tables(&self.input)?;
        }
        let model = self.model.open()?;
        let decoders = choose(&model, &self.decoder)?;
        let width = self.beam.unwrap_or_else(|| self.n.max(5));
        if self.n > width {
            let message =
                format!("a beam of width {width} gives at most {width} texts; use a wider --beam or a smaller --n");
            return Err(Failure::Usage(message));
        }
        let wanted = Wanted { model: &model, decoders, width, longest: self.longest, n: self.n, json: self.json };
        let mut counts = CoverageCounts::default();
        let mut out = output::stdout();
        if let Some(stops) = self.between {
            let [first, second] = &self.sentences[..] else {
                let message = format!("--between needs two sentences, got {}", self.sentences.len());
                return Err(Failure::Usage(message));
            };
            let mut state = State::new(&model);
            [first, second].iter().for_each(|sentence| counts.add(sentence, &state.coverage(&model, sentence)));
            for i in 0..=stops + 1 {
                let mut line = Vec::new();
                wanted.between(first, second, i as f32 / (stops + 1) as f32, &mut line)?;
                out.write_all(&line).map_err(Failure::stdout)?;
            }
        } else if !self.sentences.is_empty() {
            // Other commands read files here.
            if let [only] = &self.sentences[..]
                && Path::new(only).is_file()
            {
                output::note(&format!(
                    "{sentence} is read as a sentence; --input {only} reads the file",
                    sentence = senv_core::quoted(only)
                ));
            }
            for sentence in &self.sentences {
                let mut line = Vec::new();
                counts.add(sentence, &wanted.sentence(sentence, &mut State::new(&model), &mut line)?);
                out.write_all(&line).map_err(Failure::stdout)?;
            }
        } else {
            destination::check_stdout(&self.input)?;
            note_typing(&self.input, "sentences");
            let reader = TextReader::open(&self.input, &self.text.options())?;
            let work = |state: &mut State, batch: &mut LineBatch<CoverageCounts>| -> Result {
                let LineBatch { lines, out, tally } = batch;
                for (_, line) in lines.iter().filter(|(_, line)| !is_blank(line)) {
                    tally.add(line, &wanted.sentence(line, state, out)?);
                }
                Ok(())
            };
            for_line_batches(
                reader,
                threads,
                || State::new(&model),
                work,
                |batch| {
                    counts += batch.tally;
                    out.write_all(&batch.out).map_err(Failure::stdout)
                },
            )?;
        }
        out.flush().map_err(Failure::stdout)?;
        let unknown = counts.unknown + counts.blank;
        if unknown > 0 && self.between.is_none() {
            let sentences = plural(unknown, "sentence");
            output::warn(&format!("{sentences} without a known word: decoded from a zero vector"));
        }
        warn_of_unread(&counts);
        Ok(())
    }
}

/// The requested decoders, or all.
fn choose(model: &Model, asked: &[String]) -> Result<Vec<(usize, &'static str)>> {
    let all: Vec<(usize, &'static str)> =
        model.abilities().decoders.map_or_else(Vec::new, |decoders| decoders.names()).into_iter().enumerate().collect();
    if all.is_empty() {
        return Err(senv::Error::NoDecoders { kind: model.kind() }.into());
    }
    if asked.is_empty() {
        return Ok(all);
    }
    let find = |name: &String| {
        let is_it = |(number, known): &&(usize, &str)| *known == name || number.to_string() == *name;
        all.iter().find(is_it).copied().ok_or_else(|| {
            let known: Vec<String> = all.iter().map(|(number, name)| format!("{name} ({number})")).collect();
            Failure::Usage(format!(
                "the model has no decoder {name}; it has {}",
                known.join(", "),
                name = senv_core::quoted(name)
            ))
        })
    };
    asked.iter().map(find).collect()
}

/// Buffers that a thread reuses.
struct State {
    scratch: Scratch,
    vector: Vec<f32>,
}

impl State {
    fn new(model: &Model) -> Self {
        Self { scratch: Scratch::default(), vector: vec![0.0; model.dim()] }
    }

    fn coverage(&mut self, model: &Model, sentence: &str) -> Coverage {
        model.encode_into(sentence, &mut self.scratch, &mut self.vector)
    }
}

impl Wanted<'_> {
    /// Writes the texts for a sentence, and returns how much of it the model knows.
    fn sentence(&self, sentence: &str, state: &mut State, out: &mut Vec<u8>) -> Result<Coverage> {
        let coverage = state.coverage(self.model, sentence);
        let decode = |params: &DecodeParams| self.model.decode(sentence, params);
        let said = self.said(decode)?;
        let decoded = Decoded { sentence: Some(sentence), share: None, known_tokens: Some(coverage.known), said };
        self.write(&sentence.replace('\t', " "), &decoded, out)?;
        Ok(coverage)
    }

    /// Writes the texts for a point between two sentences.
    fn between(&self, first: &str, second: &str, share: f32, out: &mut Vec<u8>) -> Result {
        let said = self.said(|params| self.model.decode_between(first, second, share, params))?;
        self.write(
            &format!("{share:.3}"),
            &Decoded { sentence: None, share: Some(share), known_tokens: None, said },
            out,
        )
    }

    fn said(&self, decode: impl Fn(&DecodeParams) -> senv::Result<Vec<DecodedSentence>>) -> Result<Vec<Saying>> {
        let mut all = Vec::new();
        for &(number, decoder) in &self.decoders {
            let params = DecodeParams { decoder: number, width: self.width, longest: self.longest };
            let said = decode(&params)?.into_iter().take(self.n);
            all.extend(said.map(|sentence| Saying { decoder, sentence }));
        }
        Ok(all)
    }

    fn write(&self, name: &str, decoded: &Decoded<'_>, out: &mut Vec<u8>) -> Result {
        if self.json {
            return Ok(output::write_json_line(out, decoded)?);
        }
        for Saying { decoder, sentence } in &decoded.said {
            let DecodedSentence { text, log_probability, ended, .. } = sentence;
            let end = if *ended { "" } else { " …" };
            // Writing to memory cannot fail.
            let text = output::cell(text);
            let _ = writeln!(out, "{name}\t{decoder}\t{log_probability:.3}\t{text}{end}");
        }
        Ok(())
    }
}
