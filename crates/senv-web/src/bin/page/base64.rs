//! Bytes as text: base64 of RFC 4648, with padding.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of these bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::encode;

    /// Section 10 of the RFC.
    #[test]
    fn the_test_vectors_of_the_standard_come_out() {
        let texts = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (n, text) in texts.into_iter().enumerate() {
            assert_eq!(encode(&b"foobar"[..n]), text);
        }
        assert_eq!(encode(&[0xfb, 0xff, 0xbf]), "+/+/");
    }
}
