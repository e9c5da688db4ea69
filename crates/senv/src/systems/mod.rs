//! The systems, each in a module of its own with its hyperparameters, training, model and tests. Shared code is outside
//! this folder and does not depend on any of them.

mod bow_autoencoder;
mod c_phrase;
mod caption_rep;
mod cse;
mod dict_rep;
mod document_vectors;
mod fast_sent;
mod fast_text;
mod gran;
mod kinds;
mod order;
mod p_thought;
mod pp;
pub(crate) mod pretraining;
mod pv_dbow;
mod pv_dm;
mod random_bow;
mod relatedness;
mod released_skip_thoughts;
mod rnn_autoencoder;
mod sdae;
mod sent2vec;
mod siamese_cbow;
mod skip_thought;
mod snli;
mod student;
mod weighted;
mod word2vec;

use std::path::Path;

use senv_core::files::SharedBytes;
use senv_store::{Embeddings, ModelFile, NonFinite, ReadOptions};

pub use crate::compress::static_model::StaticModel;
pub use bow_autoencoder::{BowAutoencoder, BowAutoencoderParams, Reconstruction};
pub use c_phrase::{CPhrase, CPhraseParams};
pub use caption_rep::{CaptionRep, CaptionRepParams};
pub use cse::{Cse, CseParams};
pub use dict_rep::{DictRep, DictRepParams};
pub use fast_sent::{FastSent, FastSentParams};
pub use fast_text::{CharNgramConfig, FastText, FastTextConfig, ReleasedBin};
pub use gran::{Gran, GranParams, GranVariant};
use kinds::{Kind, kind};

pub use order::{ENGLISH_NEGATION, Order, OrderGate, OrderInput, OrderModelConfig, OrderParams};
pub use p_thought::{PThought, PThoughtParams, PThoughtStructure};
pub use pp::{Pp, PpParams};
pub use pv_dbow::{PvDbow, PvDbowParams};
pub use pv_dm::{PvDm, PvDmParams};
pub use random_bow::{RandomBow, RandomBowParams};
pub use relatedness::{FilterStart, Relatedness, RelatednessConfig, RelatednessParams};
pub use released_skip_thoughts::ReleasedEncoder;
pub use rnn_autoencoder::{RnnAutoencoder, RnnAutoencoderParams};
pub use sdae::{Sdae, SdaeCell, SdaeParams};
pub use sent2vec::{NgramStart, Preset, Sent2Vec, Sent2VecParams};
pub use siamese_cbow::{SiameseCbow, SiameseCbowParams};
pub use skip_thought::{SkipThought, SkipThoughtParams};
pub use snli::{NliPairs, Snli, SnliConfig, SnliEncoder, SnliParams};
pub use student::{
    Student, StudentData, StudentInput, StudentParams, TaughtPassages, TaughtTexts, TeacherVectors, TextLoss,
};
pub use weighted::{Weighted, WeightedConfig, WeightedParams};
pub use word2vec::{Architecture, Word2Vec, Word2VecParams};

use crate::{
    base::{file, sealed::Sealed},
    error::{Error, Result},
    model::{handle::Model, saved::OpenModel},
    model2vec::Model2Vec,
    system::contract::System,
};

/// Calls a macro with the names of the parameters of all systems that train on running text
/// ([`TextSystem`](crate::TextSystem)). To add a system, add a line here; its command, help and kind come from its
/// module.
///
/// ```
/// macro_rules! names {
///     ($($params:ident),+) => { [$(<senv::$params as senv::System>::ABOUT.name),+] };
/// }
/// assert_eq!(senv::text_systems!(names), [
///     "sent2vec", "word2vec", "pv-dbow", "pv-dm", "fast-sent", "c-phrase", "siamese-cbow"
/// ]);
/// ```
#[macro_export]
macro_rules! text_systems {
    ($with:ident) => {
        $with! {
            Sent2VecParams, Word2VecParams, PvDbowParams, PvDmParams, FastSentParams, CPhraseParams, SiameseCbowParams
        }
    };
}

/// Calls a macro with the parameters of the systems that train on pairs ([`PairSystem`](crate::PairSystem)).
#[macro_export]
macro_rules! pair_systems {
    ($with:ident) => {
        $with! { PpParams, CseParams, GranParams }
    };
}

/// Calls a macro with the parameters of the systems that train an encoder on running text and validate it on held-out
/// text.
#[macro_export]
macro_rules! running_text_systems {
    ($with:ident) => {
        $with! { SkipThoughtParams, RnnAutoencoderParams, SdaeParams, BowAutoencoderParams }
    };
}

/// Implements [`Sealed`] for the systems and configurations of this crate, so no other crate can implement their
/// traits.
macro_rules! sealed {
    ($($system:ident),+) => { $(impl Sealed for $system {})+ };
}

text_systems!(sealed);
pair_systems!(sealed);
running_text_systems!(sealed);
sealed!(
    PThoughtParams,
    DictRepParams,
    CaptionRepParams,
    StudentParams,
    SnliParams,
    SnliConfig,
    RelatednessConfig,
    OrderParams
);

macro_rules! kinds_of {
    ($($params:ident),+) => { &[$(kind::<<$params as System>::Model>()),+] };
}

/// The kinds of all systems whose models can be opened.
const REGISTRY: &[&[Kind]] =
    &[text_systems!(kinds_of), pair_systems!(kinds_of), running_text_systems!(kinds_of), OTHERS];

/// Kinds that are in none of these lists.
const OTHERS: &[Kind] = &[
    kind::<Relatedness>(),
    kind::<Snli>(),
    kind::<PThought>(),
    kind::<DictRep>(),
    kind::<CaptionRep>(),
    kind::<Student>(),
    kind::<Order>(),
    kind::<Weighted>(),
    kind::<RandomBow>(),
    kind::<FastText>(),
    kind::<StaticModel>(),
    Kind { name: "embeddings", read: |file| Model::from_embeddings(Embeddings::from_model_file(file)?) },
];

fn registry() -> impl Iterator<Item = Kind> {
    REGISTRY.iter().copied().flatten().copied().chain(kinds::added())
}

/// The names of all kinds of models; those added by [`register`] come last.
#[must_use]
pub fn kinds() -> Vec<&'static str> {
    registry().map(|kind| kind.name).collect()
}

/// Adds a kind of model for the lifetime of the program, so [`Model::open`] and everything that opens models
/// (collections, initial models, evaluations) can read its files. Call it before you open the first such file; another
/// call for the same kind has no effect.
///
/// ```no_run
/// # fn test<MyModel: senv::model::OpenModel>() -> senv::Result<()> {
/// senv::register::<MyModel>()?;
/// let model = senv::open("mine.senv")?;
/// # Ok(()) }
/// ```
///
/// # Errors
/// [`Error::KindTaken`] if a system or another type has a kind of this name.
pub fn register<M: OpenModel>() -> Result<()> {
    match REGISTRY.iter().copied().flatten().any(|kind| kind.name == M::KIND) {
        true => Err(Error::KindTaken { kind: M::KIND }),
        false => kinds::add::<M>(),
    }
}

/// Opens a model; the same as [`Model::open`].
///
/// # Errors
/// The errors of [`Model::open`].
pub fn open(path: impl AsRef<Path>) -> Result<Model> {
    Model::open(path)
}

impl Model {
    /// Opens a senv model file, or word vectors in any format of the store, which are averaged
    /// ([`Model::from_embeddings`]). A `.bin` file of fastText or of Sent2Vec's program is read into memory, with the
    /// tokenizer of [`ReleasedBin::tokenizer`]. A folder is opened as a Model2Vec model ([`Model2Vec::open`]). With the
    /// feature `english`, the path `english` is the built-in model; use `./english` for a file of that name.
    ///
    /// # Errors
    /// If the file is neither, or is damaged. [`senv_store::Error::NonFinite`], with line and word, if a value of a row
    /// is NaN or infinite. This is checked only for word vectors that are read; senv files are memory-mapped, and
    /// [`Model::open_verified`] checks their values.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_after(path.as_ref(), |path| ModelFile::open(path), |_| Ok(()))
    }

    /// Like [`Model::open`], but first reads a senv file completely, compares it with its checksums, and checks for NaN
    /// and infinite values. Use it for a model that you change and save: otherwise damage would be saved with valid
    /// checksums.
    ///
    /// # Errors
    /// The errors of [`Model::open`] and [`ModelFile::verify`].
    pub fn open_verified(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_after(path.as_ref(), |path| ModelFile::open(path), |file| Ok(file.verify().map(|_| ())?))
    }

    /// Like [`Model::open`], but reads a senv file into memory instead of memory-mapping it. Use it for a file that is
    /// modified while it is in use: a map would change with the file, and the program would crash if the file shrank.
    /// `verify` checks the file like [`Model::open_verified`].
    ///
    /// # Errors
    /// The errors of [`Model::open`] and, with `verify`, of [`ModelFile::verify`]; an error if the file does not fit in
    /// memory.
    pub fn open_copied(path: impl AsRef<Path>, verify: bool) -> Result<Self> {
        let check = |file: &ModelFile| if verify { Ok(file.verify().map(|_| ())?) } else { Ok(()) };
        Self::open_after(path.as_ref(), |path| ModelFile::read(path), check)
    }

    fn open_after(
        path: &Path,
        open: fn(&Path) -> senv_core::Result<ModelFile>,
        check: impl FnOnce(&ModelFile) -> Result<()>,
    ) -> Result<Self> {
        #[cfg(feature = "english")]
        if crate::base::english_name::is_english(path) {
            check(&ModelFile::from_bytes(senv_english::BYTES)?)?;
            return crate::english();
        }
        if Model2Vec::is_one(path) {
            return Ok(Model2Vec::open(path)?.into());
        }
        let file = match open(path) {
            Ok(file) => file,
            Err(senv_core::Error::NotAFile { path, found, remedy: "" }) => {
                let remedy = "; a folder of Model2Vec has the files tokenizer.json and model.safetensors";
                return Err(senv_core::Error::NotAFile { path, found, remedy }.into());
            }
            // Not a model file: either word vectors in a different format, or an error that says what was found.
            Err(error @ (senv_core::Error::Io { .. } | senv_core::Error::NotAFile { .. })) => return Err(error.into()),
            Err(_) if ReleasedBin::is_one(path) => {
                let released = ReleasedBin::open(path)?;
                return released.model(released.tokenizer());
            }
            Err(model_error) => match Embeddings::read(path, &ReadOptions::default().non_finite(NonFinite::Error)) {
                Ok((embeddings, _)) => return Self::from_embeddings(embeddings),
                Err(error) => return Err(if is_safetensors(path) { model_error.into() } else { error.into() }),
            },
        };
        check(&file)?;
        Self::from_model_file(&file)
    }

    /// Opens a model in memory: the bytes of a senv file, for example from [`Model::write_to`] or `include_bytes!`.
    /// Rows are used in place if they start at a multiple of four bytes in memory, and are copied otherwise. For a
    /// borrowed slice, pass `bytes.to_vec()`, or use [`Model::from_static`].
    ///
    /// ```no_run
    /// # let (name, database) = ("", std::collections::HashMap::<String, Vec<u8>>::new());
    /// use senv::Model;
    ///
    /// let model = Model::from_bytes(database[name].clone())?;
    /// // static MODEL: &[u8] = include_bytes!("my.senv");
    /// // let model = Model::from_static(MODEL)?;
    /// # Ok::<(), senv::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the bytes are not a senv model, or are damaged.
    pub fn from_bytes(bytes: impl Into<SharedBytes>) -> Result<Self> {
        Self::from_model_file(&ModelFile::from_bytes(bytes)?)
    }

    /// Opens a model that is part of the program.
    ///
    /// # Errors
    /// The errors of [`Model::from_bytes`].
    pub fn from_static(bytes: &'static [u8]) -> Result<Self> {
        Self::from_bytes(bytes)
    }

    /// Creates the model of an open file, for example one that was read into memory ([`ModelFile::read`]).
    ///
    /// # Errors
    /// [`Error::NotAnEncoder`] if the file is of a different kind; other errors if it is damaged.
    pub fn from_model_file(file: &ModelFile) -> Result<Self> {
        match registry().find(|kind| kind.name == file::present_kind(file.kind())) {
            Some(kind) => (kind.read)(file),
            None => {
                let (path, kind) = (file.path().to_owned(), file.kind().to_owned());
                Err(Error::NotAnEncoder { path, kind, known: kinds() })
            }
        }
    }
}

/// Whether the file starts like a safetensors file: a header length and `{`.
fn is_safetensors(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; 9];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start[8] == b'{'
}
