//! Progress of reading files.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use senv_base::{Control, Error, Observer, Progress, Result};

/// The time between two reports.
const REPORT: Duration = Duration::from_millis(100);

/// Reports how many bytes of files have been read, at most ten times per second, and checks whether to continue.
///
/// ```
/// use senv_core::{NoObserver, TextOptions, TextReader, text::ReadingProgress};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("cats.txt");
/// # std::fs::write(&path, "The cat sat.\n")?;
/// let mut lines = TextReader::open(&[&path], &TextOptions::default())?;
/// let mut progress = ReadingProgress::new(&[&path], "reading the text");
/// while let Some(line) = lines.next_line()? {
///     assert_eq!(line.text, "The cat sat.");
///     progress.report(lines.bytes_read(), None, &NoObserver)?;
/// }
/// assert_eq!(progress.share(lines.bytes_read()), 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ReadingProgress {
    action: &'static str,
    bytes: Option<u64>,
    began: Instant,
    reported: Instant,
    between: Duration,
}

impl ReadingProgress {
    /// Starts measuring the reading of these files; errors name `action` as what was interrupted.
    #[must_use]
    pub fn new<P: AsRef<Path>>(paths: &[P], action: &'static str) -> Self {
        let size = |path: &P| std::fs::metadata(path).ok().filter(|m| m.is_file()).map(|m| m.len());
        let now = Instant::now();
        Self { action, bytes: paths.iter().map(size).sum(), began: now, reported: now, between: REPORT }
    }

    /// Reports at each call, for tests that count reports on machines of any speed.
    #[doc(hidden)]
    #[must_use]
    pub fn at_each_call(self) -> Self {
        Self { between: Duration::ZERO, ..self }
    }

    /// The share of the files that `bytes_read` is; 0 if a file is not a regular file, because its size is unknown.
    #[must_use]
    pub fn share(&self, bytes_read: u64) -> f64 {
        self.bytes.map_or(0.0, |bytes| bytes_read as f64 / bytes.max(1) as f64).min(1.0)
    }

    /// Reports, if it is time, the bytes read and the tokens, if they are counted.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the observer asks to stop.
    pub fn report(&mut self, bytes_read: u64, tokens: Option<u64>, observer: &dyn Observer) -> Result<()> {
        self.report_of(self.share(bytes_read), bytes_read, tokens, observer)
    }

    /// Like [`ReadingProgress::report`], for work whose completed share differs from that of the bytes.
    #[doc(hidden)]
    pub fn report_of(
        &mut self,
        done: f64,
        bytes_read: u64,
        tokens: Option<u64>,
        observer: &dyn Observer,
    ) -> Result<()> {
        if self.reported.elapsed() < self.between {
            return Ok(());
        }
        self.reported = Instant::now();
        let seconds = self.began.elapsed().as_secs_f64();
        let progress = Progress {
            done,
            units: tokens.unwrap_or(0),
            units_per_second: tokens.map_or(0.0, |tokens| tokens as f64 / seconds.max(1e-9)),
            seconds,
            bytes_read: Some(bytes_read),
            bytes: self.bytes,
            ..Progress::default()
        };
        match observer.progress(&progress) {
            Control::Continue => Ok(()),
            Control::Stop => Err(Error::Interrupted { action: self.action }),
        }
    }
}
