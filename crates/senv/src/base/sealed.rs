//! What keeps a trait to this crate: it asks for [`Sealed`], which no other crate can implement. Such traits say what
//! the library has in common and may get more methods in any release; those that are meant to be implemented elsewhere
//! are listed in [`parts`](crate::parts).

/// Implemented by what is part of this crate.
pub trait Sealed {}
