//! Tests of the workspace as a whole (in `tests/`). The programs in its pages are compiled as documentation tests.
//! Nothing depends on this crate.

/// A page whose Rust blocks are compiled, and run unless they say `no_run`.
#[cfg(doctest)]
macro_rules! pages {
    ($($page:ident => $path:literal),+ $(,)?) => {
        $(
            #[doc = include_str!(concat!("../../../docs/", $path))]
            struct $page;
        )+
    };
}

// `every_page_with_a_program_is_compiled` fails if a page is missing here.
#[cfg(doctest)]
pages! {
    CleanUp => "guide/clean-up.md",
    Evaluation => "guide/evaluation.md",
    FirstModel => "guide/first-model.md",
    OwnPairs => "guide/own-pairs.md",
    Search => "guide/search.md",
    Serving => "guide/serving.md",
    Transformers => "guide/transformers.md",
    WordOrder => "guide/word-order.md",
}
