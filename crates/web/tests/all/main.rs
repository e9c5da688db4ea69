//! Tests of the public interface. A single binary, because linking each file separately takes longer.

mod exports;
mod session;
