//! kube-rs as its documentation uses it: a typed client, a watcher, a reflector and a controller with its user.
//!
//! Prints one line for each scenario; the first failure ends it. The server is that of $KUBECONFIG.

mod controller;
mod objects;
mod watching;

use anyhow::{Context, Result};
use futures::Future;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::PostParams;
use kube::{Api, Client};
use std::time::Duration;
use tokio::time::{sleep, timeout};

pub const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until a condition holds.
pub async fn until<F: Future<Output = Result<bool>>>(
    what: &str,
    mut condition: impl FnMut() -> F,
) -> Result<()> {
    let wait = async {
        while !condition().await? {
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    };
    timeout(PATIENCE, wait).await.with_context(|| format!("{what}: not within {PATIENCE:?}"))?
}

#[tokio::main]
async fn main() -> Result<()> {
    let client = Client::try_default().await?;
    let namespace = format!("kube-rs-{}", std::process::id());
    let named = serde_json::from_value(serde_json::json!({ "metadata": { "name": namespace } }))?;
    Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &named).await?;
    objects::play(&client, &namespace).await.context("objects")?;
    println!("ok objects");
    watching::watch(&client, &namespace).await.context("watcher")?;
    println!("ok watcher");
    watching::reflect(&client, &namespace).await.context("reflector")?;
    println!("ok reflector");
    controller::play(&client, &namespace).await.context("controller")?;
    println!("ok controller");
    Ok(())
}
