//! Changes values in the configuration of a model file. It remains valid JSON in a valid file without checksums, which
//! changes of bytes rarely produce.

use rand::RngExt;
use senv_core::rng::{Stream, stream};
use serde_json::{Map, Value, json};

use super::Target;

/// The key of the configuration in the metadata.
const CONFIG: &str = "senv.config";

/// A model file of the target with one to three other values in its configuration.
pub(super) fn mutated(target: &Target, round: u64) -> Vec<u8> {
    let mut rng = stream(1, "configuration", &[round]);
    let bytes = &target.seeds[rng.random_range(0..target.seeds.len())];
    let Some(mut config) = config(bytes) else { return bytes.clone() };
    for _ in 0..rng.random_range(1..=3) {
        let mut places = Vec::new();
        collect(&config, &mut String::new(), &mut places);
        if places.is_empty() {
            break;
        }
        let place = &places[rng.random_range(0..places.len())];
        let other = other_value(target, &config, &mut rng);
        if let Some(value) = config.pointer_mut(place) {
            *value = other;
        }
    }
    with_config(bytes, &config)
}

/// The model files of the target with changed configurations. Each number is replaced in turn by numbers that overflow
/// sizes or exhaust memory.
pub(super) fn large_numbers(target: &Target) -> impl Iterator<Item = (u64, Vec<u8>)> {
    let changed = target.seeds.iter().flat_map(|bytes| {
        let config = config(bytes).unwrap_or_default();
        let mut places = Vec::new();
        collect(&config, &mut String::new(), &mut places);
        places.retain(|place| config.pointer(place).is_some_and(Value::is_number));
        places.into_iter().flat_map(move |place| {
            let mut config = config.clone();
            [0, (1 << 31) - 1, 1 << 32, 1 << 61, u64::MAX].map(|number| {
                if let Some(value) = config.pointer_mut(&place) {
                    *value = json!(number);
                }
                with_config(bytes, &config)
            })
        })
    });
    (0..).zip(changed)
}

/// A number that overflows sizes or exhausts memory, null, or another value of a configuration, such as the name of
/// another variant.
fn other_value(target: &Target, own: &Value, rng: &mut Stream) -> Value {
    let fixed = [
        json!(0),
        json!(1),
        json!(2),
        json!(7),
        json!(300),
        json!(30_000),
        json!(65_536),
        json!((1_u64 << 31) - 1),
        json!(1_u64 << 32),
        json!(1_u64 << 61),
        json!(u64::MAX),
        json!(-1),
        json!(0.5),
        json!(1e300),
        json!(""),
        json!([]),
        json!({}),
        json!(true),
        Value::Null,
    ];
    if rng.random_bool(0.7) {
        return fixed[rng.random_range(0..fixed.len())].clone();
    }
    let other = config(&target.seeds[rng.random_range(0..target.seeds.len())]);
    let from = other.as_ref().filter(|_| rng.random_bool(0.5)).unwrap_or(own);
    let mut places = Vec::new();
    collect(from, &mut String::new(), &mut places);
    let place = places.get(rng.random_range(0..places.len().max(1)));
    place.and_then(|place| from.pointer(place)).cloned().unwrap_or(Value::Null)
}

/// The pointers to all values inside a value, without the value itself.
fn collect(value: &Value, at: &mut String, out: &mut Vec<String>) {
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(parts) => parts.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(parts) => parts.iter().enumerate().map(|(i, value)| (i.to_string(), value)).collect(),
        _ => return,
    };
    for (key, value) in parts {
        let end = at.len();
        at.push('/');
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        out.push(at.clone());
        collect(value, at, out);
        at.truncate(end);
    }
}

/// The header of a model file, and the offset of its tensors.
fn header(bytes: &[u8]) -> (Map<String, Value>, usize) {
    let end = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    (serde_json::from_slice(&bytes[8..end]).unwrap(), end)
}

/// The configuration of a model file, if it has one.
pub(crate) fn config(bytes: &[u8]) -> Option<Value> {
    let (header, _) = header(bytes);
    serde_json::from_str(header["__metadata__"].get(CONFIG)?.as_str()?).ok()
}

/// The file with another configuration, and without checksums.
pub(crate) fn with_config(bytes: &[u8], config: &Value) -> Vec<u8> {
    let (mut header, end) = header(bytes);
    let metadata = header["__metadata__"].as_object_mut().unwrap();
    metadata.retain(|key, _| !key.contains("crc32"));
    metadata.insert(CONFIG.into(), config.to_string().into());
    let mut text = Value::Object(header).to_string();
    while !text.len().is_multiple_of(8) {
        text.push(' ');
    }
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &bytes[end..]].concat()
}
