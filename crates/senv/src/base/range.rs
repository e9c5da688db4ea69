//! Ranges of parameters.

use senv_core::Error as CoreError;

use crate::error::Result;

/// Returns an error that names the parameter, unless `ok`.
pub(crate) fn require(ok: bool, name: &'static str, requirement: &'static str, got: f64) -> Result<()> {
    if ok { Ok(()) } else { Err(CoreError::InvalidParameter { name, requirement, got: got.to_string() }.into()) }
}
