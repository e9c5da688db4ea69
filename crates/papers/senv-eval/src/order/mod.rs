//! Word order: what a bag of words cannot tell apart, by cosine alone.
//!
//! | file | what |
//! | --- | --- |
//! | `templates/` | sentences that differ in roles, negation, numbers and so on |
//! | `data.rs` | what is judged |
//! | `pairs.rs`, `entailment.rs`, `triplets.rs` | pairs with a label (PAWS), NLI data, templates |
//! | `evaluation.rs`, `report.rs` | all of them; text and figure |

pub(crate) mod data;
pub(crate) mod entailment;
pub(crate) mod evaluation;
pub(crate) mod pairs;
pub(crate) mod report;
pub(crate) mod templates;
pub(crate) mod triplets;
