//! `senv index`: a collection of sentences on disk that can be searched by meaning.

mod changes;
mod columns;
mod documents;
mod failures;
mod folder;
mod ids;
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
use senv_index::{Collection, IdKind, IndexParams, Rescoring};

pub(super) use self::folder::{check_new, open};
use self::{failures::with_lines, folder::warn_of_many_parts, ids::Ids};
use crate::{
    argument::argument_of,
    commands::{ENGLISH, known_words::warn_of_few, order_weight},
    failure::{Failure, Result},
    interrupt::LastWords,
    line_ends::note_line_ends,
    output::{self, plural, short},
    text::{InputArgs, LineArgs, delimiter, is_dash, note_tables, note_typing, refuse_tables},
};

/// Make or change a collection of sentences for senv search.
///
/// A collection is a folder with vectors, sentences, ids, the location of each sentence, and the model that made the
/// vectors. Ids are numbers from 0 in the order of the input, unless a column has them, as numbers or as texts. Blank
/// lines are skipped.
///
/// A change rebuilds nothing, and searches continue while it is made. Ctrl-C, a kill or a full disk during a change
/// leaves the collection as it was. A change that is already made is completed despite Ctrl-C. Memory holds one part of
/// 256 MiB of vectors at a time, for any length of the input.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("files", |files| files.help(INPUT_HELP)),
    group = ArgGroup::new("change").args(["add", "replace", "delete_ids", "delete_where", "compact"])
)]
pub(crate) struct Index {
    #[command(flatten)]
    input: InputArgs,
    /// Folder of the collection.
    #[arg(long, short, visible_alias = "index", value_name = "FOLDER")]
    output: PathBuf,
    /// Model or word vectors to use [default: english, which is built in]
    ///
    /// As for senv encode; english is for English only. For an existing collection: the new location of its model, if
    /// it was moved.
    #[arg(long, short, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Add the sentences to an existing collection. An id that exists is an error.
    #[arg(long)]
    add: bool,
    /// Replace the sentences with the same ids.
    ///
    /// --column id=N names the column of the ids. New ids are added.
    #[arg(long)]
    replace: bool,
    /// Delete the sentences with these ids, separated by commas or blanks.
    ///
    /// A text that is itself an id, as in 'a, b', is not divided. Ids that no sentence has are listed; they are not an
    /// error, so a deletion can be repeated.
    #[arg(long, value_name = "ID", num_args = 1.., value_parser = Ids::parse, conflicts_with_all = ["input", "files"])]
    delete_ids: Vec<Ids>,
    /// Delete the sentences that meet this condition, as in --where of senv search. 'document = NAME' deletes a
    /// document. It is not an error if no sentence meets it.
    #[arg(long, value_name = "CONDITION", conflicts_with_all = ["input", "files"])]
    delete_where: Option<String>,
    /// Free the space of deleted sentences and merge small parts.
    ///
    /// Many small additions leave many parts, each of which is searched separately.
    #[arg(long, conflicts_with_all = ["input", "files"])]
    compact: bool,
    /// Write the sentences and their vectors (int8) to one file for the web page of senv, which searches it without a
    /// server. With a change, the export comes after it. The model must be the built-in English model or its small
    /// form.
    #[arg(long, value_name = "FILE")]
    export_web: Option<PathBuf>,
    /// Replace an existing collection, or any file that --export-web names.
    #[arg(long, conflicts_with = "change")]
    force: bool,
    /// Column of a table: text=N is the sentence, id=N its id; can be repeated.
    ///
    /// The input is CSV (.csv), JSON lines (.jsonl, .ndjson) or an array of objects (.json), Parquet or Arrow (in a
    /// build with the feature `arrow`), or else tab-separated. N is a number from 1, the title of a column, or the name
    /// of a field. Any other NAME=N is stored, shown, and searched with --where. --column NAME means NAME=NAME. Without
    /// --column, each line is a sentence.
    #[arg(long = "column", visible_alias = "field", value_name = "NAME=N", help_heading = "Input", conflicts_with_all = ["delete_ids", "delete_where", "compact"])]
    columns: Vec<String>,
    /// Ids are texts, even if the first ones are numbers.
    ///
    /// Without it, the first ids decide: 262,144 with vectors of 256 values. If all are whole numbers without zeros in
    /// front, ids are numbers. Otherwise all ids are texts of up to 1,024 bytes, such as T-1234 or a UUID.
    #[arg(long, requires = "columns", help_heading = "Input", conflicts_with = "change")]
    text_ids: bool,
    /// The first line of each file has titles. Needed only if all columns are given by number.
    #[arg(long, help_heading = "Input", conflicts_with_all = ["delete_ids", "delete_where", "compact"])]
    header: bool,
    /// Read tables as plain lines, too. Without it or --column, they are refused.
    #[arg(id = "as_lines", long = "lines", help_heading = "Input",
          conflicts_with_all = ["columns", "delete_ids", "delete_where", "compact"])]
    as_lines: bool,
    /// Character between the fields of CSV or TSV, such as ; or tab [default: recognized]
    #[arg(long, value_name = "CHAR", requires = "columns", value_parser = delimiter, help_heading = "Input")]
    delimiter: Option<u8>,
    /// Leave out up to N bad records, and list them at the end.
    #[arg(long, value_name = "N", requires = "columns", help_heading = "Input")]
    skip_bad: Option<u64>,
    /// Read quoted cells of TSV as in CSV: they can contain tabs and line ends.
    #[arg(long, requires = "columns", help_heading = "Input")]
    quotes: bool,
    /// Leave out spaces before the fields of CSV, as in: 7, "Rain falls."
    #[arg(long, requires = "columns", help_heading = "Input")]
    skip_initial_space: bool,
    /// Index documents, which senv search then ranks.
    ///
    /// Splits the text into sentences, as senv split does, and stores the document of each. With `lines`, each line or
    /// record of a table is a document, named by --column id=N; paragraphs in a cell stay separate. With `files`, each
    /// file is a document, named by its path. Without a value, it is `files` for a folder of text, and `lines` for all
    /// else. A folder of text is indexed as documents even without --documents.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true,
          help_heading = "Input", conflicts_with_all = ["vectors", "replace", "delete_ids", "delete_where", "compact"])]
    documents: Option<Option<DocumentArg>>,
    /// Vectors of the lines, written by senv encode with the same model, so nothing is encoded again. A .npy file with
    /// one row per line, including blank lines.
    #[arg(long, value_name = "NPY", help_heading = "Input", conflicts_with_all = ["delete_ids", "delete_where", "compact"])]
    vectors: Option<PathBuf>,
    /// Type of the stored vectors, from which cosines are computed. f16 is exact to 0.0001 in half the space of f32,
    /// int8 to 0.002 in a quarter. With none, cosines are estimates (about 0.007 off) and recall is about 0.9.
    #[arg(long, value_name = "TYPE", default_value = "f16", help_heading = "Search", conflicts_with = "change")]
    precision: Precision,
    /// Share of the true nearest sentences that a search finds. More takes longer, and 1 compares all of them.
    #[arg(long, value_name = "SHARE", default_value_t = 0.99, help_heading = "Search", conflicts_with = "change")]
    recall: f32,
    /// Weight of word order and negation, 0 to 2, in a model that reads them, such as english. 1 is as trained; 0
    /// ignores order, finds a little more by topic, and halves the vectors. Applies to every search too [default: 0; 1
    /// with --vectors]
    #[arg(long = "order", value_name = "WEIGHT", value_parser = order_weight, help_heading = "Search",
          conflicts_with = "change")]
    order_weight: Option<f64>,
    /// Leave out the words of the sentences, which take some 40 % of the space of a large text.
    ///
    /// A search by words or of documents (--hybrid, --rank) then reads all sentences first.
    #[arg(long, help_heading = "Search", conflicts_with = "change")]
    no_words: bool,
    /// Make the I-th of N shards of the collection, to be merged by senv join.
    ///
    /// The input is divided into parts of 262,144 vectors of 256 values (fewer for longer vectors, or at 256 MiB of
    /// text). The parts are assigned to the shards in turn, and ids count in the whole input. Each run reads all of the
    /// input and encodes its share. The result of senv join has the same bytes as a collection made in one run. A shard
    /// is a collection that can be searched.
    #[arg(long, value_name = "I/N", help_heading = "Large inputs", conflicts_with_all = ["change", "export_web"])]
    shard: Option<Shard>,
    #[command(flatten)]
    text: LineArgs,
}

const INPUT_HELP: &str = "Text, one sentence per line, or a table (--column); plain, .gz or .zst; a folder of .txt and .md files, each a \
     document; - is standard input [default: -]";

const EXAMPLES: &str = "\
Examples:
  senv index text.txt --output text.index
  senv index more.txt --add --output text.index
  senv index articles.jsonl --output articles.index --documents --column id=url --column text=body
  senv index docs --output docs.index
  senv index chapters/*.txt --output book.index --documents=files
  senv index --model my.senv news.tsv --output news.index --column text=3 --column id=1 --column year=2
  senv index large.txt --shard 2/8 --output part2.index   (then: senv join part*.index --output large.index)
  senv index --delete-ids 17,4 --output text.index
  senv index --delete-where 'document = a/trains' --output articles.index
  senv index --index text.index --export-web text.web";

/// Time between two lines of progress.
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

argument_of! {
    /// How vectors are stored.
    enum Precision for Rescoring {
        F32,
        F16,
        Int8,
        None,
    }
}

impl Index {
    pub(crate) fn run(mut self) -> Result {
        if is_dash(&self.output) {
            return Err(Failure::Usage("--output -: a collection is a folder; give the name of one".into()));
        }
        self.open_folders()?;
        let is_new = !self.is_export() && !self.is_change();
        let new_model = is_new.then(|| self.model.as_deref().unwrap_or(Path::new(ENGLISH)));
        web::check(self.export_web.as_deref(), &self.output, new_model, self.input.paths(), self.force)?;
        if self.is_export() {
            return self.export();
        }
        if self.is_deletion() {
            return match self.delete() {
                Ok(0) => self.export(),
                deleted => self.export_changed(deleted.map(drop)),
            };
        }
        self.export_changed(if self.compact { self.join_parts() } else { self.index() })
    }

    /// Makes a collection, or adds to one.
    fn index(&self) -> Result {
        let started = Instant::now();
        let input = self.input.paths_or_stdin();
        if self.documents() == Some(DocumentArg::Files) && !self.columns.is_empty() {
            let message =
                "--documents=files is for plain text; use --documents for a table, whose records are the documents";
            return Err(Failure::Usage(message.into()));
        }
        self.check_documents()?;
        let (columns, table) = self.columns_of(input)?;
        if self.text_ids && !columns.has_ids() {
            let message = match self.documents() {
                Some(_) => "--text-ids is for sentences with ids; --column id=N of documents is their name, a text",
                None => "--text-ids needs the ids of the sentences; name their column with --column id=N",
            };
            return Err(Failure::Usage(message.into()));
        }
        if self.replace && !columns.has_ids() {
            let message = "--replace needs the ids of the sentences; name their column with --column id=N";
            return Err(Failure::Usage(message.into()));
        }
        if !self.add && !self.replace {
            check_new(&self.output, self.force)?;
        }
        note_typing(input, "text");
        match &table {
            Some(table) => note_tables(input, table),
            None => {
                if !self.as_lines {
                    refuse_tables(input, &self.text.options(), ["--column text=N", "--lines"])?;
                }
                note_line_ends(input, self.documents.is_some());
            }
        }
        let split = (self.documents() == Some(DocumentArg::Files)).then_some(Split::Paragraphs);
        let reader = TextReader::open(input, &TextOptions { table, split, ..self.text.options() })?;
        let shard = self.shard.map(|shard| CollectionShard { shard, has_ids: columns.has_ids() });
        let mut text = self.text_of(reader, columns)?;
        let further = text.columns();
        // Nothing is changed before everything is read.
        let mut last_words = Some(LastWords::set(|| {
            let stopped = senv_core::Error::Interrupted { action: "indexing" };
            output::warn(&format!("{stopped}; nothing was written"));
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
            added.map_err(|failure| with_lines(failure, &text, &self.output))?;
            if let Some(model) = &self.model {
                let moved = collection.move_model(model).map_err(Failure::from);
                moved.map_err(|failure| web::behind_change("the new location of the model", &failure))?;
            }
            (collection, before)
        } else {
            let model = self.model.clone().unwrap_or_else(|| ENGLISH.into());
            if self.model.is_none() && senv::is_english(&model) {
                output::detail("using the built-in English model (change it with --model)");
            }
            let index = IndexParams { rescoring: self.precision.into(), ..IndexParams::default() };
            let params = SentenceCollectionParams {
                columns: further,
                index,
                recall: self.recall,
                order_weight: self.order_weight.unwrap_or(f64::from(u8::from(self.vectors.is_some()))),
                text_ids: self.text_ids,
                words: !self.no_words,
                shard,
            };
            let made = match self.force {
                true => SentenceCollection::rebuild(&self.output, &model, &params, next),
                false => SentenceCollection::build(&self.output, &model, &params, next),
            };
            (made.map_err(|failure| with_lines(failure, &text, &self.output))?, Default::default())
        };
        let (n, seconds) = (text.n_sentences(), started.elapsed().as_secs_f64().max(1e-9));
        let what = if self.replace { "replaced or added" } else { "indexed" };
        let of = match text.n_documents() {
            0 => String::new(),
            documents => format!(" of {}", plural(documents, "document")),
        };
        match self.shard {
            Some(shard) => {
                let own = plural(collection.len() as u64, "sentence");
                let all = plural(n, "sentence");
                output::note(&format!("{own} indexed in shard {shard} of {all}{of}"));
            }
            None => output::note(&format!("{}{of} {what}, {}/s", plural(n, "sentence"), short(n as f64 / seconds))),
        }
        if self.add || self.replace {
            output::note(&format!("{} in {}", plural(collection.len() as u64, "sentence"), self.output.display()));
        }
        // Those of tables are noted with their places.
        if text.n_blank() > 0 && self.columns.is_empty() {
            let lines = plural(text.n_blank(), "line");
            output::warn(&format!("skipped {lines} with a blank sentence"));
        }
        if let Some(mixed) = text.mixed_ids() {
            output::note(mixed);
        }
        warn_of_many_parts(&self.output, collection.rows());
        let (zero, known) = counts(collection.rows());
        if let Some(path) = SentenceCollection::model_path(collection.rows()) {
            warn_of_few(path, known.since(known_before));
        }
        let causes = ["without a known word", "whose vector has no direction (its norm is below 1e-12 or overflows)"];
        for ((now, before), why) in zero.into_iter().zip(zero_before).zip(causes) {
            let sentences = now.saturating_sub(before);
            if sentences > 0 {
                output::warn(&format!("{} {why} cannot be found", plural(sentences, "sentence")));
            }
        }
        Ok(())
    }

    /// The sentences of the input.
    fn text_of(&self, reader: TextReader, columns: TextColumns) -> Result<CollectionText> {
        let has_ids = columns.has_ids();
        let mut text = CollectionText::new(reader, columns);
        if let Some(n) = self.skip_bad {
            text = text.leaving_out(crate::text::bad_records::up_to(n));
        }
        if let Some(vectors) = &self.vectors {
            text = text.vectors(vectors)?;
        }
        if self.replace {
            text = text.replacing();
        }
        if self.text_ids {
            text = text.text_ids();
        }
        if self.add || self.replace {
            let collection = Collection::open(&self.output)?;
            if !has_ids && collection.id_kind() == Some(IdKind::Texts) {
                let shown = self.output.display();
                let message = format!(
                    "the ids of {shown} are texts, so each new sentence needs its own; name their column with \
                    --column id=N"
                );
                return Err(Failure::Usage(message));
            }
            text.know_ids_of(&collection);
        }
        if let Some(documents) = self.documents() {
            text = text.documents(documents.into());
            if self.add {
                text.know_documents_of(&Collection::open(&self.output)?)?;
            }
        }
        Ok(text)
    }

    /// Whether an existing collection is exported without a change.
    fn is_export(&self) -> bool {
        let has_input = !self.input.paths().is_empty() || self.vectors.is_some() || !self.columns.is_empty();
        self.export_web.is_some() && !self.is_change() && !has_input
    }

    /// Whether an existing collection is changed.
    fn is_change(&self) -> bool {
        self.add || self.replace || self.compact || self.is_deletion()
    }

    fn is_deletion(&self) -> bool {
        !self.delete_ids.is_empty() || self.delete_where.is_some()
    }
}
