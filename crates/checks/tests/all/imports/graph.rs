//! Which file of a crate uses which. Paths are followed to the file that defines the item.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use super::source::{Module, ModulePath};

/// The files that each file uses.
pub(super) type Uses = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

pub(super) fn uses(modules: &BTreeMap<ModulePath, Module>) -> Uses {
    let mut uses = Uses::new();
    for (path, module) in modules {
        let targets = uses.entry(module.file.clone()).or_default();
        // A file may use its parent module, for example a type whose work is split over several files.
        let above: BTreeSet<&PathBuf> =
            (0..=path.len()).filter_map(|n| modules.get(&path[..n])).map(|m| &m.file).collect();
        for mention in &module.mentions {
            targets.extend(resolve(modules, path, mention, 0).filter(|file| !above.contains(file)));
        }
    }
    uses
}

/// The file that defines the item at `path`, seen from module `from`, or `None` for items of other crates.
fn resolve(modules: &BTreeMap<ModulePath, Module>, from: &[String], path: &[String], depth: usize) -> Option<PathBuf> {
    // Names that alias each other do not compile; this only guards against a mistake in this file.
    if depth > 16 {
        return None;
    }
    let (first, rest) = path.split_first()?;
    let (mut at, mut rest): (ModulePath, &[String]) = match first.as_str() {
        "crate" => (Vec::new(), rest),
        "self" => (from.to_vec(), rest),
        "super" => (from.split_last()?.1.to_vec(), rest),
        _ => (from.to_vec(), path),
    };
    let is_local = matches!(first.as_str(), "crate" | "self" | "super");
    while rest.first().is_some_and(|name| name == "super") {
        at.pop()?;
        rest = &rest[1..];
    }
    let mut is_first = true;
    while let Some((name, behind)) = rest.split_first() {
        let child = [at.as_slice(), std::slice::from_ref(name)].concat();
        if modules.contains_key(&child) {
            (at, rest, is_first) = (child, behind, false);
            continue;
        }
        let module = &modules[&at];
        if let Some(target) = module.names.get(name).filter(|target| target.first() != Some(name) || target.len() > 1) {
            let full = [target.as_slice(), behind].concat();
            return resolve(modules, &at, &full, depth + 1);
        }
        for glob in &module.globs {
            let full = [glob.as_slice(), rest].concat();
            if let Some(found) = resolve(modules, &at, &full, depth + 1)
                && found != modules[&at].file
                && names_item(modules, &at, glob, name)
            {
                return Some(found);
            }
        }
        // The item belongs to this module if a module path named it; a bare name may belong to another crate.
        return (is_local || !is_first).then(|| module.file.clone());
    }
    (is_local || !is_first).then(|| modules[&at].file.clone())
}

/// Whether the module at `glob` re-exports `name` explicitly or has it as a child. Otherwise the glob says nothing.
fn names_item(modules: &BTreeMap<ModulePath, Module>, from: &[String], glob: &[String], name: &str) -> bool {
    let mut at = from.to_vec();
    for part in glob {
        match part.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop();
            }
            part => at.push(part.to_owned()),
        }
    }
    modules.get(&at).is_some_and(|module| {
        module.names.contains_key(name) || modules.contains_key(&[at.as_slice(), &[name.to_owned()]].concat())
    })
}

/// Groups of two or more files that use each other, directly or through others, sorted.
pub(super) fn circles(uses: &Uses) -> Vec<Vec<PathBuf>> {
    let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        uses.keys().map(|file| (file, reachable(uses, file))).collect();
    let mut circles = BTreeSet::new();
    for (file, targets) in &reached {
        let group: BTreeSet<PathBuf> = targets
            .iter()
            .filter(|target| reached.get(**target).is_some_and(|back| back.contains(file)))
            .map(|target| (*target).clone())
            .collect();
        if group.len() > 1 {
            circles.insert(group.into_iter().collect::<Vec<_>>());
        }
    }
    circles.into_iter().collect()
}

fn reachable<'u>(uses: &'u Uses, from: &PathBuf) -> BTreeSet<&'u PathBuf> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&PathBuf> = uses.get(from).into_iter().flatten().collect();
    while let Some(file) = open.pop() {
        if found.insert(file) {
            open.extend(uses.get(file).into_iter().flatten());
        }
    }
    found
}
