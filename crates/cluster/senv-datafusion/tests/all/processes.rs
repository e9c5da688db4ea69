//! Runs the program as separate processes on loopback.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// A process that is killed when the test ends.
pub(crate) struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Process {
    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// CPU seconds used so far. Tests that kill processes run on Linux only.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
    }
}

/// Environment variables of a process.
pub(crate) type Environment = [(&'static str, String)];

/// The program, with these variables in addition to its own.
pub(crate) fn program(environment: &Environment) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_senv-sql"));
    program.envs(environment.iter().map(|(name, value)| (name, value))).stdin(Stdio::null());
    program
}

/// Runs the program until it exits.
pub(crate) fn run(arguments: &[&str]) -> Output {
    program(&[]).args(arguments).output().unwrap()
}

/// The output of a run that must succeed.
pub(crate) fn stdout(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The message of a run that must fail.
pub(crate) fn failure(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(!output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

/// Starts the program.
pub(crate) fn start(arguments: &[&str]) -> Child {
    program(&[]).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The longest time that a test waits. Anything that takes longer hangs, however busy the machine is.
pub(crate) const LONGEST: Duration = Duration::from_secs(600);

/// Waits until a condition holds.
pub(crate) fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_there() {
        assert!(start.elapsed() < LONGEST, "{what}: not there after ten minutes");
        sleep(Duration::from_millis(20));
    }
}

/// A scheduler and single-threaded executors.
pub(crate) struct Cluster {
    pub(crate) port: u16,
    models: Option<PathBuf>,
    environment: Vec<(&'static str, String)>,
    pub(crate) scheduler: Process,
    pub(crate) executors: Vec<Process>,
}

impl Cluster {
    /// Starts the cluster. Executors may have their own folder of models.
    pub(crate) fn start(n_executors: usize, models: Option<&Path>, of_executors: Option<&Path>) -> Self {
        Self::start_with(&[], n_executors, models, of_executors)
    }

    /// Starts the cluster with environment variables for all its processes; see [`Cluster::start`].
    pub(crate) fn start_with(
        environment: &Environment,
        n_executors: usize,
        models: Option<&Path>,
        of_executors: Option<&Path>,
    ) -> Self {
        let port = free_port();
        let scheduler = scheduler(port, models, environment);
        let address = format!("127.0.0.1:{port}");
        let executor = |_| {
            let mut arguments = vec!["executor", "--scheduler", &address, "--threads", "1"];
            let folder = of_executors.or(models).map(|path| path.to_str().unwrap());
            arguments.extend(folder.iter().flat_map(|folder| ["--models", folder]));
            quiet(&arguments, environment)
        };
        let executors = (0..n_executors).map(executor).collect();
        Self { port, models: models.map(Path::to_owned), environment: environment.to_vec(), scheduler, executors }
    }

    /// `HOST:PORT` of the scheduler.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Kills the scheduler.
    pub(crate) fn kill_scheduler(&mut self) {
        self.scheduler.kill();
        wait_for("a closed port", || TcpStream::connect(("127.0.0.1", self.port)).is_err());
    }

    /// Starts a scheduler to replace one that was killed.
    pub(crate) fn restart_scheduler(&mut self) {
        self.scheduler = scheduler(self.port, self.models.as_deref(), &self.environment);
    }
}

/// A port that is free at the time of the call.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn scheduler(port: u16, models: Option<&Path>, environment: &Environment) -> Process {
    let port_text = port.to_string();
    let mut arguments = vec!["scheduler", "--port", &port_text];
    arguments.extend(models.iter().flat_map(|folder| ["--models", folder.to_str().unwrap()]));
    let process = quiet(&arguments, environment);
    wait_for("the scheduler", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    process
}

fn quiet(arguments: &[&str], environment: &Environment) -> Process {
    let command = &mut program(environment);
    Process(command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

/// Names of the finished files in a folder, in order.
pub(crate) fn finished(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.'));
    paths.sort();
    paths
}
