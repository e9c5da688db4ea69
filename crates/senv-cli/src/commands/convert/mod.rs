//! `senv convert`: word vectors from one format to another, and models of other programs to those of senv.

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

/// Convert word vectors from one format to another, or models of other programs to those of senv.
///
/// What the input is shows in its content; a model trained by senv gives its words (n-grams have no names and are
/// left behind). What the output is shows in its name:
///
///   .senv .safetensors   senv model file, mapped when opened
///   .vec                 fastText text
///   .w2v                 word2vec text
///   .bin                 word2vec binary
///   .txt                 GloVe text
///   .npy                 NumPy matrix, and the words beside it in .words.txt
///
/// With --to model2vec a mean of word vectors becomes a folder that Python's model2vec opens.
///
/// A .bin or .ftz file of fastText or a .bin file of Sent2Vec's program is a model, and becomes one of
/// senv if the output is .senv: with the n-grams of words of Sent2Vec, whose sentence vectors stay the
/// same, and with the character n-grams of fastText, so that unknown words have vectors. How text was
/// tokenized is in no such file: models of Sent2Vec's program split at blanks and keep capitals, as it
/// does, unless --tokenizer and --lowercase say otherwise. Of a supervised model the word vectors are taken,
/// and the classifier is left behind; quantized models (.ftz) are read as well.
///
/// A folder is read as the Skip-thoughts that their authors released: dictionary.txt, and utable.npy with
/// uni_skip.npz, btable.npy with bi_skip.npz, or all of them. The whole model is written, in senv's own format.
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  senv convert GoogleNews-vectors-negative300.bin news.senv
  senv convert wiki_bigrams.bin wiki.senv
  senv convert model.senv words.txt --to word2vec-text
  senv convert model.senv - --to glove-text | gzip > words.txt.gz
  senv convert english english-model2vec/ --to model2vec
  senv convert skip-thoughts/ skip-thoughts.senv"
)]
pub(crate) struct Convert {
    /// The file to read, or the folder of released Skip-thoughts; .npy needs its words beside it; - is standard input,
    /// english the model that is part of senv, for English only.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write; - is standard output, for the formats of other programs (with --to).
    #[arg(value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    force: ForceArg,
    /// Format of the output [default: by its name]
    #[arg(long, value_name = "FORMAT")]
    to: Option<FormatArg>,
    /// Format of the input [default: by its content]
    #[arg(long, value_name = "FORMAT")]
    from: Option<FormatArg>,
    /// What to do with a word that is not UTF-8.
    #[arg(long, value_name = "POLICY", default_value = "error")]
    invalid_utf8: Utf8Policy,
    /// Read the first N rows of word vectors alone; files have the most frequent words first.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    first: Option<u64>,
    /// Read as many rows as there are, although the header of the file declares fewer or more.
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
    /// A folder with model.safetensors, tokenizer.json and config.json.
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
            let message = format!("the name {} does not say which format; add --to FORMAT", self.output.display());
            return Err(Failure::Usage(message));
        };
        if Model2Vec::is_one(&self.input) {
            let message = "a folder of Model2Vec needs no conversion: every command opens it with --model";
            return Err(Failure::Usage(message.into()));
        }
        if self.input.is_dir() {
            if to != FormatArg::Senv || self.from.is_some() {
                let message = "a folder holds released Skip-thoughts, which become a model of senv; give a name in .senv \
                               and no --from; words alone come of that model in another step";
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
                "folders of Model2Vec need no conversion: every command opens them with --model".into(),
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
        output::note(&format!("{words} of {} numbers written to {}", embeddings.dim(), self.output.display()));
        Ok(())
    }

    fn to_model2vec(&self) -> Result {
        let is_empty =
            std::fs::read_dir(&self.output).map_or(!self.output.exists(), |mut files| files.next().is_none());
        if !is_empty && !self.force.force {
            let message = format!("{} is there already; give another folder, or --force", self.output.display());
            return Err(Failure::Usage(message));
        }
        let model = Model::open(&self.input)?;
        write_model2vec(&model, &self.output)?;
        let (words, with_order) = (plural(model.vocabulary().len() as u64, "word"), model.dim());
        let dim = model.without_order()?.dim();
        if dim < with_order {
            output::note("the part that reads word order is left behind: Model2Vec has none");
        }
        output::note(&format!("{words} of {dim} numbers written to {}", self.output.display()));
        Ok(())
    }

    /// Whether the input is a matrix with its words beside it.
    fn reads_matrix(&self) -> bool {
        let is_npy = self.input.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
        self.from == Some(FormatArg::Npy) || (self.from.is_none() && is_npy)
    }

    /// Refuses an output that may not be written, or not in this way.
    fn check_output(&self, to: FormatArg) -> Result {
        let mut inputs = vec![self.input.clone()];
        if self.reads_matrix() {
            inputs.push(Embeddings::words_of_matrix(&self.input));
        }
        if is_dash(&self.output) {
            if let FormatArg::Senv | FormatArg::Npy = to {
                let message = "a model is mapped from a file, and a matrix has its words in a file beside it; give the name \
                               of a file, or one of the other formats with --to";
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

    /// Refuses what says which rows of word vectors are read, where a model is read as a whole.
    fn refuse_rows(&self) -> Result {
        let given = [("--first", self.first.is_some()), ("--accept-row-count", self.accept_row_count)];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Failure::Usage(format!(
                "{option} goes with a file of word vectors; {} is a model (senv compress --max-vocabulary makes it smaller)",
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
            (report.duplicates, "row", "left out: the word had one already"),
            (report.invalid_utf8, "word", "with bytes replaced that are not UTF-8"),
        ];
        for (n, what, why) in warnings {
            if n > 0 {
                output::warn(&format!("{} {why}", plural(n, what)));
            }
        }
        Ok(embeddings)
    }
}

/// A failure of writing word vectors to standard output.
fn of_stdout(error: senv_store::Error) -> Failure {
    match error {
        senv_store::Error::Core(senv_core::Error::Io { error, .. }) => Failure::stdout(error),
        error => error.into(),
    }
}
