//! The library's defaults, written into the help of each system.

use senv_losses::InfoNce;
use senv_models::{
    BowAutoencoderParams, CseParams, FastSentParams, PThoughtParams, PairOptions, PpParams, PvDbowParams,
    RandomBowParams, RelatednessParams, RnnAutoencoderParams, Sent2VecParams, SiameseCbowParams, SkipThoughtParams,
    SnliParams, TextSize, TextSystem, Word2VecParams,
};
use serde_json::{Value, json};

/// Writes the library's defaults into the help of each system.
pub(crate) fn with_defaults(command: clap::Command) -> clap::Command {
    // Those that follow the size of the text are shown for a text of some million words.
    let size = TextSize::MEDIUM;
    let mut pp = to_value(&PpParams::default());
    let mut cse = to_value(&CseParams::default());
    for params in [&mut pp, &mut cse] {
        params["min_count"] = json!(PairOptions::default().min_count);
        params["temperature"] = to_value(&InfoNce::default())["temperature"].clone();
    }
    let systems = [
        ("sent2vec", to_value(&Sent2VecParams::for_text(size))),
        ("word2vec", to_value(&Word2VecParams::for_text(size))),
        ("pv-dbow", to_value(&PvDbowParams::for_text(size))),
        ("fast-sent", to_value(&FastSentParams::for_text(size))),
        ("random-bow", to_value(&RandomBowParams::default())),
        ("siamese-cbow", to_value(&SiameseCbowParams::for_text(size))),
        ("pp", pp),
        ("cse", cse),
        ("relatedness", to_value(&RelatednessParams::default())),
        ("skip-thought", to_value(&SkipThoughtParams::default())),
        ("rnn-ae", to_value(&RnnAutoencoderParams::default())),
        ("bow-ae", to_value(&BowAutoencoderParams::default())),
        ("snli", to_value(&SnliParams::default())),
        ("p-thought", to_value(&PThoughtParams::default())),
    ];
    systems.into_iter().fold(command, |command, (name, params)| {
        if command.find_subcommand(name).is_none() {
            return command;
        }
        command.mut_subcommand(name, |system| {
            system.mut_args(|arg| match default_of(arg.get_id().as_str(), &params) {
                Some(default) => {
                    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                    arg.help(format!("{} [default: {default}]", help.trim_end_matches('.')))
                }
                None => arg,
            })
        })
    })
}

fn to_value(params: &impl serde::Serialize) -> Value {
    serde_json::to_value(params).unwrap_or(Value::Null)
}

/// The default of an argument, which is named as the field of the parameters it sets, or listed here.
fn default_of(argument: &str, params: &Value) -> Option<String> {
    let margin = &params["pairs"]["loss"]["margin"];
    let value = match argument {
        // The file, not the field of that name.
        "output" => return None,
        // The library's, unless the text is in a script that it is not for.
        "tokenizer" => {
            let rule = params["tokenizer"]["rule"].as_str()?;
            return Some(format!("{rule}; unicode for text in scripts without spaces"));
        }
        "lowercase" => &params["tokenizer"]["lowercase"],
        "parallel" => &params["training"]["schedule"],
        // No field where there are none.
        "weights" => {
            return Some(first_name(&params["weighting"], &Value::Null, &Value::Null).unwrap_or("none".into()));
        }
        "unknown_words" => return Some(params["unknown_words"].as_str().unwrap_or("skip").to_owned()),
        "updates" => &params["fit"]["words"],
        "optimizer" => return rule(&params["fit"]["rule"]),
        "decay" | "grid" | "loss" if params.get("fit").is_some() => {
            return first_name(&params["fit"][argument], &params[argument], &params["pairs"][argument]);
        }
        "margin" => &margin["margin"],
        "candidates" => &margin["candidates"],
        "negatives_selection" => &margin["selection"],
        "filters_start" => &params["filters"],
        "alpha" => &params["objective"],
        "softmax" => return first_name(&params["output"], &Value::Null, &Value::Null),
        "windows" => return list(&params["windows"], "width"),
        "filters" => return list(&params["windows"], "n_filters"),
        _ => ["training", "fit", "pairs"]
            .iter()
            .fold(params.get(argument), |found, group| found.or_else(|| params[group].get(argument)))?,
    };
    match value {
        Value::String(name) => Some(kebab(name)),
        // An f32 in JSON has the digits of its f64; those of the f32 are meant.
        Value::Number(n) if n.is_f64() => n.as_f64().map(number),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

fn number(x: f64) -> String {
    let x = x as f32;
    if x != 0.0 && x.abs() < 1e-4 { format!("{x:e}") } else { format!("{x}") }
}

/// The variant of the first value that is there.
fn first_name(a: &Value, b: &Value, c: &Value) -> Option<String> {
    match [a, b, c].into_iter().find(|value| !value.is_null())? {
        Value::String(name) => Some(kebab(name)),
        Value::Object(map) => match map.iter().next()? {
            (name, Value::Number(top)) if name == "OneTo" => Some(format!("1-{top}")),
            (name, Value::Number(top)) if name == "ZeroTo" => Some(format!("0-{top}")),
            (name, _) => Some(kebab(name)),
        },
        _ => None,
    }
}

fn rule(value: &Value) -> Option<String> {
    match (value.as_str(), value.as_object().and_then(|rule| rule.iter().next())) {
        (Some(name), _) => Some(name.to_lowercase()),
        (_, Some((_, params))) if params["variant"] == "Folded" => Some("adam-folded".into()),
        (_, Some((name, _))) => Some(name.to_lowercase().replace('-', "")),
        _ => None,
    }
}

/// The numbers of a list of windows; one number where all are the same filters.
fn list(windows: &Value, field: &str) -> Option<String> {
    let mut numbers: Vec<String> = windows.as_array()?.iter().map(|window| window[field].to_string()).collect();
    if field == "n_filters" {
        numbers.dedup();
    }
    Some(numbers.join(","))
}

/// `SameSide` -> `same-side`.
fn kebab(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.extend(c.to_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use senv_models::PairLoss;

    use super::*;
    use crate::args;

    #[test]
    fn the_command_line_is_consistent_and_its_help_shows_the_defaults_of_the_library() {
        args::command().debug_assert();
        let mut command = args::command();
        command.build();
        let mut help = |command_name: &str, system: &str| {
            let train = command.find_subcommand_mut(command_name).unwrap();
            let help = train.find_subcommand_mut(system).unwrap().render_long_help().to_string();
            // Without the breaks of lines.
            help.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let has = |help: &str, defaults: &[&str]| {
            for default in defaults {
                let default = format!("[default: {default}]");
                assert!(help.contains(&default), "{default} is missing:\n{help}");
            }
        };
        for (system, lr) in [
            ("sent2vec", Sent2VecParams::for_text(TextSize::MEDIUM).training.lr),
            ("word2vec", Word2VecParams::for_text(TextSize::MEDIUM).training.lr),
            ("pv-dbow", PvDbowParams::for_text(TextSize::MEDIUM).training.lr),
        ] {
            has(
                &help("train", system),
                &[&lr.to_string(), "words; unicode for text in scripts without spaces", "deterministic"],
            );
        }
        for (system, weights) in [("sent2vec", "usif"), ("word2vec", "usif"), ("siamese-cbow", "sif"), ("pp", "none")] {
            has(&help("train", system), &[weights, "0.001"]);
        }
        assert!(matches!(CseParams::default().pairs.loss, PairLoss::Margin(_)));
        let shared = ["margin", "0.4", "both-sides", "max", "0.06", "constant", "sparse", "1e-6", "half", "300", "1"];
        for command in ["train", "tune"] {
            has(&help(command, "cse"), &shared);
            has(&help(command, "cse"), &["adam", "1,2,3", "100", "linear", "per-filter", "0.001", "128"]);
            has(&help(command, "pp"), &shared);
            has(&help(command, "pp"), &["adam-folded", "0.005"]);
        }
        has(&help("train", "siamese-cbow"), &["0.001", "2", "50", "linear", "10", "1"]);
        has(&help("train", "relatedness"), &["50", "1-5", "product", "kl", "universal", "32"]);
        has(&help("train", "skip-thought"), &["620", "2400", "paper", "20000", "30", "cut", "full", "10", "128", "1"]);
        has(&help("train", "rnn-ae"), &["620", "2400", "paper", "64"]);
        has(&help("train", "bow-ae"), &["620", "full", "5", "200", "cut"]);
        has(&help("train", "snli"), &["bow", "620", "512", "100", "cut", "no limit", "3", "20"]);
        has(&help("train", "p-thought"), &["one-bi", "300", "1200", "2", "sampled", "frozen"]);
    }
}
