//! The header of an `.npy` file.

/// The first bytes of a file.
pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The longest header.
pub(crate) const MAX_HEADER: usize = 1 << 16;

/// The supported types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberType {
    F2,
    F4,
    F8,
    I1,
    U1,
}

impl NumberType {
    /// Bytes per value.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::F2 => 2,
            Self::F4 => 4,
            Self::F8 => 8,
            Self::I1 | Self::U1 => 1,
        }
    }

    /// Converts the bytes of a value.
    pub(crate) fn number(self, bytes: &[u8], big_endian: bool) -> f32 {
        let mut le = [0; 8];
        let le = &mut le[..bytes.len()];
        le.copy_from_slice(bytes);
        if big_endian {
            le.reverse();
        }
        match *le {
            [a] if self == Self::I1 => f32::from(a as i8),
            [a] => f32::from(a),
            [a, b] => half(u16::from_le_bytes([a, b])),
            [a, b, c, d] => f32::from_le_bytes([a, b, c, d]),
            [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]) as f32,
            _ => f32::NAN, // no type has this width
        }
    }
}

/// An f16 as f32, exactly: 5 bits of exponent, 10 of fraction.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (u32::from(bits >> 10 & 31), u32::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction as f32 * (-24f32).exp2(),
        31 => f32::from_bits(0x7f80_0000 | fraction << 13),
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// The parsed header.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) kind: NumberType,
    pub(crate) big_endian: bool,
    pub(crate) columns_first: bool,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Offset of the data.
    pub(crate) data: usize,
    /// The number in the padding, if senv wrote one.
    pub(crate) mark: Option<u32>,
}

/// A number as padding of a header: one bit per character, a space for 0 and a tab for 1, highest first. Readers skip
/// it like any padding.
pub(crate) fn mark_as_padding(mark: u32) -> [u8; 32] {
    std::array::from_fn(|i| if mark >> (31 - i) & 1 == 1 { b'\t' } else { b' ' })
}

/// The number in a padding; `None` if the padding is only spaces, as other programs write it.
fn mark_of_padding(padding: &str) -> Option<u32> {
    let bits = padding.as_bytes().get(..32)?;
    let mark = bits.iter().try_fold(0, |mark, &byte| match byte {
        b' ' => Some(mark << 1),
        b'\t' => Some(mark << 1 | 1),
        _ => None,
    });
    mark.filter(|&mark| mark != 0)
}

impl Head {
    /// Parses the first bytes of a file, which must contain the whole header.
    pub(crate) fn parse(file: &[u8]) -> Result<Self, String> {
        let cut = || "the file ends inside the header".to_owned();
        if !file.starts_with(MAGIC) {
            return Err("not a NumPy matrix: the file does not start with \\x93NUMPY".into());
        }
        let (len, start) = match file.get(6..8).ok_or_else(cut)? {
            [1, _] => (file.get(8..10).ok_or_else(cut)?.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b)), 10),
            [2 | 3, _] => (file.get(8..12).ok_or_else(cut)?.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b)), 12),
            [major, minor] => return Err(format!("version {major}.{minor} of the format, expected 1.0 to 3.0")),
            _ => return Err(cut()),
        };
        if len > MAX_HEADER {
            return Err(format!("a header of {len} bytes, the limit is {MAX_HEADER}"));
        }
        let text = file.get(start..start + len).ok_or_else(cut)?;
        let text = std::str::from_utf8(text).map_err(|_| "the header is not UTF-8".to_owned())?;
        Dict { rest: text }.head(start + len)
    }
}

/// A parser of the header: a Python dict with three keys; nothing is evaluated.
struct Dict<'a> {
    rest: &'a str,
}

impl<'a> Dict<'a> {
    fn head(mut self, data: usize) -> Result<Head, String> {
        let (mut descr, mut order, mut shape) = (None, None, None);
        self.expect("{")?;
        while !self.found("}") {
            let key = self.string()?;
            self.expect(":")?;
            let twice = match key {
                "descr" => descr
                    .replace(self.string().map_err(|e| format!("{e}; structured types are not supported"))?)
                    .is_some(),
                "fortran_order" => order.replace(self.boolean()?).is_some(),
                "shape" => shape.replace(self.shape()?).is_some(),
                _ => return Err(format!("unknown header key {key:?}")),
            };
            if twice {
                return Err(format!("duplicate header key {key:?}"));
            }
            if !self.found(",") {
                self.expect("}")?;
                break;
            }
        }
        let mark = mark_of_padding(self.rest);
        if !self.rest.trim_ascii().is_empty() {
            return Err(format!("unexpected {:?} after the header", self.shown()));
        }
        let missing = |key: &str| format!("the header has no key {key:?}");
        let descr = descr.ok_or_else(|| missing("descr"))?;
        let columns_first = order.ok_or_else(|| missing("fortran_order"))?;
        let (rows, columns) = shape.ok_or_else(|| missing("shape"))?;
        let (order, kind) = descr.split_at_checked(1).unwrap_or(("", descr));
        let kind = match kind {
            "f2" => NumberType::F2,
            "f4" => NumberType::F4,
            "f8" => NumberType::F8,
            "i1" => NumberType::I1,
            "u1" => NumberType::U1,
            _ => {
                return Err(format!(
                    "numbers of type {descr:?}, expected f4 (or f2, f8, i1, u1): save the matrix with \
                    astype('float32')"
                ));
            }
        };
        let big_endian = match order {
            "<" | "=" | "|" => false,
            ">" => true,
            _ => return Err(format!("numbers of type {descr:?}, expected a type such as '<f4'")),
        };
        Ok(Head { kind, big_endian, columns_first, rows, columns, data, mark })
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn shown(&self) -> String {
        self.rest.chars().take(20).collect()
    }

    fn found(&mut self, mark: &str) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, mark: &str) -> Result<(), String> {
        if self.found(mark) {
            Ok(())
        } else {
            Err(format!("{mark:?} is missing before {:?} in the header", self.shown()))
        }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        self.skip();
        let quote = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let inner = quote.and_then(|quote| self.rest[1..].split_once(quote));
        let Some((text, rest)) = inner else {
            return Err(format!("a quoted text is missing before {:?} in the header", self.shown()));
        };
        self.rest = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, String> {
        match (self.found("True"), self.found("False")) {
            (true, false) => Ok(true),
            (false, true) => Ok(false),
            _ => Err(format!("True or False is missing before {:?} in the header", self.shown())),
        }
    }

    /// `(rows, columns)` or `(rows,)`; Python 2 wrote `10L`.
    fn shape(&mut self) -> Result<(usize, usize), String> {
        self.expect("(")?;
        let mut axes = Vec::new();
        while !self.found(")") {
            self.skip();
            let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            let digits = &self.rest[..end];
            let axis: usize = digits
                .parse()
                .map_err(|_| format!("{digits:?} before {:?} is not the size of an axis", self.shown()))?;
            self.rest = &self.rest[end..];
            self.found("L");
            axes.push(axis);
            if axes.len() > 2 {
                return Err("more than two axes, expected a matrix".into());
            }
            if !self.found(",") {
                self.expect(")")?;
                break;
            }
        }
        match axes[..] {
            [rows, columns] => Ok((rows, columns)),
            [rows] => Ok((rows, 1)),
            _ => Err("no axes, expected a matrix".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn every_half_is_read_exactly() {
        // Worked by hand: 1, -2, the largest, the smallest normal and subnormal, the infinities, minus zero.
        let known = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, value) in known {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan() && half(0x8000).to_bits() == 0x8000_0000);
        // (−1)^s · 2^(e − 15) · (1 + f / 1024), or 2^−14 · f / 1024.
        for bits in 0..0x7c00u16 {
            let (e, f) = (i32::from(bits >> 10), f64::from(bits & 0x3ff));
            let expected = if e == 0 { f / 1024.0 * 2f64.powi(-14) } else { (1.0 + f / 1024.0) * 2f64.powi(e - 15) };
            assert_eq!(f64::from(half(bits)), expected);
            assert_eq!(half(bits | 0x8000).to_bits(), half(bits).to_bits() | 1 << 31);
        }
    }
}
