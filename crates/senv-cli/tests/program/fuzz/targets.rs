//! The readers to test, and how they are called.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use senv::{
    CheckpointPlan, Model, ReleasedBin, Sent2VecParams, SiameseCbowParams, SkipThought, TextSystem, TrainOptions,
    average::UnknownWords,
    data::{HeldOut, PairData, PairInput, PairKind, PairOptions},
    forms::NegativeSamplingParams,
    gradient::{FitParams, ScoredPairs},
};
use senv_core::{
    Control, Corpus, ModelFile, NoObserver, Observer, Progress, Scratch, SentenceEncoder, Table, TextOptions,
    TextReader, Tokenizer, Vocabulary, checkpoint,
    text::{InvalidUtf8, Split},
};
use senv_eval::{NliSet, ParaphraseSet, SentenceGroups, SickSet, StsTask};
use senv_store::{
    Embeddings, Format, InvalidUtf8 as WordUtf8, NonFinite, ReadOptions, read_npy, read_npy_stream, write_npy,
};

use super::{
    Target, configuration,
    formats::{forget_checksums_of_model, keep, mend_checkpoint},
};
use crate::{
    common::Folder,
    systems::{SYSTEMS, bring, samples, trained},
};

/// Uses a model as the commands do.
fn use_model(model: &Model) {
    let (mut scratch, mut row) = (Scratch::default(), vec![0.0; model.dim()]);
    for sentence in ["The cat sat on the mat.", "zyzzyva", ""] {
        model.encode_into(sentence, &mut scratch, &mut row);
    }
    let _ = model.encode_batch(&["a dog", "", "the train is late"]).is_ok();
    let _ = model.relatedness("a dog", "the train").is_ok();
    let _ = model.decode("a dog", &senv::model::DecodeParams { decoder: 0, width: 2, longest: 4 }).is_ok();
    let _ = model.to_embeddings().is_ok();
    let config: serde_json::Value = serde_json::from_str(&model.config_json()).unwrap();
    assert!(config.is_object() || config.is_null());
}

#[test]
fn models() {
    // Large models are of the same kinds as others.
    let trained = SYSTEMS.iter().map(|(name, _)| &trained(name).model).filter(|model| model.len() < 2 << 20);
    let mut seeds: Vec<Vec<u8>> = trained.cloned().collect();
    let folder = Folder::new();
    ["word2vec-cbow", "word2vec"].iter().for_each(|name| bring(&folder, name));
    folder.run(&["compress", "--model", "word2vec-cbow.senv", "--output", "small.senv", "--quiet"]).ok();
    folder.run(&["convert", "word2vec.senv", "words.senv", "--quiet"]).ok();
    seeds.extend(["small.senv", "words.senv"].map(|name| folder.read(name)));
    assert!(seeds.len() > 12, "{}", seeds.len());
    let read = |path: &Path, is_seed: bool| {
        let model = Model::open(path);
        model.iter().for_each(use_model);
        let verified = ModelFile::open(path).is_ok_and(|file| file.verify().is_ok());
        assert!(!is_seed || (model.is_ok() && verified));
    };
    let target = Target { name: "models", seeds, mend: forget_checksums_of_model, file: "m.senv", rounds: 250 };
    target.run(read);
    let target = Target { name: "numbers of configurations", ..target };
    target.read_all(configuration::large_numbers(&target), read);
    Target { name: "configurations", rounds: 1200, ..target }.run_with(configuration::mutated, read);
}

#[test]
fn groups() {
    let folder = Folder::with_text(200);
    folder.run(&["cluster", "text.txt", "--groups", "4", "--save", "g.senv"]).ok();
    let model = Model::from(senv::StaticModel::from(senv_english::model().unwrap()));
    let read = |path: &Path, is_seed: bool| {
        let opened = senv::jobs::TextGroups::open(path);
        assert!(!is_seed || opened.is_ok());
        if let Ok((groups, _)) = opened {
            let _ = groups.assign(&model, &["a dog", "", "the train is late"]).is_ok();
        }
    };
    let seeds = vec![folder.read("g.senv")];
    let target = Target { name: "groups", seeds, mend: forget_checksums_of_model, file: "g.senv", rounds: 5000 };
    target.run(read);
    Target { name: "configurations of groups", ..target }.run_with(configuration::mutated, read);
}

/// Stops at the first progress report of training.
struct Stop;

impl Observer for Stop {
    fn progress(&self, progress: &Progress) -> Control {
        // On a busy machine, reading the text may send a report, too, but without a learning rate.
        if progress.lr > 0.0 { Control::Stop } else { Control::Continue }
    }
}

/// Reads the checkpoint of a run of `fit`. It gets a text, a plan and a number of epochs, and is stopped at its first
/// report.
fn resume(name: &'static str, rounds: u64, fit: impl Fn(&Path, CheckpointPlan, u32) -> Result<(), senv::Error>) {
    let folder = tempfile::tempdir().unwrap();
    let (text, first) = (folder.path().join("text.txt"), folder.path().join("first"));
    fs::write(&text, crate::common::text(60)).unwrap();
    let plan = |path: &Path| CheckpointPlan { path: path.to_owned(), every: None, resume: true };
    let mut epochs = 50;
    while !first.exists() {
        epochs *= 4;
        fit(&text, plan(&first), epochs).unwrap();
        assert!(epochs < 1_000_000, "it cannot be stopped");
    }
    let seeds = vec![fs::read(first).unwrap()];
    let target = Target { name, seeds, mend: mend_checkpoint, file: "c", rounds };
    target.run(|path, is_seed| {
        let _ = (checkpoint::kind(path).is_ok(), checkpoint::verify(path).is_ok());
        let ended = fit(&text, plan(path), epochs);
        assert!(!is_seed || ended.is_ok(), "{ended:?}");
    });
}

fn stopping<D>(plan: CheckpointPlan) -> TrainOptions<'static, D> {
    TrainOptions { threads: 1, checkpoint: Some(plan), observer: &Stop, ..Default::default() }
}

/// Treats a stopped run as a success.
fn unless_stopped<M>(run: senv::Result<senv::Trained<M>>) -> senv::Result<()> {
    match run {
        Err(error) if !error.is_interrupted() => Err(error),
        _ => Ok(()),
    }
}

#[test]
fn checkpoints_of_negative_sampling() {
    resume("checkpoints", 2000, |text, plan, epochs| {
        let params = Sent2VecParams {
            dim: 3,
            min_count: Some(1),
            min_target_count: Some(1),
            training: NegativeSamplingParams {
                epochs: Some(epochs),
                lr: Some(0.2),
                ..NegativeSamplingParams::default()
            },
            placeholder: true,
            initial_length: None,
            weighting: None,
            unknown_words: UnknownWords::Skip,
            subsample: Some(1e-5),
            ..Sent2VecParams::default()
        };
        unless_stopped(params.fit_files([text], &stopping(plan)))
    });
}

#[test]
fn checkpoints_of_gradient_descent() {
    resume("fit-checkpoints", 1000, |text, plan, epochs| {
        let fit = FitParams { epochs: Some(epochs), ..SiameseCbowParams::paper().with_adam().fit };
        let params = SiameseCbowParams { dim: 3, min_count: Some(1), fit, ..SiameseCbowParams::paper() };
        unless_stopped(params.fit_files([text], &stopping(plan)))
    });
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn word_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w");
    let vocabulary = Vocabulary::from_counts([("</s>", 3), ("naïve", 2), ("7", 1), ("cat", 1)], 7).unwrap();
    let table = Table::from_vec(4, 3, (0..12).map(|i| i as f32 / 7.0 - 0.5).collect()).unwrap();
    let words = Embeddings::new(vocabulary, table).unwrap();
    let mut seeds = Vec::new();
    for format in [Format::Word2vecText, Format::Word2vecBinary, Format::GloveText, Format::FastTextVec] {
        words.write(&path, format, NonFinite::Error).unwrap();
        seeds.push(fs::read(&path).unwrap());
    }
    seeds.push(gzip(&seeds[0]));
    // The start of a .bin file of fastText or the Sent2Vec program.
    seeds.push([&b"\xba\x16\x4f\x2f\x0c\0\0\0"[..], &[3, 0, 0, 0].repeat(20)].concat());
    let target = Target { name: "word-vectors", seeds, mend: keep, file: "w.txt", rounds: 2500 };
    target.run(|path, _| {
        for format in [None, Some(Format::Word2vecText), Some(Format::Word2vecBinary), Some(Format::GloveText)] {
            let options = ReadOptions::default().invalid_utf8(WordUtf8::Replace).accept_wrong_row_count(true);
            let options = format.map_or(options.clone(), |format| options.format(format));
            let _ = Embeddings::read(path, &options).is_ok();
        }
        Model::open(path).iter().for_each(use_model);
    });
}

#[test]
fn released_bin_files() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../senv/tests/data/fast_text");
    let names = ["sent2vec.bin", "skipgram.bin", "cbow-c+w-ngrams.bin", "pruned.ftz", "quantized.ftz"];
    let seeds = names.map(|name| fs::read(data.join(name)).unwrap()).into();
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("m.senv");
    let target = Target { name: "released-bin", seeds, mend: keep, file: "m.bin", rounds: 1600 };
    target.run(|path, is_seed| {
        let written = ReleasedBin::open(path).and_then(|released| released.save(released.tokenizer(), &saved));
        let (opened, is_written) = (Model::open(path), written.is_ok());
        assert!(!is_seed || (is_written && opened.is_ok()), "{written:?} {opened:?}");
        opened.iter().for_each(use_model);
        if is_written {
            use_model(&Model::open_verified(&saved).unwrap());
        }
    });
}

fn release_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../senv/tests/data/released_skip_thoughts")
}

#[test]
fn matrices() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.npy");
    write_npy(&path, &Table::from_vec(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap()).unwrap();
    let f4 = fs::read(&path).unwrap();
    let of_type = |dtype: &str, order: &str| {
        let text = String::from_utf8_lossy(&f4[10..]).into_owned();
        let header = text.split('\n').next().unwrap().replace("<f4", dtype).replace("False", order);
        [&f4[..10], header.as_bytes(), b"\n", &[0x3f; 48]].concat()
    };
    let mut seeds =
        vec![of_type("<f8", "True "), of_type(">f8", "False"), fs::read(release_folder().join("utable.npy")).unwrap()];
    seeds.push(f4);
    let target = Target { name: "matrices", seeds, mend: keep, file: "m.npy", rounds: 20_000 };
    target.run(|path, _| {
        let _ = read_npy(path).is_ok();
        let bytes = fs::read(path).unwrap();
        let _ = read_npy_stream(&bytes[..], bytes.len() as u64, "m").is_ok();
    });
}

#[test]
fn released_skip_thoughts() {
    for (name, rounds) in
        [("dictionary.txt", 5000), ("utable.npy", 6000), ("uni_skip.npz", 4500), ("bi_skip.npz", 3000)]
    {
        let release = tempfile::tempdir().unwrap();
        for file in fs::read_dir(release_folder()).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), release.path().join(file.file_name())).unwrap();
        }
        let seeds = vec![fs::read(release_folder().join(name)).unwrap()];
        let target = Target { name, seeds, mend: keep, file: name, rounds };
        target.run(|path, is_seed| {
            let damaged = release.path().join(name);
            fs::remove_file(&damaged).unwrap();
            fs::copy(path, damaged).unwrap();
            let model = SkipThought::open_release(release.path(), Tokenizer::words());
            assert!(!is_seed || model.is_ok());
            if let Ok(model) = model {
                use_model(&model.into());
            }
        });
    }
}

#[test]
fn data_sets() {
    let samples = samples();
    let names = ["pairs.tsv", "phrases.tsv", "scored.tsv", "labelled.tsv", "sts.tsv"];
    let start =
        |name: &str| samples.read(name).split_inclusive(|&byte| byte == b'\n').take(12).flatten().copied().collect();
    let mut seeds: Vec<Vec<u8>> = names.map(start).into();
    seeds.push(
        b"pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n1\ta\tb\t4.5\tNEUTRAL\n".to_vec(),
    );
    seeds.push(
        b"main-captions\tMSRvid\t2012test\t0001\t5.000\tA plane is taking off.\tAn air plane is taking off.\n".to_vec(),
    );
    seeds.push(b"1\ta caption\n1\tanother\n2\tthe cat sat\n2\ta cat sits\n".to_vec());
    seeds.push(gzip(&seeds[0]));
    let coco = r#"{"images": [], "annotations": [{"image_id": 7, "id": 2, "caption": "A cat sits."}, {"image_id": 7, "id": 1, "caption": "The cat sat."}]}"#;
    seeds.push(coco.into());
    let target = Target { name: "data-sets", seeds, mend: keep, file: "d.tsv", rounds: 2000 };
    target.run(|path, _| {
        let _ = (StsTask::read(path).is_ok(), StsTask::read_tsv(path).is_ok(), StsTask::read_stsb(path).is_ok());
        let _ = (StsTask::read_semeval(path, path).is_ok(), SickSet::read(path).is_ok(), NliSet::read(path).is_ok());
        let _ =
            (SentenceGroups::read(path).is_ok(), ParaphraseSet::read(path).is_ok(), ScoredPairs::read(path).is_ok());
        let _ = HeldOut::read(&[path]).is_ok();
        for kind in [PairKind::Pairs, PairKind::Captions, PairKind::Nli, PairKind::Neighbours, PairKind::Halves] {
            let input = PairInput { path: path.to_owned(), kind, weight: None };
            let _ =
                PairData::read(&[input], &PairOptions { threads: 1, ..PairOptions::default() }, &NoObserver).is_ok();
        }
    });
}

#[test]
fn entailment_in_json_lines() {
    let line = |label: &str| {
        format!(
            "{{\"annotator_labels\": [\"{label}\"], \"gold_label\": \"{label}\", \"sentence1\": \"A man \\u00e9 sits.\", \
             \"sentence2\": \"Nobody \\\"sits\\\".\"}}\n"
        )
    };
    let lines = ["entailment", "neutral", "contradiction", "-"].map(line).concat();
    let seeds = vec![gzip(lines.as_bytes()), lines.into_bytes()];
    let target = Target { name: "json-lines", seeds, mend: keep, file: "d.jsonl", rounds: 20_000 };
    target.run(|path, is_seed| {
        let read = NliSet::read(path);
        assert!(!is_seed || read.is_ok());
    });
}

#[test]
fn tables() {
    let csv = "id,text\r\n1,\"A \"\"cat\"\", who\r\nsat.\"\r\n\r\n2,A dog.\n";
    let json = "{\"text\":\"A \\\"cat\\\"\"}\n\n{\"a\":{\"text\":1},\"text\":null}\n";
    let array = "[{\"text\":\"A [cat]\\\"\"},\n {\"a\":{\"text\":1},\"text\":null} ,{\"text\":\"b\"}]\n";
    for (name, seed) in [
        ("t.csv", csv),
        ("t.csv", "id;text\n1;\"A; cat\"\n2;A dog.\n"),
        ("t.tsv", "id\ttext\r\n1\t\"A cat\", who\r\n\r\n2\tA dog.\n"),
        ("t.jsonl", json),
        ("t.json", array),
    ] {
        let seeds = vec![gzip(seed.as_bytes()), seed.as_bytes().to_vec()];
        let target = Target { name: "tables", seeds, mend: keep, file: name, rounds: 2500 };
        target.run(|path, is_seed| {
            let table = Some(senv_core::text::TableText::column("text"));
            let options = TextOptions { table: table.clone(), max_line_bytes: 10_000, ..TextOptions::default() };
            let read = TextReader::open(&[path], &options).and_then(|mut reader| {
                while let Some(line) = reader.next_line()? {
                    assert!(!line.text.contains(['\n', '\r']));
                }
                Ok(())
            });
            assert!(!is_seed || read.is_ok(), "{read:?}");
            // Bad records are left out, and each line is of a later record than the one before.
            let bad_records = Some(senv_core::text::BadRecords::up_to(1000));
            let leaving_out = table.clone().map(|table| senv_core::text::TableText { bad_records, ..table });
            let options = TextOptions { table: leaving_out, ..options };
            let _ = TextReader::open(&[path], &options).and_then(|mut reader| {
                let mut last = None;
                while let Some(line) = reader.next_line()? {
                    assert!(line.record > last, "{last:?} {:?}", line.record);
                    last = line.record;
                }
                Ok(())
            });
            let options = senv_core::CorpusOptions { table, min_count: 1, threads: 2, ..Default::default() };
            let _ = Corpus::read(&[path.to_owned()], &options, &NoObserver).is_ok();
        });
    }
}

#[test]
fn text() {
    let plain = crate::common::text(40).into_bytes();
    let seeds = vec![gzip(&plain), zstd(&plain), [gzip(&plain[..500]), gzip(&plain[500..])].concat(), plain];
    let target = Target { name: "text", seeds, mend: keep, file: "t", rounds: 1000 };
    target.run(|path, is_seed| {
        for invalid_utf8 in [InvalidUtf8::Error, InvalidUtf8::Replace] {
            let options = TextOptions { invalid_utf8, max_line_bytes: 10_000, ..TextOptions::default() };
            let read = TextReader::open(&[path], &options).and_then(|mut reader| {
                while reader.next_line()?.is_some() {}
                Ok(())
            });
            assert!(!is_seed || read.is_ok());
            for split in [Split::Lines, Split::Paragraphs] {
                let options = TextOptions { split: Some(split), ..options.clone() };
                let read = TextReader::open(&[path], &options).and_then(|mut reader| {
                    while let Some(line) = reader.next_line()? {
                        assert!(!line.text.contains('\n') && line.number > 0);
                    }
                    Ok(())
                });
                assert!(!is_seed || read.is_ok());
            }
            let options = senv_core::CorpusOptions { invalid_utf8, min_count: 1, threads: 2, ..Default::default() };
            let _ = Corpus::read(&[path.to_owned()], &options, &NoObserver).is_ok();
        }
    });
}

#[test]
fn trees() {
    let plain =
        b"(S (NP (DT the) (NN cat)) (VP (VBZ sleeps) (-LRB- -LRB-)))\n( (S\n (NP (-NONE- *)) (X a\\/b)))(Y y)\n"
            .to_vec();
    let seeds = vec![gzip(&plain), zstd(&plain), "(".repeat(5000).into_bytes(), plain];
    let n_seeds = seeds.len();
    let target = Target { name: "trees", seeds, mend: keep, file: "t", rounds: 6000 };
    let mut whole = 0;
    target.run(|path, is_seed| {
        let read = senv_data::TreeReader::open(&[path], &TextOptions::default()).and_then(|mut reader| {
            while let Some(tree) = reader.next_tree()? {
                let n = tree.words.len() as u32;
                assert!(tree.spans.iter().all(|&(start, end)| start <= end && end <= n));
                assert!(tree.spans.last().is_some_and(|&last| last == (0, n)), "the tree itself");
            }
            Ok(())
        });
        whole += usize::from(is_seed && read.is_ok());
        let mut params = senv::CPhraseParams { dim: 4, min_count: Some(1), ..Default::default() };
        let text = [path.to_path_buf()];
        let _ = senv::System::read_input(&mut params, &text[..], senv::Start::Random, &TrainOptions::default()).is_ok();
    });
    assert_eq!(whole, n_seeds - 1, "brackets that only open are no tree");
}

#[test]
fn model2vec_folders() {
    let folder = Folder::new();
    bring(&folder, "word2vec-cbow");
    folder.run(&["convert", "word2vec-cbow.senv", "m2v", "--to", "model2vec", "--quiet"]).ok();
    let own: serde_json::Value = serde_json::from_slice(&folder.read("m2v/tokenizer.json")).unwrap();
    let mut bert = own.clone();
    bert["normalizer"] = serde_json::json!({ "type": "BertNormalizer", "strip_accents": null });
    bert["pre_tokenizer"] = serde_json::json!({ "type": "BertPreTokenizer" });
    bert["model"]["type"] = "WordPiece".into();
    let open = || Model::open(folder.path("m2v"));
    for (name, rounds) in [("tokenizer.json", 500), ("model.safetensors", 250), ("config.json", 600)] {
        let (place, kept) = (folder.path("m2v").join(name), folder.read(&format!("m2v/{name}")));
        let mut seeds = vec![kept.clone()];
        if name == "tokenizer.json" {
            seeds.push(bert.to_string().into_bytes());
        }
        let target = Target { name: "model2vec", seeds, mend: keep, file: name, rounds };
        target.run(|path, is_seed| {
            fs::copy(path, &place).unwrap();
            let model = open();
            assert!(!is_seed || model.is_ok(), "{model:?}");
            if let Ok(model) = model {
                use_model(&model);
            }
        });
        fs::write(&place, kept).unwrap();
    }
}
