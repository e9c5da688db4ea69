//! Groups of sentences on a plane, and how well they separate, as in the caption plots of the P-thought paper.

use std::path::PathBuf;

use senv_core::Error as CoreError;
use senv_data::SentenceGroups;
use senv_metrics::silhouette;
use serde::Serialize;

use crate::{
    error::{Error, Result},
    plot::{
        curve::{COLORS, range},
        frame::{Caption, Plot},
        tsne,
    },
    report::{Align, TextTable, number},
    score::sentence_vectors::SentenceVectors,
};

/// Maximum number of sentences for [`evaluate_map`], which compares all pairs at every step.
pub(crate) const MAX_MAP: usize = 2_000;
/// Minimum number of sentences: a third of it exceeds 1.
const MIN_MAP: usize = 4;

/// Options of the layout.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MapOptions {
    /// Approximate number of neighbors that a sentence stays close to: at least 1 and below a third of the sentences.
    pub perplexity: f64,
    /// Number of iterations.
    pub n_iterations: usize,
    /// The random seed.
    pub seed: u64,
}

impl Default for MapOptions {
    /// Perplexity 5, 1,000 steps, seed 1.
    fn default() -> Self {
        Self { perplexity: 5.0, n_iterations: 1_000, seed: 1 }
    }
}

/// A sentence on the plane.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MapPoint {
    /// The sentence.
    pub sentence: String,
    /// Its group.
    pub group: String,
    /// Horizontal position.
    pub x: f64,
    /// Vertical position.
    pub y: f64,
}

/// Sentences on a plane.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MapResult {
    /// Path of the file.
    pub path: PathBuf,
    /// The sentences, group by group.
    pub points: Vec<MapPoint>,
    /// Mean silhouette of the groups on the plane, in `[-1, 1]`: 1 for well-separated groups; `None` for fewer than two
    /// groups.
    pub silhouette: Option<f64>,
    /// Mean silhouette of the groups in the embeddings.
    pub silhouette_of_embeddings: Option<f64>,
    /// Final value of the divergence that t-SNE minimizes.
    pub divergence: f64,
    /// Number of sentences without a known token. They share one position.
    pub n_sentences_without_known_token: usize,
    /// Options of the layout.
    pub options: MapOptions,
}

/// Lays out sentences by exact t-SNE.
///
/// # Errors
/// [`senv_core::Error::InvalidParameter`] above 2,000 or below 4 sentences, or for a perplexity out of range;
/// [`Error::NotEncoded`] if a sentence is missing; [`Error::NotFinite`] if an embedding is not finite, with its
/// sentence.
///
/// # References
/// P-thought paper, Table 4 and Figure 3, which do not state a perplexity.
pub fn evaluate_map(embeddings: &SentenceVectors, groups: &SentenceGroups, options: &MapOptions) -> Result<MapResult> {
    check(groups.n_sentences(), options)?;
    embeddings.check_finite()?;
    let numbers = groups.sentences().map(|sentence| embeddings.number(sentence)).collect::<Result<Vec<_>>>()?;
    let vectors: Vec<&[f32]> = numbers.iter().map(|&number| embeddings.vector(number)).collect();
    let layout = layout(&vectors, options)?;
    let of_group = |(i, group): (usize, &senv_data::SentenceGroup)| vec![i; group.sentences.len()];
    let group_of: Vec<usize> = groups.groups.iter().enumerate().flat_map(of_group).collect();
    let wide: Vec<f64> = vectors.iter().flat_map(|v| v.iter().map(|&x| f64::from(x))).collect();
    let point = |((sentence, &group), place): ((&str, &usize), &[f64; 2])| MapPoint {
        sentence: sentence.to_owned(),
        group: groups.groups[group].name.clone(),
        x: place[0],
        y: place[1],
    };
    Ok(MapResult {
        path: groups.path.clone(),
        points: groups.sentences().zip(&group_of).zip(&layout.places).map(point).collect(),
        silhouette: silhouette(&layout.places.concat(), 2, &group_of)?,
        silhouette_of_embeddings: silhouette(&wide, vectors.first().map_or(0, |v| v.len()), &group_of)?,
        divergence: layout.divergence,
        n_sentences_without_known_token: numbers.iter().filter(|&&i| embeddings.coverage(i).is_empty()).count(),
        options: *options,
    })
}

/// Places vectors of equal length on a plane by exact t-SNE, so that similar vectors are close together.
///
/// ```
/// let vectors: Vec<[f32; 2]> = (0..12).map(|i| [(i / 6 * 10) as f32, (i % 6) as f32 * 0.1]).collect();
/// let vectors: Vec<&[f32]> = vectors.iter().map(|vector| &vector[..]).collect();
/// let places = senv_eval::lay_out(&vectors, &senv_eval::MapOptions { perplexity: 3.0, ..Default::default() })?;
/// assert_eq!(places.len(), 12);
/// # Ok::<(), senv_eval::Error>(())
/// ```
///
/// # Errors
/// [`senv_core::Error::InvalidParameter`] above 2,000 or below 4 vectors, or for a perplexity out of range;
/// [`Error::NotFinite`] if a vector is not finite.
pub fn lay_out(vectors: &[&[f32]], options: &MapOptions) -> Result<Vec<[f64; 2]>> {
    check(vectors.len(), options)?;
    Ok(layout(vectors, options)?.places)
}

impl MapOptions {
    /// Returns the perplexity for `n` sentences: 5, or less if there are few.
    #[must_use]
    pub fn perplexity_for(n: usize) -> f64 {
        let most = (n.saturating_sub(1) as f64 / 3.0).max(1.0);
        Self::default().perplexity.min(most)
    }
}

fn check(n: usize, options: &MapOptions) -> Result<()> {
    let bad = |name, requirement, got: String| Err(CoreError::InvalidParameter { name, requirement, got }.into());
    if n > MAX_MAP {
        return bad("the number of sentences", "at most 2000, because every pair is compared", n.to_string());
    }
    if n < MIN_MAP {
        return bad("the number of sentences", "at least 4", n.to_string());
    }
    if !(options.perplexity >= 1.0 && options.perplexity < n as f64 / 3.0) {
        let got = format!("{} for {n} sentences", options.perplexity);
        return bad("perplexity", "at least 1 and below a third of the number of sentences", got);
    }
    Ok(())
}

fn layout(vectors: &[&[f32]], options: &MapOptions) -> Result<tsne::Layout> {
    let layout = tsne::layout(vectors, options.perplexity, options.n_iterations, options.seed)?;
    if layout.places.iter().flatten().any(|y| !y.is_finite()) {
        return Err(Error::NotFinite { what: "a place on the plane".to_owned() });
    }
    Ok(layout)
}

impl MapResult {
    /// Formats one line per sentence, then the silhouettes.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut table = TextTable::new([
            ("group", Align::Left),
            ("x", Align::Right),
            ("y", Align::Right),
            ("sentence", Align::Left),
        ]);
        for point in &self.points {
            let [x, y] = [point.x, point.y].map(|place| format!("{place:.2}"));
            table.row([point.group.clone(), x, y, point.sentence.clone()]);
        }
        let options = &self.options;
        let mut text = format!(
            "{table}silhouette of the groups: {} on the plane, {} in the embeddings\nt-SNE with perplexity {}, {} \
            steps, seed {}: divergence {:.4}\n",
            number(self.silhouette, 4),
            number(self.silhouette_of_embeddings, 4),
            options.perplexity,
            options.n_iterations,
            options.seed,
            self.divergence
        );
        if self.n_sentences_without_known_token > 0 {
            text += &format!(
                "{} sentences without a known token, at the same place\n",
                self.n_sentences_without_known_token
            );
        }
        text
    }

    /// Draws the plane as a self-contained SVG, with one color per group.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let mut names: Vec<&str> = self.points.iter().map(|point| &point.group[..]).collect();
        names.dedup();
        let color = |group: &str| {
            let place = names.iter().position(|name| *name == group).unwrap_or_default();
            COLORS[place % COLORS.len()]
        };
        let captions: Vec<Caption<'_>> = names.iter().map(|text| Caption { text, color: color(text) }).collect();
        let (x, y) = (range(self.points.iter().map(|p| p.x)), range(self.points.iter().map(|p| p.y)));
        let mut plot = Plot::new(x, y, "t-SNE", &captions);
        for point in &self.points {
            plot.dot((point.x, point.y), color(&point.group));
        }
        plot.finish()
    }
}
