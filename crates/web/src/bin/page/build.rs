//! Builds the engine: this crate, compiled to WebAssembly by cargo.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const TARGET: &str = "wasm32-unknown-unknown";

/// Compiles the crate and returns the bytes of the module.
pub(crate) fn engine() -> Result<Vec<u8>, String> {
    check_target()?;
    let output = Command::new(cargo())
        .args(["build", "--release", "--lib", "--target", TARGET, "--message-format", "json-render-diagnostics"])
        .arg("--manifest-path")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        // Every browser since 2023 supports the vector instructions. Flags in the environment are meant for this
        // machine.
        .env_remove("RUSTFLAGS")
        .env("CARGO_ENCODED_RUSTFLAGS", "-Ctarget-feature=+simd128")
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot run cargo: {error}; install a Rust toolchain: https://rustup.rs"))?;
    if !output.status.success() {
        return Err(format!("cargo could not compile senv-web for {TARGET}; its messages are above"));
    }
    let path = module(&String::from_utf8_lossy(&output.stdout)).ok_or("cargo reported no .wasm file")?;
    std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Fails unless the standard library of the target is installed, with a clearer message than the compiler's.
fn check_target() -> Result<(), String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    // If rustc cannot be run, cargo will say why.
    let Ok(output) = output else { return Ok(()) };
    let folder = String::from_utf8_lossy(&output.stdout);
    if Path::new(folder.trim()).is_dir() {
        return Ok(());
    }
    Err(format!(
        "the Rust standard library for {TARGET} is not installed; get it with `rustup target add {TARGET}`, or, if \
        Rust came with the system, from its package manager (rust-std-static-{TARGET}, libstd-rust-dev-wasm32)"
    ))
}

/// Finds the module among the outputs that cargo's messages list for the crate, one JSON object per line.
fn module(messages: &str) -> Option<PathBuf> {
    let is_module = |name: &&str| name.ends_with("senv_web.wasm");
    messages.lines().rev().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let names = message["filenames"].as_array()?;
        names.iter().filter_map(serde_json::Value::as_str).find(is_module).map(PathBuf::from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_is_found_among_the_messages() {
        let messages = r#"{"reason":"compiler-artifact","filenames":["/t/libserde.rlib"]}
{"reason":"compiler-artifact","filenames":["/t/libsenv_web.rlib","/t/senv_web.wasm"]}
{"reason":"build-finished","success":true}
"#;
        assert_eq!(module(messages), Some(PathBuf::from("/t/senv_web.wasm")));
        assert_eq!(module("{}\nnot JSON\n"), None);
    }
}
