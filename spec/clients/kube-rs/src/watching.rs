//! Watches, as in kube-rs's watcher and configmap_reflector: events of a watcher, and a store that follows.

use crate::objects::config_map;
use crate::{PATIENCE, until};
use anyhow::{Context, Result, ensure};
use futures::{Stream, StreamExt, TryStreamExt, future};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::watcher::{self, Config, Event};
use kube::runtime::{WatchStreamExt, predicates, reflector};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use std::collections::BTreeMap;
use std::pin::pin;
use tokio::time::timeout;

type Events = Result<Event<ConfigMap>, watcher::Error>;

/// The next event: "init", "done", or what happened to which object.
async fn next(events: &mut (impl Stream<Item = Events> + Unpin)) -> Result<String> {
    let event = timeout(PATIENCE, events.try_next()).await?.context("an event")?;
    Ok(match event.context("the watch goes on")? {
        Event::Init => "init".into(),
        Event::InitDone => "done".into(),
        Event::InitApply(object) => format!("has {}", object.name_any()),
        Event::Apply(object) => format!("apply {}", object.name_any()),
        Event::Delete(object) => format!("delete {}", object.name_any()),
    })
}

/// A watcher hears of what is there, then of each change, from a list as from a stream.
pub async fn watch(client: &Client, namespace: &str) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    for (name, config) in [("listed", Config::default()), ("streamed", Config::default().streaming_lists())] {
        let mut events = pin!(watcher::watcher(maps.clone(), config.labels(&format!("watched={name}"))));
        let expect = [
            "init".to_owned(),
            format!("has {name}-0"),
            "done".into(),
            format!("apply {name}-1"),
            format!("apply {name}-0"),
            format!("delete {name}-1"),
        ];
        let mut heard = Vec::new();
        create(&maps, &format!("{name}-0"), name).await?;
        while heard.len() < 3 {
            heard.push(next(&mut events).await?);
        }
        create(&maps, &format!("{name}-1"), name).await?;
        heard.push(next(&mut events).await?);
        maps.patch(
            &format!("{name}-0"),
            &PatchParams::default(),
            &Patch::Merge(json!({ "data": { "a": "c" } })),
        )
        .await?;
        heard.push(next(&mut events).await?);
        maps.delete(&format!("{name}-1"), &DeleteParams::default()).await?;
        heard.push(next(&mut events).await?);
        ensure!(heard == expect, "{heard:?}");
    }
    Ok(())
}

async fn create(maps: &Api<ConfigMap>, name: &str, watched: &str) -> Result<()> {
    let mut object = config_map(name, "a", "b");
    object.labels_mut().insert("watched".into(), watched.into());
    maps.create(&PostParams::default(), &object).await?;
    Ok(())
}

/// A reflector's store has what a list has, after changes that it heard of.
pub async fn reflect(client: &Client, namespace: &str) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let (reader, writer) = reflector::store();
    let stream = watcher::watcher(maps.clone(), Config::default())
        .default_backoff()
        .modify(|object| object.managed_fields_mut().clear())
        .reflect(writer)
        .applied_objects()
        .predicate_filter(predicates::resource_version, Default::default());
    let task = tokio::spawn(stream.for_each(|_| future::ready(())));
    timeout(PATIENCE, reader.wait_until_ready()).await??;
    for name in ["kept", "gone"] {
        maps.create(&PostParams::default(), &config_map(name, "a", "b")).await?;
    }
    maps.delete("gone", &DeleteParams::default()).await?;
    let versions = |objects: &mut dyn Iterator<Item = &ConfigMap>| {
        objects.map(|object| (object.name_any(), object.resource_version())).collect::<BTreeMap<_, _>>()
    };
    until("a store that follows", async || {
        let listed = maps.list(&ListParams::default()).await?;
        let stored = versions(&mut reader.state().iter().map(AsRef::as_ref));
        Ok(stored == versions(&mut listed.iter())
            && stored.contains_key("kept")
            && !stored.contains_key("gone"))
    })
    .await?;
    let kept = reader.get(&reflector::ObjectRef::new("kept").within(namespace)).context("kept")?;
    ensure!(kept.managed_fields().is_empty(), "{kept:?}");
    task.abort();
    Ok(())
}
