//! Tests of the public interface. A single binary, because linking each file separately takes longer.

mod gran_reference;
mod gru_reference;
mod lstm_reference;
mod order_reference;
mod plain_gru;
mod reference;
