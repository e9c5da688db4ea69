//! Tests of the workspace as a whole, in `tests/`. There is nothing to depend on.
