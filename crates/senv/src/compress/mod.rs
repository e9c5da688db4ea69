//! Small tables of word vectors, and Model2Vec folders.

#[cfg(feature = "english")]
pub(crate) mod english;
pub(crate) mod model2vec;
pub(crate) mod principal;
pub(crate) mod static_model;
pub(crate) mod table;
mod with_order;
mod word_rows;
