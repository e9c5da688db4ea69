//! Predicted scores against gold scores, one dot per pair.

use crate::plot::{
    curve::{COLORS, range},
    frame::{Caption, INK, Plot},
};

/// Draws predicted scores against gold scores as a self-contained SVG, one dot per pair `(gold, predicted)`. Both axes
/// have the same scale, so exact predictions are on the diagonal. Points that are not finite are left out.
///
/// ```
/// let svg = senv_eval::scatter_svg(&[(0.0, 0.4), (2.5, 3.0), (5.0, 4.8)], "STS benchmark");
/// assert_eq!(svg.matches("<circle").count(), 3);
/// ```
#[must_use]
pub fn scatter_svg(points: &[(f64, f64)], title: &str) -> String {
    let points = || points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite());
    let scale = range(points().flat_map(|(x, y)| [x, y]));
    let captions = [("predicted score", INK), (title, COLORS[0])].map(|(text, color)| Caption { text, color });
    let mut plot = Plot::new(scale, scale, "gold score", &captions);
    plot.polyline(&[(scale.0, scale.0), (scale.1, scale.1)], INK);
    points().for_each(|point| plot.faint_dot(point, COLORS[0]));
    plot.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finite_pair_is_a_dot() {
        let svg = scatter_svg(&[(1.0, 1.0), (f64::NAN, 2.0), (3.0, 2.5)], "a & b");
        assert_eq!((svg.matches("<circle").count(), svg.matches("<polyline").count()), (2, 1));
        assert!(svg.contains("a &amp; b") && !svg.contains("NaN"), "{svg}");
        assert!(scatter_svg(&[], "none").ends_with("</svg>\n"));
    }
}
