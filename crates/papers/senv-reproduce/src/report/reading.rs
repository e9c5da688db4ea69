//! Reads a figure from the JSON of an evaluation by a path, such as `tasks[year=2014,name=images].pearson_r_x100`.
//!
//! A path consists of names separated by dots. Brackets after a name select elements of a list: by number (from the end
//! if negative), by the values of fields, or all of them with `*`.

use serde_json::Value;

/// A value read from JSON.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Figure {
    /// A number.
    Number(f64),
    /// Strings, joined in order.
    Text(String),
}

/// Returns the figure at a path; `None` if there is no value or it is `null`.
pub(crate) fn read(json: &Value, path: &str) -> Option<Figure> {
    let mut places = vec![json];
    for name in split(path) {
        let (name, which) = match name.split_once('[') {
            Some((name, rest)) => (name, Some(rest.trim_end_matches(']'))),
            None => (name, None),
        };
        places = places.into_iter().filter_map(|place| place.get(name)).collect();
        if let Some(which) = which {
            places = places.into_iter().flat_map(|place| elements(place, which)).collect();
        }
    }
    let words = || places.iter().filter_map(|place| place.as_str()).collect::<Vec<_>>().join(", ");
    match places.first()? {
        Value::Number(number) => number.as_f64().map(Figure::Number),
        Value::String(_) => Some(Figure::Text(words())),
        _ => None,
    }
}

/// Splits a path into names. Dots in brackets do not separate names.
fn split(path: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let dot = |c: char| {
        depth = match c {
            '[' => depth + 1,
            ']' => depth.saturating_sub(1),
            _ => depth,
        };
        c == '.' && depth == 0
    };
    path.split(dot).collect()
}

/// Returns the selected elements of a list.
fn elements<'a>(list: &'a Value, which: &str) -> Vec<&'a Value> {
    let Some(list) = list.as_array() else { return Vec::new() };
    if which == "*" {
        return list.iter().collect();
    }
    if let Ok(index) = which.parse::<i64>() {
        let index = if index < 0 { index + list.len() as i64 } else { index };
        return usize::try_from(index).ok().and_then(|index| list.get(index)).into_iter().collect();
    }
    let is = |element: &Value, (field, wanted): (&str, &str)| match &element[field] {
        Value::String(text) => text == wanted,
        Value::Number(number) => wanted.parse().is_ok_and(|wanted: serde_json::Number| wanted == *number),
        _ => false,
    };
    let fits =
        |element: &&Value| which.split(',').filter_map(|rule| rule.split_once('=')).all(|rule| is(element, rule));
    list.iter().find(fits).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_lead_to_numbers_and_words() {
        let json = json!({
            "tasks": [
                {"name": "a", "year": 2013, "r": 1.5}, {"name": "a", "year": 2014, "r": 2.5},
                {"name": "b.c", "year": 2014, "r": null},
            ],
            "deep": {"list": [1, 2, 3]},
            "words": [{"w": "to"}, {"w": "of"}],
        });
        let number = |x: f64| Some(Figure::Number(x));
        assert_eq!(read(&json, "tasks[year=2014,name=a].r"), number(2.5));
        assert_eq!(read(&json, "tasks[0].r"), number(1.5));
        assert_eq!(read(&json, "tasks[name=b.c].year"), number(2014.0));
        assert_eq!(read(&json, "deep.list[-1]"), number(3.0));
        assert_eq!(read(&json, "words[*].w"), Some(Figure::Text("to, of".into())));
        for path in
            ["tasks[name=b.c].r", "tasks[name=z].r", "tasks[7].r", "tasks[-7].r", "none", "deep.none.none", "deep", ""]
        {
            assert_eq!(read(&json, path), None, "{path}");
        }
    }
}
