//! Signals while temporary files are there: SIGINT, SIGTERM and Ctrl-C would leave them behind.

use datafusion::error::Result;

use crate::cluster::failed;

/// How a shell reports a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// Runs what makes temporary files. A signal ends it early with an error, and its files are removed.
pub(crate) async fn guard<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::select! {
        // First of all it asks for signals.
        biased;
        () = signal() => Err(failed("interrupted")),
        done = work => done,
    }
}

/// Ends the process at the `n`th signal from now on: once a process has asked for signals, they do not end it by
/// themselves.
pub(crate) fn exit_at(n: usize) {
    tokio::spawn(async move {
        for _ in 0..n {
            signal().await;
        }
        std::process::exit(INTERRUPTED);
    });
}

/// Waits for a signal that ends a program; for ever where the system has none.
async fn signal() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}
