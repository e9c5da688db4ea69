//! Tests of what is public. One binary for all: each would be linked for itself.

mod gran_reference;
mod gru_reference;
mod lstm_reference;
mod order_reference;
mod plain_gru;
mod reference;
