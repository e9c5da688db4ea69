//! A server of the S3 protocol for a folder, inside the test process.

use std::{
    path::{Path, PathBuf},
    process::Output,
};

use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use s3s::{auth::SimpleAuth, service::S3ServiceBuilder};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::{net::TcpListener, runtime::Runtime};

use crate::processes::{Environment, program};

/// The credentials that the server accepts.
const KEY: &str = "a key";
const SECRET: &str = "a secret";

/// Buckets until the test ends, each a folder in [`Server::folder`].
pub(crate) struct Server {
    folder: TempDir,
    temporary: TempDir,
    endpoint: String,
    _runtime: Runtime,
}

impl Server {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut service = S3ServiceBuilder::new(FileSystem::new(folder.path()).unwrap());
        service.set_auth(SimpleAuth::from_single(KEY, SECRET));
        let service = service.build();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let service = service.clone();
                tokio::spawn(async move {
                    let server = auto::Builder::new(TokioExecutor::new());
                    // A client that disconnects is not an error of the server.
                    let _ = server.serve_connection(TokioIo::new(connection), service).await;
                });
            }
        });
        Self { folder, temporary: tempfile::tempdir().unwrap(), endpoint, _runtime: runtime }
    }

    /// The folder of a path `BUCKET/PREFIX`.
    pub(crate) fn folder(&self, path: &str) -> PathBuf {
        let folder = self.folder.path().join(path);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// The variables that a process needs to reach the server. Temporary files go to [`Server::temporary`].
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ACCESS_KEY_ID", KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
            ("AWS_REGION", "eu-central-1".to_owned()),
            ("AWS_ENDPOINT_URL", self.endpoint.clone()),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("TMPDIR", self.temporary().to_str().unwrap().to_owned()),
        ]
    }

    /// The variables of [`Server::environment`], with a different value for one of them.
    pub(crate) fn environment_with(&self, name: &'static str, value: &str) -> Vec<(&'static str, String)> {
        let mut environment = self.environment();
        environment.retain(|variable| variable.0 != name);
        environment.push((name, value.to_owned()));
        environment
    }

    /// The folder for temporary files of the processes.
    pub(crate) fn temporary(&self) -> &Path {
        self.temporary.path()
    }

    /// The output of a run that must succeed.
    pub(crate) fn stdout(&self, arguments: &[&str]) -> String {
        let output = run(&self.environment(), arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The message of a run that must fail.
    pub(crate) fn failure(&self, arguments: &[&str]) -> String {
        failure(&self.environment(), arguments)
    }
}

/// The message of a run that must fail, in this environment.
pub(crate) fn failure(environment: &Environment, arguments: &[&str]) -> String {
    let output = run(environment, arguments);
    assert!(!output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

/// Runs the program without the settings of the machine.
fn run(environment: &Environment, arguments: &[&str]) -> Output {
    let mut program = program(environment);
    for (name, _) in std::env::vars_os() {
        let is_ours = || environment.iter().any(|variable| name == variable.0);
        if name.to_string_lossy().starts_with("AWS_") && !is_ours() {
            program.env_remove(name);
        }
    }
    program.args(arguments).output().unwrap()
}
