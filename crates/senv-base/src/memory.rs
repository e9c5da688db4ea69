//! Whether there is memory for what is about to be made.

use crate::{Error, Result};

/// The number of values of `rows` rows of `dim` values of type `T`, if there is memory for them.
///
/// They are allocated as a check, then freed: only `vec![zero; n]`, which cannot fail gracefully, gets pages that are
/// zero already, which the threads then touch as they write.
///
/// ```
/// assert_eq!(senv_core::memory::check_memory::<f32>(3, 4)?, 12);
/// assert!(senv_core::memory::check_memory::<f32>(usize::MAX, 2).is_err());
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::TooLarge`] if they do not fit into memory.
pub fn check_memory<T>(rows: usize, dim: usize) -> Result<usize> {
    let too_large = || Error::TooLarge { rows, dim };
    let n = rows.checked_mul(dim).ok_or_else(too_large)?;
    let mut values = Vec::<T>::new();
    values.try_reserve_exact(n).map_err(|_| too_large())?;
    // An allocation that nobody looks at may be left out by the compiler.
    std::hint::black_box(&mut values);
    Ok(n)
}
