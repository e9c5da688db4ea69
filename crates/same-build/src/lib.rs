//! No code: the features of its dependencies are the point, see `Cargo.toml`.
