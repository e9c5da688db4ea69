//! Places for labels on a map, such that none lies on another.

/// The height of a line of a label, with the space around it.
const HEIGHT: f64 = 17.0;
/// The width of a character: letters of most scripts, and those of scripts with square characters.
const NARROW: f64 = 7.8;
const SQUARE: f64 = 13.5;
/// How far a label may be from its point, in lines.
const FAR: i32 = 5;

/// The centers of labels on a map of this size, in the order given. Each has the free place nearest to its point;
/// `None` if none is near.
pub(super) fn label_places(labels: &[(f64, f64, &str)], (width, height): (f64, f64)) -> Vec<Option<(f64, f64)>> {
    let mut placed: Vec<(f64, f64, f64)> = Vec::new();
    let mut place = |&(x, y, text): &(f64, f64, &str)| {
        let half = text.chars().map(|c| if c < '\u{1100}' { NARROW } else { SQUARE }).sum::<f64>() / 2.0;
        // The label stays on the map.
        let x = x.min(width - half).max(half);
        let y = |lines: i32| (y + f64::from(lines) * HEIGHT).clamp(HEIGHT, height - HEIGHT / 2.0);
        let is_free = |y: f64| {
            placed.iter().all(|&(other_x, other_y, other_half)| {
                (x - other_x).abs() >= half + other_half || (y - other_y).abs() >= HEIGHT
            })
        };
        // 0, 1, -1, 2, -2, ..: nearest first.
        let near = std::iter::once(0).chain((1..=FAR).flat_map(|lines| [lines, -lines]));
        let y = near.map(y).find(|&y| is_free(y))?;
        placed.push((x, y, half));
        Some((x, y))
    };
    labels.iter().map(&mut place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_apart_and_stay_near_their_points_and_on_the_map() {
        let size = (1000.0, 640.0);
        // Forty labels in a heap, and some at the corners.
        let mut labels: Vec<(f64, f64, &str)> = (0..40)
            .map(|i| (400.0 + f64::from(i % 7) * 23.0, 300.0 + f64::from(i % 5) * 9.0, "printer paper"))
            .collect();
        labels.extend([(0.0, 0.0, "left top"), (1000.0, 640.0, "猫と犬"), (500.0, 100.0, "alone")]);
        let places = label_places(&labels, size);
        let n_placed = places.iter().flatten().count();
        assert!((10..labels.len()).contains(&n_placed), "a heap has no place for all: {n_placed}");
        let width = |i: usize| labels[i].2.chars().count() as f64 * 6.5;
        for (i, a) in places.iter().enumerate() {
            let Some(a) = a else { continue };
            let distance = (a.1 - labels[i].1).abs();
            assert!(distance <= HEIGHT * f64::from(FAR) && a.0 > 0.0 && a.0 < size.0 && a.1 > 0.0 && a.1 < size.1);
            for (j, b) in places.iter().enumerate().take(i) {
                let Some(b) = b else { continue };
                let apart = (a.0 - b.0).abs() > (width(i) + width(j)) / 2.0 || (a.1 - b.1).abs() > 15.0;
                assert!(apart, "{:?} {a:?} lies on {:?} {b:?}", labels[i], labels[j]);
            }
        }
        assert_eq!(places[42], Some((500.0, 100.0)), "a label that is alone is on its point");
        assert!(label_places(&[], size).is_empty());
    }
}
