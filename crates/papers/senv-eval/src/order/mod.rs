//! Word order, which a bag of words cannot distinguish, evaluated by cosine alone.
//!
//! | file | contents |
//! | --- | --- |
//! | `templates/` | sentences that differ in roles, negation, numbers and so on |
//! | `data.rs` | the data that is evaluated |
//! | `pairs.rs`, `entailment.rs`, `triplets.rs` | labeled pairs (PAWS), NLI data, templates |
//! | `evaluation.rs`, `report.rs` | evaluation of all of them; text and figure |

pub(crate) mod data;
pub(crate) mod entailment;
pub(crate) mod evaluation;
pub(crate) mod pairs;
pub(crate) mod report;
pub(crate) mod templates;
pub(crate) mod triplets;
