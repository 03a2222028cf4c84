//! kube-rs's configmapgen_controller: a ConfigMapGenerator gets a ConfigMap with its content, which it owns, and which
//! is repaired; a finalizer cleans up. `play` is the user of the controller.

use crate::until;
use anyhow::{Context as _, Result, ensure};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::finalizer::{self, Event, finalizer};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::watcher::Config;
use kube::{Api, Client, CustomResource, CustomResourceExt, Resource, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::timeout;

const MANAGER: &str = "configmapgenerator.kube-rs.dev";

#[derive(CustomResource, Serialize, Deserialize, Debug, Clone, JsonSchema)]
#[kube(group = "kube-rs.dev", version = "v1", kind = "ConfigMapGenerator", shortname = "cmg", namespaced)]
#[kube(status = "GeneratorStatus")]
struct ConfigMapGeneratorSpec {
    #[schemars(length(min = 1))]
    content: String,
}

#[derive(Serialize, Deserialize, Debug, Clone, JsonSchema)]
struct GeneratorStatus {
    generation: Option<i64>,
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("kube: {0}")]
    Kube(#[from] kube::Error),
    #[error("finalizer: {0}")]
    Finalizer(#[from] Box<finalizer::Error<Failure>>),
}

struct Context {
    client: Client,
    cleaned: AtomicUsize,
}

async fn reconcile(generator: Arc<ConfigMapGenerator>, ctx: Arc<Context>) -> Result<Action, Failure> {
    let namespace = generator.namespace().unwrap_or_default();
    let generators: Api<ConfigMapGenerator> = Api::namespaced(ctx.client.clone(), &namespace);
    finalizer(&generators, MANAGER, generator, |event| async {
        match event {
            Event::Apply(generator) => apply(&generators, &generator, &ctx.client).await,
            Event::Cleanup(_) => {
                ctx.cleaned.fetch_add(1, Ordering::SeqCst);
                Ok(Action::await_change())
            }
        }
    })
    .await
    .map_err(|error| Failure::Finalizer(Box::new(error)))
}

/// Applies the map, and says in the status which generation it is of.
async fn apply(
    generators: &Api<ConfigMapGenerator>,
    generator: &ConfigMapGenerator,
    client: &Client,
) -> Result<Action, Failure> {
    let (name, params) = (generator.name_any(), PatchParams::apply(MANAGER).force());
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &generator.namespace().unwrap_or_default());
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": name, "ownerReferences": [generator.controller_owner_ref(&())] },
        "data": { "content": generator.spec.content },
    });
    maps.patch(&name, &params, &Patch::Apply(map)).await?;
    let status = json!({
        "apiVersion": "kube-rs.dev/v1", "kind": "ConfigMapGenerator",
        "status": { "generation": generator.metadata.generation },
    });
    generators.patch_status(&name, &params, &Patch::Apply(status)).await?;
    Ok(Action::requeue(Duration::from_secs(300)))
}

fn on_error(_: Arc<ConfigMapGenerator>, error: &Failure, _: Arc<Context>) -> Action {
    eprintln!("reconcile: {error}");
    Action::requeue(Duration::from_secs(1))
}

async fn define(client: &Client) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = ConfigMapGenerator::crd();
    let name = definition.name_any();
    definitions.patch(&name, &PatchParams::apply(MANAGER).force(), &Patch::Apply(definition)).await?;
    let established = await_condition(definitions, &name, conditions::is_crd_established());
    timeout(crate::PATIENCE, established).await??;
    Ok(())
}

pub async fn play(client: &Client, namespace: &str) -> Result<()> {
    define(client).await.context("definition")?;
    let generators: Api<ConfigMapGenerator> = Api::namespaced(client.clone(), namespace);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let ctx = Arc::new(Context { client: client.clone(), cleaned: AtomicUsize::new(0) });
    let controller = Controller::new(generators.clone(), Config::default())
        .owns(maps.clone(), Config::default())
        .run(reconcile, on_error, ctx.clone())
        .for_each(async |result| {
            if let Err(error) = result {
                eprintln!("controller: {error}");
            }
        });
    let task = tokio::spawn(controller);

    let refused = generators
        .create(
            &PostParams::default(),
            &ConfigMapGenerator::new("a", ConfigMapGeneratorSpec { content: String::new() }),
        )
        .await;
    ensure!(matches!(&refused, Err(kube::Error::Api(status)) if status.code == 422), "{refused:?}");
    let spec = ConfigMapGeneratorSpec { content: "first".into() };
    let generator = generators.create(&PostParams::default(), &ConfigMapGenerator::new("a", spec)).await?;
    let has = async |content: &str| -> Result<bool> {
        Ok(maps.get_opt("a").await?.and_then(|map| map.data).is_some_and(|data| data["content"] == content))
    };
    until("a map", || has("first")).await?;
    ensure!(
        maps.get("a")
            .await?
            .owner_references()
            .iter()
            .any(|owner| Some(&owner.uid) == generator.meta().uid.as_ref())
    );
    let change = Patch::Merge(json!({ "spec": { "content": "second" } }));
    let changed = generators.patch("a", &PatchParams::default(), &change).await?;
    until("a changed map", || has("second")).await?;
    until("a status", async || {
        let status = generators.get("a").await?.status;
        Ok(status.is_some_and(|status| status.generation == changed.metadata.generation))
    })
    .await?;
    maps.patch("a", &PatchParams::default(), &Patch::Merge(json!({ "data": { "content": "spoilt" } })))
        .await?;
    until("a repaired map", || has("second")).await?;

    generators.delete("a", &DeleteParams::default()).await?;
    until("the end", async || Ok(generators.get_opt("a").await?.is_none())).await?;
    ensure!(ctx.cleaned.load(Ordering::SeqCst) > 0, "the finalizer did not run");
    task.abort();
    Ok(())
}
