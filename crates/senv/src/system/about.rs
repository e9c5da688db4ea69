//! The description of a system, from which its command, help and named settings are generated.

/// A system as a program and its documentation present it.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// The name of its command and of its kind in model files.
    pub name: &'static str,
    /// A one-line summary: the name as papers write it, a colon, and what is trained.
    pub summary: &'static str,
    /// Commands that train it.
    pub examples: &'static [&'static str],
    /// What readers of the examples should also know; can be empty.
    pub note: &'static str,
    /// The help text for choosing one of its named settings; empty without named settings.
    pub preset: &'static str,
}

/// Settings with a name.
#[derive(Debug)]
pub struct NamedSettings<S: 'static> {
    /// The name.
    pub name: &'static str,
    /// The origin of the settings.
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
