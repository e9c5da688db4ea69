//! Removes temporary files on SIGINT, SIGTERM and Ctrl-C, which would otherwise leave them behind.

use datafusion::error::Result;

use crate::cluster::failed;

/// Exit status of an interrupted program, as shells report it.
const INTERRUPTED: i32 = 130;

/// Runs work that creates temporary files. A signal ends it early with an error, and its files are removed.
pub(crate) async fn guard<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::select! {
        // Poll for signals first.
        biased;
        () = signal() => Err(failed("interrupted")),
        done = work => done,
    }
}

/// Exits the process at the `n`th signal from now on. A process that has asked for signals is no longer ended by them
/// automatically.
pub(crate) fn exit_at(n: usize) {
    tokio::spawn(async move {
        for _ in 0..n {
            signal().await;
        }
        std::process::exit(INTERRUPTED);
    });
}

/// Waits for a signal that ends a program. Never returns on systems without signals.
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
