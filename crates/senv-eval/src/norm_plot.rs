//! The norm profile as a self-contained SVG.

use std::fmt::Write;

use crate::{NormBin, NormProfile};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 48.0;

/// Draws quartile bars, the mean and a / (a + f); the last is scaled so that 1 stands at the top.
pub(crate) fn svg(profile: &NormProfile) -> String {
    let bins = &profile.bins;
    let (from, to) = match (bins.first(), bins.last()) {
        (Some(first), Some(last)) if last.ln_frequency_to > first.ln_frequency_from => {
            (first.ln_frequency_from, last.ln_frequency_to)
        }
        (Some(first), _) => (first.ln_frequency_from - 0.5, first.ln_frequency_from + 0.5),
        _ => (-1.0, 0.0),
    };
    let highest = bins.iter().flat_map(|bin| [bin.mean, bin.upper_quartile]).flatten().fold(0.0, f64::max);
    let top = if highest > 0.0 { 1.1 * highest } else { 1.0 };
    let x = |ln_f: f64| LEFT + (ln_f - from) / (to - from) * (WIDTH - LEFT - RIGHT);
    let y = |norm: f64| HEIGHT - BOTTOM - norm / top * (HEIGHT - TOP - BOTTOM);
    let middle = |bin: &NormBin| (bin.ln_frequency_from + bin.ln_frequency_to) / 2.0;

    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let mut text = |x: f64, y: f64, anchor: &str, words: &str| {
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
    };
    for tick in ticks(from, to) {
        text(x(tick), HEIGHT - BOTTOM + 18.0, "middle", &label(tick));
    }
    for tick in ticks(0.0, top) {
        text(LEFT - 8.0, y(tick) + 4.0, "end", &label(tick));
    }
    text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8.0, "middle", "ln of the relative frequency");
    text(LEFT, TOP - 30.0, "start", &format!("L2 norm: mean (dots) and quartiles (bars), {} words", profile.n_words));
    text(LEFT, TOP - 12.0, "start", &format!("line: a/(a+f), a = {}, 1 at the top", profile.a));
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    let _ = writeln!(out, "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"black\"/>");
    for bin in bins {
        if let (Some(mean), Some(low), Some(high)) = (bin.mean, bin.lower_quartile, bin.upper_quartile) {
            let (x, low, high, mean) = (x(middle(bin)), y(low), y(high), y(mean));
            let _ = writeln!(out, "<path d=\"M{x:.1} {low:.1}V{high:.1}\" stroke=\"#9ecae1\" stroke-width=\"4\"/>");
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{mean:.1}\" r=\"3\" fill=\"#08519c\"/>");
        }
    }
    let points: Vec<String> =
        bins.iter().map(|bin| format!("{:.1},{:.1}", x(middle(bin)), y(bin.sif_weight * top))).collect();
    let _ = writeln!(out, "<polyline points=\"{}\" fill=\"none\" stroke=\"#d94801\"/>\n</svg>", points.join(" "));
    out
}

/// About five round numbers within a range that is not empty.
fn ticks(from: f64, to: f64) -> Vec<f64> {
    let power = 10f64.powf(((to - from) / 5.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| (to - from) / step <= 6.0);
    let step = step.unwrap_or(to - from);
    let first = (from / step).ceil() as i64;
    (first..).map(|i| i as f64 * step).take_while(|&tick| tick <= to).take(10).collect()
}

/// A tick without the noise of its multiplication.
fn label(tick: f64) -> String {
    if tick != 0.0 && !(1e-4..1e6).contains(&tick.abs()) {
        return format!("{tick:.1e}");
    }
    let rounded = format!("{tick:.6}");
    let short = rounded.trim_end_matches('0').trim_end_matches('.');
    if matches!(short, "-0" | "") { "0".to_owned() } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NormOptions, norm_profile};

    #[test]
    fn the_figure_has_a_dot_for_every_filled_bin_and_stays_inside() {
        let words = [("a", 1e-6, &[1.0][..]), ("b", 1e-3, &[4.0]), ("c", 0.1, &[2.0])];
        let svg = norm_profile(words, &NormOptions::default()).unwrap().to_svg();
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
        for part in svg.split("cy=\"").skip(1) {
            let y: f64 = part.split('"').next().unwrap().parse().unwrap();
            assert!((TOP..=HEIGHT - BOTTOM).contains(&y), "{y}");
        }
        for words in [[("a", 0.5, &[0.0][..])], [("a", 1.0, &[1e30])]] {
            assert!(!norm_profile(words, &NormOptions::default()).unwrap().to_svg().contains("NaN"));
        }
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(-13.8, -2.3), [-12.0, -10.0, -8.0, -6.0, -4.0]);
        assert_eq!(ticks(0.0, 1.1).len(), 6);
        assert_eq!([label(2e-7), label(-3e30)], ["2.0e-7", "-3.0e30"]);
        assert_eq!([label(-12.0), label(0.30000000000000004), label(-0.0), label(100.0)], ["-12", "0.3", "0", "100"]);
    }
}
