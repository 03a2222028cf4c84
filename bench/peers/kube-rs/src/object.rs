//! What the subject wants of an object, in each of the three forms that kube-rs can keep it in.

use k8s_openapi::api::core::v1::Pod;
use kube::Resource;
use kube::api::DynamicObject;
use kube::core::PartialObjectMeta;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::hash::Hash;

/// What kube-rs's watcher and store ask for, in one name.
pub trait Object:
    Resource<DynamicType: Eq + Hash + Clone> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
    /// `spec.nodeName`, where there is a spec.
    fn node_name(&self) -> Option<&str>;

    fn pod_name(&self) -> &str {
        self.meta().name.as_deref().unwrap_or_default()
    }

    fn pod_namespace(&self) -> &str {
        self.meta().namespace.as_deref().unwrap_or_default()
    }
}

impl Object for Pod {
    fn node_name(&self) -> Option<&str> {
        self.spec.as_ref()?.node_name.as_deref()
    }
}

impl Object for DynamicObject {
    fn node_name(&self) -> Option<&str> {
        self.data.get("spec")?.get("nodeName")?.as_str()
    }
}

impl Object for PartialObjectMeta<Pod> {
    fn node_name(&self) -> Option<&str> {
        None
    }
}
