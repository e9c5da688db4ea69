//! Compiles computations that are generic over the precision in the crate that defines them.
//!
//! A generic function is compiled again in every crate that calls it, with that crate's optimization level. A program
//! built without optimization, as in the tests, would train slowly, and each of its crates would take long to build.

/// Compiles the body of a function generic over `F: Float` for f32 and f64 in the crate that contains it. Callers of
/// the function compile only a call.
///
/// The body is a closure that names each argument of the function with its type. `F` and the lifetime `'a` are
/// available as if declared; other generics are not. `self` comes first, under another name.
///
/// ```
/// use senv_core::arrays::{Float, compiled_here};
/// struct Scaled(f64);
/// impl Scaled {
///     fn dot<F: Float>(&self, a: &[F], b: &[F]) -> F {
///         compiled_here!(self, |this: &'a Scaled, a: &'a [F], b: &'a [F]| -> F { F::of(this.0) * F::dot(a, b) })
///     }
/// }
/// assert_eq!(Scaled(2.0).dot(&[1.0f32, 2.0], &[3.0, 4.0]), 22.0);
/// assert_eq!(Scaled(2.0).dot(&[1.0f64, 2.0], &[3.0, 4.0]), 22.0);
/// ```
#[macro_export]
macro_rules! compiled_here {
    ($first:expr, |$this:ident: $this_type:ty $(, $name:ident: $type:ty)* $(,)?| -> $output:ty { $($body:tt)* }) => {{
        let $this = $first;
        $crate::compiled_here!(|$this: $this_type $(, $name: $type)*| -> $output { $($body)* })
    }};
    (|$($name:ident: $type:ty),* $(,)?| -> $output:ty { $($body:tt)* }) => {{
        struct Here;
        impl $crate::Work for Here {
            type Input<'a, F: $crate::Float> = ($($type,)*);
            type Output<'a, F: $crate::Float> = $output;

            fn in_f32<'a>(input: Self::Input<'a, f32>) -> Self::Output<'a, f32> {
                body(input)
            }

            fn in_f64<'a>(input: Self::Input<'a, f64>) -> Self::Output<'a, f64> {
                body(input)
            }
        }
        #[allow(clippy::extra_unused_lifetimes, clippy::needless_lifetimes)]
        fn body<'a, F: $crate::Float>(($($name,)*): ($($type,)*)) -> $output { $($body)* }
        F::compute::<Here>(($($name,)*))
    }};
}
