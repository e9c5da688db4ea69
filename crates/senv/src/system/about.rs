//! What a system says of itself: its command, its help and its named settings come from here.

/// A system as a program and its documentation present it.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// Its name: of its command, and of its kind in model files.
    pub name: &'static str,
    /// A line for people: the name as papers write it, a colon, what is trained.
    pub summary: &'static str,
    /// Commands that train it.
    pub examples: &'static [&'static str],
    /// What a reader of the examples should know besides; may be empty.
    pub note: &'static str,
    /// What its named settings are instead of: help for the choice among them; empty where there are none.
    pub preset: &'static str,
}

/// Settings that have a name.
#[derive(Debug)]
pub struct NamedSettings<S: 'static> {
    /// The name.
    pub name: &'static str,
    /// Where they come from.
    pub help: &'static str,
    /// The settings.
    pub settings: fn() -> S,
}

impl<S> Clone for NamedSettings<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for NamedSettings<S> {}
