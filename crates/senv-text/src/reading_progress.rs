//! How far the reading of files has come.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use senv_base::{Control, Error, Observer, Progress, Result};

/// Time between two reports.
const REPORT: Duration = Duration::from_millis(100);

/// Reports how many bytes of files have been read, ten times a second at most, and hears whether to go on.
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
    /// Of reading these files from now on; `action` is what an interruption is said to have ended.
    #[must_use]
    pub fn new<P: AsRef<Path>>(paths: &[P], action: &'static str) -> Self {
        let size = |path: &P| std::fs::metadata(path).ok().filter(|m| m.is_file()).map(|m| m.len());
        let now = Instant::now();
        Self { action, bytes: paths.iter().map(size).sum(), began: now, reported: now, between: REPORT }
    }

    /// The same with a report at each call: for tests, which count them on machines of any speed.
    #[doc(hidden)]
    #[must_use]
    pub fn at_each_call(self) -> Self {
        Self { between: Duration::ZERO, ..self }
    }

    /// Share of the files that so many bytes are; 0 where one of them is no regular file, so that their size is not
    /// known.
    #[must_use]
    pub fn share(&self, bytes_read: u64) -> f64 {
        self.bytes.map_or(0.0, |bytes| bytes_read as f64 / bytes.max(1) as f64).min(1.0)
    }

    /// Reports if it is time to: so many bytes have been read, and so many tokens if they are counted.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the observer asks to stop.
    pub fn report(&mut self, bytes_read: u64, tokens: Option<u64>, observer: &dyn Observer) -> Result<()> {
        self.report_of(self.share(bytes_read), bytes_read, tokens, observer)
    }

    /// As [`ReadingProgress::report`], where another share of the work is done than of the bytes.
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
