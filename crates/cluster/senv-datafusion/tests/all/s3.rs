//! Compares models and tables in a bucket with those in a folder.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::{Receiver, channel},
};

use senv::{Model, average::AverageEncoder, write_model2vec};
use senv_core::{Tokenizer, Vocabulary};
use senv_datafusion::Centroids;

use crate::{
    encode::inputs,
    processes::{Cluster, LONGEST, failure as failure_of_folder, free_port, program, stdout, wait_for},
    s3_server::{Server, failure},
    support::write_parquet,
};

/// Writes different models (one of them a folder), centroids, and files that are neither.
fn models(folder: &Path, weight: f64) {
    let english = senv::english().unwrap().with_order_weight(weight).unwrap();
    english.save(folder.join("m.senv")).unwrap();
    let vocabulary = Vocabulary::from_counts([("rain", 2), ("dog", 1)], 3).unwrap();
    let words = AverageEncoder::random(&Tokenizer::words(), &vocabulary, &["rain", "dog"], 8, 1).unwrap();
    write_model2vec(&Model::from(words), &folder.join("small words")).unwrap();
    let values = ["rain", "a dog", "the bank"].iter().flat_map(|text| english.encode_one(text).to_vec()).collect();
    Centroids::new("three", english.dim(), values).unwrap().save(folder.join("three.centroids")).unwrap();
    fs::write(folder.join("README.md"), "what these are").unwrap();
    fs::write(folder.join(".hidden"), "and this").unwrap();
}

#[test]
fn models_of_a_bucket_are_those_of_the_folder() {
    let server = Server::start();
    let folder = server.folder("bucket/some/models");
    models(&folder, 0.5);
    let folder = folder.to_str().unwrap();
    for url in ["s3://bucket/some/models", "s3://bucket/some/models/"] {
        // The message contains the names and digests of all models.
        let absent = "SELECT embed('rain', 'absent')";
        let expected = failure_of_folder(&[absent, "--models", folder]);
        assert!(expected.contains("\"m\"") && expected.contains("\"small words\""), "{expected}");
        assert_eq!(server.failure(&[absent, "--models", url]), expected);
    }
    let query = "SELECT embed(text, 'm') AS a, embed(text, 'small words') AS b, embed(text) AS c, cell(embed(text), 'three') AS d
                 FROM (VALUES ('A storm brings rain.'), ('dog'), ('')) AS t(text)";
    let expected = stdout(&[query, "--models", folder, "--format", "json"]);
    assert_eq!(server.stdout(&[query, "--models", "s3://bucket/some/models", "--format", "json"]), expected);
    assert_eq!(fs::read_dir(server.temporary()).unwrap().count(), 0, "a temporary folder was left behind");
}

#[test]
fn a_bad_model_is_named_by_its_url() {
    let server = Server::start();
    fs::write(server.folder("bucket/bad").join("x.senv"), "no model").unwrap();
    let message = server.failure(&["SELECT 1", "--models", "s3://bucket/bad/"]);
    assert!(message.contains("s3://bucket/bad/x.senv"), "{message}");
    assert_eq!(fs::read_dir(server.temporary()).unwrap().count(), 0, "a temporary folder was left behind");
}

#[test]
fn errors_name_the_url_and_the_remedy() {
    let server = Server::start();
    let folder = server.folder("bucket/models");
    fs::write(folder.join("a.txt"), "a").unwrap();
    write_parquet(&server.folder("bucket/tables").join("t.parquet"), 0, &[Some("rain")], 10);
    let unreachable = format!("http://127.0.0.1:{}", free_port());
    let nowhere = server.environment_with("AWS_ENDPOINT_URL", &unreachable);
    let refused = server.environment_with("AWS_SECRET_ACCESS_KEY", "another");
    let tls = server.environment_with("AWS_ALLOW_HTTP", "false");
    let mut nobody = server.environment_with("AWS_METADATA_ENDPOINT", &unreachable);
    nobody.retain(|(name, _)| !name.ends_with("_KEY") && !name.ends_with("_KEY_ID"));
    let ours = server.environment();
    let cases: [(_, _, &[&str]); 7] = [
        (&ours, "s3://absent/tables/t.parquet", &["no such bucket", "AWS_ENDPOINT_URL"]),
        (&refused, "s3://bucket/tables/t.parquet", &["rejected the credentials", "AWS_SECRET_ACCESS_KEY"]),
        (&nowhere, "s3://bucket/tables/t.parquet", &["no answer from", &unreachable, "AWS_ENDPOINT_URL"]),
        (&nobody, "s3://bucket/tables/t.parquet", &["no credentials", "AWS_ACCESS_KEY_ID"]),
        (&tls, "s3://bucket/tables/t.parquet", &["AWS_ALLOW_HTTP=true"]),
        (&ours, "s3:///tables", &["the bucket is missing"]),
        (&ours, "gs://bucket/tables", &["s3://BUCKET/PATH"]),
    ];
    for (environment, url, parts) in cases {
        for arguments in [["SELECT 1", "--models", url], ["SELECT 1", "--table", &format!("t={url}")]] {
            let message = failure(environment, &arguments);
            assert!(
                message.contains(url) && parts.iter().all(|part| message.contains(part)),
                "{arguments:?}: {message}"
            );
        }
    }
    let message = server.failure(&["SELECT 1", "--models", "s3://bucket/nothing"]);
    assert!(message.contains("s3://bucket/nothing: it is empty; give the folder with the models"), "{message}");
    let message = server.failure(&["SELECT 1", "--table", "t=s3://bucket/nothing"]);
    assert!(message.contains("s3://bucket/nothing: no such object or folder of objects"), "{message}");
}

/// A server that lists an object but never sends it, and a receiver that reports the request for it.
fn server_that_hangs() -> (String, Receiver<()>) {
    const LISTING: &str = "<ListBucketResult><Contents><Key>models/a.senv</Key><Size>100000</Size><ETag>a</ETag>
        <LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents></ListBucketResult>";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (asked, hears) = channel();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        while let Ok((mut connection, _)) = listener.accept() {
            let mut request = String::new();
            BufReader::new(&connection).read_line(&mut request).unwrap();
            if request.contains("list-type=2") {
                let n = LISTING.len();
                write!(connection, "HTTP/1.1 200 OK\r\nContent-Length: {n}\r\nConnection: close\r\n\r\n{LISTING}")
                    .unwrap();
            } else if asked.send(()).is_err() {
                return;
            }
            open.push(connection);
        }
    });
    (endpoint, hears)
}

#[test]
#[cfg(unix)]
fn a_signal_while_models_are_fetched_leaves_nothing_behind() {
    let server = Server::start();
    let (endpoint, asked) = server_that_hangs();
    let mut program = program(&server.environment_with("AWS_ENDPOINT_URL", &endpoint));
    let arguments = ["executor", "--models", "s3://bucket/models"];
    let mut process = program.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let files = || fs::read_dir(server.temporary()).unwrap().count();
    asked.recv_timeout(LONGEST).unwrap();
    assert_eq!(files(), 1);
    let killed = Command::new("kill").args(["-TERM", &process.id().to_string()]).status().unwrap();
    assert!(killed.success());
    wait_for("the end of the program", || process.try_wait().unwrap().is_some());
    assert_eq!(files(), 0, "a temporary folder was left behind");
}

#[test]
fn tables_of_a_bucket_are_those_of_the_folder() {
    let server = Server::start();
    let folder = server.folder("bucket/tables");
    inputs(&folder, 3, 400);
    fs::write(server.folder("bucket/lines").join("a.jsonl"), "{\"id\": 1, \"text\": \"rain\"}\n").unwrap();
    let query = "SELECT id, embed(text) AS v, tokens(text) AS w FROM t WHERE id % 3 = 0 ORDER BY id";
    let pairs =
        [("tables/01.parquet", "tables/01.parquet"), ("tables", "tables"), ("tables", "tables/"), ("lines", "lines")];
    for (path, of_url) in pairs {
        let [of_folder, of_url] =
            [format!("t={}", server.folder("bucket").join(path).display()), format!("t=s3://bucket/{of_url}")];
        let query = if path == "lines" { "SELECT * FROM t" } else { query };
        let expected = stdout(&[query, "--table", &of_folder, "--format", "json"]);
        assert!(expected.lines().count() > 0);
        assert_eq!(server.stdout(&[query, "--table", &of_url, "--format", "json"]), expected, "{of_url}");
    }
    let statements = "CREATE EXTERNAL TABLE u STORED AS PARQUET LOCATION 's3://bucket/tables/00.parquet';
        SELECT count(*) AS n FROM u;";
    fs::write(server.folder("statements").join("a.sql"), statements).unwrap();
    let input = fs::File::open(server.folder("statements").join("a.sql")).unwrap();
    let output = program(&server.environment()).args(["--format", "json"]).stdin(input).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"n\":400}\n", "{}", String::from_utf8_lossy(&output.stderr));
    let message = server.failure(&["SELECT 1", "--table", "t=s3://bucket/tables/*.parquet"]);
    assert!(message.contains("patterns with * work only for local files"), "{message}");
    let message = server.failure(&["encode", "--input", "s3://bucket/tables", "--output", "vectors"]);
    assert!(message.contains("s3://bucket/tables: encode reads and writes files"), "{message}");
}

#[test]
fn a_cluster_over_a_bucket_gives_the_bits_of_one_process_over_a_folder() {
    let server = Server::start();
    let folder = server.folder("bucket/models");
    models(&folder, 0.5);
    let tables = server.folder("bucket/tables");
    inputs(&tables, 4, 400);
    let url = "s3://bucket/models";
    let cluster = Cluster::start_with(&server.environment(), 2, Some(Path::new(url)), None);
    let address = cluster.address();
    for query in [
        "SELECT id, embed(text, 'm') AS v, cell(embed(text, 'm'), 'three') AS c FROM t ORDER BY id",
        "SELECT a.id, cosine(embed(a.text, 'm'), embed(b.text, 'm')) AS c FROM t AS a JOIN t AS b ON a.id + 801 = b.id ORDER BY a.id",
    ] {
        let of_folder = format!("t={}", tables.display());
        let one = stdout(&[query, "--table", &of_folder, "--models", folder.to_str().unwrap(), "--format", "json"]);
        let arguments =
            [query, "--table", "t=s3://bucket/tables", "--models", url, "--format", "json", "--cluster", &address];
        let many = server.stdout(&arguments);
        assert!(one.lines().count() > 0 && one == many, "{query}: {} and {} bytes", one.len(), many.len());
    }
    // No process kept a folder of models. Executors have folders for what tasks leave for later ones.
    let left = fs::read_dir(server.temporary()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with("senv-models-")));
}

#[test]
fn an_executor_whose_bucket_has_another_model_refuses() {
    let server = Server::start();
    models(&server.folder("ours/models"), 0.5);
    models(&server.folder("theirs/models"), 0.7);
    write_parquet(&server.folder("ours/tables").join("t.parquet"), 0, &[Some("rain")], 10);
    let [ours, theirs] = ["s3://ours/models", "s3://theirs/models"];
    let cluster = Cluster::start_with(&server.environment(), 1, Some(Path::new(ours)), Some(Path::new(theirs)));
    let query = ["SELECT embed(text, 'm') FROM t", "--table", "t=s3://ours/tables/t.parquet", "--models", ours];
    let message = server.failure(&[&query[..], &["--cluster", &cluster.address()]].concat());
    let digest = |bucket: &str| senv::model::model_digest(server.folder(bucket).join("models/m.senv")).unwrap();
    let parts = ["embed: argument model".to_owned(), digest("ours"), digest("theirs")];
    assert!(parts.iter().all(|part| message.contains(part.as_str())), "{message}");
}
