//! Tests of the public interface. They form one binary, because linking one per file would take long.

mod sentences;
