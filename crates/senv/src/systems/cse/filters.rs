//! [`CseParams::windows`](super::CseParams::windows) as hyperparameters: the widths and the number of filters of each.

use senv_core::{
    Error as CoreError, Result as CoreResult,
    hyperparameters::{Hyperparameter, Section, set_value},
};
use senv_encoders::Window;

pub(super) fn hyperparameters(windows: &[Window]) -> Vec<Hyperparameter> {
    let widths: Vec<usize> = windows.iter().map(|window| window.width).collect();
    let mut filters: Vec<usize> = windows.iter().map(|window| window.n_filters).collect();
    if filters.windows(2).all(|pair| pair[0] == pair[1]) {
        filters.truncate(1);
    }
    vec![
        Hyperparameter::of(
            "windows",
            &["Widths of the filters in words, each from 1 to 1000."],
            Section::Training,
            None,
            &widths,
        ),
        Hyperparameter::of(
            "filters",
            &["Number of filters for every window, or a number for each."],
            Section::Training,
            None,
            &filters,
        ),
    ]
}

/// New widths get the number of filters that the first had.
pub(super) fn set(windows: &mut Vec<Window>, name: &str, text: &str) -> CoreResult<bool> {
    let mut numbers: Vec<usize> = Vec::new();
    match name {
        "windows" => {
            set_value(&mut numbers, name, text)?;
            let n_filters = windows.first().map_or(100, |window| window.n_filters);
            *windows = numbers.into_iter().map(|width| Window { width, n_filters }).collect();
        }
        "filters" => {
            set_value(&mut numbers, name, text)?;
            if let [all] = numbers[..] {
                numbers = vec![all; windows.len()];
            }
            if numbers.len() != windows.len() {
                let (n, n_windows) = (numbers.len(), windows.len());
                let reason = format!("{n} numbers for {n_windows} windows; give one, or one per window");
                return Err(CoreError::BadHyperparameter { name: name.into(), value: text.into(), reason });
            }
            windows.iter_mut().zip(numbers).for_each(|(window, n)| window.n_filters = n);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

pub(super) fn check_ranges(windows: &[Window]) -> CoreResult<()> {
    let check = |name, requirement, x: usize, most: usize| {
        let good = (1..=most).contains(&x);
        if good { Ok(()) } else { Err(CoreError::InvalidParameter { name, requirement, got: x.to_string() }) }
    };
    windows.iter().try_for_each(|window| {
        check("windows", "from 1 to 1000", window.width, 1000)?;
        check("filters", "from 1 to 65536", window.n_filters, 65_536)
    })
}
