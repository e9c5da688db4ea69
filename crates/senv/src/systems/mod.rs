//! The systems, each a room of its own: hyperparameters, what it trains, its model, its tests. Shared machinery stands
//! beside this folder and knows none of them.

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
pub use weighted::{Weighted, WeightedConfig, WeightedParams};
pub use word2vec::{Architecture, Word2Vec, Word2VecParams};

use crate::{
    base::{file, sealed::Sealed},
    error::{Error, Result},
    model::{handle::Model, saved::OpenModel},
    model2vec::Model2Vec,
    system::contract::System,
};

/// The systems that train on running text ([`TextSystem`](crate::TextSystem)): calls a macro with the names of their
/// parameters. A new one is a line here; its command, its help and its kind come from its room.
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

/// The systems that train on pairs ([`PairSystem`](crate::PairSystem)), likewise.
#[macro_export]
macro_rules! pair_systems {
    ($with:ident) => {
        $with! { PpParams, CseParams, GranParams }
    };
}

/// The systems that train an encoder on running text and are validated on held-out text, likewise.
#[macro_export]
macro_rules! running_text_systems {
    ($with:ident) => {
        $with! { SkipThoughtParams, RnnAutoencoderParams, SdaeParams, BowAutoencoderParams }
    };
}

/// The systems are those of this crate, and so are what they implement beside [`System`].
macro_rules! sealed {
    ($($system:ident),+) => { $(impl Sealed for $system {})+ };
}

text_systems!(sealed);
pair_systems!(sealed);
running_text_systems!(sealed);
sealed!(PThoughtParams, DictRepParams, CaptionRepParams, SnliParams, SnliConfig, RelatednessConfig, OrderParams);

macro_rules! kinds_of {
    ($($params:ident),+) => { &[$(kind::<<$params as System>::Model>()),+] };
}

/// The kinds of all systems whose models can be opened.
const REGISTRY: &[&[Kind]] =
    &[text_systems!(kinds_of), pair_systems!(kinds_of), running_text_systems!(kinds_of), OTHERS];

/// Kinds of systems that stand alone.
const OTHERS: &[Kind] = &[
    kind::<Relatedness>(),
    kind::<Snli>(),
    kind::<PThought>(),
    kind::<DictRep>(),
    kind::<CaptionRep>(),
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

/// The names of all kinds of models, those of [`register`] last.
#[must_use]
pub fn kinds() -> Vec<&'static str> {
    registry().map(|kind| kind.name).collect()
}

/// Adds a kind of model for as long as the program runs, so that [`Model::open`] and all that opens models
/// (collections, starts of training, evaluations) know its files. To be called before the first of them is opened; a
/// second call for the same kind changes nothing.
///
/// ```no_run
/// # fn test<MyModel: senv::model::OpenModel>() -> senv::Result<()> {
/// senv::register::<MyModel>()?;
/// let model = senv::open("mine.senv")?;
/// # Ok(()) }
/// ```
///
/// # Errors
/// [`Error::KindTaken`] if a system, or another type, has a kind of this name.
pub fn register<M: OpenModel>() -> Result<()> {
    match REGISTRY.iter().copied().flatten().any(|kind| kind.name == M::KIND) {
        true => Err(Error::KindTaken { kind: M::KIND }),
        false => kinds::add::<M>(),
    }
}

/// Opens a model; the same as [`Model::open`].
///
/// # Errors
/// As [`Model::open`].
pub fn open(path: impl AsRef<Path>) -> Result<Model> {
    Model::open(path)
}

impl Model {
    /// Opens a model file of senv, or word vectors in any format of the store; the latter are averaged
    /// ([`Model::from_embeddings`]). A `.bin` file of fastText or of Sent2Vec's program is read into memory with the
    /// tokenizer of [`ReleasedBin::tokenizer`]. A folder is one of Model2Vec ([`Model2Vec::open`]). With the feature
    /// `english` the path `english` is the name of the model that is part of the library; a file of that name is
    /// `./english`.
    ///
    /// # Errors
    /// If the file is neither, or damaged; [`senv_store::Error::NonFinite`], naming line and word, if a number of a row
    /// is NaN or infinite (of vectors that are read; those of a file of senv are memory-mapped and not looked at:
    /// [`Model::open_verified`]).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_after(path.as_ref(), |path| ModelFile::open(path), |_| Ok(()))
    }

    /// As [`Model::open`], and reads a file of senv as a whole before it is used: compares it with its checksums, and
    /// looks for values that are NaN or infinite. For a model that is changed and written anew: its damage would be
    /// carried on under checksums that fit.
    ///
    /// # Errors
    /// As [`Model::open`] and [`ModelFile::verify`].
    pub fn open_verified(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_after(path.as_ref(), |path| ModelFile::open(path), |file| Ok(file.verify().map(|_| ())?))
    }

    /// As [`Model::open`], but a file of senv is read into memory and not memory-mapped: for a file that others write
    /// into while it is used. The map would follow them, and end the program where the file gets shorter. `verify`
    /// reads it as [`Model::open_verified`] does.
    ///
    /// # Errors
    /// As [`Model::open`] and, with `verify`, [`ModelFile::verify`]; also if there is no memory for the file.
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
            // No model file: word vectors in some other format, or an error that names what was met.
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

    /// Opens a model in memory: the content of a file of senv, as [`Model::write_to`] or `include_bytes!` give it. Rows
    /// are used where they are if they start at a multiple of four bytes in memory, and are copied otherwise.
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
    /// If they are no model of senv, or damaged.
    pub fn from_bytes(bytes: impl Into<SharedBytes>) -> Result<Self> {
        Self::from_model_file(&ModelFile::from_bytes(bytes)?)
    }

    /// Opens a model that is part of the program.
    ///
    /// # Errors
    /// As [`Model::from_bytes`].
    pub fn from_static(bytes: &'static [u8]) -> Result<Self> {
        Self::from_bytes(bytes)
    }

    /// The model of an open file, for example one that was read into memory ([`ModelFile::read`]).
    ///
    /// # Errors
    /// [`Error::NotAnEncoder`] if the file is of another kind; otherwise if it is damaged.
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

/// Whether the file begins like safetensors: a header length and `{`.
fn is_safetensors(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; 9];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start[8] == b'{'
}
