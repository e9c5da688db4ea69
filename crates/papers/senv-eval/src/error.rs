//! Errors with fields that a caller can match and a message that says how to fix them.

/// What can be a user's own data.
const OWN_DATA: &str = ".tsv, .csv or .jsonl files with the columns sentence1, sentence2 and score, or text \
    and label, or folders with corpus.jsonl, queries.jsonl and qrels/test.tsv";

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the core, such as a file, a parameter or a size.
    #[error(transparent)]
    Core(#[from] senv_core::Error),
    /// An error of a reader.
    #[error(transparent)]
    Data(#[from] senv_data::Error),
    /// An error of a metric.
    #[error(transparent)]
    Metrics(#[from] senv_metrics::Error),
    /// A gold score is outside the learned scale.
    #[error("{reason}; all training pairs must use the same scale")]
    OffScale {
        /// Which score, and the scale.
        reason: String,
    },
    /// There is nothing to evaluate.
    #[error("no {what}; give at least one")]
    NothingToDo {
        /// What is missing.
        what: &'static str,
    },
    /// A folder has no data that the chosen protocols evaluate.
    #[error(
        "no data sets in the folder {}; give {own}, or published sets as `senv eval protocols` lists them{}{}",
        folder.display(), if notes.is_empty() { "" } else { "; not recognized: " }, notes.trim_end().replace('\n', "; "),
        own = OWN_DATA
    )]
    NoDataSets {
        /// The folder.
        folder: std::path::PathBuf,
        /// Files that are not recognized, with the reason, one line for each.
        notes: String,
    },
    /// A file or a folder has nothing of MTEB's STS tasks.
    #[error(
        "{} {what} MTEB's seven English STS tasks; name its folder after the year (sts/2014), stsb or sick, or leave \
        it out", path.display()
    )]
    NotMtebSts {
        /// The file or folder.
        path: std::path::PathBuf,
        /// Which of both it is, as a part of a sentence.
        what: &'static str,
    },
    /// An encoder or a table returned a value that is not finite.
    #[error("{what} is not finite; the model is damaged or its training diverged")]
    NotFinite {
        /// Where the value was found.
        what: String,
    },
    /// There are fewer examples than folds.
    #[error("cannot divide {got} examples into {needed} folds; give more examples, or fewer folds (at least 2)")]
    TooFewExamples {
        /// Number of folds.
        needed: usize,
        /// Number of examples.
        got: usize,
    },
    /// A classifier would learn from a single class.
    #[error(
        "all training examples of a classifier have the same class; give at least two examples of each of two or more \
        classes"
    )]
    OneClass,
    /// A file has only one of the two compared labels.
    #[error("{}: the comparison of {labels} needs both labels, and one is missing", path.display())]
    OneLabel {
        /// The file.
        path: std::path::PathBuf,
        /// The two labels.
        labels: &'static str,
    },
    /// A sentence has no embedding.
    #[error("the sentence {sentence} was not encoded; encode the sentences of every evaluated data set", sentence = senv_core::quoted(sentence))]
    NotEncoded {
        /// Its first characters.
        sentence: String,
    },
    /// An encoder did not read a sentence to its end.
    #[error(
        "the sentence {sentence} of {tokens} tokens is too long for the encoder, which did not read the last \
        {unread}; split it into sentences", sentence = senv_core::quoted(sentence)
    )]
    Unread {
        /// Its first characters.
        sentence: String,
        /// Number of tokens.
        tokens: usize,
        /// Number of tokens at its end that were not read.
        unread: usize,
    },
    /// A sentence was given with two different vectors.
    #[error("the sentence {sentence} has two different vectors; give one vector per sentence", sentence = senv_core::quoted(sentence))]
    TwoVectors {
        /// Its first characters.
        sentence: String,
    },
    /// Two compared results are for different pairs.
    #[error(
        "the results are for different pairs ({first} and {second}); evaluate both systems on the same tasks in the \
        same order"
    )]
    DifferentPairs {
        /// What the first result has.
        first: String,
        /// What the second result has.
        second: String,
    },
    /// A word's relative frequency is not in `[0, 1]`.
    #[error(
        "the relative frequency of {word} is {got}, expected a number from 0 to 1; divide counts by the number of \
        tokens in the corpus", word = senv_core::quoted(word)
    )]
    BadFrequency {
        /// The word.
        word: String,
        /// Its frequency as given.
        got: f64,
    },
    /// A record of the bench cannot be used.
    #[error("not a bench record: {reason}; give the JSON file written by `senv eval all`")]
    BadRecord {
        /// What is wrong.
        reason: String,
    },
    /// Two systems of a run have the same name.
    #[error("two systems are named {name}; rename one", name = senv_core::quoted(name))]
    SameName {
        /// The name.
        name: String,
    },
    /// There is no protocol of this name.
    #[error("unknown protocol {name}; the protocols are {known}", name = senv_core::quoted(name))]
    UnknownProtocol {
        /// The name as given.
        name: String,
        /// All names.
        known: String,
    },
}

impl Error {
    /// Returns the underlying error of the core, if this is one.
    #[must_use]
    pub fn core(&self) -> Option<&senv_core::Error> {
        match self {
            Self::Core(error) => Some(error),
            Self::Data(error) => error.core(),
            _ => None,
        }
    }

    /// Returns the settings that can avoid this error, if any.
    #[must_use]
    pub fn remedies(&self) -> &[senv_core::Remedy] {
        match self {
            Self::Core(error) => error.remedies(),
            Self::Data(error) => error.remedies(),
            _ => &[],
        }
    }
}
