//! Addresses of processes, and conversion of Ballista's errors.

use std::{net::TcpListener, str::FromStr};

use datafusion::error::DataFusionError;

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (host, port) = text.rsplit_once(':').ok_or("must be HOST:PORT")?;
        let port = port.parse().map_err(|_| format!("{port:?} is not a port"))?;
        if host.is_empty() { Err("the host is missing".into()) } else { Ok(Self { host: host.to_owned(), port }) }
    }
}

impl Address {
    /// The URL of a scheduler, as Ballista expects it.
    pub(crate) fn url(&self) -> String {
        format!("df://{}:{}", self.host, self.port)
    }

    /// Whether a process listens at this address.
    pub(crate) fn answers(&self) -> bool {
        std::net::TcpStream::connect((self.host.as_str(), self.port)).is_ok()
    }
}

/// A port that is free at the time of the call.
pub(crate) fn free_port(host: &str) -> std::io::Result<u16> {
    Ok(TcpListener::bind((host, 0))?.local_addr()?.port())
}

/// Converts an error of Ballista to one of DataFusion.
pub(crate) fn failed(error: impl std::fmt::Display) -> DataFusionError {
    DataFusionError::Execution(error.to_string())
}
