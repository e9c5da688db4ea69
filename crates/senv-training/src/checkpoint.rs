//! The file from which a training run resumes.
//!
//! Only the program that wrote a checkpoint can resume from it; the format is not for long-term storage. The state of
//! the run is any serde value. Tables follow as raw values, written and read row by row, so a run with 6 GB of tables
//! needs no second copy of them. All values are little-endian.
//!
//! ```text
//! byte 0    8 bytes   "SENVCKPT"
//!      8    u32       version of the layout, 2
//!      12   u32       CRC-32 of bytes 0..12 and of everything from byte 16 to the end of the head
//!      16   u64       n, length of the head
//!      24   n bytes   head: u32 length and bytes of the kind
//!                           u32 length and bytes of the description of the run (JSON)
//!                           u32 number of tables, of each: u32 length and bytes of its name, u64 rows, u64 dim (below 2^32)
//!                           u64 length and bytes of the state (bincode)
//!      24+n           rows x dim f32 of each table in order, without padding
//!      end-4 u32      CRC-32 of everything before
//! ```
//!
//! Sizes are compared with the file length before memory is allocated. The head is verified before it is decoded, and
//! no table is returned before the whole file is verified.

use std::{
    fs::{self, File},
    io::{BufReader, Read, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use bincode::Options;
use crc32fast::Hasher;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use senv_base::{Error, Result};
use senv_kernels::Table;
use senv_model::writing::AtomicFile;

const MAGIC: [u8; 8] = *b"SENVCKPT";
const VERSION: u32 = 2;
/// The bytes before the head.
const PREFIX: usize = 24;
/// The bytes of the checksum at the end.
const SUFFIX: u64 = 4;
/// The number of bytes read ahead.
const BUFFER: usize = 1 << 18;

/// Where and how often the state of a run is saved, and whether to resume from it.
///
/// The file is also written when the run is stopped on request. A run that ends leaves its last file, so that nothing
/// is lost before the model is saved. Remove the file then: a later run with `resume` would continue from it.
///
/// ```
/// use senv_core::checkpoint::CheckpointPlan;
///
/// let plan = CheckpointPlan::new("run.checkpoint"); // every ten minutes; resumes if the file exists
/// let from_the_start = CheckpointPlan { resume: false, ..plan };
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointPlan {
    /// The file, replaced atomically each time.
    pub path: PathBuf,
    /// The time between two checkpoints; `None` writes one only when training is stopped.
    pub every: Option<Duration>,
    /// Whether to resume from the file if it exists. Otherwise, the first checkpoint replaces an existing file, so
    /// check before training whether an earlier run left one.
    pub resume: bool,
}

impl CheckpointPlan {
    /// Saves the run to `path` every ten minutes, and resumes from that file if it exists.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), every: Some(Duration::from_secs(600)), resume: true }
    }
}

/// What a checkpoint says about its run without its data, for people and for the program that resumes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// The completed share of the run, in `[0, 1]`.
    pub done: f64,
    /// The settings, in the form that the trainer compares.
    pub settings: String,
    /// The origin, in the words of the training program ([`RunOptions::origin`](crate::RunOptions::origin)).
    pub origin: String,
}

/// Saves `state` and `tables` to `path` with an atomic replace.
///
/// `kind` names the system, for example `sent2vec`; [`load`] requires the same kind. bincode must be able to read
/// `state` back: no `skip_serializing_if`, no untagged enums.
///
/// ```
/// use senv_core::{Rows, Table, checkpoint};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("run.checkpoint");
/// let table = Table::from_vec(1, 2, vec![0.5, -0.5])?;
/// checkpoint::save(&path, "example", &(3_u32, "epoch"), &[("source", &table)])?;
/// let (state, tables) = checkpoint::load::<(u32, String)>(&path, "example")?;
/// assert_eq!(state, (3, "epoch".to_string()));
/// assert_eq!((tables[0].0.as_str(), tables[0].1.row(0)), ("source", &[0.5, -0.5][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Io`] if the file cannot be written; [`Error::BadFile`] if the state cannot be serialized.
pub fn save<S: Serialize>(path: impl AsRef<Path>, kind: &str, state: &S, tables: &[(&str, &Table)]) -> Result<()> {
    save_with(path, kind, &About::default(), state, tables)
}

/// Like [`save`], with information about the run.
///
/// # Errors
/// The errors of [`save`].
pub fn save_with<S: Serialize>(
    path: impl AsRef<Path>,
    kind: &str,
    about: &About,
    state: &S,
    tables: &[(&str, &Table)],
) -> Result<()> {
    let path = path.as_ref();
    let head =
        encode_head(kind, about, state, tables).map_err(|reason| Error::BadFile { path: path.to_owned(), reason })?;
    AtomicFile::write_with(path, |file| {
        let mut whole = Hasher::new();
        let mut put = |bytes: &[u8]| {
            whole.update(bytes);
            file.write_all(bytes)
        };
        put(&head)?;
        for (_, table) in tables {
            for numbers in blocks(table) {
                if cfg!(target_endian = "little") {
                    put(bytemuck::cast_slice(numbers))?;
                } else {
                    numbers.iter().try_for_each(|x| put(&x.to_le_bytes()))?;
                }
            }
        }
        file.write_all(&whole.finalize().to_le_bytes())
    })
}

/// Reads what [`save`] wrote: the state, and the tables with their names in order.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::TooLarge`] if a table does not fit in memory. [`Error::BadFile`]
/// if it is not a checkpoint, has a different version or kind, is truncated or damaged, or its state is not an `S`.
pub fn load<S: DeserializeOwned>(path: impl AsRef<Path>, kind: &str) -> Result<(S, Vec<(String, Table)>)> {
    let path = path.as_ref();
    let mut reader = Reader::open(path)?;
    let head = reader.head()?;
    let state = head.state(path, kind)?;
    let mut tables = Vec::new();
    for TableHead { name, rows, dim } in head.tables {
        let mut table = Table::zeros(rows, dim)?;
        let stride = table.stride();
        // Rows without padding are read in one operation.
        let block = if stride == dim { rows * dim } else { dim };
        if block > 0 {
            for row in table.values_mut().chunks_exact_mut(stride.max(block)) {
                for numbers in row[..block].chunks_mut(BUFFER) {
                    reader.fill(bytemuck::cast_slice_mut(numbers))?;
                    if cfg!(target_endian = "big") {
                        numbers.iter_mut().for_each(|x| *x = f32::from_bits(x.to_bits().swap_bytes()));
                    }
                }
            }
        }
        tables.push((name, table));
    }
    reader.finish()?;
    Ok((state, tables))
}

/// Reads only the state, without the tables, to see how far a run has come. The head has a separate checksum, so the
/// state is verified although the tables are not.
///
/// # Errors
/// The errors of [`load`].
pub fn load_state<S: DeserializeOwned>(path: impl AsRef<Path>, kind: &str) -> Result<S> {
    let path = path.as_ref();
    Reader::open(path)?.head()?.state(path, kind)
}

/// Reads a whole checkpoint and compares it with its checksums, in little memory.
///
/// # Errors
/// The errors of [`load`].
pub fn verify(path: impl AsRef<Path>) -> Result<()> {
    let mut reader = Reader::open(path.as_ref())?;
    let tables = reader.head()?.tables;
    let mut bytes = tables.iter().map(|table| 4 * table.rows as u64 * table.dim as u64).sum::<u64>();
    let mut buffer = vec![0; BUFFER];
    while bytes > 0 {
        let take = bytes.min(BUFFER as u64);
        reader.fill(&mut buffer[..take as usize])?;
        bytes -= take;
    }
    reader.finish()
}

/// Returns the kind of a checkpoint: the system that wrote it.
///
/// # Errors
/// The errors of [`load`].
pub fn kind(path: impl AsRef<Path>) -> Result<String> {
    Ok(Reader::open(path.as_ref())?.head()?.kind)
}

/// Returns what a checkpoint says about its run. This is part of the head, which has a separate checksum, so the tables
/// are not read.
///
/// # Errors
/// The errors of [`load`].
pub fn about(path: impl AsRef<Path>) -> Result<About> {
    Ok(Reader::open(path.as_ref())?.head()?.about)
}

/// The encoding of the state: fixed-width little-endian values, nothing after the end.
fn coding() -> impl Options {
    bincode::DefaultOptions::new().with_fixint_encoding().reject_trailing_bytes()
}

/// The values of a table without padding, in long runs if rows are contiguous.
fn blocks(table: &Table) -> impl Iterator<Item = &[f32]> {
    let (stride, dim) = (table.stride(), table.dim());
    let run = if stride == dim { BUFFER } else { stride.max(1) };
    table.values().chunks(run).map(move |numbers| if stride == dim { numbers } else { &numbers[..dim] })
}

/// Everything before the values of the tables.
fn encode_head<S: Serialize>(
    kind: &str,
    about: &About,
    state: &S,
    tables: &[(&str, &Table)],
) -> Result<Vec<u8>, String> {
    fn text(head: &mut Vec<u8>, text: &str) -> Result<(), String> {
        let n = u32::try_from(text.len()).map_err(|_| "a name is longer than 4 GiB")?;
        head.extend(n.to_le_bytes());
        head.extend(text.as_bytes());
        Ok(())
    }
    let mut head = vec![0; PREFIX];
    text(&mut head, kind)?;
    let about =
        serde_json::to_string(about).map_err(|e| format!("cannot serialize the description of the run: {e}"))?;
    text(&mut head, &about)?;
    head.extend(u32::try_from(tables.len()).map_err(|_| "more than 2^32 tables")?.to_le_bytes());
    for (name, table) in tables {
        text(&mut head, name)?;
        head.extend((table.n_rows() as u64).to_le_bytes());
        head.extend((table.dim() as u64).to_le_bytes());
    }
    let at = head.len();
    head.extend([0; 8]);
    coding().serialize_into(&mut head, state).map_err(|e| format!("cannot serialize the state: {e}"))?;
    let n_state = (head.len() - at - 8) as u64;
    head[at..at + 8].copy_from_slice(&n_state.to_le_bytes());

    let n_head = (head.len() - PREFIX) as u64;
    head[..8].copy_from_slice(&MAGIC);
    head[8..12].copy_from_slice(&VERSION.to_le_bytes());
    head[16..PREFIX].copy_from_slice(&n_head.to_le_bytes());
    let sum = head_sum(&head);
    head[12..16].copy_from_slice(&sum.to_le_bytes());
    Ok(head)
}

/// The checksum of the head without the checksum field.
fn head_sum(head: &[u8]) -> u32 {
    let mut sum = Hasher::new();
    sum.update(&head[..12]);
    sum.update(&head[16..]);
    sum.finalize()
}

/// The stored data before the values of the tables.
struct Head {
    kind: String,
    about: About,
    tables: Vec<TableHead>,
    state: Vec<u8>,
}

struct TableHead {
    name: String,
    rows: usize,
    dim: usize,
}

impl Head {
    /// Decodes the state, if the checkpoint is of this kind.
    fn state<S: DeserializeOwned>(&self, path: &Path, kind: &str) -> Result<S> {
        let bad = |reason| Error::BadFile { path: path.to_owned(), reason };
        if self.kind != kind {
            return Err(bad(format!(
                "the checkpoint is of kind {:?}, expected {kind:?}; resume with the program that wrote it",
                self.kind
            )));
        }
        coding().with_limit(self.state.len() as u64).deserialize(&self.state).map_err(|e| {
            bad(format!(
                "the state cannot be read ({e}); it may have been written by another release of \
                senv"
            ))
        })
    }
}

/// Reads a checkpoint from the start and computes the checksum at the same time.
struct Reader<'a> {
    path: &'a Path,
    file: BufReader<File>,
    length: u64,
    whole: Hasher,
}

impl<'a> Reader<'a> {
    fn open(path: &'a Path) -> Result<Self> {
        // Checked before opening: opening a pipe would wait for a writer.
        let metadata = fs::metadata(path).map_err(|e| Error::io("open", path, e))?;
        if !metadata.is_file() {
            return Err(Error::not_a_file(path, &metadata));
        }
        let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
        let length = file.metadata().map_err(|e| Error::io("read", path, e))?.len();
        Ok(Self { path, file: BufReader::with_capacity(BUFFER, file), length, whole: Hasher::new() })
    }

    fn bad(&self, reason: impl Into<String>) -> Error {
        Error::BadFile { path: self.path.to_owned(), reason: reason.into() }
    }

    fn cut(&self, needed: impl std::fmt::Display) -> Error {
        let length = self.length;
        self.bad(format!(
            "the checkpoint is truncated or damaged: it has {length} bytes, expected {needed}; resume from another one"
        ))
    }

    fn damaged(&self) -> Error {
        self.bad("the checkpoint is damaged: its checksum does not match; resume from another one")
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.file.read_exact(bytes).map_err(|e| Error::io("read", self.path, e))?;
        self.whole.update(bytes);
        Ok(())
    }

    /// Reads, verifies and decodes everything before the values, and compares the sizes with the file size.
    fn head(&mut self) -> Result<Head> {
        let mut head = vec![0; PREFIX];
        let start = self.length.min(MAGIC.len() as u64) as usize;
        self.fill(&mut head[..start])?;
        if head[..start] != MAGIC[..start] || start == 0 {
            return Err(self.bad("not a checkpoint: the file does not start with SENVCKPT"));
        }
        let least = PREFIX as u64 + SUFFIX;
        if self.length < least {
            return Err(self.cut(format_args!("at least {least}")));
        }
        self.fill(&mut head[start..])?;
        let version = u32::from_le_bytes(head[8..12].try_into().expect("four bytes"));
        let declared_sum = u32::from_le_bytes(head[12..16].try_into().expect("four bytes"));
        let n_head = u64::from_le_bytes(head[16..PREFIX].try_into().expect("eight bytes"));
        if version != VERSION {
            return Err(self.bad(format!(
                "the checkpoint has layout version {version}, and this release reads {VERSION}; resume with the \
                release that wrote it"
            )));
        }
        let n_head = match usize::try_from(n_head) {
            Ok(n) if n_head <= self.length - least => n,
            _ => return Err(self.cut(format_args!("a header of {n_head} bytes and {least} more"))),
        };
        head.resize(PREFIX + n_head, 0);
        self.fill(&mut head[PREFIX..])?;
        if head_sum(&head) != declared_sum {
            return Err(self.damaged());
        }
        let n_prefixed = head.len() as u64;
        let Some(decoded) = decode_head(head.split_off(PREFIX)) else {
            return Err(self.bad("the checkpoint header contradicts itself; resume from another one"));
        };
        let numbers = decoded.tables.iter().try_fold(0_u64, |sum, table| {
            sum.checked_add((table.rows as u64).checked_mul(table.dim as u64)?.checked_mul(4)?)
        });
        let needed = numbers.and_then(|n| n.checked_add(n_prefixed + SUFFIX));
        match needed {
            Some(needed) if needed == self.length => Ok(decoded),
            Some(needed) => Err(self.cut(needed)),
            None => Err(self.cut("more than is possible")),
        }
    }

    /// Compares the checksum at the end.
    fn finish(mut self) -> Result<()> {
        let sum = std::mem::take(&mut self.whole).finalize();
        let mut declared = [0; SUFFIX as usize];
        self.fill(&mut declared)?;
        if u32::from_le_bytes(declared) == sum { Ok(()) } else { Err(self.damaged()) }
    }
}

/// Decodes a head; `None` if a length does not fit.
fn decode_head(mut bytes: Vec<u8>) -> Option<Head> {
    struct Rest<'a>(&'a [u8]);
    impl<'a> Rest<'a> {
        fn take(&mut self, n: u64) -> Option<&'a [u8]> {
            let (front, back) = self.0.split_at_checked(usize::try_from(n).ok()?)?;
            self.0 = back;
            Some(front)
        }
        fn u32(&mut self) -> Option<u32> {
            Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
        }
        fn u64(&mut self) -> Option<u64> {
            Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
        }
        fn text(&mut self) -> Option<String> {
            let n = self.u32()?;
            Some(std::str::from_utf8(self.take(n.into())?).ok()?.to_owned())
        }
    }
    let mut rest = Rest(&bytes);
    let kind = rest.text()?;
    let about = serde_json::from_str(&rest.text()?).ok()?;
    // Grows entry by entry, so the declared count does not allocate anything.
    let mut tables = Vec::new();
    for _ in 0..rest.u32()? {
        let name = rest.text()?;
        let (rows, dim) = (usize::try_from(rest.u64()?).ok()?, u32::try_from(rest.u64()?).ok()? as usize);
        tables.push(TableHead { name, rows, dim });
    }
    let n_state = rest.u64()?;
    if n_state != rest.0.len() as u64 {
        return None;
    }
    let state = bytes.split_off(bytes.len() - n_state as usize);
    Some(Head { kind, about, tables, state })
}
