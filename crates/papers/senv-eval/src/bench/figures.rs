//! The plots of a record, as SVG.

use senv_metrics::precision_recall;

use super::{
    drawing::{Drawing, number_equal_names, range},
    figure::{Figure, LABEL_COSINES, LEARNING_CURVE, MAP, NORMS},
    histograms::{histograms, label_cosines},
    protocol_group::ProtocolGroup,
    record::{BenchRecord, SystemKind, SystemRecord, TaskRecord},
    summary::{Row, Summary, summarize},
};
use crate::{
    error::Result,
    plot::{
        curve::{COLORS, Curve},
        frame::{Caption, INK, Plot},
        rows::{RowSeries, RowValue, rows_to_svg},
    },
};

/// Maximum number of points of a curve.
const MAX_POINTS: usize = 200;

/// Draws all plots for which the record has data.
pub(crate) fn drawings(record: &BenchRecord, summaries: &[Summary]) -> Result<Vec<Drawing>> {
    let mut drawings = Vec::new();
    for summary in summaries.iter().filter(|summary| summary.columns.iter().any(|column| column.protocol.in_mean)) {
        drawings.extend(means(record, summary));
    }
    drawings.extend(tasks(record, "sts", None));
    drawings.extend(tasks(record, "order-templates", Some(50.0)));
    if let Some(similarity) = summaries.iter().find(|summary| summary.section == ProtocolGroup::Similarity) {
        drawings.extend(speed(record, similarity));
        drawings.extend(size(record, similarity));
    }
    for task in record.tasks.iter().filter(|task| task.protocol == "detection") {
        drawings.extend(curves_of_precision(record, task)?);
    }
    for task in record.tasks.iter().filter(|task| matches!(&task.protocol[..], "detection" | "sick")) {
        drawings.extend(histograms(record, task));
    }
    drawings.extend(own_figures(record));
    number_equal_names(&mut drawings);
    Ok(drawings)
}

/// Returns the systems that share a plot, with their colors: models and vectors first, at most as many as there are
/// colors.
fn drawn(
    record: &BenchRecord,
    task: impl Fn(&SystemRecord) -> bool,
) -> impl Iterator<Item = (&SystemRecord, &'static str)> {
    let rank = |system: &SystemRecord| match system.kind {
        SystemKind::Model | SystemKind::Vectors => 0,
        SystemKind::Baseline => 1,
        SystemKind::Reweighted => 2,
    };
    let mut systems: Vec<&SystemRecord> = record.systems.iter().filter(|system| task(system)).collect();
    systems.sort_by_key(|system| rank(system));
    systems.into_iter().zip(COLORS)
}

/// Draws the mean of each system with its interval, best on top.
fn means(record: &BenchRecord, summary: &Summary) -> Option<Drawing> {
    let rows: Vec<_> = summary.rows.iter().filter(|row| row.mean.value.is_some()).collect();
    let ends = |row: &&Row| {
        let value = row.mean.value.unwrap_or(0.0);
        let (low, high) = row.mean.interval.unwrap_or((value, value));
        [low, high, value]
    };
    let x = range(rows.iter().flat_map(ends))?;
    let names: Vec<String> = rows.iter().map(|row| record.systems[row.system].name.clone()).collect();
    let captions = [Caption { text: "system", color: INK }];
    let mut plot = Plot::rows(&names, x, "mean of the columns, x 100", &captions);
    for (i, row) in rows.iter().enumerate() {
        let trained = matches!(record.systems[row.system].kind, SystemKind::Model | SystemKind::Vectors);
        let color = if trained { COLORS[0] } else { "#888888" };
        let value = row.mean.value.unwrap_or(0.0);
        plot.interval_dot(value, -(i as f64), row.mean.interval, color, &format!("{}: {value:.2}", names[i]));
    }
    let (name, about) = (summary.section.title(), "Blue: the given models and vectors. Gray: untrained baselines.");
    let title = format!("{name}: means with 95 % intervals");
    Some(Drawing::new(&format!("means-{name}"), title, about, plot.finish()))
}

/// Draws the tasks of a protocol, one per row, with a dot per system. Intervals are drawn only if `chance` is given.
fn tasks(record: &BenchRecord, protocol: &str, chance: Option<f64>) -> Option<Drawing> {
    let tasks: Vec<&TaskRecord> = record.tasks.iter().filter(|task| task.protocol == protocol).collect();
    let value = |system: &SystemRecord, task: &TaskRecord| {
        let result = system.result(&task.key)?;
        Some(RowValue { value: result.value?, interval: result.interval.filter(|_| chance.is_some()) })
    };
    let has = |system: &SystemRecord| tasks.iter().any(|task| value(system, task).is_some());
    let series = drawn(record, has).map(|(system, _)| RowSeries {
        name: system.name.clone(),
        values: tasks.iter().map(|task| value(system, task)).collect(),
    });
    let series: Vec<RowSeries> = series.collect();
    if series.is_empty() {
        return None;
    }
    let names: Vec<String> = tasks.iter().map(|task| task.label()).collect();
    let (name, title, about, row, x_label) = match chance {
        None => ("sts-tasks", "STS, task by task", "Each dot is a system on a task.", "task", "Pearson's r x 100"),
        Some(_) => (
            "word-order-tasks",
            "Word order, phenomenon by phenomenon",
            "Each dot is a system on the templates of a phenomenon, with its 95 % interval. The line is chance, which \
            is also what a bag of words reaches.",
            "phenomenon",
            "same meaning closer, x 100",
        ),
    };
    Some(Drawing::new(name, title, about, rows_to_svg(row, &names, x_label, &series, chance, 2)))
}

impl BenchRecord {
    /// Draws the mean of the similarity tasks against the size of the models as an SVG image; `None` if fewer than two
    /// systems have a size and a mean.
    ///
    /// # Errors
    /// The errors of [`BenchRecord::to_html`].
    pub fn quality_against_size(&self) -> Result<Option<String>> {
        let summaries = summarize(self)?;
        let similarity = summaries.iter().find(|summary| summary.section == ProtocolGroup::Similarity);
        Ok(similarity.and_then(|summary| size(self, summary)).map(|drawing| drawing.to_file()))
    }

    /// Returns the drawings of the report, in its order. They depend only on the record, so equal records give equal
    /// images.
    ///
    /// # Errors
    /// The errors of [`BenchRecord::to_html`].
    pub fn drawings(&self) -> Result<Vec<Drawing>> {
        drawings(self, &summarize(self)?)
    }
}

/// Draws quality against speed.
fn speed(record: &BenchRecord, summary: &Summary) -> Option<Drawing> {
    let rate = |system: &SystemRecord| system.sentences_per_second;
    let says = |rate: f64| format!("{rate:.0} sentences per second");
    let svg = quality_against(record, summary, 1, rate, "sentences per second, all threads", says)?;
    let about = "Sentences encoded per second in this run. Higher and further to the right is better.";
    Some(Drawing::new("quality-speed", "Quality against speed", about, svg))
}

/// Draws quality against model size.
fn size(record: &BenchRecord, summary: &Summary) -> Option<Drawing> {
    let megabytes = |system: &SystemRecord| Some(system.bytes? as f64 / 1e6);
    let says = |megabytes: f64| format!("{megabytes:.1} MB");
    let svg = quality_against(record, summary, 2, megabytes, "size of the model's file, MB", says)?;
    let about = "The size of the model's file. Higher and further to the left is better.";
    Some(Drawing::new("quality-size", "Quality against size", about, svg))
}

/// Draws the mean of each system against the logarithm of a positive cost or speed; `None` for fewer than `least`
/// systems.
fn quality_against(
    record: &BenchRecord,
    summary: &Summary,
    least: usize,
    x_of: impl Fn(&SystemRecord) -> Option<f64>,
    x_label: &str,
    says: impl Fn(f64) -> String,
) -> Option<String> {
    let point = |row: &Row| {
        let system = &record.systems[row.system];
        let x = x_of(system).filter(|x| *x > 0.0)?;
        Some((system, x.log10(), row.mean.value?))
    };
    let points: Vec<(&SystemRecord, f64, f64)> = summary.rows.iter().filter_map(point).collect();
    if points.len() < least {
        return None;
    }
    let x = range(points.iter().map(|point| point.1))?;
    let y = range(points.iter().map(|point| point.2))?;
    // Leave room for names at both ends.
    let x = (x.0 - 0.1, x.1 + 0.1);
    let captions = [Caption { text: "mean of the similarity tasks, x 100", color: INK }];
    let mut plot = Plot::log(x, (y.0, y.1 + 0.1 * (y.1 - y.0)), x_label, &captions);
    for (i, (system, x, y)) in points.iter().enumerate() {
        let color = COLORS[i % COLORS.len()];
        let text = format!("{}: {}", system.name, says(10f64.powf(*x)));
        plot.interval_dot(*x, *y, None, color, &text);
    }
    let names: Vec<_> = points.iter().map(|(system, x, y)| ((*x, *y), &system.name[..])).collect();
    plot.labels(&names);
    Some(plot.finish())
}

/// Draws precision against recall of paraphrase detection by score.
fn curves_of_precision(record: &BenchRecord, task: &TaskRecord) -> Result<Option<Drawing>> {
    let relevant: Vec<bool> = task.gold.iter().map(|&gold| gold > 0.0).collect();
    let scores = |system: &SystemRecord| -> Option<Vec<f64>> {
        let scores = &system.result(&task.key)?.scores;
        (scores.len() == relevant.len()).then(|| scores.iter().map(|&score| f64::from(score)).collect())
    };
    let mut curve = Curve::new("recall", "precision");
    for (system, _) in drawn(record, |system| scores(system).is_some()) {
        let Some(points) = precision_recall(&relevant, &scores(system).unwrap_or_default())? else { continue };
        let step = points.len().div_ceil(MAX_POINTS).max(1);
        let last = points.last().copied();
        let points = points.iter().copied().step_by(step).chain(last);
        // The first points are based on a handful of pairs, so their precision says little.
        curve.push(&system.name, points.filter(|p| p.recall >= 0.02).map(|p| (p.recall, p.precision)));
    }
    if curve.series.is_empty() {
        return Ok(None);
    }
    let title = format!("Paraphrase detection without training, {}", task.name);
    let about = "Pairs with a score at or above a threshold count as paraphrases; each point is a threshold.";
    let name = format!("precision-recall-{}", task.name);
    Ok(Some(Drawing::new(&name, title, about, curve.to_svg_without_dots())))
}

/// Draws the figures that systems provide: learning curves in one plot; cosines by label, maps of sentences and norms
/// of words in one plot each.
fn own_figures(record: &BenchRecord) -> Vec<Drawing> {
    let mut drawings: Vec<Drawing> = learning_curve(record).into_iter().collect();
    let given = |system: &&SystemRecord| matches!(system.kind, SystemKind::Model | SystemKind::Vectors);
    for system in record.systems.iter().filter(given) {
        let of_tasks = system.results.iter().flat_map(|result| &result.figures);
        for figure in of_tasks.chain(&system.figures) {
            if figure.kind == LABEL_COSINES {
                drawings.extend(label_cosines(system, figure));
            }
            let drawn = match &figure.kind[..] {
                NORMS => norms(figure)
                    .map(|svg| ("norms", "Norms of words", "a/(a+f) is the SIF weight, scaled to the top.", svg)),
                MAP => map(figure)
                    .map(|svg| ("captions", "Captions on a plane", "Exact t-SNE; each color is an image.", svg)),
                _ => None,
            };
            if let Some((name, title, about, svg)) = drawn {
                let (name, title) = (format!("{name}-{}", system.name), format!("{title}, {}", system.name));
                drawings.push(Drawing::new(&name, title, about, svg));
            }
        }
    }
    drawings
}

/// Draws accuracy against training data, one curve per system.
fn learning_curve(record: &BenchRecord) -> Option<Drawing> {
    let of = |system: &SystemRecord| {
        let figures = system.results.iter().flat_map(|result| &result.figures);
        figures.clone().find(|figure| figure.kind == LEARNING_CURVE).cloned()
    };
    let mut curve = Curve::new("training pairs", "accuracy x 100");
    for (system, _) in drawn(record, |system| of(system).is_some()) {
        let points = of(system).and_then(|figure| figure.series.into_iter().next()).map(|series| series.points);
        curve.push(&system.name, points.unwrap_or_default());
    }
    let about = "Paraphrase detection with parts of the training set: means of three draws.";
    let title = "Accuracy against training data, MSRP";
    (!curve.series.is_empty()).then(|| Drawing::new("learning-curve-msrp", title, about, curve.to_svg()))
}

fn map(figure: &Figure) -> Option<String> {
    let points = || figure.series.iter().flat_map(|series| &series.points);
    let (x, y) = (range(points().map(|point| point.0))?, range(points().map(|point| point.1))?);
    let captions = [Caption { text: &figure.y_label, color: INK }];
    let mut plot = Plot::new(x, y, &figure.x_label, &captions);
    for (series, color) in figure.series.iter().zip(COLORS.iter().cycle()) {
        for &(x, y) in &series.points {
            plot.interval_dot(x, y, None, color, &series.name);
        }
    }
    Some(plot.finish())
}

fn norms(figure: &Figure) -> Option<String> {
    let points = |name: &str| figure.series.iter().find(|series| series.name == name).map(|series| &series.points[..]);
    let x = range(figure.series.iter().flat_map(|series| &series.points).map(|point| point.0))?;
    let y = range(figure.series.iter().flat_map(|series| &series.points).map(|point| point.1))?;
    let captions = [
        Caption { text: &figure.y_label, color: INK },
        Caption { text: "mean and quartiles", color: COLORS[0] },
        Caption { text: "a/(a+f)", color: COLORS[1] },
    ];
    let mut plot = Plot::new(x, (y.0.min(0.0), y.1), &figure.x_label, &captions);
    let (low, high) = (points("lower quartile")?, points("upper quartile")?);
    for (low, high) in low.iter().zip(high) {
        plot.bar(low.0, low.1, high.1, "#56b4e9");
    }
    points("mean")?.iter().for_each(|&point| plot.dot(point, COLORS[0]));
    plot.polyline(points("a/(a+f)")?, COLORS[1]);
    Some(plot.finish())
}
