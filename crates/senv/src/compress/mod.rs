//! Small tables of word vectors, and the folders of Model2Vec.

#[cfg(feature = "english")]
pub(crate) mod english;
pub(crate) mod model2vec;
pub(crate) mod principal;
pub(crate) mod static_model;
pub(crate) mod table;
mod with_order;
mod word_rows;
