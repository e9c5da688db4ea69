//! Plots of values of several systems in named rows.

use crate::plot::{
    curve::{COLORS, range},
    frame::{Caption, INK, Plot},
};

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RowValue {
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
}

/// The values of a system, one per row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowSeries {
    /// Name of the system.
    pub(crate) name: String,
    /// Values in the order of the rows; `None` where there is no value.
    pub(crate) values: Vec<Option<RowValue>>,
}

/// Draws a dot with its interval for each system in each row, the first systems on top. There are at most as many
/// systems as colors. `chance` is a line across all rows. `decimals` is the precision of the values in tooltips.
pub(crate) fn rows_to_svg(
    title: &str,
    rows: &[String],
    x_label: &str,
    series: &[RowSeries],
    chance: Option<f64>,
    decimals: usize,
) -> String {
    let ends = |of: &RowValue| {
        let (low, high) = of.interval.unwrap_or((of.value, of.value));
        [low, high, of.value]
    };
    let x = range(series.iter().flat_map(|of| of.values.iter().flatten()).flat_map(ends).chain(chance));
    let captions = series.iter().zip(COLORS).map(|(of, color)| Caption { text: &of.name, color });
    let captions: Vec<Caption<'_>> = std::iter::once(Caption { text: title, color: INK }).chain(captions).collect();
    let mut plot = Plot::rows(rows, x, x_label, &captions);
    if let Some(chance) = chance {
        plot.polyline(&[(chance, 0.5), (chance, 0.5 - rows.len().max(1) as f64)], INK);
    }
    let drawn: Vec<(&RowSeries, &str)> = series.iter().zip(COLORS).collect();
    for (of, color) in drawn.into_iter().rev() {
        for (i, value) in of.values.iter().enumerate() {
            let Some(RowValue { value, interval }) = *value else { continue };
            let says = format!("{}, {}: {value:.decimals$}", of.name, rows.get(i).map_or("", |row| row));
            plot.interval_dot(value, -(i as f64), interval, color, &says);
        }
    }
    plot.finish()
}
