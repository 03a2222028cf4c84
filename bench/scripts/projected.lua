-- Ten fields of each pod; the rest is dropped while it is read.
require("subject").start {
  fields = {
    "metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion", "metadata.labels.app",
    "spec.nodeName", "spec.containers[*].image", "status.phase", "status.podIP", "status.startTime",
  },
}
