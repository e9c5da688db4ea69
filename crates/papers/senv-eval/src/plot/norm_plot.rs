//! The norm profile as a self-contained SVG.

use crate::plot::{
    frame::{Caption, INK, Plot},
    norms::{NormBin, NormProfile},
};

impl NormProfile {
    /// Draws the figure as a self-contained SVG: mean norm and quartiles against ln f, and a / (a + f), scaled so that
    /// 1 is at the top.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let bins = &self.bins;
        let (from, to) = match (bins.first(), bins.last()) {
            (Some(first), Some(last)) if last.ln_frequency_to > first.ln_frequency_from => {
                (first.ln_frequency_from, last.ln_frequency_to)
            }
            (Some(first), _) => (first.ln_frequency_from - 0.5, first.ln_frequency_from + 0.5),
            _ => (-1.0, 0.0),
        };
        let highest = bins.iter().flat_map(|bin| [bin.mean, bin.upper_quartile]).flatten().fold(0.0, f64::max);
        let top = if highest > 0.0 { 1.1 * highest } else { 1.0 };
        let middle = |bin: &NormBin| (bin.ln_frequency_from + bin.ln_frequency_to) / 2.0;

        let what = format!("L2 norm: mean (dots) and quartiles (bars), {} words", self.n_words);
        let line = format!("line: a/(a+f), a = {}, 1 at the top", self.a);
        let captions = [&what, &line].map(|text| Caption { text, color: INK });
        let mut plot = Plot::new((from, to), (0.0, top), "ln of the relative frequency", &captions);
        for bin in bins {
            if let (Some(mean), Some(low), Some(high)) = (bin.mean, bin.lower_quartile, bin.upper_quartile) {
                plot.bar(middle(bin), low, high, "#9ecae1");
                plot.dot((middle(bin), mean), "#08519c");
            }
        }
        let points: Vec<(f64, f64)> = bins.iter().map(|bin| (middle(bin), bin.sif_weight * top)).collect();
        plot.polyline(&points, "#d94801");
        plot.finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::plot::{
        frame::Plot,
        norms::{NormOptions, norm_profile},
    };

    #[test]
    fn the_figure_has_a_dot_for_every_filled_bin_and_stays_inside() {
        let words = [("a", 1e-6, &[1.0][..]), ("b", 1e-3, &[4.0]), ("c", 0.1, &[2.0])];
        let svg = norm_profile(words, &NormOptions::default()).unwrap().to_svg();
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
        let bottom = Plot::new((0.0, 1.0), (0.0, 1.0), "", &[]).bottom();
        for part in svg.split("cy=\"").skip(1) {
            let y: f64 = part.split('"').next().unwrap().parse().unwrap();
            assert!((48.0..=bottom).contains(&y), "{y}");
        }
        for words in [[("a", 0.5, &[0.0][..])], [("a", 1.0, &[1e30])]] {
            assert!(!norm_profile(words, &NormOptions::default()).unwrap().to_svg().contains("NaN"));
        }
    }
}
