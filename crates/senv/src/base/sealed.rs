//! Seals traits to this crate: they require [`Sealed`], which no other crate can implement. Sealed traits describe what
//! parts of the library share, and any release can add methods to them. Traits meant for other crates to implement are
//! listed in [`parts`](crate::parts).

/// Implemented by types of this crate.
pub trait Sealed {}
