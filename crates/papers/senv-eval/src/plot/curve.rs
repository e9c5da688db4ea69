//! Curves of a score over epochs, negatives or dimensions, for one or more systems.

use serde::Serialize;

use crate::{
    plot::frame::{Caption, INK, Plot, tick_label},
    report::{Align, TextTable, number},
};

/// Colors that remain distinct in print and for color-blind readers (Okabe and Ito 2008). They repeat if there are more
/// curves.
pub(crate) const COLORS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888"];

/// One curve of a figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Series {
    /// Name, such as the name of the data set.
    pub name: String,
    /// `(x, y)`, in the order in which they are connected.
    pub points: Vec<(f64, f64)>,
}

/// Curves over a common axis. Points that are not finite are left out of text and figure, and are `null` in JSON.
///
/// ```
/// let mut curve = senv_eval::Curve::new("epochs", "pearson r x100");
/// curve.push("images", [(1.0, 60.0), (2.0, 64.5)]);
/// curve.push("headlines", [(2.0, 63.0)]);
/// let rows: Vec<String> =
///     curve.to_text().lines().skip(2).map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
/// assert_eq!(rows, ["1 60.00 -", "2 64.50 63.00", "pearson r x100"]);
/// assert!(curve.to_svg().starts_with("<svg "));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Curve {
    /// Label of the x axis, with its unit.
    pub x_label: String,
    /// Label of the y axis, with its unit.
    pub y_label: String,
    /// The curves.
    pub series: Vec<Series>,
}

impl Curve {
    /// Creates a figure without curves.
    #[must_use]
    pub fn new(x_label: impl Into<String>, y_label: impl Into<String>) -> Self {
        Self { x_label: x_label.into(), y_label: y_label.into(), series: Vec::new() }
    }

    /// Adds a curve.
    pub fn push(&mut self, name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) {
        self.series.push(Series { name: name.into(), points: points.into_iter().collect() });
    }

    /// Formats a table with one row per x in ascending order and one column per curve. `-` means that a curve has no
    /// point there. If a curve has two points at the same x, the last one is shown.
    #[must_use]
    pub fn to_text(&self) -> String {
        let names = self.series.iter().map(|series| (series.name.as_str(), Align::Right));
        let mut table = TextTable::new(std::iter::once((self.x_label.as_str(), Align::Right)).chain(names));
        let mut places: Vec<f64> = self.finite().map(|(x, _)| x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        for x in places {
            let value = |series: &Series| series.points.iter().rev().find(|p| p.0 == x && p.1.is_finite()).map(|p| p.1);
            let cells = self.series.iter().map(|series| number(value(series), 2));
            table.row(std::iter::once(tick_label(x)).chain(cells));
        }
        format!("{table}{}\n", self.y_label)
    }

    /// Draws the figure as a self-contained SVG: points connected in order, with a dot each unless a curve has more
    /// than 100. The axes span the points.
    #[must_use]
    pub fn to_svg(&self) -> String {
        self.draw(true)
    }

    /// Draws the figure without dots, for curves with many points.
    pub(crate) fn to_svg_without_dots(&self) -> String {
        self.draw(false)
    }

    fn draw(&self, dots: bool) -> String {
        let (x, y) = (range(self.finite().map(|p| p.0)), range(self.finite().map(|p| p.1)));
        let captions = self.series.iter().zip(COLORS.iter().cycle());
        let captions = captions.map(|(series, &color)| Caption { text: &series.name, color });
        let captions: Vec<Caption<'_>> =
            std::iter::once(Caption { text: &self.y_label, color: INK }).chain(captions).collect();
        let mut plot = Plot::new(x, y, &self.x_label, &captions);
        for (series, color) in self.series.iter().zip(COLORS.iter().cycle()) {
            let points: Vec<(f64, f64)> = series.points.iter().copied().filter(is_finite).collect();
            plot.polyline(&points, color);
            points.iter().filter(|_| dots && points.len() <= MOST_DOTS).for_each(|&point| plot.dot(point, color));
        }
        plot.finish()
    }

    fn finite(&self) -> impl Iterator<Item = (f64, f64)> {
        self.series.iter().flat_map(|series| &series.points).copied().filter(is_finite)
    }
}

/// The most points of a curve that have dots; more would cover the line.
const MOST_DOTS: usize = 100;

fn is_finite((x, y): &(f64, f64)) -> bool {
    x.is_finite() && y.is_finite()
}

/// Returns the range of values, extended by a twentieth at both ends. The range around a single value is at least 1
/// wide.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    if low > high {
        return (0.0, 1.0);
    }
    // A margin that remains visible if the values are large and close together.
    let air = (0.05 * (high - low)).max(1e-9 * low.abs().max(high.abs()));
    if high > low { (low - air, high + air) } else { (low - air.max(0.5), high + air.max(0.5)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_rise_and_missing_points_are_dashes() {
        let mut curve = Curve::new("negatives", "r");
        curve.push("a", [(10.0, 2.0), (1.0, 1.0), (10.0, 3.0), (5.0, f64::NAN)]);
        curve.push("b", [(2.0, -1.0), (f64::INFINITY, 1.0)]);
        let text = curve.to_text();
        let rows: Vec<Vec<&str>> = text.lines().skip(2).map(|row| row.split_whitespace().collect()).collect();
        assert_eq!(rows, [vec!["1", "1.00", "-"], vec!["2", "-", "-1.00"], vec!["10", "3.00", "-"], vec!["r"]]);
        let json: serde_json::Value = serde_json::from_str(&crate::to_json(&curve)).unwrap();
        assert_eq!(json["series"][0]["points"][1], serde_json::json!([1.0, 1.0]));
        assert!(json["series"][0]["points"][3][1].is_null());
    }

    #[test]
    fn a_curve_of_many_points_has_no_dots() {
        let mut curve = Curve::new("x", "y");
        curve.push("few", (0..100).map(|i| (f64::from(i), 1.0)));
        curve.push("many", (0..101).map(|i| (f64::from(i), 2.0)));
        assert_eq!(curve.to_svg().matches("<circle").count(), 100);
    }

    #[test]
    fn the_figure_has_a_dot_a_finite_point_a_line_a_series_and_stays_inside() {
        let mut curve = Curve::new("x & y", "<y>");
        for i in 0..9 {
            curve.push(format!("s{i}"), (0..4).map(|x| (f64::from(x), f64::from(x * i) - 3.0)));
        }
        curve.push("bad", [(f64::NAN, 1.0), (1.0, f64::INFINITY)]);
        let svg = curve.to_svg();
        assert_eq!((svg.matches("<circle").count(), svg.matches("<polyline").count()), (36, 10));
        assert!(svg.contains("x &amp; y") && svg.contains("&lt;y&gt;") && !svg.contains("NaN") && !svg.contains("inf"));
        let numbers = |key: &str| -> Vec<f64> {
            let start = format!("{key}=\"");
            svg.split(&start).skip(1).map(|part| part.split('"').next().unwrap().parse().unwrap()).collect()
        };
        let height: f64 = svg.split("viewBox=\"0 0 480 ").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        assert!(numbers("cx").iter().all(|x| (58.0..=464.0).contains(x)));
        assert!(numbers("cy").iter().all(|y| (0.0..height).contains(y)));
        // The captions are above the frame, and the top of the frame is above the highest dot.
        let highest = numbers("cy").into_iter().fold(f64::INFINITY, f64::min);
        let top: f64 = svg.split("<path d=\"M58 ").nth(1).unwrap().split('V').next().unwrap().parse().unwrap();
        let lowest_caption = numbers(" y").into_iter().filter(|&y| y < top).fold(0.0, f64::max);
        assert!(lowest_caption < top && top <= highest, "{lowest_caption} {top} {highest}");
        assert_eq!(svg.matches("rx=\"2\"").count(), 10, "a color for each caption");
    }

    #[test]
    fn nothing_one_point_and_a_flat_line_can_be_drawn() {
        for points in [vec![], vec![(3.0, 7.0)], vec![(0.0, 1e12), (1.0, 1e12)], vec![(0.0, -0.0), (0.0, 0.0)]] {
            let mut curve = Curve::new("x", "y");
            curve.push("s", points);
            let svg = curve.to_svg();
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
