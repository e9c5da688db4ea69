//! What the values of a column are, and how they compare.

use std::cmp::Ordering;

/// What all values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Number,
    Date,
    Truth,
    Text,
}

impl ColumnKind {
    pub(super) const TYPED: [Self; 3] = [Self::Number, Self::Date, Self::Truth];

    /// Whether a text is a value of this kind.
    pub(super) fn has(self, text: &str) -> bool {
        match self {
            Self::Number => number(text).is_some(),
            Self::Date => Date::parse(text).is_some(),
            Self::Truth => truth(text).is_some(),
            Self::Text => true,
        }
    }

    /// Its name in messages, in the plural.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Number => "numbers",
            Self::Date => "dates",
            Self::Truth => "true and false",
            Self::Text => "text",
        }
    }

    /// How a value of a column compares with a given one; `None` if one of them is not of this kind.
    pub(super) fn compare(self, value: &str, given: &str) -> Option<Ordering> {
        match self {
            Self::Number => number(value)?.partial_cmp(&number(given)?),
            Self::Date => Date::parse(value)?.compare(&Date::parse(given)?),
            Self::Truth => Some(truth(value)?.cmp(&truth(given)?)),
            Self::Text => Some(value.cmp(given)),
        }
    }
}

/// A number as people write it in tables: digits, a point, an exponent. With a leading zero it is a code.
fn number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_code = digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'-' | b'+'));
    if is_code || !is_plain || !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn truth(text: &str) -> Option<bool> {
    [("true", true), ("false", false)].into_iter().find(|(name, _)| text.eq_ignore_ascii_case(name)).map(|(_, is)| is)
}

/// A date of ISO 8601: a year, a month, a day, a time to the second or a fraction of it, and an offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Date {
    /// Year, month, day, hour, minute, second.
    fields: [u32; 6],
    /// How many fields are given.
    n: usize,
    nanoseconds: u32,
    /// Minutes ahead of UTC.
    offset: Option<i32>,
}

impl Date {
    fn parse(text: &str) -> Option<Self> {
        let (mut fields, mut n, mut rest) = ([0, 1, 1, 0, 0, 0], 0, text);
        for (field, (width, separators)) in
            fields.iter_mut().zip([(4, ""), (2, "-"), (2, "-"), (2, "T "), (2, ":"), (2, ":")])
        {
            if n > 0 {
                let Some(after) = rest.strip_prefix(|c: char| separators.contains(c)) else { break };
                rest = after;
            }
            let (digits, after) = rest.split_at_checked(width)?;
            if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            *field = digits.parse().ok()?;
            (n, rest) = (n + 1, after);
        }
        let mut date = Self { fields, n, nanoseconds: 0, offset: None };
        if n == 6
            && let Some(after) = rest.strip_prefix(['.', ','])
        {
            let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
            let digits = &after[..end];
            if digits.is_empty() || digits.len() > 9 {
                return None;
            }
            date.nanoseconds = format!("{digits:0<9}").parse().ok()?;
            rest = &after[end..];
        }
        if n >= 5 && !rest.is_empty() {
            date.offset = Some(offset(rest)?);
            rest = "";
        }
        let [_, month, day, hour, minute, second] = fields;
        let is_valid = (1..=12).contains(&month)
            && (1..=days_of(fields[0], month)).contains(&day)
            && hour < 24
            && minute < 60
            && second <= 60;
        // An hour alone is no time.
        (rest.is_empty() && is_valid && n != 4).then_some(date)
    }

    /// How this compares with a given date, as far as that one goes.
    fn compare(&self, given: &Self) -> Option<Ordering> {
        if let (Some(_), Some(_)) = (self.offset, given.offset) {
            return Some(self.instant().cmp(&given.instant()));
        }
        let n = given.n;
        let fields = self.fields[..n].cmp(&given.fields[..n]);
        Some(if n == 6 { fields.then(self.nanoseconds.cmp(&given.nanoseconds)) } else { fields })
    }

    /// Nanoseconds since the year 0, in UTC.
    fn instant(&self) -> i128 {
        let [year, month, day, hour, minute, second] = self.fields.map(i128::from);
        // Days of the civil calendar, from March on: the leap day is the last of its year.
        let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let days = 365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (153 * m + 2) / 5 + day;
        let minutes = (days * 24 + hour) * 60 + minute - i128::from(self.offset.unwrap_or(0));
        (minutes * 60 + second) * 1_000_000_000 + i128::from(self.nanoseconds)
    }
}

/// Minutes ahead of UTC: `Z`, `+02`, `+02:00`, `-0530`.
fn offset(text: &str) -> Option<i32> {
    if text == "Z" || text == "z" {
        return Some(0);
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let digits: String = match rest.split_once(':') {
        Some((hours, minutes)) if hours.len() == 2 && minutes.len() == 2 => format!("{hours}{minutes}"),
        Some(_) => return None,
        None if rest.len() == 2 => format!("{rest}00"),
        None => rest.to_owned(),
    };
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes): (i32, i32) = (digits[..2].parse().ok()?, digits[2..].parse().ok()?);
    (hours < 24 && minutes < 60).then_some(sign * (60 * hours + minutes))
}

fn days_of(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_recognised() {
        let has = |kind: ColumnKind, yes: &[&str], no: &[&str]| {
            assert!(yes.iter().all(|text| kind.has(text)), "{kind:?} {yes:?}");
            no.iter().for_each(|text| assert!(!kind.has(text), "{kind:?} {text}"));
        };
        has(
            ColumnKind::Number,
            &["0", "-1", "1987", "3.25", ".5", "0.5", "-0.5", "1e6", "2E-3"],
            &["", "007", "-01", "+1", "1,000", "NaN", "inf", "1e999", "a", "1 2", "--1", "1e", "0x1", "e5", "-"],
        );
        has(
            ColumnKind::Date,
            &[
                "2024",
                "2024-05",
                "2024-02-29",
                "2024-05-01T09:30",
                "2024-05-01 09:30:15",
                "2024-05-01T09:30:15.25Z",
                "2024-05-01T09:30+02:00",
                "2024-05-01T09:30-0530",
                "2024-05-01T09:30+02",
                "2016-12-31T23:59:60Z",
            ],
            &[
                "",
                "24",
                "2024-13",
                "2023-02-29",
                "2024-5-1",
                "01.05.2024",
                "2024-05-01T",
                "2024-05-01T09",
                "2024-05-01T24:00",
                "2024-05-01T09:30:15.",
                "2024-05-01T09:30+2",
                "2024-05-01x",
                "20240501",
                "２０２４",
            ],
        );
        has(ColumnKind::Truth, &["true", "False", "TRUE"], &["", "yes", "1", "tru"]);
    }

    #[test]
    fn values_compare_by_what_they_are() {
        use Ordering::{Equal, Greater, Less};
        let of = |kind: ColumnKind, value: &str, given: &str| kind.compare(value, given);
        assert_eq!(of(ColumnKind::Number, "9", "10"), Some(Less));
        assert_eq!(of(ColumnKind::Number, "1.50", "1.5"), Some(Equal));
        assert_eq!(of(ColumnKind::Number, "x", "1"), None);
        assert_eq!(of(ColumnKind::Text, "9", "10"), Some(Greater));
        assert_eq!(of(ColumnKind::Truth, "true", "False"), Some(Greater));
        for (value, given, expected) in [
            ("2024-05-17", "2024-05", Equal),
            ("2024-06-01", "2024-05", Greater),
            ("2024-05", "2024-05-02", Less),
            ("2024", "2023", Greater),
            ("2024-05-17T10:00", "2024-05-17T09:59:59", Greater),
            ("2024-05-17T10:00:00.5", "2024-05-17T10:00:00", Greater),
            ("2024-05-17T10:00Z", "2024-05-17T12:00+02:00", Equal),
            ("2024-01-01T00:30+01:00", "2023-12-31T23:30Z", Equal),
            ("2024-03-01T00:00Z", "2024-02-29T23:59:60Z", Equal),
            ("2024-05-17T10:00Z", "2024-05-17", Equal),
        ] {
            assert_eq!(of(ColumnKind::Date, value, given), Some(expected), "{value} {given}");
        }
    }
}
