//! Memory checks before large allocations.

use crate::{Error, Result};

/// Returns the number of values in `rows` rows of `dim` values of type `T`, if memory for them is available.
///
/// The check allocates that memory and frees it. The table itself comes from `vec![zero; n]`, which aborts if memory
/// runs out, but whose pages are already zero and are first touched by the threads that write them.
///
/// ```
/// assert_eq!(senv_core::memory::check_memory::<f32>(3, 4)?, 12);
/// assert!(senv_core::memory::check_memory::<f32>(usize::MAX, 2).is_err());
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::TooLarge`] if they do not fit in memory.
pub fn check_memory<T>(rows: usize, dim: usize) -> Result<usize> {
    let too_large = || Error::TooLarge { rows, dim };
    let n = rows.checked_mul(dim).ok_or_else(too_large)?;
    let mut values = Vec::<T>::new();
    values.try_reserve_exact(n).map_err(|_| too_large())?;
    // The compiler may remove an allocation that is never used.
    std::hint::black_box(&mut values);
    Ok(n)
}
