//! Incomplete model files: the error names file and tensor.

use senv_store::{ModelFile, ModelWriter};

use super::*;

/// A change to a file while it is copied.
#[derive(Clone, Copy)]
enum Damage<'a> {
    None,
    /// The last word of the vocabulary is missing.
    FewerWords,
    /// This tensor is missing.
    Without(&'a str),
    /// The last value or row of this tensor is missing.
    Shorter(&'a str),
    /// No damage: the kind has the name used in older files.
    Former(&'a str),
}

/// Writes a damaged copy of the model.
fn rewritten(from: &Path, to: &Path, damage: Damage<'_>) {
    let file = ModelFile::open(from).unwrap();
    let vocabulary = file.vocabulary().unwrap();
    let n_words = vocabulary.len() - usize::from(matches!(damage, Damage::FewerWords));
    let counts: Vec<(String, u64)> =
        vocabulary.iter().take(n_words).map(|(_, word, count)| (word.to_owned(), count)).collect();
    let counts = counts.iter().map(|(word, count)| (word, *count));
    let vocabulary = Vocabulary::from_counts(counts, vocabulary.corpus_tokens()).unwrap();
    let (mut tables, mut lists) = (Vec::new(), Vec::new());
    for (name, shape) in kept(&file) {
        let shorter = matches!(damage, Damage::Shorter(tensor) if tensor == name);
        match shape[..] {
            _ if matches!(damage, Damage::Without(tensor) if tensor == name) => {}
            [rows, dim] => {
                let values = file.table(&name).unwrap().values().to_vec();
                let rows = rows - usize::from(shorter);
                tables.push((name, Table::from_vec(rows, dim, values[..rows * dim].to_vec()).unwrap()));
            }
            [] => panic!("{name} without a shape"),
            [n, ..] => {
                let mut values = file.f32s(&name).unwrap();
                values.truncate(n - usize::from(shorter));
                lists.push((name, values));
            }
        }
    }
    let kind = if let Damage::Former(kind) = damage { kind } else { file.kind() };
    let mut writer = ModelWriter::new(kind).config(file.config().unwrap()).vocabulary(&vocabulary);
    writer = tables.iter().fold(writer, |writer, (name, table)| writer.table(name, table));
    writer = lists.iter().fold(writer, |writer, (name, values)| writer.f32s(name, values));
    writer.save(to).unwrap();
}

/// Name and shape of all trained tensors except words.
fn kept(file: &ModelFile) -> Vec<(String, Vec<usize>)> {
    let trained = file.tensors().filter(|(_, dtype, ..)| dtype == "F32");
    trained.map(|(name, _, shape, _)| (name.to_owned(), shape.to_vec())).collect()
}

/// Saves a small model of each kind that reads words in order or as a set, and of one kind with options.
fn models(files: &Files) -> Vec<PathBuf> {
    let text = files.write("text.txt", &ordered().0);
    let fit = FitParams { epochs: Some(1), batch: 16, ..FitParams::default() };
    let [uni, bi] = [false, true]
        .map(|bi| skip_thought(bi, fit.clone()).fit_files([&text], &TrainOptions::default()).unwrap().model);
    let names = ["skip-thought", "p-thought", "rnn-ae", "sdae", "bow", "tree", "snli-bow", "snli-rnn"]
        .map(|name| files.path(name));
    let [both, p_thought, rnn_ae, sdae, bow, tree, snli_bow, snli_rnn] = &names;
    SkipThought::combine(uni, bi).unwrap().save(both).unwrap();
    let params = PThoughtParams { dim: 8, hidden: 6, output: OutputForm::Full, fit: fit.clone(), ..Default::default() };
    params.fit(&captions(files), &TrainOptions::default()).unwrap().model.save(p_thought).unwrap();
    let trained = autoencoder(fit.clone()).fit_files([&text], &TrainOptions::default()).unwrap();
    trained.model.save(rnn_ae).unwrap();
    let trained = sdae::small(fit.clone()).fit_files([&text], &TrainOptions::default()).unwrap();
    trained.model.save(sdae).unwrap();
    for (path, reconstruction) in [(bow, Reconstruction::Full), (tree, Reconstruction::Tree)] {
        let fit = fit.clone();
        let params = BowAutoencoderParams { dim: 8, min_count: 1, reconstruction, fit, ..Default::default() };
        params.fit_files([&text], &TrainOptions::default()).unwrap().model.save(path).unwrap();
    }
    for (path, encoder) in [(snli_bow, SnliEncoder::Bow), (snli_rnn, rnn())] {
        let trained = snli(encoder, fit.clone()).fit(&labelled(60, 0), &TrainOptions::default()).unwrap();
        trained.model.save(path).unwrap();
    }
    names.into()
}

#[test]
fn files_whose_kind_had_another_name_open() {
    let files = Files::new();
    let former = files.path("former.senv");
    let mut seen = Vec::new();
    for whole in models(&files) {
        let expect = Model::open(&whole).unwrap();
        let name = match expect.kind() {
            "bow-ae" => "bow-autoencoder",
            "rnn-ae" => "rnn-autoencoder",
            _ => continue,
        };
        rewritten(&whole, &former, Damage::Former(name));
        assert_eq!(ModelFile::open(&former).unwrap().kind(), name);
        let opened = Model::open(&former).unwrap();
        assert_eq!((opened.kind(), bits(&opened)), (expect.kind(), bits(&expect)));
        seen.push(name);
    }
    seen.dedup();
    assert!(seen.contains(&"bow-autoencoder") && seen.contains(&"rnn-autoencoder"), "{seen:?}");
}

#[test]
fn a_file_that_lacks_something_is_refused_by_name() {
    let files = Files::new();
    let damaged = files.path("damaged.senv");
    for whole in models(&files) {
        let name = whole.file_name().unwrap().to_string_lossy().into_owned();
        let opened = |damage| {
            rewritten(&whole, &damaged, damage);
            Model::open(&damaged)
        };
        let expect = Model::open(&whole).unwrap();
        assert_eq!(bits(&opened(Damage::None).unwrap()), bits(&expect), "{name}");
        let refused = |damage, tensor: &str| {
            let error = opened(damage).expect_err(&format!("{name}: {tensor}")).to_string();
            // The total size is checked before any tensor is read.
            let named = error.contains(&format!("{tensor:?}")) || error.contains("all tensors together have");
            assert!(error.contains("damaged.senv") && named, "{name}: {error}");
        };
        // The error may name any tensor that depends on the number of words.
        let error = opened(Damage::FewerWords).expect_err(&name).to_string();
        assert!(
            error.contains("damaged.senv") && ["rows", "vocabulary"].iter().any(|it| error.contains(it)),
            "{error}"
        );
        let tensors = kept(&ModelFile::open(&whole).unwrap());
        assert_eq!(
            tensors.iter().filter(|(_, shape)| shape.len() == 2).count(),
            1 + usize::from(name == "skip-thought")
        );
        assert!(tensors.len() >= 4, "{name}: {tensors:?}");
        for (tensor, _) in &tensors {
            refused(Damage::Without(tensor), tensor);
            refused(Damage::Shorter(tensor), tensor);
        }
    }
}
