//! A page about groups: a map of some sentences, and all groups.

use std::{collections::HashSet, fmt::Write as _};

use senv_core::{
    SentenceEncoder,
    counts::{grouped, plural},
    kernels,
};
use senv_eval::{MapOptions, escape_html as escape, html_page, lay_out};

use super::label_places::label_places;
use crate::{
    error::Result,
    jobs::groups::{Group, Grouping, TextGroups},
};

/// Sentences on the map.
const POINTS: usize = 1000;
/// Groups whose words appear on the map, if they have a place.
const LABELS: usize = 40;
/// Sentences of a group that a click shows.
const MORE: usize = 50;
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

/// Returns a self-contained HTML page: a map of up to 1,000 of the sentences, and all groups. A click on a group shows
/// its 50 most central sentences. The page has no scripts.
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
    if let Some(rest) = found.rest(grouping) {
        let _ = writeln!(
            body,
            "<p>Group {} is a rest: it has {}, which are less alike than those of most groups.</p>",
            rest + 1,
            plural(found.groups[rest].size as u64, "sentence")
        );
    }
    let members = members(sentences, found.groups.len(), grouping);
    let points = chosen(&members);
    if points.len() >= FEWEST {
        map(&mut body, encoder, &points, found)?;
    }
    table(&mut body, found, &members);
    Ok(html_page("Groups of sentences", &body))
}

/// A distinct sentence with its cosine to the center of its group.
type Member<'a> = (f32, &'a str);

/// Returns the distinct sentences of each group, in the order of the text.
fn members<'a>(sentences: &[&'a str], n_groups: usize, grouping: &Grouping) -> Vec<Vec<Member<'a>>> {
    let mut members: Vec<Vec<Member<'_>>> = vec![Vec::new(); n_groups];
    let mut known = HashSet::new();
    for (sentence, (group, &cosine)) in sentences.iter().zip(grouping.group_of.iter().zip(&grouping.cosines)) {
        if let Some(group) = group
            && known.insert(*sentence)
        {
            members[*group as usize].push((cosine, *sentence));
        }
    }
    members
}

/// Chooses sentences of all groups, in proportion to the size of each, and at least one.
fn chosen<'a>(members: &[Vec<Member<'a>>]) -> Vec<Point<'a>> {
    let n_known: usize = members.iter().map(Vec::len).sum();
    let share = (POINTS as f64 / n_known.max(1) as f64).min(1.0);
    let mut points = Vec::new();
    for (group, members) in members.iter().enumerate() {
        let n = ((members.len() as f64 * share) as usize).max(1).min(members.len());
        // Evenly spaced in the text.
        points.extend((0..n).map(|i| Point { group, sentence: members[i * members.len() / n].1 }));
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
            "<a href=\"#group-{0}\"><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{color}\" fill-opacity=\".65\"><title>{0}: {1}\n{2}</title></circle></a>",
            point.group + 1,
            escape(&words),
            escape(point.sentence)
        );
    }
    let labels: Vec<(f64, f64, String)> = (0..found.groups.len().min(LABELS))
        .filter_map(|group| {
            let of_group = points.iter().zip(&places).filter(|(point, _)| point.group == group);
            let (x, y) = middle(of_group.map(|(_, place)| *place).collect())?;
            Some((x, y, words(found, group, 2)))
        })
        .collect();
    let texts: Vec<(f64, f64, &str)> = labels.iter().map(|(x, y, text)| (*x, *y, &text[..])).collect();
    for (place, (_, _, text)) in label_places(&texts, (WIDTH, HEIGHT)).into_iter().zip(&texts) {
        let Some((x, y)) = place else { continue };
        let _ = writeln!(
            body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"13\" font-weight=\"600\" fill=\"currentColor\" pointer-events=\"none\">{}</text>",
            escape(text)
        );
    }
    let _ = writeln!(
        body,
        "</svg></div><figcaption>{} by t-SNE; colors mark groups, and some groups share a color. Point at a dot to \
        read its sentence; click to see its group.</figcaption></figure>",
        plural(points.len() as u64, "sentence")
    );
    Ok(())
}

/// Returns the first words of a group.
fn words(found: &TextGroups, group: usize, n: usize) -> String {
    let words = &found.groups[group].words;
    if words.is_empty() { (group + 1).to_string() } else { words[..n.min(words.len())].join(" ") }
}

/// Returns the medians of the coordinates.
fn middle(places: Vec<(f64, f64)>) -> Option<(f64, f64)> {
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let (x, y) = places.into_iter().unzip();
    median(x).zip(median(y))
}

fn table(body: &mut String, found: &TextGroups, members: &[Vec<Member<'_>>]) {
    body.push_str(
        "<div class=\"box wide\" \
        tabindex=\"0\"><table>\n<thead><tr><th>group</th><th>sentences</th><th>words</th><th>most \
        central</th></tr></thead>\n<tbody>\n",
    );
    for (number, (group, members)) in found.groups.iter().zip(members).enumerate() {
        let color = COLORS[number % COLORS.len()];
        let sentences: Vec<String> = group.central.iter().map(|sentence| escape(sentence)).collect();
        let _ = writeln!(
            body,
            "<tr id=\"group-{0}\"><td><b style=\"color:{color}\">{0}</b></td><td>{1}</td><td style=\"white-space:normal\">{2}</td><td style=\"white-space:normal;min-width:20rem\">{3}{4}</td></tr>",
            number + 1,
            grouped(group.size as u64),
            escape(&group.words.join(" ")),
            sentences.join("<br>"),
            more(group, members)
        );
    }
    body.push_str("</tbody></table></div>\n");
}

/// Returns further sentences of a group, most central first, that appear on a click.
fn more(group: &Group, members: &[Member<'_>]) -> String {
    let mut ranked: Vec<&Member<'_>> =
        members.iter().filter(|(_, sentence)| !group.central.iter().any(|shown| shown == sentence)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let n_more = ranked.len().min(MORE);
    if n_more == 0 {
        return String::new();
    }
    let of = if n_more < ranked.len() { format!(" of {}", grouped(ranked.len() as u64)) } else { String::new() };
    let sentences: Vec<String> = ranked[..n_more].iter().map(|(_, sentence)| escape(sentence)).collect();
    format!("<details><summary>{}{of} more</summary>{}</details>", grouped(n_more as u64), sentences.join("<br>"))
}
