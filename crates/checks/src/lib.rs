//! Tests of the workspace as a whole, in `tests/`, and the programs of its pages, which are compiled as documentation
//! tests. There is nothing to depend on.

/// A page whose blocks of Rust are compiled, and run unless they say `no_run`.
#[cfg(doctest)]
macro_rules! pages {
    ($($page:ident => $path:literal),+ $(,)?) => {
        $(
            #[doc = include_str!(concat!("../../../docs/", $path))]
            struct $page;
        )+
    };
}

// `every_page_with_a_program_is_compiled` finds one that is missing here.
#[cfg(doctest)]
pages! {
    CleanUp => "guide/clean-up.md",
    Evaluation => "guide/evaluation.md",
    FirstModel => "guide/first-model.md",
    OwnPairs => "guide/own-pairs.md",
    Search => "guide/search.md",
    Serving => "guide/serving.md",
    WordOrder => "guide/word-order.md",
}
