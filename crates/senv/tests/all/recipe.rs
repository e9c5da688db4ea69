//! A recipe trains on the files that it was chosen for, with the options of that time.

use senv::{Recipe, TrainOptions};
use senv_core::{TextOptions, text::TableText};

#[test]
fn a_recipe_trains_on_its_own_files_in_the_way_that_they_were_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.csv");
    // Random words: a sentence has no more in common with the next one than with others.
    let mut state = 7_u64;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("w{}", state >> 58)
    };
    let rows = (0..400).map(|_| format!("other,{} {} {} {}\n", word(), word(), word(), word()));
    std::fs::write(&path, format!("name,text\n{}", rows.collect::<String>())).unwrap();
    let text = TextOptions { table: Some(TableText::column("text")), ..TextOptions::default() };
    let options = TrainOptions { text, ..TrainOptions::default() };
    let recipe = Recipe::choose(&[&path], &[] as &[&str], &options).unwrap();
    assert!(matches!(recipe, Recipe::Words(_)), "{recipe:?}");
    let model = recipe.fit(&TrainOptions::default()).unwrap();
    assert!(model.vocabulary().id("w3").is_some() && model.vocabulary().id("other").is_none());
}
