//! The English model of senv in a browser: the code that a web page calls, compiled to WebAssembly.
//!
//! A [`Session`] is the whole engine in safe Rust. It embeds a sentence, and compares two sentences and shows what each
//! word adds to their cosine. It also reads a text line by line, or a collection written by `senv index --export-web`,
//! and finds what is nearest to a query. Reading and searching can take long, so they run in steps of the caller's
//! size, which keeps a page responsive on one thread. A C ABI of twelve functions wraps it ([`exports`]): bytes in,
//! JSON out. `cargo run -p senv-web` builds both into one HTML file.
//!
//! ```
//! let mut session = senv_web::Session::new()?;
//! let pair = session.compare("He bought a new car.", "He purchased an automobile.");
//! assert!(pair.cosine > 0.5);
//!
//! session.open_text(b"The train is late.\nDark clouds gathered.\n".to_vec())?;
//! while !session.read_lines(1000)?.done {}
//! session.ask("A storm is coming.", 1);
//! while !session.search(1000).done {}
//! assert_eq!(session.hits()[0].text, "Dark clouds gathered.");
//! # Ok::<(), senv_core::Error>(())
//! ```

mod collection;
mod embedding;
pub mod exports;
mod search;
mod session;
mod shares;

pub use collection::Opened;
pub use embedding::{Counts, Embedding};
pub use search::{Hit, Reading, Searching};
pub use session::{About, Session};
pub use shares::{Comparison, Side, Word};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
