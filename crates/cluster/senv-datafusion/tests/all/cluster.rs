//! Runs a scheduler and two executors as separate processes, and kills some of them.

use std::{collections::HashMap, fs, path::PathBuf, thread::sleep, time::Duration};

use crate::{
    encode::{inputs, read, write_bytes},
    processes::{Cluster, failure, finished, start, stdout, wait_for},
    support::write_parquet,
};

#[test]
fn a_cluster_gives_the_bits_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    inputs(&input, 4, 1500);
    let cluster = Cluster::start(2, None, None);
    let (table, address) = (format!("t={}", input.display()), cluster.address());
    let queries = [
        "SELECT id, embed(text) AS v, tokens(text) AS w, coverage(text) AS c, similarity(text, 'The rain is near.') AS s
         FROM t WHERE id % 7 < 3 ORDER BY id",
        "SELECT a.id, b.id AS other, cosine(embed(a.text), embed(b.text)) AS c
         FROM t AS a JOIN t AS b ON a.id + 3001 = b.id ORDER BY a.id",
        "SELECT near_pairs(id, embed(text), 0.97) AS pairs FROM t WHERE id < 400",
    ];
    for query in queries {
        let one = stdout(&[query, "--table", &table, "--format", "json"]);
        let many = stdout(&[query, "--table", &table, "--format", "json", "--cluster", &address]);
        assert!(one.lines().count() > 0 && one == many, "{query}: {} and {} bytes", one.len(), many.len());
    }
    let outputs = ["one", "many"].map(|name| folder.path().join(name));
    let [one, many] = outputs.each_ref().map(|path| path.to_str().unwrap());
    let input = input.to_str().unwrap();
    stdout(&["encode", "--input", input, "--output", one]);
    stdout(&["encode", "--input", input, "--output", many, "--cluster", &address]);
    let [one, many] = outputs.each_ref().map(|path| finished(path));
    assert!(one.len() == 4 && many.len() == 4);
    for (one, many) in one.iter().zip(&many) {
        assert_eq!(read(one), read(many));
    }
}

/// Asks a cluster of two executors to compare each of 8,000 sentences with every `STEP`th, and kills one executor. The
/// answer must still arrive and equal that of a single process.
fn kill_an_executor<const STEP: usize>() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    inputs(&input, 8, 1000);
    let mut cluster = Cluster::start(2, None, None);
    let (table, address) = (format!("t={}", input.display()), cluster.address());
    let query = format!(
        "SELECT count(*) AS n, sum(CAST(similarity(a.text, concat(b.text, ' Then it rains.')) * 1000000 AS BIGINT)) AS s
         FROM t AS a CROSS JOIN (SELECT text FROM t WHERE id % {STEP} = 7) AS b"
    );
    let arguments = [&query, "--table", &table, "--format", "csv"];
    let expected = stdout(&arguments);
    let start_seconds = cluster.executors[0].cpu_seconds();
    let job = start(&[&arguments[..], &["--cluster", &address]].concat());
    wait_for("an executor at work", || cluster.executors[0].cpu_seconds() > start_seconds + 0.3);
    cluster.executors[0].kill();
    let output = job.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn the_tasks_of_an_executor_that_is_killed_are_done_by_the_other() {
    kill_an_executor::<400>();
}

/// The task is cancelled when the other executor counts as lost, and by then Ballista has forgotten it.
#[test]
fn a_task_that_outlives_an_executor_does_not_keep_its_slot() {
    kill_an_executor::<50>();
}

#[test]
fn a_job_goes_on_after_its_scheduler_was_killed_and_repeats_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    inputs(&input, 12, 3000);
    let mut cluster = Cluster::start(2, None, None);
    let address = cluster.address();
    let arguments = [
        "encode",
        "--input",
        input.to_str().unwrap(),
        "--output",
        output.to_str().unwrap(),
        "--cluster",
        &address,
        "--jobs",
        "2",
    ];
    let job = start(&arguments);
    wait_for("three finished files", || finished(&output).len() >= 3);
    cluster.kill_scheduler();
    let times = || -> HashMap<PathBuf, _> {
        let time = |path: &PathBuf| fs::metadata(path).unwrap().modified().unwrap();
        finished(&output).into_iter().map(|path| (path.clone(), time(&path))).collect()
    };
    let before = times();
    assert!(before.len() < 12, "it was too fast for this test");
    sleep(Duration::from_secs(1));
    cluster.restart_scheduler();
    let result = job.wait_with_output().unwrap();
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    let after = times();
    assert_eq!(after.len(), 12);
    assert!(before.iter().all(|(path, time)| after[path] == *time));
    let plain = folder.path().join("plain");
    stdout(&["encode", "--input", input.to_str().unwrap(), "--output", plain.to_str().unwrap()]);
    for (found, expected) in finished(&output).iter().zip(finished(&plain)) {
        assert_eq!(read(found), read(&expected));
    }
}

#[test]
fn a_poisoned_row_is_named_by_a_cluster_too() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    fs::create_dir(&input).unwrap();
    write_parquet(&input.join("a.parquet"), 0, &[Some("rain"), Some("sun")], 10);
    write_bytes(&input.join("b.parquet"), &[b"rain", b"wind \xff\xfe"]);
    let cluster = Cluster::start(1, None, None);
    let address = cluster.address();
    let arguments =
        ["encode", "--input", input.to_str().unwrap(), "--output", output.to_str().unwrap(), "--cluster", &address];
    let message = failure(&arguments);
    assert!(message.contains("b.parquet: row 2") && message.contains("not UTF-8"), "{message}");
}

#[test]
fn an_executor_with_another_model_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, theirs, output] = ["ours", "theirs", "out"].map(|name| folder.path().join(name));
    let english = senv::english().unwrap();
    for (models, weight) in [(&ours, 0.5), (&theirs, 0.7)] {
        fs::create_dir(models).unwrap();
        english.with_order_weight(weight).unwrap().save(models.join("m.senv")).unwrap();
    }
    let [our_digest, their_digest] =
        [&ours, &theirs].map(|models| senv::model::model_digest(models.join("m.senv")).unwrap());
    assert_ne!(our_digest, their_digest);
    let input = folder.path().join("in.parquet");
    write_parquet(&input, 0, &[Some("rain")], 10);
    let cluster = Cluster::start(1, Some(&ours), Some(&theirs));
    let (address, table) = (cluster.address(), format!("t={}", input.display()));
    let models = ours.to_str().unwrap();
    let encode = failure(&[
        "encode",
        "--input",
        input.to_str().unwrap(),
        "--output",
        output.to_str().unwrap(),
        "--model",
        "m",
        "--models",
        models,
        "--cluster",
        &address,
    ]);
    let query = ["SELECT embed(text, 'm') FROM t", "--table", &table, "--models", models, "--cluster", &address];
    for message in [encode, failure(&query)] {
        let parts = ["embed: argument model", &our_digest, &their_digest];
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}
