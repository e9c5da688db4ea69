//! Histograms of scores by label, which show how well a score separates the labels.

use senv_core::{SentenceEncoder, kernels};
use senv_data::{Entailment, NliLayout, NliPair};

use super::{
    data::BenchData,
    drawing::{Drawing, range},
    figure::{Figure, FigureSeries, LABEL_COSINES},
    record::{BenchRecord, SystemRecord, TaskRecord},
    task_data::TaskData,
};
use crate::{
    error::Result,
    plot::{
        curve::COLORS,
        frame::{Caption, INK, Plot},
        histogram::Histogram,
    },
    report::number,
    score::sentence_vectors::SentenceVectors,
};

/// Number of bars of a histogram.
const BINS: usize = 40;
/// Maximum number of labeled pairs that are encoded for a histogram.
const MAX_LABELED: usize = 2_000;

impl BenchData {
    /// Returns cosines of premises and hypotheses by label, one figure per SNLI set. Of a larger set, at most 2,000
    /// evenly spaced pairs are used. This function encodes their sentences, which [`BenchData::sentences`] does not
    /// include.
    ///
    /// # Errors
    /// The errors of [`SentenceVectors::encode`], for example for a sentence that vectors from another program do not
    /// include; [`crate::Error::NotFinite`] if an embedding is not finite.
    pub fn label_figures(&self, encoder: &dyn SentenceEncoder) -> Result<Vec<Figure>> {
        let sets = self.tasks.iter().filter_map(|task| match &task.data {
            TaskData::Labels(set) if set.layout == NliLayout::Snli => Some((&task.name, set)),
            _ => None,
        });
        sets.map(|(name, set)| -> Result<Figure> {
            let step = set.pairs.len().div_ceil(MAX_LABELED).max(1);
            let pairs: Vec<&NliPair> = set.pairs.iter().step_by(step).collect();
            let sentences = pairs.iter().flat_map(|pair| [&pair.premise[..], &pair.hypothesis[..]]);
            let embeddings = SentenceVectors::encode(encoder, sentences)?;
            embeddings.check_finite()?;
            let mut series: Vec<FigureSeries> = Vec::new();
            for label in Entailment::ALL {
                let mut points = Vec::new();
                for (i, pair) in pairs.iter().enumerate().filter(|(_, pair)| pair.label == label) {
                    let [a, b] = [embeddings.number(&pair.premise)?, embeddings.number(&pair.hypothesis)?];
                    points.push((f64::from(kernels::cosine(embeddings.vector(a), embeddings.vector(b))), i as f64));
                }
                series.push(FigureSeries { name: label.name().to_owned(), points });
            }
            let x_label = format!("cosine of premise and hypothesis, {name}");
            Ok(Figure { kind: LABEL_COSINES.to_owned(), x_label, y_label: "pair".to_owned(), series })
        })
        .collect()
    }
}

/// Draws the scores of the first system and of word overlap, by label.
pub(super) fn histograms(record: &BenchRecord, task: &TaskRecord) -> Vec<Drawing> {
    // SICK is split at the middle of its scale.
    let (set, threshold, names) = if task.protocol == "sick" {
        ("SICK", 3.0, ["relatedness 3 or above", "below 3"])
    } else {
        ("MSRP", 0.5, ["paraphrases", "other pairs"])
    };
    let first = record.systems.first().map(|system| &system.name[..]);
    let wanted = [first, Some("word overlap")].into_iter().flatten();
    let systems = wanted.filter_map(|name| record.systems.iter().find(|system| system.name == name));
    let of_system = |system: &SystemRecord| {
        let scores = &system.result(&task.key)?.scores;
        let of = |above: bool| -> Vec<f64> {
            let items = scores.iter().zip(&task.gold).filter(|(_, gold)| (**gold >= threshold) == above);
            items.map(|(&score, _)| f64::from(score)).collect()
        };
        let groups = names.map(str::to_owned).into_iter().zip([of(true), of(false)]).collect();
        let title = format!("Scores of {} on {set} pairs, {}", system.name, task.name);
        let name = format!("scores-{}-{}-{}", system.name, task.protocol, task.name);
        drawing(&name, title, format!("score of a pair by {}", system.name), groups)
    };
    systems.filter_map(of_system).collect()
}

/// Draws a figure of [`BenchData::label_figures`].
pub(super) fn label_cosines(system: &SystemRecord, figure: &Figure) -> Option<Drawing> {
    let cosines = |series: &FigureSeries| -> Vec<f64> { series.points.iter().map(|point| point.0).collect() };
    let groups = figure.series.iter().map(|series| (series.name.clone(), cosines(series)));
    let (name, title) = (format!("cosines-by-label-{}", system.name), format!("Cosines by label, {}", system.name));
    drawing(&name, title, figure.x_label.clone(), groups.collect())
}

/// Draws overlaid histograms, each with area 1; `None` unless at least two groups have values.
fn drawing(name: &str, title: String, x_label: String, groups: Vec<(String, Vec<f64>)>) -> Option<Drawing> {
    let (low, high) = range(groups.iter().flat_map(|group| group.1.iter().copied()))?;
    let histogram = Histogram::new(x_label, low, high, BINS, groups).ok()?;
    let about = caption(&histogram)?;
    let densities = histogram.groups.iter().flat_map(|group| &group.densities);
    let top = densities.copied().fold(0.0, f64::max);
    let captions = histogram.groups.iter().zip(COLORS).map(|(group, color)| Caption { text: &group.name, color });
    let captions: Vec<Caption<'_>> = std::iter::once(Caption { text: "density", color: INK }).chain(captions).collect();
    let mut plot = Plot::new((low, high), (0.0, 1.05 * top), &histogram.value, &captions);
    let width = (high - low) / BINS as f64;
    for (group, color) in histogram.groups.iter().zip(COLORS) {
        for (i, &height) in group.densities.iter().enumerate().filter(|(_, height)| **height > 0.0) {
            plot.column(low + i as f64 * width, low + (i + 1) as f64 * width, height, color);
        }
    }
    Some(Drawing::new(name, title, about, plot.finish()))
}

/// Describes the mean and standard deviation of each group and the overlaps; `None` unless two groups have values.
fn caption(histogram: &Histogram) -> Option<String> {
    let groups = histogram.groups.iter().filter(|group| group.n > 0).map(|group| {
        let [mean, deviation] = [group.mean, group.deviation].map(|value| number(value, 3));
        format!("{}: mean {mean}, standard deviation {deviation}", group.name)
    });
    let overlaps = histogram.overlaps.iter().filter_map(|overlap| {
        let share = 100.0 * overlap.coefficient?;
        Some(format!("{} and {} {share:.0} %", overlap.first, overlap.second))
    });
    let (groups, overlaps): (Vec<String>, Vec<String>) = (groups.collect(), overlaps.collect());
    (!overlaps.is_empty()).then(|| {
        format!(
            "{}. Overlap of the areas: {}; the smaller, the better the score separates them.",
            groups.join("; "),
            overlaps.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::bench::{DataFolder, choose_protocols};

    #[test]
    fn cosines_by_label_are_those_of_the_vectors() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("snli/dev.tsv", "entailment\ta\tb\nneutral\ta\tc\nneutral\tb\tc\ncontradiction\ta\td\n"),
            ("sick/trial.tsv", "4\tNEUTRAL\tx\ty\n"),
        ] {
            std::fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
            std::fs::write(folder.path().join(path), text).unwrap();
        }
        let chosen = choose_protocols(&["own-entailment".to_owned()], &[]).unwrap();
        let data = BenchData::read(&DataFolder::open(folder.path()).unwrap(), &chosen).unwrap();
        let vectors = array![[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [-1.0, 0.0]];
        let embeddings = SentenceVectors::from_vectors(["a", "b", "c", "d"], vectors).unwrap();
        let figures = data.label_figures(&embeddings).unwrap();
        let [figure] = &figures[..] else { panic!("one set of SNLI") };
        let series: Vec<(&str, &[(f64, f64)])> =
            figure.series.iter().map(|series| (&series.name[..], &series.points[..])).collect();
        let expected: [(&str, &[(f64, f64)]); 3] =
            [("contradiction", &[(-1.0, 3.0)]), ("neutral", &[(0.0, 1.0), (0.0, 2.0)]), ("entailment", &[(1.0, 0.0)])];
        assert_eq!(series, expected);
        assert!(figure.x_label.contains("SNLI dev"));
        let few = SentenceVectors::from_vectors(["a"], array![[1.0, 0.0]]).unwrap();
        assert!(data.label_figures(&few).is_err());
    }

    #[test]
    fn captions_have_means_deviations_and_overlaps() {
        let groups = |second: &[f64]| vec![("a".to_owned(), vec![0.1, 0.3]), ("b < c".to_owned(), second.to_vec())];
        let drawn = drawing("n", "t".to_owned(), "x".to_owned(), groups(&[0.1, 0.9])).unwrap();
        let about = &drawn.about;
        assert!(about.starts_with("a: mean 0.200, standard deviation 0.141; b < c: mean 0.500"), "{about}");
        assert!(about.contains("a and b < c 50 %"), "{about}");
        assert!(drawn.svg.contains("b &lt; c") && drawn.svg.contains("density"));
        assert_eq!(drawing("n", "t".to_owned(), "x".to_owned(), groups(&[])), None);
    }
}
