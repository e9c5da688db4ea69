//! An HTTP service with one model. At most as many requests are encoded at the same time as there are cores, and a
//! shutdown finishes open requests.
//!
//! ```text
//! cargo run --release -p senv-examples --example server -- 127.0.0.1:8080
//! curl -s 127.0.0.1:8080/similarity -H 'content-type: application/json' -d '["Rain is coming.", "A storm brings rain."]'
//! ```
#![allow(clippy::print_stdout)]
use std::{error::Error, sync::Arc};

use axum::{Json, Router, extract::State, http::StatusCode, routing::post};
use senv::prelude::*;
use tokio::{
    io::AsyncReadExt, io::AsyncWriteExt, net::TcpListener, net::TcpStream, sync::Semaphore, task::spawn_blocking,
};

/// The model, and how many requests may encode at a time: more would only wait for a core and use memory.
type Shared = State<(Model, Arc<Semaphore>)>;

async fn similarity(State((model, cores)): Shared, Json([a, b]): Json<[String; 2]>) -> Result<Json<f32>, StatusCode> {
    let _core = cores.acquire().await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    // The threads of the runtime must not block, so this runs on others. A panic becomes an error here.
    let cosine = spawn_blocking(move || model.similarity(&a, &b)).await;
    Ok(Json(cosine.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?))
}

async fn embed(
    State((model, cores)): Shared,
    Json(texts): Json<Vec<String>>,
) -> Result<Json<Vec<Vec<f32>>>, StatusCode> {
    let _core = cores.acquire().await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    let vectors = spawn_blocking(move || model.normalized().encode(&texts)).await;
    let vectors = vectors.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    Ok(Json(vectors.outer_iter().map(|row| row.to_vec()).collect()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1);
    let cores = Arc::new(Semaphore::new(std::thread::available_parallelism()?.get()));
    let routes = Router::new().route("/similarity", post(similarity)).route("/embed", post(embed));
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:0")).await?;
    let here = listener.local_addr()?;
    println!("http://{here}");
    let end = async move {
        match address {
            Some(_) => drop(tokio::signal::ctrl_c().await), // open requests are answered
            None => ask(here).await.expect("an answer of 200"),
        }
    };
    let routes = routes.with_state((english()?, cores));
    Ok(axum::serve(listener, routes).with_graceful_shutdown(end).await?)
}

/// Without an address, the program sends itself a request and exits.
async fn ask(server: std::net::SocketAddr) -> Result<(), Box<dyn Error>> {
    let (mut stream, body) = (TcpStream::connect(server).await?, r#"["Rain is coming.", "A storm brings rain."]"#);
    let head = "POST /similarity HTTP/1.1\r\nhost: senv\r\nconnection: close\r\ncontent-type: application/json";
    stream.write_all(format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    println!("{answer}");
    if answer.starts_with("HTTP/1.1 200") { Ok(()) } else { Err("it was refused".into()) }
}
