//! A program's own implementations, by name. Files store the name. The program registers the implementation once, for
//! as long as it runs, so a handle is a plain reference that is free to copy.

use std::{
    any::TypeId,
    fmt,
    panic::RefUnwindSafe,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use crate::{Error, Result};

/// The maximum length of a name, in bytes.
const MAX_NAME: usize = 64;

/// A name and the value registered for it, if any.
pub struct Registered<T: ?Sized + 'static> {
    name: Box<str>,
    value: OnceLock<(TypeId, Arc<T>)>,
}

impl<T: ?Sized> Registered<T> {
    /// The name.
    pub const fn name(&self) -> &str {
        &self.name
    }

    /// The registered value, if any.
    pub fn get(&self) -> Option<&T> {
        self.value.get().map(|(_, value)| &**value)
    }
}

/// A panic leaves a value either fully registered or absent, and threads that call it do not know of each other's
/// panics anyway.
impl<T: ?Sized> RefUnwindSafe for Registered<T> {}

/// Names are equal if their text is: a registry contains each name once.
impl<T: ?Sized> PartialEq for Registered<T> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<T: ?Sized> Eq for Registered<T> {}

impl<T: ?Sized> fmt::Debug for Registered<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.name)
    }
}

/// The registered names of one kind of thing.
pub struct Registry<T: ?Sized + 'static> {
    /// The kind of thing, as messages call it: `tokenizer`.
    what: &'static str,
    /// Names used by the library.
    reserved: &'static [&'static str],
    entries: RwLock<Vec<&'static Registered<T>>>,
}

impl<T: ?Sized> Registry<T> {
    /// Creates an empty registry.
    pub const fn new(what: &'static str, reserved: &'static [&'static str]) -> Self {
        Self { what, reserved, entries: RwLock::new(Vec::new()) }
    }

    /// Registers a value of type `of`. If the name already has a value of that type, keeps the first.
    ///
    /// # Errors
    /// [`Error::BadName`] if files and commands cannot store the name; [`Error::NameTaken`] if the library or a value
    /// of a different type uses it.
    pub fn enter(&self, name: &str, of: TypeId, value: Arc<T>) -> Result<&'static Registered<T>> {
        let taken = || Error::NameTaken { what: self.what, name: name.to_owned() };
        if self.reserved.contains(&name) {
            return Err(taken());
        }
        let entry = self.named(name)?;
        let (present, _) = entry.value.get_or_init(|| (of, value));
        if *present == of { Ok(entry) } else { Err(taken()) }
    }

    /// Finds a name that has a registered value.
    pub fn find(&self, name: &str) -> Option<&'static Registered<T>> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.iter().copied().find(|entry| *entry.name == *name && entry.value.get().is_some())
    }

    /// Returns the entry of a name, with or without a registered value.
    ///
    /// # Errors
    /// [`Error::BadName`] if files and commands cannot store the name.
    pub fn named(&self, name: &str) -> Result<&'static Registered<T>> {
        let mark = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(mark) {
            return Err(Error::BadName { what: self.what, name: name.to_owned() });
        }
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        Ok(entries.iter().copied().find(|entry| *entry.name == *name).unwrap_or_else(|| {
            // Lives as long as the program: a handle is a plain reference.
            let entry: &'static _ = Box::leak(Box::new(Registered { name: name.into(), value: OnceLock::new() }));
            entries.push(entry);
            entry
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::any::Any;

    use super::*;

    trait Thing: Any + Send + Sync {}
    impl Thing for u32 {}
    impl Thing for u64 {}

    fn enter(registry: &Registry<dyn Thing>, name: &str, thing: Arc<dyn Thing>) -> Result<()> {
        registry.enter(name, (&*thing as &dyn Any).type_id(), thing).map(|_| ())
    }

    #[test]
    fn a_name_has_one_type_and_keeps_its_first_value() {
        let registry: Registry<dyn Thing> = Registry::new("thing", &["own"]);
        assert!(registry.find("a").is_none());
        let place = registry.named("a").unwrap();
        assert!(place.get().is_none() && registry.find("a").is_none(), "a name alone is nothing");
        enter(&registry, "a", Arc::new(1_u32)).unwrap();
        enter(&registry, "a", Arc::new(2_u32)).unwrap();
        let value = (registry.find("a").unwrap().get().unwrap() as &dyn Any).downcast_ref::<u32>();
        assert_eq!(value, Some(&1));
        assert!(place.get().is_some() && place == registry.find("a").unwrap());
        for (name, thing) in [("a", Arc::new(1_u64) as Arc<dyn Thing>), ("own", Arc::new(1_u32))] {
            let error = enter(&registry, name, thing).unwrap_err();
            assert!(matches!(&error, Error::NameTaken { what: "thing", name: taken } if taken == name), "{error}");
        }
    }

    #[test]
    fn names_are_those_that_a_file_and_a_command_can_hold() {
        let registry: Registry<dyn Thing> = Registry::new("thing", &[]);
        for name in ["x", "my-rule_2.b", &"n".repeat(MAX_NAME)] {
            enter(&registry, name, Arc::new(1_u32)).unwrap();
        }
        for name in ["", "two words", "ä", "a\n", "\"", &"n".repeat(MAX_NAME + 1)] {
            let error = enter(&registry, name, Arc::new(1_u32)).unwrap_err();
            assert!(matches!(error, Error::BadName { .. }), "{name:?}");
        }
    }
}
