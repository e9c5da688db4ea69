//! A page about groups: a map of some sentences, and all groups.

use std::{collections::HashSet, fmt::Write as _};

use senv_core::{
    SentenceEncoder,
    counts::{grouped, plural},
    kernels,
};
use senv_eval::{MapOptions, escape_html as escape, html_page, lay_out};

use crate::{
    error::Result,
    jobs::groups::{Grouping, TextGroups},
};

/// Sentences on the map.
const POINTS: usize = 1000;
/// Groups whose words appear on the map.
const LABELS: usize = 40;
/// The minimum number of sentences for a map.
const FEWEST: usize = 12;
/// Colors that differ on white and on black.
const COLORS: [&str; 12] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7f5fc4", "#c0392b", "#6b8e23", "#2f9e9e",
    "#a0522d", "#5d7fa3",
];
/// The width and height of the map.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 640.0;
const MARGIN: f64 = 20.0;

/// A sentence on the map.
struct Point<'a> {
    group: usize,
    sentence: &'a str,
}

/// Returns a self-contained HTML page: a map of up to 1,000 of the sentences, and all groups.
///
/// ```
/// # #[cfg(feature = "english")] {
/// use senv::jobs::{GroupBy, GroupParams};
/// let english = senv::english()?;
/// let sentences = ["The train is late.", "Rain falls on the hills.", "The late train arrives.", "Rain and wind came."];
/// let params = GroupParams { by: GroupBy::Count(2), ..GroupParams::default() };
/// let (found, grouping) = senv::jobs::group_sentences(&english, &sentences, &params, |_| {})?;
/// let page = senv::evaluation::groups_page(&english, &sentences, &found, &grouping)?;
/// assert!(page.contains("<title>Groups of sentences</title>"));
/// # }
/// # Ok::<(), senv::Error>(())
/// ```
///
/// # Errors
/// The errors of encoding the sentences and of laying them out.
pub fn groups_page(
    encoder: &dyn SentenceEncoder,
    sentences: &[&str],
    found: &TextGroups,
    grouping: &Grouping,
) -> Result<String> {
    let n_in = grouping.group_of.iter().flatten().count();
    let mut body = String::from("<h1>Groups of sentences</h1>\n");
    let n_without = sentences.len() - n_in;
    let without = if n_without > 0 { format!(", {} in none", grouped(n_without as u64)) } else { String::new() };
    let apart = grouping.silhouette.map_or_else(String::new, |apart| {
        format!(" Their silhouette is {apart:.3}: near 1, groups are well separated; near 0, they overlap.")
    });
    let (n, groups) = (plural(sentences.len() as u64, "sentence"), plural(found.groups.len() as u64, "group"));
    let _ = writeln!(body, "<p>{n} in {groups}{without}.{apart}</p>");
    let points = chosen(sentences, found.groups.len(), grouping);
    if points.len() >= FEWEST {
        map(&mut body, encoder, &points, found)?;
    }
    table(&mut body, found);
    Ok(html_page("Groups of sentences", &body))
}

/// Chooses distinct sentences of all groups, in proportion to the size of each, and at least one.
fn chosen<'a>(sentences: &[&'a str], n_groups: usize, grouping: &Grouping) -> Vec<Point<'a>> {
    let mut members: Vec<Vec<&str>> = vec![Vec::new(); n_groups];
    let mut known = HashSet::new();
    for (sentence, group) in sentences.iter().zip(&grouping.group_of) {
        if let Some(group) = group
            && known.insert(*sentence)
        {
            members[*group as usize].push(sentence);
        }
    }
    let share = (POINTS as f64 / known.len().max(1) as f64).min(1.0);
    let mut points = Vec::new();
    for (group, members) in members.iter().enumerate() {
        let n = ((members.len() as f64 * share) as usize).max(1).min(members.len());
        // Evenly spaced in the text.
        points.extend((0..n).map(|i| Point { group, sentence: members[i * members.len() / n] }));
    }
    points.truncate(2 * POINTS);
    points
}

fn map(body: &mut String, encoder: &dyn SentenceEncoder, points: &[Point<'_>], found: &TextGroups) -> Result<()> {
    let texts: Vec<&str> = points.iter().map(|point| point.sentence).collect();
    let (mut vectors, _) = encoder.encode_batch(&texts)?;
    let dim = vectors.ncols();
    let values = vectors.as_slice_mut().unwrap_or_default();
    values.chunks_mut(dim.max(1)).for_each(|row| {
        kernels::l2_normalize(row);
    });
    let rows: Vec<&[f32]> = values.chunks(dim.max(1)).collect();
    let perplexity = (points.len() as f64 / 4.0).clamp(1.0, 20.0);
    let places = lay_out(&rows, &MapOptions { perplexity, n_iterations: 500, seed: 1 })?;
    let range = |d: usize| {
        let values = || places.iter().map(|place| place[d]);
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };
    let at = |d: usize, value: f64, side: f64| {
        let (low, high) = range(d);
        MARGIN + (value - low) / (high - low).max(1e-9) * (side - 2.0 * MARGIN)
    };
    let places: Vec<(f64, f64)> =
        places.iter().map(|place| (at(0, place[0], WIDTH), at(1, place[1], HEIGHT))).collect();
    let _ = writeln!(
        body,
        "<figure><div class=\"draw\"><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Map of the groups\">"
    );
    for (point, (x, y)) in points.iter().zip(&places) {
        let color = COLORS[point.group % COLORS.len()];
        let words = words(found, point.group, 3);
        let _ = writeln!(
            body,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{color}\" fill-opacity=\".65\"><title>{}: {}\n{}</title></circle>",
            point.group + 1,
            escape(&words),
            escape(point.sentence)
        );
    }
    for group in 0..found.groups.len().min(LABELS) {
        let of_group: Vec<(f64, f64)> =
            points.iter().zip(&places).filter(|(point, _)| point.group == group).map(|(_, place)| *place).collect();
        let median = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied()
        };
        let (x, y) = (
            median(of_group.iter().map(|place| place.0).collect()),
            median(of_group.iter().map(|place| place.1).collect()),
        );
        let (Some(x), Some(y)) = (x, y) else { continue };
        let _ = writeln!(
            body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"13\" font-weight=\"600\" fill=\"currentColor\" pointer-events=\"none\">{}</text>",
            escape(&words(found, group, 2))
        );
    }
    let _ = writeln!(
        body,
        "</svg></div><figcaption>{} by t-SNE; colors mark groups, and some groups share a color. Point at a dot to \
        read its sentence.</figcaption></figure>",
        plural(points.len() as u64, "sentence")
    );
    Ok(())
}

/// Returns the first words of a group.
fn words(found: &TextGroups, group: usize, n: usize) -> String {
    let words = &found.groups[group].words;
    if words.is_empty() { (group + 1).to_string() } else { words[..n.min(words.len())].join(" ") }
}

fn table(body: &mut String, found: &TextGroups) {
    body.push_str(
        "<div class=\"box wide\" \
        tabindex=\"0\"><table>\n<thead><tr><th>group</th><th>sentences</th><th>words</th><th>most \
        central</th></tr></thead>\n<tbody>\n",
    );
    for (number, group) in found.groups.iter().enumerate() {
        let color = COLORS[number % COLORS.len()];
        let sentences: Vec<String> = group.central.iter().map(|sentence| escape(sentence)).collect();
        let _ = writeln!(
            body,
            "<tr><td><b style=\"color:{color}\">{}</b></td><td>{}</td><td style=\"white-space:normal\">{}</td><td style=\"white-space:normal;min-width:20rem\">{}</td></tr>",
            number + 1,
            grouped(group.size as u64),
            escape(&group.words.join(" ")),
            sentences.join("<br>")
        );
    }
    body.push_str("</tbody></table></div>\n");
}
