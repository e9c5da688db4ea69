//! The declaration of a struct of hyperparameters.

/// Declares a struct of hyperparameters with its `Default` and its
/// [`Hyperparameters`](crate::hyperparameters::Hyperparameters).
///
/// A field is declared as
///
/// ```text
/// /// Its help: the first paragraph, followed by the range.
/// @[serde(default)]                                        other attributes
/// pub field as name: Type = default => Section[range];     `as name` where the name differs from the field
/// ```
///
/// The documentation of a field ends with its default and its range. Ranges are `at_least 1`, `above 0`, `above 0
/// or_infinite`, `from 1 to 10`, `from 0 below 1`. Without a range, any value of the type is accepted. Instead of a
/// section, `group` marks a field that has hyperparameters itself, and `skip` a field that is not a hyperparameter.
/// `group[module]` uses the functions `hyperparameters`, `set` and `check_ranges` of a module, for types that cannot
/// implement the trait. [The module](mod@crate::hyperparameters) has an example.
#[macro_export]
macro_rules! hyperparameters {
    (
        $(#[$meta:meta])*
        pub struct $params:ident {
            $(
                $(#[doc = $doc:literal])*
                $(@[$attribute:meta])*
                pub $field:ident $(as $name:ident)? : $type:ty = $default:expr => $kind:ident $([$($range:tt)+])?;
            )+
        }
    ) => {
        $(#[$meta])*
        pub struct $params {
            $(
                $(#[doc = $doc])*
                #[doc = ""]
                #[doc = concat!(
                    "Default: `", stringify!($default), "`", $crate::hyperparameters!(@range_text $($($range)+)?), "."
                )]
                $(#[$attribute])*
                pub $field: $type,
            )+
        }

        impl ::std::default::Default for $params {
            fn default() -> Self {
                Self { $($field: $default),+ }
            }
        }

        impl $crate::hyperparameters::Hyperparameters for $params {
            #[allow(clippy::vec_init_then_push)]
            fn hyperparameters(&self) -> ::std::vec::Vec<$crate::hyperparameters::Hyperparameter> {
                let mut all = ::std::vec::Vec::new();
                $($crate::hyperparameters!(
                    @list $kind [$($($range)+)?] all, self.$field, $crate::hyperparameters!(@name $field $($name)?),
                    [$($doc),*]
                );)+
                all
            }

            #[allow(unused_variables)]
            fn set(&mut self, name: &str, text: &str) -> $crate::Result<bool> {
                $($crate::hyperparameters!(
                    @set $kind [$($($range)+)?] self.$field, $crate::hyperparameters!(@name $field $($name)?), name, text
                );)+
                Ok(false)
            }

            fn check_ranges(&self) -> $crate::Result<()> {
                $($crate::hyperparameters!(
                    @check $kind [$($($range)+)?] self.$field, $crate::hyperparameters!(@name $field $($name)?)
                );)+
                Ok(())
            }
        }
    };

    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:ident) => { stringify!($name) };

    (@range_text) => { "" };
    (@range_text $group:ident) => { "" };
    (@range_text at_least $min:literal) => { concat!("; at least ", $min) };
    (@range_text above $min:literal $($or_infinite:ident)?) => { concat!("; above ", $min) };
    (@range_text from $min:literal to $max:literal) => { concat!("; from ", $min, " to ", $max) };
    (@range_text from $min:literal below $max:literal) => { concat!("; at least ", $min, " and below ", $max) };

    (@range) => { ::std::option::Option::None };
    (@range at_least $min:literal) => {
        $crate::hyperparameters!(@range $min, false, f64::MAX, false, concat!("at least ", $min))
    };
    (@range above $min:literal) => {
        $crate::hyperparameters!(@range $min, true, f64::MAX, false, concat!("finite and above ", $min))
    };
    (@range above $min:literal or_infinite) => {
        $crate::hyperparameters!(@range $min, true, f64::INFINITY, false, concat!("above ", $min, "; inf for no limit"))
    };
    (@range from $min:literal to $max:literal) => {
        $crate::hyperparameters!(@range $min, false, $max, false, concat!("from ", $min, " to ", $max))
    };
    (@range from $min:literal below $max:literal) => {
        $crate::hyperparameters!(@range $min, false, $max, true, concat!("at least ", $min, " and below ", $max))
    };
    (@range $min:expr, $above_min:literal, $max:expr, $below_max:literal, $text:expr) => {
        ::std::option::Option::Some($crate::hyperparameters::Range {
            min: $min as f64,
            above_min: $above_min,
            max: $max as f64,
            below_max: $below_max,
            text: $text,
        })
    };

    (@list skip [] $all:ident, $place:expr, $name:expr, $doc:tt) => {};
    (@list group [] $all:ident, $place:expr, $name:expr, $doc:tt) => {
        $all.extend($crate::hyperparameters::Hyperparameters::hyperparameters(&$place));
    };
    (@list group [$with:ident] $all:ident, $place:expr, $name:expr, $doc:tt) => {
        $all.extend($with::hyperparameters(&$place));
    };
    (@list $section:ident [$($range:tt)*] $all:ident, $place:expr, $name:expr, $doc:tt) => {
        $all.push($crate::hyperparameters::Hyperparameter::of(
            $name,
            &$doc,
            $crate::hyperparameters::Section::$section,
            $crate::hyperparameters!(@range $($range)*),
            &$place,
        ));
    };

    (@set skip [] $place:expr, $own:expr, $name:ident, $text:ident) => {};
    (@set group [] $place:expr, $own:expr, $name:ident, $text:ident) => {
        if $crate::hyperparameters::Hyperparameters::set(&mut $place, $name, $text)? {
            return Ok(true);
        }
    };
    (@set group [$with:ident] $place:expr, $own:expr, $name:ident, $text:ident) => {
        if $with::set(&mut $place, $name, $text)? {
            return Ok(true);
        }
    };
    (@set $section:ident [$($range:tt)*] $place:expr, $own:expr, $name:ident, $text:ident) => {
        if $name == $own {
            $crate::hyperparameters::set_value(&mut $place, $name, $text)?;
            return Ok(true);
        }
    };

    (@check skip [] $place:expr, $own:expr) => {};
    (@check group [] $place:expr, $own:expr) => {
        $crate::hyperparameters::Hyperparameters::check_ranges(&$place)?;
    };
    (@check group [$with:ident] $place:expr, $own:expr) => {
        $with::check_ranges(&$place)?;
    };
    (@check $section:ident [] $place:expr, $own:expr) => {};
    (@check $section:ident [$($range:tt)+] $place:expr, $own:expr) => {
        if let ::std::option::Option::Some(range) = $crate::hyperparameters!(@range $($range)+) {
            $crate::hyperparameters::check_range(&$place, $own, range)?;
        }
    };
}
