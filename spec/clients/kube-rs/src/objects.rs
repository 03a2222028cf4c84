//! Typed objects, as in kube-rs's pod_api and dynamic_api: create, get, patch, apply, list, errors, delete.

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::core::DynamicObject;
use kube::discovery::{self, Scope};
use kube::{Api, Client, Error, ResourceExt};
use serde_json::json;

/// A map with one key.
pub fn config_map(name: &str, key: &str, value: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.into()), ..Default::default() },
        data: Some([(key.to_owned(), value.to_owned())].into()),
        ..Default::default()
    }
}

fn ensure_refused<T>(code: u16, result: kube::Result<T>) -> Result<()> {
    match result {
        Err(Error::Api(status)) => Ok(ensure!(status.code == code, "not refused with {code}: {status:?}")),
        Err(other) => Err(other.into()),
        Ok(_) => anyhow::bail!("not refused with {code}"),
    }
}

pub async fn play(client: &Client, namespace: &str) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let created = maps.create(&PostParams::default(), &config_map("one", "a", "b")).await?;
    ensure!(created.uid().is_some());
    ensure_refused(409, maps.create(&PostParams::default(), &config_map("one", "a", "b")).await)?;
    ensure_refused(422, maps.create(&PostParams::default(), &config_map("Not Valid", "a", "b")).await)?;
    let patch = Patch::Merge(json!({ "data": { "c": "d" } }));
    let patched = maps.patch("one", &PatchParams::default(), &patch).await?;
    ensure!(patched.data.as_ref().is_some_and(|data| data.len() == 2), "{patched:?}");
    ensure_refused(409, maps.replace("one", &PostParams::default(), &created).await)?;

    let apply = |value| {
        Patch::Apply(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "two" }, "data": { "a": value }
        }))
    };
    maps.patch("two", &PatchParams::apply("one"), &apply("1")).await?;
    ensure_refused(409, maps.patch("two", &PatchParams::apply("two"), &apply("2")).await)?;
    let forced = maps.patch("two", &PatchParams::apply("two").force(), &apply("2")).await?;
    ensure!(forced.managed_fields().len() == 1, "{forced:?}");
    ensure!(maps.list(&ListParams::default().fields("metadata.name=two")).await?.items.len() == 1);
    ensure!(maps.get_metadata("one").await?.metadata.name.as_deref() == Some("one"));
    maps.delete("one", &DeleteParams::default()).await?;
    ensure!(maps.get_opt("one").await?.is_none());

    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let pod = serde_json::from_value(json!({
        "metadata": { "name": "web" }, "spec": { "containers": [{ "name": "web", "image": "nginx" }] }
    }))?;
    let pod = pods.create(&PostParams::default(), &pod).await?;
    ensure!(pod.spec.is_some_and(|spec| spec.restart_policy.as_deref() == Some("Always")));
    let status = Patch::Merge(json!({ "status": { "phase": "Running" } }));
    let running = pods.patch_status("web", &PatchParams::default(), &status).await?;
    ensure!(running.status.is_some_and(|status| status.phase.as_deref() == Some("Running")));
    discover(client, namespace).await
}

/// Finds a kind by its group, and lists it without a type.
async fn discover(client: &Client, namespace: &str) -> Result<()> {
    let apps = discovery::group(client, "apps").await?;
    let (resource, capabilities) = apps.recommended_kind("Deployment").expect("a server has deployments");
    ensure!(capabilities.scope == Scope::Namespaced && capabilities.supports_operation("watch"));
    let deployments: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &resource);
    ensure!(deployments.list(&ListParams::default()).await?.items.is_empty());
    Ok(())
}
