//! The two selects that are measured: kube-rs has no index, so both look at every object of the store.

use crate::object::Object;
use kube::ResourceExt;
use kube::core::Expression;
use kube::runtime::reflector::Store;
use std::sync::Arc;
use std::time::Instant;

const CALLS: usize = 200;
const LABEL: &str = "app.kubernetes.io/version";

pub struct Selects {
    pub label_us: f64,
    pub label_hits: usize,
    pub namespace_us: f64,
    pub namespace_hits: usize,
}

/// The median time of a call, in microseconds, and how many objects it found.
fn median<K>(select: impl Fn() -> Vec<Arc<K>>) -> (f64, usize) {
    let mut hits = 0;
    let mut nanoseconds: Vec<_> = (0..CALLS)
        .map(|_| {
            let begin = Instant::now();
            let found = std::hint::black_box(select());
            let taken = begin.elapsed().as_nanos();
            hits = found.len();
            taken
        })
        .collect();
    nanoseconds.sort_unstable();
    let middle = (nanoseconds[CALLS / 2 - 1] + nanoseconds[CALLS / 2]) as f64 / 2.0;
    (middle / 1000.0, hits)
}

/// Asks for what the first pod by name has.
pub fn measure<K: Object>(store: &Store<K>) -> Result<Selects, String> {
    let pods = store.state();
    let first = pods.iter().min_by_key(|pod| pod.pod_name()).ok_or("there are no pods to select from")?;
    let value = first.labels().get(LABEL).ok_or(format!("{} has no label {LABEL}", first.pod_name()))?;
    let selector = Expression::Equal(LABEL.into(), value.clone()).into();
    let (label_us, label_hits) = median(|| store.state_filter_selector(&selector));
    let namespace = first.pod_namespace();
    let (namespace_us, namespace_hits) =
        median(|| store.state_filter(|pod| pod.pod_namespace() == namespace));
    Ok(Selects { label_us, label_hits, namespace_us, namespace_hits })
}
