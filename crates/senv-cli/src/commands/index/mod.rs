//! `senv index`: sentences that are searched by meaning, on disk.

mod changes;
mod columns;
mod folder;
mod web;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::ArgGroup;
use senv::{
    SentenceCollection,
    collection::{CollectionShard, CollectionText, NewSentences, SentenceCollectionParams, TextColumns, TextDocuments},
};
use senv_core::{
    TextOptions, TextReader,
    text::{Shard, Split},
};
use senv_index::{Collection, IndexParams, Rescoring};

use self::folder::warn_of_many_parts;
pub(super) use self::folder::{check_new, open};
use crate::{
    argument::argument_of,
    commands::{ENGLISH, known_words::warn_of_few, order_weight},
    failure::{Failure, Result},
    interrupt::LastWords,
    line_ends::note_line_ends,
    output::{self, plural, short},
    text::{InputArgs, LineArgs, is_dash, note_quotes_of, note_tables, note_typing},
};

/// Make a collection of sentences that is searched by meaning (senv search), or change one.
///
/// A collection is a folder: vectors, sentences, ids, where each sentence comes from, and which model made the vectors.
/// Ids are numbers from 0 in the order of the input, unless a column has them. Blank lines are passed over.
///
/// Changes rebuild nothing. Whoever searches goes on meanwhile, and a change that is interrupted, by Ctrl-C, a kill or
/// a full disk, leaves what was there before; one that is made already is finished in spite of Ctrl-C. Memory holds one
/// part of 256 MiB of vectors at a time, however long the input.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("input", |input| input.help(INPUT_HELP)),
    group = ArgGroup::new("change").args(["add", "replace", "delete_ids", "delete_where", "compact"])
)]
pub(crate) struct Index {
    #[command(flatten)]
    input: InputArgs,
    /// The collection, a folder.
    #[arg(long, short, visible_alias = "index", value_name = "FOLDER")]
    output: PathBuf,
    /// The model: as for senv encode. For a collection that is there: where its model is now, if it was moved [default:
    /// english, the model that is part of senv, which knows English only]
    #[arg(long, short, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Add the sentences to a collection that is there.
    #[arg(long)]
    add: bool,
    /// Put the sentences in the place of those with their ids, which --column id=N names; ids that are not there yet
    /// are added.
    #[arg(long)]
    replace: bool,
    /// Delete the sentences with these ids, separated by commas or blanks.
    #[arg(long, value_name = "ID", num_args = 1.., value_parser = Ids::parse, conflicts_with_all = ["input", "files"])]
    delete_ids: Vec<Ids>,
    /// Delete the sentences whose COLUMN has this value, as --where of senv search finds them: 'document = NAME'
    /// deletes a document.
    #[arg(long, value_name = "COLUMN = VALUE", conflicts_with_all = ["input", "files"])]
    delete_where: Option<String>,
    /// Free the space of deleted sentences, and join the parts of many small additions, each of which is searched by
    /// itself.
    #[arg(long, conflicts_with_all = ["input", "files"])]
    compact: bool,
    /// Write the sentences that are not deleted and their vectors (int8) to one file, which the web page of senv opens
    /// and searches without a server; after the change, if there is one. The model must be the English one, or its
    /// small form, which the page holds.
    #[arg(long, value_name = "FILE")]
    export_web: Option<PathBuf>,
    /// Replace a collection that is there, or any file that --export-web names.
    #[arg(long, conflicts_with = "change")]
    force: bool,
    /// A column of the input, which is CSV (.csv), JSON lines (.jsonl, .ndjson), Parquet or Arrow (in a build with the
    /// feature arrow), or else separated by tabs: text=N is the sentence, id=N its id; any other NAME=N is kept, shown
    /// and searched by --where. N counts from 1, or is the title of the column or the name of the field; --column NAME
    /// is NAME=NAME. Without --column each line is a sentence.
    #[arg(long = "column", visible_alias = "field", value_name = "NAME=N", help_heading = "Input", conflicts_with_all = ["delete_ids", "delete_where", "compact"])]
    columns: Vec<String>,
    /// The first line of each file has titles although all columns have numbers; with a title it always does.
    #[arg(long, help_heading = "Input", conflicts_with_all = ["delete_ids", "delete_where", "compact"])]
    header: bool,
    /// Quotes around a cell of TSV are no part of it, so that it may hold tabs and line ends, as in CSV.
    #[arg(long, requires = "columns", help_heading = "Input")]
    quotes: bool,
    /// Cut the text into sentences, as senv split does, and keep which document each is of: senv search then ranks
    /// documents. `lines`: each line, or record of a table, is a document, which --column id=N names. `files`: each
    /// file is one.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "lines",
          help_heading = "Input", conflicts_with_all = ["vectors", "replace", "delete_ids", "delete_where", "compact"])]
    documents: Option<DocumentArg>,
    /// Vectors of the lines, as senv encode has written them with the same model: nothing is encoded again. A .npy file
    /// with a row for each line, blank ones too.
    #[arg(long, value_name = "NPY", help_heading = "Input", conflicts_with_all = ["delete_ids", "delete_where", "compact"])]
    vectors: Option<PathBuf>,
    /// What is kept of the vectors to compute cosines: f16 is exact to .0001, in half the space of f32; int8 to .002,
    /// in a quarter; without any, cosines are estimates (some .007 off), and recall is about .9.
    #[arg(long, value_name = "TYPE", default_value = "f16", help_heading = "Search", conflicts_with = "change")]
    precision: Precision,
    /// Share of the true nearest sentences that a search finds; more takes longer, and 1 compares all of them.
    #[arg(long, value_name = "SHARE", default_value_t = 0.99, help_heading = "Search", conflicts_with = "change")]
    recall: f32,
    /// How much word order and negation count, here and in every search, in a model with a part that reads them, as
    /// english has: 1 as it was trained. 0 leaves the part out: a search by topic finds a little more, and vectors are
    /// half as long [default: 0; 1 with --vectors]
    #[arg(long = "order", value_name = "WEIGHT", value_parser = order_weight, help_heading = "Search",
          conflicts_with = "change")]
    order_weight: Option<f64>,
    /// Make one of N parts of the collection, the I-th; senv join makes the whole of all of them.
    ///
    /// The sentences of the input are parts of 262,144 vectors of 256 values (fewer of longer vectors, or at 256 MiB of
    /// text), which are dealt out in turn. Ids are those in the whole. Each run reads all of the input, and encodes its
    /// share. What senv join makes has the bytes of a collection of the whole; until then a shard is a collection that
    /// can be searched.
    #[arg(long, value_name = "I/N", help_heading = "Large inputs", conflicts_with_all = ["change", "export_web"])]
    shard: Option<Shard>,
    #[command(flatten)]
    text: LineArgs,
}

const INPUT_HELP: &str =
    "Text, one sentence a line, or columns separated by tabs; plain, .gz or .zst; - is standard input [default: -]";

const EXAMPLES: &str = "\
Examples:
  senv index --input text.txt --output text.index
  senv index articles.jsonl --output articles.index --documents --column id=url --column text=body
  senv index chapters/*.txt --output book.index --documents=files
  senv index --model my.senv --input news.tsv --output news.index --column text=3 --column id=1 --column year=2
  senv index large.txt --shard 2/8 --output part2.index   (and then: senv join part*.index --output large.index)
  senv index --add --input more.txt --output text.index
  senv index --delete-ids 17,4 --output text.index
  senv index --delete-where 'document = a/trains' --output articles.index
  senv index --index text.index --export-web text.web";

/// Time between two lines that say how far it is.
const NOTE_EVERY: Duration = Duration::from_secs(2);

argument_of! {
    /// What a document is.
    enum DocumentArg for TextDocuments {
        /// A line, or a record of a table.
        Lines,
        /// A file.
        Files,
    }
}

/// Some of the ids of an argument.
#[derive(Debug, Clone)]
struct Ids(Vec<u64>);

impl Ids {
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let ids = text.split([',', ' ', '\t', '\n']).filter(|id| !id.is_empty());
        let parsed = |id: &str| {
            id.parse().map_err(|_| {
                format!("{id} is no id: expected whole numbers from 0 to {}", u64::MAX, id = senv_core::quoted(id))
            })
        };
        let ids: Vec<u64> = ids.map(parsed).collect::<std::result::Result<_, _>>()?;
        if ids.is_empty() { Err("there is no id".into()) } else { Ok(Self(ids)) }
    }
}

argument_of! {
    /// What is kept of vectors.
    enum Precision for Rescoring {
        F32,
        F16,
        Int8,
        None,
    }
}

impl Index {
    pub(crate) fn run(self) -> Result {
        if is_dash(&self.output) {
            return Err(Failure::Usage("--output -: a collection is a folder; give its name".into()));
        }
        let is_new = !self.is_export() && !self.is_change();
        let new_model = is_new.then(|| self.model.as_deref().unwrap_or(Path::new(ENGLISH)));
        web::check(self.export_web.as_deref(), &self.output, new_model, self.input.paths(), self.force)?;
        if self.is_export() {
            return self.export();
        }
        self.export_changed(self.change())
    }

    /// Makes a collection, or changes one.
    fn change(&self) -> Result {
        if !self.delete_ids.is_empty() || self.delete_where.is_some() {
            return self.delete();
        }
        if self.compact {
            return self.join_parts();
        }
        let started = Instant::now();
        let input = self.input.paths_or_stdin();
        if self.documents == Some(DocumentArg::Files) && !self.columns.is_empty() {
            let message =
                "--documents=files is for plain text; records of a table are documents by themselves: --documents";
            return Err(Failure::Usage(message.into()));
        }
        self.check_documents()?;
        let (columns, table) = self.columns_of(input)?;
        if self.replace && !columns.has_ids() {
            let message = "--replace: which sentences? --column id=N names the column of their ids";
            return Err(Failure::Usage(message.into()));
        }
        if !self.add && !self.replace {
            check_new(&self.output, self.force)?;
        }
        note_typing(input, "text");
        if self.columns.is_empty() {
            note_tables(input);
            note_line_ends(input, self.documents.is_some());
        }
        if let Some(table) = &table {
            note_quotes_of(input, table);
        }
        let split = (self.documents == Some(DocumentArg::Files)).then_some(Split::Paragraphs);
        let reader = TextReader::open(input, &TextOptions { table, split, ..self.text.options() })?;
        let shard = self.shard.map(|shard| CollectionShard { shard, has_ids: columns.has_ids() });
        let mut text = self.text_of(reader, columns)?;
        let further = text.columns();
        // Nothing is changed before all is read.
        let mut last_words = Some(LastWords::set(|| {
            let stopped = senv_core::Error::Interrupted { action: "indexing" };
            output::warn(&format!("{stopped}; nothing is written"));
        }));
        let mut last_note = Instant::now();
        let next = |len: usize| -> Result<Option<NewSentences>> {
            let part = text.next_part(len)?;
            if part.is_none() {
                last_words = None;
                if text.n_sentences() == 0 {
                    return Err(senv_core::Error::EmptyInput { path: input[0].clone() }.into());
                }
            } else if last_note.elapsed() >= NOTE_EVERY {
                last_note = Instant::now();
                output::note(&format!("{} read", plural(text.n_sentences(), "sentence")));
            }
            Ok(part)
        };
        let counts = |rows: &Collection| {
            let never_found = [SentenceCollection::zero_vectors(rows), SentenceCollection::directionless_vectors(rows)];
            (never_found, SentenceCollection::known_words(rows))
        };
        let (collection, (zero_before, known_before)) = if self.add || self.replace {
            let mut collection = open(&self.output, self.model.as_deref())?;
            let before = counts(collection.rows());
            let added = if self.add { collection.add_parts(next) } else { collection.replace_parts(next) };
            added.map_err(|failure| with_lines(failure, &text))?;
            if let Some(model) = &self.model {
                let moved = collection.move_model(model).map_err(Failure::from);
                moved.map_err(|failure| web::behind_change("where its model is now", &failure))?;
            }
            (collection, before)
        } else {
            let model = self.model.clone().unwrap_or_else(|| ENGLISH.into());
            if self.model.is_none() && senv::is_english(&model) {
                output::note("using the English model that is part of senv (English only); --model FILE takes another");
            }
            let index = IndexParams { rescoring: self.precision.into(), ..IndexParams::default() };
            let params = SentenceCollectionParams {
                columns: further,
                index,
                recall: self.recall,
                order_weight: self.order_weight.unwrap_or(f64::from(u8::from(self.vectors.is_some()))),
                shard,
            };
            let made = match self.force {
                true => SentenceCollection::rebuild(&self.output, &model, &params, next),
                false => SentenceCollection::build(&self.output, &model, &params, next),
            };
            (made.map_err(|failure| with_lines(failure, &text))?, Default::default())
        };
        let (n, seconds) = (text.n_sentences(), started.elapsed().as_secs_f64().max(1e-9));
        let what = if self.replace { "put in place" } else { "indexed" };
        let of = match text.n_documents() {
            0 => String::new(),
            documents => format!(" of {}", plural(documents, "document")),
        };
        match self.shard {
            Some(shard) => {
                let own = plural(collection.len() as u64, "sentence");
                let all = plural(n, "sentence");
                output::note(&format!("{own} indexed, shard {shard} of {all}{of}"));
            }
            None => {
                output::note(&format!("{}{of} {what}, {} a second", plural(n, "sentence"), short(n as f64 / seconds)))
            }
        }
        if self.add || self.replace {
            output::note(&format!("{} in {}", plural(collection.len() as u64, "sentence"), self.output.display()));
        }
        if text.n_blank() > 0 {
            let lines = plural(text.n_blank(), "line");
            output::warn(&format!("{lines} with a blank sentence: passed over"));
        }
        warn_of_many_parts(&self.output, collection.rows());
        let (zero, known) = counts(collection.rows());
        if let Some(path) = SentenceCollection::model_path(collection.rows()) {
            warn_of_few(path, known.since(known_before));
        }
        let causes = ["without a known word", "whose vector has no direction: its norm is below 1e-12, or overflows"];
        for ((now, before), why) in zero.into_iter().zip(zero_before).zip(causes) {
            let sentences = now.saturating_sub(before);
            if sentences > 0 {
                output::warn(&format!("{} {why}: never found", plural(sentences, "sentence")));
            }
        }
        Ok(())
    }

    /// The sentences of the input.
    fn text_of(&self, reader: TextReader, columns: TextColumns) -> Result<CollectionText> {
        let mut text = CollectionText::new(reader, columns);
        if let Some(vectors) = &self.vectors {
            text = text.vectors(vectors)?;
        }
        if self.replace {
            text = text.replacing();
        }
        if let Some(documents) = self.documents {
            text = text.documents(documents.into());
            if self.add {
                text.know_documents_of(&Collection::open(&self.output)?)?;
            }
        }
        Ok(text)
    }

    /// Refuses to add sentences to documents, and documents to sentences.
    fn check_documents(&self) -> Result {
        if !self.add {
            return Ok(());
        }
        let has_documents =
            Collection::open(&self.output)?.columns().iter().any(|column| column == SentenceCollection::PLACE);
        let shown = self.output.display();
        if has_documents && self.documents.is_some() {
            self.check_columns()?;
        }
        match (has_documents, self.documents.is_some()) {
            (true, false) => Err(Failure::Usage(format!("{shown} is of documents: add more of them with --documents"))),
            (false, true) => Err(Failure::Usage(format!(
                "{shown} is of sentences, and not of documents: make a new collection of these"
            ))),
            _ => Ok(()),
        }
    }

    /// Whether nothing is changed: a collection that is there is exported.
    fn is_export(&self) -> bool {
        let has_input = !self.input.paths().is_empty() || self.vectors.is_some() || !self.columns.is_empty();
        self.export_web.is_some() && !self.is_change() && !has_input
    }

    /// Whether a collection that is there is changed.
    fn is_change(&self) -> bool {
        self.add || self.replace || self.compact || !self.delete_ids.is_empty() || self.delete_where.is_some()
    }
}

/// A failure of adding the sentences, with the lines where the library knows rows, and the file of their vectors.
fn with_lines(failure: Failure, text: &CollectionText) -> Failure {
    let Failure::Failed(error) = &failure else { return failure };
    let of_index = match error.downcast_ref::<senv::Error>() {
        Some(senv::Error::Index(error)) => Some(error),
        _ => error.downcast_ref::<senv_index::Error>(),
    };
    let explained = |error| text.given_twice(error).or_else(|| text.of_other_dim(error));
    of_index.and_then(explained).map_or(failure, Failure::from)
}
