//! Repairs checksums, so that readers get past them.

/// Leaves a file unchanged.
pub(super) fn keep(_: &mut [u8]) {}

/// Renames the keys of all checksums in a model file, which disables them.
pub(super) fn forget_checksums_of_model(bytes: &mut [u8]) {
    for key in [&b"senv.crc32."[..], b"senv.header_crc32"] {
        while let Some(at) = find(bytes, key) {
            bytes[at] = b'x';
        }
    }
    // Repairs the length of the header, which most changes make wrong.
    if let (Some(end), Some(8)) = (end_of_header(bytes), bytes.iter().position(|&byte| byte == b'{')) {
        bytes[..8].copy_from_slice(&(end as u64 - 8).to_le_bytes());
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

/// The end of the spaces after the last brace of the header. The data of these models contain none.
fn end_of_header(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for (i, &byte) in bytes.iter().enumerate().skip(8) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' if !in_text => depth += 1,
            b'}' if !in_text => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(i + 1 + bytes[i + 1..].iter().take_while(|&&byte| byte == b' ').count());
                }
            }
            _ => {}
        }
    }
    None
}

/// Recomputes the checksum of a manifest, after its first line.
pub(super) fn mend_manifest(bytes: &mut [u8]) {
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else { return };
    let sum = format!("{:08x}", crc32(&[&bytes[..end]]));
    if let Some(place) = bytes.get_mut(end + 1..end + 9) {
        place.copy_from_slice(sum.as_bytes());
    }
}

/// Recomputes both checksums of a checkpoint.
pub(super) fn mend_checkpoint(bytes: &mut [u8]) {
    let Some(head) = bytes.get(16..24).map(|n| u64::from_le_bytes(n.try_into().unwrap())) else { return };
    let end = bytes.len().saturating_sub(4);
    let head_end =
        usize::try_from(head).ok().and_then(|head| head.checked_add(24)).filter(|&n| (24..=end).contains(&n));
    let Some(head_end) = head_end else { return };
    let sum = crc32(&[&bytes[..12], &bytes[16..head_end]]);
    bytes[12..16].copy_from_slice(&sum.to_le_bytes());
    let sum = crc32(&[&bytes[..end]]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
}

fn crc32(parts: &[&[u8]]) -> u32 {
    let mut sum = flate2::Crc::new();
    parts.iter().for_each(|part| sum.update(part));
    sum.sum()
}
