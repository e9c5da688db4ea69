//! `--delete-ids`: ids in an argument.

/// One or several ids, from one argument.
#[derive(Debug, Clone)]
pub(super) struct Ids(pub(super) String);

impl Ids {
    pub(super) fn parse(text: &str) -> std::result::Result<Self, String> {
        let ids = Self(text.to_owned());
        if ids.parts().next().is_none() { Err("no id given".into()) } else { Ok(ids) }
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split([',', ' ', '\t', '\n']).filter(|id| !id.is_empty())
    }
}
