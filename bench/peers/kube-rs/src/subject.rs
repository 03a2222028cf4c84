//! One informer of pods as kube-rs's users write it, and what the harness wants to hear of it: one JSON object a line.

use crate::latency::{Latencies, SENT};
use crate::object::Object;
use crate::{memory, select};
use futures::StreamExt;
use kube::runtime::WatchStreamExt;
use kube::runtime::reflector::{Store, store::Writer};
use kube::runtime::watcher::{Config, Event, watcher};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::hint::black_box;
use std::io::Write;

/// Who reads them waits for them: each line goes out at once.
fn print(line: &Value) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("cannot write to stdout");
}

pub struct Subject<K: Object> {
    store: Store<K>,
    writer: Option<Writer<K>>,
    select: bool,
    synced: bool,
    updates: u64,
    latencies: Latencies,
    /// Markers that are known: kube-rs says neither whether an object is new nor whether it has changed.
    markers: HashSet<String>,
    /// Markers that came with a list: they are told of when the store has them.
    listed: Vec<String>,
}

impl<K: Object> Subject<K> {
    pub fn new(kind: K::DynamicType, select: bool) -> Self {
        let writer = Writer::new(kind);
        Subject {
            store: writer.as_reader(),
            writer: Some(writer),
            select,
            synced: false,
            updates: 0,
            latencies: Latencies::default(),
            markers: HashSet::new(),
            listed: Vec::new(),
        }
    }

    /// Lists and watches until the process ends.
    pub async fn run(mut self, api: Api<K>, config: Config) {
        let writer = self.writer.take().expect("a subject runs once");
        let stream = watcher(api, config).default_backoff().reflect(writer);
        let mut stream = std::pin::pin!(stream);
        while let Some(event) = stream.next().await {
            match event {
                Ok(event) => self.handle(event),
                Err(error) => eprintln!("kube-rs: {error}"),
            }
        }
    }

    fn handle(&mut self, event: Event<K>) {
        match event {
            Event::Init => {}
            Event::InitApply(object) => {
                if let Some(name) = self.new_marker(&object) {
                    self.listed.push(name);
                } else if self.synced {
                    self.update(&object);
                } else {
                    read(&object);
                }
            }
            Event::InitDone => self.list_is_complete(),
            Event::Apply(object) => match self.new_marker(&object) {
                Some(name) => self.answer(&name),
                None => self.update(&object),
            },
            Event::Delete(object) => read(&object),
        }
    }

    /// The name of a marker that was not seen before.
    fn new_marker(&mut self, object: &K) -> Option<String> {
        let name = object.pod_name();
        let marker = name.starts_with("marker-") && object.pod_namespace() == "default";
        (marker && self.markers.insert(name.to_owned())).then(|| name.to_owned())
    }

    fn update(&mut self, object: &K) {
        self.latencies.add(object.annotations().get(SENT).map(String::as_str));
        self.updates += 1;
        read(object);
    }

    fn list_is_complete(&mut self) {
        let listed = std::mem::take(&mut self.listed);
        if self.synced {
            for name in &listed {
                self.answer(name);
            }
            return;
        }
        self.synced = true;
        let mut line = json!({
            "event": "synced", "objects": self.store.len(), "version": format!("kube-rs {}", version())
        });
        if self.select {
            let selects = select::measure(&self.store).unwrap_or_else(|why| crate::give_up(1, &why));
            line["select_label_us"] = json!(selects.label_us);
            line["select_hits"] = json!(selects.label_hits);
            line["select_namespace_us"] = json!(selects.namespace_us);
            line["select_namespace_hits"] = json!(selects.namespace_hits);
        }
        print(&line);
    }

    fn answer(&mut self, marker: &str) {
        if marker.starts_with("marker-trim-") {
            memory::trim();
        }
        print(&json!({
            "event": "marker",
            "name": marker,
            "objects": self.store.len(),
            "updates": std::mem::take(&mut self.updates),
            "latency_us": self.latencies.take(),
        }));
    }
}

/// Of kube-rs, as this program's dependencies say it.
fn version() -> &'static str {
    let mut lines = include_str!("../Cargo.toml").lines();
    let rest = lines.find_map(|line| line.strip_prefix("kube = { version = \"="));
    rest.and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

/// What each handler reads of each object.
fn read<K: Object>(object: &K) {
    black_box((object.pod_namespace(), object.pod_name(), object.node_name()));
}
