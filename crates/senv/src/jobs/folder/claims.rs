//! Claims: which worker processes which file, in a folder that all workers share.
//!
//! A claim of `NAME` is a file `NAME~1`, created exclusively, so one worker has it. Its holder keeps writing a counter
//! into it. If a worker sees the same counter for the timeout, measured by its own clock, it considers the holder dead
//! and creates `NAME~2`, again exclusively. The highest number is the valid claim. Clocks of different machines are
//! never compared. A worker that finds a number higher than its own has lost the claim and discards its output.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, ErrorKind, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::{Builder, JoinHandle},
    time::{Duration, Instant},
};

use senv_core::files::Unfinished;

use crate::error::Result;

/// Heartbeats per timeout: this many can be late before a worker counts as dead.
const BEATS: u32 = 6;
/// Separates the name from the number of a claim.
const MARK: char = '~';

/// Identifies this process: host, process and a random number.
pub(super) fn worker() -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| std::env::var("HOSTNAME").ok());
    let host = host.unwrap_or_default();
    let host: String =
        host.trim().chars().filter(|c| c.is_ascii_alphanumeric() || "-.".contains(*c)).take(60).collect();
    let host = if host.is_empty() { "host" } else { &host };
    format!("{host}-{}-{:016x}", std::process::id(), RandomState::new().build_hasher().finish())
}

/// The claims in a folder, as one worker sees them.
#[derive(Debug)]
pub(super) struct Claims {
    folder: PathBuf,
    worker: String,
    timeout: Duration,
    /// Claims of others: number, content, and the time since which it has not changed.
    seen: HashMap<String, (u64, Vec<u8>, Instant)>,
}

/// A file claimed by this worker; the claim is released when dropped.
#[derive(Debug)]
pub(super) struct Claim {
    folder: PathBuf,
    name: String,
    number: u64,
    worker: String,
    /// The worker whose claim was taken over.
    pub(super) taken_from: Option<String>,
    heart: Option<(Sender<()>, JoinHandle<()>)>,
    _unfinished: Unfinished,
}

impl Claims {
    /// Opens the folder of claims, which is created if it does not exist.
    pub(super) fn open(folder: &Path, worker: &str, timeout: Duration) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|e| senv_core::Error::io("create", folder, e))?;
        let (folder, worker) = (folder.to_owned(), worker.to_owned());
        Ok(Self { folder, worker, timeout, seen: HashMap::new() })
    }

    /// Claims a name, unless a live worker has it.
    pub(super) fn claim(&mut self, name: &str) -> Result<Option<Claim>> {
        self.claim_at(name, Instant::now())
    }

    /// The same at a given time.
    fn claim_at(&mut self, name: &str, now: Instant) -> Result<Option<Claim>> {
        let io = |e| senv_core::Error::io("claim a file in", &self.folder, e);
        let (mut number, mut taken_from) = (1, None);
        if let Some(highest) = numbers(&self.folder, name).map_err(io)?.into_iter().max() {
            let content = match fs::read(path_of(&self.folder, name, highest)) {
                Ok(content) => content,
                // It was just released; the next check shows more.
                Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
                Err(e) => return Err(io(e).into()),
            };
            match self.seen.get(name) {
                Some((seen, before, since)) if (*seen, before) == (highest, &content) => {
                    if now.saturating_duration_since(*since) < self.timeout {
                        return Ok(None);
                    }
                }
                _ => {
                    self.seen.insert(name.to_owned(), (highest, content, now));
                    return Ok(None);
                }
            }
            (number, taken_from) = (highest.saturating_add(1), Some(worker_of(&content)));
        }
        self.seen.remove(name);
        let path = path_of(&self.folder, name, number);
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::AlreadyExists => return Ok(None),
            Err(e) => return Err(io(e).into()),
        };
        let unfinished = Unfinished::new(&path);
        let begun = beat(&mut file, &self.worker, 0).and_then(|()| self.heart(file)).inspect_err(|_| {
            // Otherwise others would wait for a worker that has stopped.
            let _ = fs::remove_file(&path);
        });
        let heart = begun.map_err(io)?;
        Ok(Some(Claim {
            folder: self.folder.clone(),
            name: name.to_owned(),
            number,
            worker: self.worker.clone(),
            taken_from,
            heart: Some(heart),
            _unfinished: unfinished,
        }))
    }

    /// Removes claims on complete files, whose workers were killed after the work and before the release. A worker that
    /// is still alive does not need its claim.
    pub(super) fn clear(&self, is_complete: impl Fn(&str) -> bool) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let file = entry.file_name();
            let name = file.to_str().and_then(|file| file.rsplit_once(MARK));
            if name.is_some_and(|(name, number)| number.parse::<u64>().is_ok() && is_complete(name)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Time to wait before the next check.
    pub(super) fn pause(&self) -> Duration {
        (self.timeout / 10).clamp(Duration::from_millis(20), Duration::from_secs(2))
    }

    /// Starts a thread that writes the counter until `stop` is dropped.
    fn heart(&self, mut file: File) -> io::Result<(Sender<()>, JoinHandle<()>)> {
        let (stop, stopped) = channel::<()>();
        let (worker, pause) = (self.worker.clone(), (self.timeout / BEATS).max(Duration::from_millis(5)));
        let thread = Builder::new().name("heartbeat".into()).spawn(move || {
            for n in 1.. {
                if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                // A failed write counts as a late heartbeat: the next may succeed.
                let _ = beat(&mut file, &worker, n);
            }
        })?;
        Ok((stop, thread))
    }
}

impl Claim {
    /// Whether this worker still has the claim.
    pub(super) fn is_held(&self) -> Result<bool> {
        let io = |e| senv_core::Error::io("read a claim in", &self.folder, e);
        if numbers(&self.folder, &self.name).map_err(io)?.into_iter().max() != Some(self.number) {
            return Ok(false);
        }
        match fs::read(path_of(&self.folder, &self.name, self.number)) {
            Ok(content) => Ok(worker_of(&content) == self.worker),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
            Err(e) => Err(io(e).into()),
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.heart.take() {
            drop(stop);
            let _ = thread.join();
        }
        // Removes dead claims first: while one exists, ours is the highest.
        if !self.is_held().unwrap_or(false) {
            return;
        }
        let Ok(mut numbers) = numbers(&self.folder, &self.name) else { return };
        numbers.sort_unstable();
        for number in numbers.into_iter().filter(|number| *number <= self.number) {
            let _ = fs::remove_file(path_of(&self.folder, &self.name, number));
        }
    }
}

fn path_of(folder: &Path, name: &str, number: u64) -> PathBuf {
    folder.join(format!("{name}{MARK}{number}"))
}

/// The numbers of the claims on a name.
fn numbers(folder: &Path, name: &str) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        let file = entry?.file_name();
        let number = file.to_str().and_then(|file| file.strip_prefix(name)?.strip_prefix(MARK)?.parse::<u64>().ok());
        numbers.extend(number);
    }
    Ok(numbers)
}

fn beat(file: &mut File, worker: &str, n: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(format!("{worker}\n{n:020}\n").as_bytes())
}

fn worker_of(content: &[u8]) -> String {
    String::from_utf8_lossy(content).lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Barrier,
        atomic::{AtomicU32, Ordering},
    };

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn one_of_many_workers_has_a_claim() {
        let folder = tempfile::tempdir().unwrap();
        let (won, all_have_tried) = (AtomicU32::new(0), Barrier::new(8));
        std::thread::scope(|scope| {
            for i in 0..8 {
                let (folder, won, all_have_tried) = (folder.path(), &won, &all_have_tried);
                scope.spawn(move || {
                    let mut claims = Claims::open(folder, &format!("w{i}"), Duration::from_secs(3600)).unwrap();
                    let claim = claims.claim("a").unwrap();
                    all_have_tried.wait();
                    if let Some(claim) = claim {
                        won.fetch_add(1, Ordering::SeqCst);
                        assert!(claim.is_held().unwrap());
                    }
                });
            }
        });
        assert_eq!((won.into_inner(), names(folder.path()).len()), (1, 0));
    }

    #[test]
    fn a_beating_heart_keeps_a_claim_and_a_dead_one_loses_it() {
        let folder = tempfile::tempdir().unwrap();
        // One worker's heart beats every five milliseconds; the other watches it with a clock of its own.
        let timeout = Duration::from_secs(60);
        let mut first = Claims::open(folder.path(), "first", Duration::from_millis(30)).unwrap();
        let mut second = Claims::open(folder.path(), "second", timeout).unwrap();
        let mut claim = first.claim("a.txt").unwrap().unwrap();
        assert!(first.claim("a.txt.gz").unwrap().is_some(), "another file");
        let content = || fs::read(folder.path().join("a.txt~1")).unwrap();
        let mut now = Instant::now();
        for _ in 0..4 {
            let before = content();
            assert!(second.claim_at("a.txt", now).unwrap().is_none());
            let began = Instant::now();
            while content() == before {
                assert!(began.elapsed() < Duration::from_secs(600), "the heart does not beat");
                std::thread::sleep(Duration::from_millis(1));
            }
            now += 2 * timeout;
        }
        assert!(second.claim_at("a.txt", now).unwrap().is_none(), "it has beaten since");
        // The heart stops, as for a process that was killed or stopped.
        let (stop, thread) = claim.heart.take().unwrap();
        drop(stop);
        thread.join().unwrap();
        // It may have beaten one more time before.
        for time in [now, now + timeout - Duration::from_nanos(1)] {
            assert!(second.claim_at("a.txt", time).unwrap().is_none());
        }
        let taken = second.claim_at("a.txt", now + timeout).unwrap().unwrap();
        assert_eq!(taken.taken_from.as_deref(), Some("first"));
        assert!(!claim.is_held().unwrap() && taken.is_held().unwrap());
        drop(claim);
        assert_eq!(names(folder.path()), ["a.txt~1", "a.txt~2"], "who has lost it leaves it alone");
        drop(taken);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn workers_have_names_of_their_own() {
        let names = [worker(), worker()];
        assert!(names[0] != names[1] && names[0].contains(&std::process::id().to_string()));
        assert!(names.iter().all(|name| !name.contains([MARK, '/', '\n'])));
    }
}
