//! The frame of every figure, as SVG text: axes with round ticks, captions above, marks inside.

use std::fmt::Write;

/// Start of every figure; the height follows.
const START: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 480 ";
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 16.0;
const BOTTOM: f64 = 48.0;
/// Height of a title above a figure, and the number of characters that fit its width.
const TITLE: f64 = 24.0;
const MOST_OF_TITLE: usize = 54;
/// Height of a caption line.
const LINE: f64 = 18.0;
/// Width of the dot before a caption.
const SWATCH: f64 = 12.0;
/// Height of a named row.
const ROW: f64 = 20.0;
/// Color of axes and text: black, or the text color of the page.
pub(crate) const INK: &str = "currentColor";

/// A caption above the figure. In the color of the axes it has its own line; in the color of a curve it follows a dot.
/// The first one in the color of the axes is the title of the y axis.
pub(crate) struct Caption<'a> {
    pub(crate) text: &'a str,
    pub(crate) color: &'static str,
}

/// A figure under construction.
pub(crate) struct Plot {
    out: String,
    x: (f64, f64),
    y: (f64, f64),
    top: f64,
    left: f64,
    bottom: f64,
}

impl Plot {
    /// Creates axes from `x.0` to `x.1` and `y.0` to `y.1`. Neither range may be empty, and all numbers must be finite.
    pub(crate) fn new(x: (f64, f64), y: (f64, f64), x_label: &str, captions: &[Caption<'_>]) -> Self {
        // Many captions make the figure taller; the frame keeps its size.
        Self::numbers(x, y, &even_ticks(x), x_label, captions)
    }

    /// Creates a frame with a logarithmic x axis: `x` and the x values of all points are logarithms to base 10.
    pub(crate) fn log(x: (f64, f64), y: (f64, f64), x_label: &str, captions: &[Caption<'_>]) -> Self {
        Self::numbers(x, y, &log_ticks(x), x_label, captions)
    }

    fn numbers(
        x: (f64, f64),
        y: (f64, f64),
        x_ticks: &[(f64, String)],
        x_label: &str,
        captions: &[Caption<'_>],
    ) -> Self {
        let mut plot = Self::frame(x, y, x_ticks, x_label, captions, LEFT, HEIGHT - BOTTOM - 48.0);
        for tick in ticks(y.0, y.1) {
            plot.text(plot.left - 8.0, plot.y(tick) + 4.0, "end", INK, &tick_label(tick));
        }
        plot
    }

    /// Creates a frame whose y axis has names instead of numbers. Row i, counted from 0 at the top, is at y = −i.
    pub(crate) fn rows(names: &[String], x: (f64, f64), x_label: &str, captions: &[Caption<'_>]) -> Self {
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let left = (20.0 + 7.2 * longest as f64).clamp(LEFT, 0.5 * WIDTH);
        let y = (0.5 - names.len().max(1) as f64, 0.5);
        let mut plot = Self::frame(x, y, &even_ticks(x), x_label, captions, left, ROW * names.len().max(1) as f64);
        for (i, name) in names.iter().enumerate() {
            let place = plot.y(-(i as f64));
            plot.text(left - 8.0, place + 4.0, "end", INK, name);
            plot.line(&format!("<path d=\"M{left} {place:.1}H{}\" stroke=\"{INK}\" opacity=\".12\"/>", WIDTH - RIGHT));
        }
        plot
    }

    fn frame(
        x: (f64, f64),
        y: (f64, f64),
        x_ticks: &[(f64, String)],
        x_label: &str,
        captions: &[Caption<'_>],
        left: f64,
        inner_height: f64,
    ) -> Self {
        let places = caption_places(captions);
        let top = 12.0 + places.last().map_or(0.0, |place| place.1);
        let bottom = top + inner_height;
        let height = bottom + BOTTOM;
        let mut plot = Self { out: String::new(), x, y, top, left, bottom };
        plot.line(&format!("{START}{height}\" font-family=\"sans-serif\" font-size=\"14\">"));
        // A page may replace the colors of background and text.
        plot.line("<rect class=\"background\" width=\"100%\" height=\"100%\" fill=\"white\"/>");
        let right = WIDTH - RIGHT;
        for (tick, label) in x_ticks {
            plot.text(plot.x(*tick), bottom + LINE, "middle", INK, label);
        }
        plot.title("x", ((left + right) / 2.0, bottom + 40.0), "middle", x_label);
        let y_title = captions.iter().position(|caption| caption.color == INK);
        for (i, (caption, (x, y))) in captions.iter().zip(places).enumerate() {
            if Some(i) == y_title {
                plot.title("y", (x, y), "start", caption.text);
                continue;
            }
            if caption.color != INK {
                let color = caption.color;
                plot.line(&format!(
                    "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\" rx=\"2\" fill=\"{color}\"/>",
                    y - 8.0
                ));
            }
            plot.text(if caption.color == INK { x } else { x + SWATCH }, y, "start", INK, caption.text);
        }
        plot.line(&format!("<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"{INK}\"/>"));
        plot
    }

    /// Returns the position of the x axis.
    pub(crate) fn bottom(&self) -> f64 {
        self.bottom
    }

    /// Returns the top of the y axis.
    #[cfg(test)]
    pub(crate) fn top(&self) -> f64 {
        self.top
    }

    /// Returns the position of a value on the x axis.
    pub(crate) fn x(&self, value: f64) -> f64 {
        self.left + (value - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - self.left - RIGHT)
    }

    /// Returns the position of a value on the y axis.
    pub(crate) fn y(&self, value: f64) -> f64 {
        self.bottom() - (value - self.y.0) / (self.y.1 - self.y.0) * (self.bottom() - self.top)
    }

    /// Draws a dot at a point.
    pub(crate) fn dot(&mut self, (x, y): (f64, f64), color: &str) {
        let (x, y) = (self.x(x), self.y(y));
        self.line(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{color}\"/>"));
    }

    /// Draws a translucent dot, for plots with many points.
    pub(crate) fn faint_dot(&mut self, (x, y): (f64, f64), color: &str) {
        let (x, y) = (self.x(x), self.y(y));
        self.line(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\" fill=\"{color}\" fill-opacity=\".4\"/>"));
    }

    /// Draws a line through points.
    pub(crate) fn polyline(&mut self, points: &[(f64, f64)], color: &str) {
        let places: Vec<String> = points.iter().map(|&(x, y)| format!("{:.1},{:.1}", self.x(x), self.y(y))).collect();
        self.line(&format!("<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\"/>", places.join(" ")));
    }

    /// Draws a dot with a tooltip, and a line from the lower to the upper end of an interval.
    pub(crate) fn interval_dot(&mut self, x: f64, y: f64, interval: Option<(f64, f64)>, color: &str, says: &str) {
        let (cx, cy, says) = (self.x(x), self.y(y), escape(says));
        if let Some((low, high)) = interval {
            let (low, high) = (self.x(low), self.x(high));
            self.line(&format!("<path d=\"M{low:.1} {cy:.1}H{high:.1}\" stroke=\"{color}\" stroke-width=\"2\"/>"));
        }
        self.line(&format!(
            "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4\" fill=\"{color}\"><title>{says}</title></circle>"
        ));
    }

    /// Writes names next to points. If there is room, a name covers no other name and no point.
    pub(crate) fn labels(&mut self, points: &[((f64, f64), &str)]) {
        // A box is left, top, right and bottom.
        let dots = points.iter().map(|((x, y), _)| (self.x(*x), self.y(*y)));
        let dots: Vec<[f64; 4]> = dots.map(|(x, y)| [x - 5.0, y - 5.0, x + 5.0, y + 5.0]).collect();
        let mut names: Vec<[f64; 4]> = Vec::new();
        let frame = [self.left, 0.0, WIDTH, self.bottom];
        for ((x, y), name) in points {
            let (x, y) = (self.x(*x), self.y(*y));
            // Estimated, because the width of letters is unknown here.
            let width = 7.4 * name.chars().count() as f64;
            let places = [
                (8.0, 4.5),
                (-8.0, 4.5),
                (0.0, -9.0),
                (0.0, 19.0),
                (6.0, -7.0),
                (-6.0, -7.0),
                (6.0, 16.0),
                (-6.0, 16.0),
                (6.0, -23.0),
                (-6.0, -23.0),
                (6.0, 32.0),
                (-6.0, 32.0),
            ];
            let placed = places.map(|(dx, dy)| {
                let (anchor, left) = match dx {
                    0.0 => ("middle", x - width / 2.0),
                    dx if dx > 0.0 => ("start", x + dx),
                    _ => ("end", x + dx - width),
                };
                (anchor, (x + dx, y + dy), [left, y + dy - 11.0, left + width, y + dy + 3.0])
            });
            let covered = |area: &[f64; 4]| {
                let count = |others: &[[f64; 4]]| others.iter().filter(|other| is_overlap(area, other)).count();
                let outside = area[0] < frame[0] || area[1] < frame[1] || area[2] > frame[2] || area[3] > frame[3];
                // A name over another name cannot be read, and one that leaves the frame is cut off.
                count(&dots) + 10 * count(&names) + if outside { 1000 } else { 0 }
            };
            // The first of equally good positions.
            let Some((anchor, (x, y), area)) = placed.into_iter().min_by_key(|place| covered(&place.2)) else {
                continue;
            };
            names.push(area);
            self.text(x, y, anchor, INK, name);
        }
    }

    /// Draws a bar of a histogram.
    pub(crate) fn column(&mut self, from: f64, to: f64, height: f64, color: &str) {
        let (left, right, top, bottom) = (self.x(from), self.x(to), self.y(height), self.bottom);
        self.line(&format!(
            "<path d=\"M{left:.1} {bottom:.1}V{top:.1}H{right:.1}V{bottom:.1}\" fill=\"{color}\" fill-opacity=\".45\"/>"
        ));
    }

    /// Draws a thick vertical bar.
    pub(crate) fn bar(&mut self, x: f64, from: f64, to: f64, color: &str) {
        let (x, from, to) = (self.x(x), self.y(from), self.y(to));
        self.line(&format!("<path d=\"M{x:.1} {from:.1}V{to:.1}\" stroke=\"{color}\" stroke-width=\"4\"/>"));
    }

    /// Returns the whole figure.
    pub(crate) fn finish(mut self) -> String {
        self.line("</svg>");
        self.out
    }

    /// Writes the title of an axis, with a class to find it by.
    fn title(&mut self, axis: &str, (x, y): (f64, f64), anchor: &str, words: &str) {
        let words = escape(words);
        self.line(&format!(
            "<text class=\"{axis}-title\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{INK}\">{words}</text>"
        ));
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, color: &str, words: &str) {
        let words = escape(words);
        self.line(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{color}\">{words}</text>"));
    }

    fn line(&mut self, element: &str) {
        let _ = writeln!(self.out, "{element}");
    }
}

fn is_overlap(a: &[f64; 4], b: &[f64; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// Adds a title above a figure, for a file that is not part of a page.
pub(crate) fn titled(svg: &str, title: &str) -> String {
    let parts = || {
        let (height, rest) = svg.strip_prefix(START)?.split_once('"')?;
        let (background, rest) = rest.split_once("/>\n")?;
        Some((height.parse::<f64>().ok()? + TITLE, background, rest.strip_suffix("</svg>\n")?))
    };
    let Some((height, background, rest)) = parts() else { return svg.to_owned() };
    let (short, title) = (escape(&cut(title)), escape(title));
    format!(
        "{START}{height}\"{background}/>\n<title>{title}</title>\n<text class=\"title\" x=\"8\" y=\"20\" \
         font-weight=\"bold\" fill=\"{INK}\">{short}</text>\n<g transform=\"translate(0 {TITLE})\">\n{rest}</g>\n</svg>\n"
    )
}

/// Shortens a title to the width of a figure.
fn cut(title: &str) -> String {
    match title.char_indices().nth(MOST_OF_TITLE) {
        Some((end, _)) => format!("{}…", title[..end].trim_end()),
        None => title.to_owned(),
    }
}

/// Returns where captions start, with as many on a line as fit. Captions in the color of the axes have a line to
/// themselves.
fn caption_places(captions: &[Caption<'_>]) -> Vec<(f64, f64)> {
    let (mut x, mut y, mut full) = (8.0, LINE, false);
    let mut places = Vec::with_capacity(captions.len());
    for (i, caption) in captions.iter().enumerate() {
        // Estimated, because the width of letters is unknown here.
        let width = SWATCH + 7.6 * caption.text.chars().count() as f64 + 12.0;
        let alone = caption.color == INK;
        if i > 0 && (full || alone || x + width > WIDTH) {
            (x, y) = (8.0, y + LINE);
        }
        places.push((x, y));
        x += width;
        full = alone;
    }
    places
}

/// Escapes text for XML. Control characters, U+FFFE and U+FFFF, which XML does not allow, become spaces.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Returns about five round numbers within a nonempty range.
fn ticks(from: f64, to: f64) -> Vec<f64> {
    let power = 10f64.powf(((to - from) / 5.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| (to - from) / step <= 6.0);
    let step = step.unwrap_or(to - from);
    let first = (from / step).ceil() as i64;
    (first..).map(|i| i as f64 * step).take_while(|&tick| tick <= to).take(10).collect()
}

fn even_ticks((from, to): (f64, f64)) -> Vec<(f64, String)> {
    ticks(from, to).into_iter().map(|tick| (tick, tick_label(tick))).collect()
}

/// Returns the logarithms of ticks at 1, 2 and 5 times powers of ten, or only at the powers if there are more than
/// eight.
fn log_ticks((from, to): (f64, f64)) -> Vec<(f64, String)> {
    let of = |factors: &[f64]| -> Vec<(f64, String)> {
        let powers = from.floor() as i32..=to.ceil() as i32;
        let values = powers.flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
        values.map(|value| (value.log10(), tick_label(value))).filter(|tick| from <= tick.0 && tick.0 <= to).collect()
    };
    let ticks = of(&[1.0, 2.0, 5.0]);
    if ticks.len() > 8 { of(&[1.0]) } else { ticks }
}

/// Formats a tick without rounding errors.
pub(crate) fn tick_label(tick: f64) -> String {
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

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(-13.8, -2.3), [-12.0, -10.0, -8.0, -6.0, -4.0]);
        assert_eq!(ticks(0.0, 1.1).len(), 6);
        assert_eq!([tick_label(2e-7), tick_label(-3e30)], ["2.0e-7", "-3.0e30"]);
        let labels = [-12.0, 0.30000000000000004, -0.0, 100.0].map(tick_label);
        assert_eq!(labels, ["-12", "0.3", "0", "100"]);
    }

    #[test]
    fn ticks_of_a_logarithmic_axis_are_labeled_with_the_values() {
        let labels = |from, to| log_ticks((from, to)).into_iter().map(|tick| tick.1).collect::<Vec<_>>();
        assert_eq!(labels(-0.25, 1.4), ["1", "2", "5", "10", "20"]);
        assert_eq!(labels(-0.8, 0.1), ["0.2", "0.5", "1"]);
        assert_eq!(labels(0.0, 5.0), ["1", "10", "100", "1000", "10000", "100000"]);
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a < b & c > \u{0}d"), "a &lt; b &amp; c &gt;  d");
        assert_eq!(escape("\u{FFFD}\u{FFFE}\u{FFFF}\u{10000}\u{85}"), "\u{FFFD}  \u{10000} ");
    }

    #[test]
    fn each_axis_has_one_title() {
        let captions = [("a curve", "#0072b2"), ("y < 1", INK), ("a note", INK)];
        let captions = captions.map(|(text, color)| Caption { text, color });
        let rows = ["first", "second"].map(str::to_owned);
        for plot in [Plot::new((0.0, 1.0), (0.0, 1.0), "x", &captions), Plot::rows(&rows, (0.0, 1.0), "x", &captions)] {
            let svg = plot.finish();
            let titles: Vec<&str> = svg.lines().filter(|line| line.contains("-title\"")).collect();
            assert_eq!(titles.len(), 2, "{titles:?}");
            assert!(titles[0].contains("class=\"x-title\"") && titles[0].ends_with(">x</text>"), "{titles:?}");
            assert!(titles[1].contains("class=\"y-title\"") && titles[1].ends_with(">y &lt; 1</text>"), "{titles:?}");
        }
    }

    #[test]
    fn names_of_close_points_do_not_overlap_and_stay_inside() {
        let mut plot = Plot::new((0.0, 1.0), (0.0, 1.0), "x", &[]);
        let points = [(0.99, 0.5), (0.97, 0.52), (0.95, 0.49), (0.01, 0.5)];
        plot.labels(&points.map(|point| (point, "a long name")));
        let svg = plot.finish();
        let value = |line: &str, key: &str| {
            line.split(&format!(" {key}=\"")).nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned()
        };
        let boxes: Vec<[f64; 4]> = svg
            .lines()
            .filter(|line| line.contains(">a long name<"))
            .map(|line| {
                let [x, y] = ["x", "y"].map(|key| value(line, key).parse::<f64>().unwrap());
                let width = 7.4 * 11.0;
                let left = x - width
                    * match &value(line, "text-anchor")[..] {
                        "start" => 0.0,
                        "end" => 1.0,
                        _ => 0.5,
                    };
                [left, y - 11.0, left + width, y + 3.0]
            })
            .collect();
        assert_eq!(boxes.len(), points.len());
        for (i, area) in boxes.iter().enumerate() {
            assert!(area[0] >= LEFT && area[2] <= WIDTH, "{area:?}");
            assert!(boxes[..i].iter().all(|other| !is_overlap(area, other)), "{boxes:?}");
        }
    }

    #[test]
    fn a_title_is_above_the_figure() {
        let svg = Plot::new((0.0, 1.0), (0.0, 1.0), "x", &[]).finish();
        let long = format!("a < b {}", "c".repeat(MOST_OF_TITLE));
        let file = titled(&svg, &long);
        assert!(file.contains(&format!("<title>a &lt; b {}</title>", "c".repeat(MOST_OF_TITLE))), "{file}");
        assert!(file.contains("ccc…</text>") && file.ends_with("</g>\n</svg>\n"), "{file}");
        let height = |svg: &str| svg[START.len()..].split('"').next().unwrap().parse::<f64>().unwrap();
        assert_eq!(height(&file), height(&svg) + TITLE);
        // Nothing of the figure is lost, and the second line is the same as in every figure.
        let body = svg.split_once("fill=\"white\"/>\n").unwrap().1.strip_suffix("</svg>\n").unwrap();
        assert!(file.contains(body));
        assert_eq!(file.lines().nth(1), svg.lines().nth(1));
    }

    #[test]
    fn the_corners_of_the_ranges_are_those_of_the_frame() {
        let plot = Plot::new((1.0, 5.0), (-1.0, 1.0), "x", &[]);
        assert_eq!((plot.x(1.0), plot.x(5.0)), (LEFT, WIDTH - RIGHT));
        assert_eq!((plot.y(-1.0), plot.y(1.0)), (plot.bottom(), plot.top()));
    }
}
