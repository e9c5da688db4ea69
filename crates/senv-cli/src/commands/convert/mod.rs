//! `senv convert`: converts word vectors between formats, and models of other programs to senv models.

mod release;

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use senv::{Model, Model2Vec, ReleasedBin, write_model2vec};
use senv_core::files::LastStep;
use senv_store::{Embeddings, Format, ModelFile, NonFinite, ReadOptions, tokenizer_of_words};

use self::release::ReleaseArgs;
use crate::{
    commands::note_case,
    destination::{self, Content, Destination, ForceArg},
    failure::{Failure, Result},
    output::{self, plural},
    text::{Utf8Policy, is_dash},
};

/// Convert word vectors between formats, and models of other programs to senv
///
/// The format of the input is detected from its content. A model trained by senv is converted to its word
/// vectors; n-grams have no names and are dropped. The name of the output decides its format:
///
///   .senv .safetensors   senv model file, mapped when opened
///   .vec                 fastText text
///   .w2v                 word2vec text
///   .bin                 word2vec binary
///   .txt                 GloVe text
///   .npy                 NumPy matrix, with the words in .words.txt
///
/// Terms of use go with the vectors: into a senv model, into README.md of a Model2Vec folder, and for other
/// formats into a second file, such as words.vec.license.
///
/// --to model2vec writes a mean of word vectors as a folder that the Python package model2vec opens.
///
/// A .bin or .ftz file of fastText, or a .bin file of the Sent2Vec program, becomes a senv model if the output
/// is .senv. It keeps the word n-grams of Sent2Vec, with the same sentence vectors, and the character n-grams
/// of fastText, which give vectors to unknown words. These files do not say how text was tokenized: models of
/// the Sent2Vec program split at blanks and keep capitals, as that program does, unless --tokenizer or
/// --lowercase is given. Supervised models lose their classifier. Quantized models (.ftz) can be read too.
///
/// A folder is read as released Skip-thoughts: dictionary.txt, and utable.npy with uni_skip.npz, btable.npy
/// with bi_skip.npz, or both. It becomes one senv model.
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  senv convert GoogleNews-vectors-negative300.bin news.senv
  senv convert model.senv words.txt --to word2vec-text
  senv convert wiki_bigrams.bin wiki.senv
  senv convert model.senv - --to glove-text | gzip > words.txt.gz
  senv convert english english-model2vec/ --to model2vec
  senv convert skip-thoughts/ skip-thoughts.senv"
)]
pub(crate) struct Convert {
    /// File to read, or folder of released Skip-thoughts; - is standard input.
    ///
    /// A .npy file needs its words next to it, in .words.txt. english is the built-in model.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// File to write; - is standard output, for formats of other programs (with --to).
    #[arg(value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// Format of the output [default: from its name]
    #[arg(long, value_name = "FORMAT")]
    to: Option<FormatArg>,
    /// Format of the input [default: from its content]
    #[arg(long, value_name = "FORMAT")]
    from: Option<FormatArg>,
    /// What to do with a word that is not UTF-8.
    #[arg(long, value_name = "POLICY", default_value = "error")]
    invalid_utf8: Utf8Policy,
    /// Read only the first N word vectors; files start with the most frequent words.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    first: Option<u64>,
    /// Read all rows even if the header declares another number.
    #[arg(long)]
    accept_row_count: bool,
    #[command(flatten)]
    release: ReleaseArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    Senv,
    FasttextVec,
    Word2vecText,
    Word2vecBinary,
    GloveText,
    Npy,
    /// A folder with model.safetensors, tokenizer.json, config.json and README.md.
    Model2vec,
}

impl FormatArg {
    fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_ascii_lowercase();
        match extension.to_str()? {
            "senv" => return Some(Self::Senv),
            "npy" => return Some(Self::Npy),
            _ => {}
        }
        Some(match Format::from_path(path)? {
            Format::FastTextVec => Self::FasttextVec,
            Format::Word2vecText => Self::Word2vecText,
            Format::Word2vecBinary => Self::Word2vecBinary,
            Format::GloveText => Self::GloveText,
            _ => Self::Senv,
        })
    }

    /// The format of the store; nothing for a matrix.
    fn format(self) -> Option<Format> {
        Some(match self {
            Self::Senv => Format::Safetensors,
            Self::FasttextVec => Format::FastTextVec,
            Self::Word2vecText => Format::Word2vecText,
            Self::Word2vecBinary => Format::Word2vecBinary,
            Self::GloveText => Format::GloveText,
            Self::Npy | Self::Model2vec => return None,
        })
    }
}

impl Convert {
    pub(crate) fn run(self) -> Result {
        let Some(to) = self.to.or_else(|| FormatArg::of_path(&self.output)) else {
            let message = format!("unknown output format for the name {}; add --to FORMAT", self.output.display());
            return Err(Failure::Usage(message));
        };
        if Model2Vec::is_one(&self.input) {
            let message = "a Model2Vec folder needs no conversion; every command opens it with --model";
            return Err(Failure::Usage(message.into()));
        }
        if self.input.is_dir() {
            if to != FormatArg::Senv || self.from.is_some() {
                let message = "a folder of released Skip-thoughts can only become a senv model; give a .senv name and no \
                               --from, and convert that model to get its words";
                return Err(Failure::Usage(message.into()));
            }
            return self.release.convert(&self.input, &self.output, self.force);
        }
        let is_released_bin = self.from.is_none() && ReleasedBin::is_one(&self.input);
        if is_released_bin && to == FormatArg::Senv {
            self.check_output(to)?;
            return self.release.convert_bin(&self.input, &self.output);
        }
        self.release.refuse_end_token()?;
        if self.from == Some(FormatArg::Model2vec) {
            return Err(Failure::Usage(
                "Model2Vec folders need no conversion; every command opens them with --model".into(),
            ));
        }
        if to == FormatArg::Model2vec {
            return self.to_model2vec();
        }
        self.check_output(to)?;
        let embeddings = self.release.with_tokenizer(self.read()?, to == FormatArg::Senv)?;
        // Files of text have been refused with their line.
        embeddings.check_finite_of(&self.input)?;
        if embeddings.tokenizer().is_none() {
            note_case(&self.input, embeddings.vocabulary(), &tokenizer_of_words(embeddings.vocabulary()));
        }
        let license = self.license(&embeddings, to)?;
        let _last = LastStep::begin();
        match to.format() {
            Some(format) if is_dash(&self.output) => {
                let mut out = output::stdout();
                embeddings.write_to(&mut out, "-", format, NonFinite::Error).map_err(of_stdout)?;
                out.flush().map_err(Failure::stdout)?;
            }
            Some(format) => embeddings.write(&self.output, format, NonFinite::Error)?,
            None => embeddings.write_matrix(&self.output)?,
        }
        let words = plural(embeddings.len() as u64, "word");
        output::note(&format!("{words} of {} dimensions written to {}", embeddings.dim(), self.output.display()));
        tell_terms(embeddings.vocabulary().terms(), license.as_deref().unwrap_or(&self.output));
        Ok(())
    }

    /// The file that the terms are written to, if the output has no place for them; refuses one of somebody else.
    fn license(&self, embeddings: &Embeddings, to: FormatArg) -> Result<Option<PathBuf>> {
        if embeddings.vocabulary().terms().is_none() || to == FormatArg::Senv || is_dash(&self.output) {
            return Ok(None);
        }
        let path = Embeddings::license_of(&self.output);
        let (option, force) = ("OUT", Some(self.force.force));
        Destination { path: &path, option, content: Content::License, force }.check(&[&self.input])?;
        Ok(Some(path))
    }

    fn to_model2vec(&self) -> Result {
        let is_empty =
            std::fs::read_dir(&self.output).map_or(!self.output.exists(), |mut files| files.next().is_none());
        if !is_empty && !self.force.force {
            let message = format!("{} already exists; give another folder, or use --force", self.output.display());
            return Err(Failure::Usage(message));
        }
        let model = Model::open(&self.input)?;
        write_model2vec(&model, &self.output)?;
        let (words, with_order) = (plural(model.vocabulary().len() as u64, "word"), model.dim());
        let dim = model.without_order()?.dim();
        if dim < with_order {
            output::note("the part that reads word order is dropped, because Model2Vec has none");
        }
        output::note(&format!("{words} of {dim} dimensions written to {}", self.output.display()));
        tell_terms(model.terms(), &self.output.join("README.md"));
        Ok(())
    }

    /// Whether the input is a matrix with a file of words.
    fn reads_matrix(&self) -> bool {
        let is_npy = self.input.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
        self.from == Some(FormatArg::Npy) || (self.from.is_none() && is_npy)
    }

    /// Refuses an output that must not be written, or not in this format.
    fn check_output(&self, to: FormatArg) -> Result {
        let mut inputs = vec![self.input.clone()];
        if self.reads_matrix() {
            inputs.push(Embeddings::words_of_matrix(&self.input));
        }
        if is_dash(&self.output) {
            if let FormatArg::Senv | FormatArg::Npy = to {
                let message = "a model or a matrix cannot be written to standard output; give a file, or another format \
                               with --to";
                return Err(Failure::Usage(message.into()));
            }
            return destination::check_stdout(&inputs);
        }
        let words = Embeddings::words_of_matrix(&self.output);
        let contents = match to {
            FormatArg::Senv => vec![(&self.output, Content::Model)],
            FormatArg::Npy => vec![(&words, Content::WordsOf(&self.output)), (&self.output, Content::Matrix)],
            _ => vec![(&self.output, Content::WordVectors)],
        };
        contents.into_iter().try_for_each(|(path, content)| {
            Destination { path, option: "OUT", content, force: Some(self.force.force) }.check(&inputs)
        })
    }

    /// For a model, refuses the options that choose rows of word vectors.
    fn refuse_rows(&self) -> Result {
        let given = [("--first", self.first.is_some()), ("--accept-row-count", self.accept_row_count)];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Failure::Usage(format!(
                "{option} needs a file of word vectors, and {} is a model (senv compress --max-vocabulary makes it smaller)",
                self.input.display()
            ))),
            None => Ok(()),
        }
    }

    fn read(&self) -> Result<Embeddings> {
        if self.reads_matrix() {
            self.refuse_rows()?;
            return Ok(Embeddings::read_matrix(&self.input)?);
        }
        if senv::is_english(&self.input) {
            self.refuse_rows()?;
            return Ok(Model::open_verified(&self.input)?.to_embeddings()?);
        }
        let mut options = ReadOptions::default().non_finite(NonFinite::Error).verify(true);
        options = options.invalid_utf8(self.invalid_utf8.into()).accept_wrong_row_count(self.accept_row_count);
        if let Some(n) = self.first {
            options = options.first_rows(n);
        }
        if let Some(format) = self.from.and_then(FormatArg::format) {
            options = options.format(format);
        }
        let (embeddings, report) = if is_dash(&self.input) {
            Embeddings::read_from(std::io::stdin(), "-", &options)?
        } else {
            match ModelFile::open(&self.input) {
                Ok(file) if file.kind() != "embeddings" => {
                    self.refuse_rows()?;
                    return Ok(Model::open_verified(&self.input)?.to_embeddings()?);
                }
                Err(_) if self.from.is_none() && ReleasedBin::is_one(&self.input) => {
                    self.refuse_rows()?;
                    return Ok(Model::open(&self.input)?.to_embeddings()?);
                }
                _ => Embeddings::read(&self.input, &options)?,
            }
        };
        output::note(&format!("{}: {}, {}", self.input.display(), report.format, plural(report.rows, "row")));
        let warnings = [
            (report.duplicates, "row", "left out, because the word already had one"),
            (report.invalid_utf8, "word", "with invalid UTF-8 replaced"),
        ];
        for (n, what, why) in warnings {
            if n > 0 {
                output::warn(&format!("{} {why}", plural(n, what)));
            }
        }
        Ok(embeddings)
    }
}

/// Says under which terms the output is, and which file says so.
fn tell_terms(terms: Option<&str>, place: &Path) {
    let Some(terms) = terms else { return };
    let place = if is_dash(place) { "nowhere in it".into() } else { place.display().to_string() };
    output::note(&format!("terms of the vectors: {terms} ({place})"));
}

/// A failure of writing word vectors to standard output.
fn of_stdout(error: senv_store::Error) -> Failure {
    match error {
        senv_store::Error::Core(senv_core::Error::Io { error, .. }) => Failure::stdout(error),
        error => error.into(),
    }
}
