# Five checks of pods, one line for each finding: rule, pod and path. The peer of bench/scripts/audit.lua.
def containers:
  (.spec | ("containers", "initContainers") as $list | .[$list] // [] | to_entries[]
    | { path: "spec.\($list)[\(.key)]", container: .value });

def pods: if has("items") then .items[] else . end;

pods
| select(.kind == "Pod") as $pod
| $pod
| (.spec.securityContext.runAsNonRoot) as $default
| (
    (containers | (
      (select(.container.image | test(":[^:/@]+$") and (endswith(":latest") | not) | not) | ["image-tag", "\(.path).image"]),
      (select(.container.resources.limits | .memory and .cpu | not) | ["limits", "\(.path).resources"]),
      (select(.container.securityContext.privileged == true) | ["privileged", "\(.path).securityContext.privileged"]),
      (select((.container.securityContext | if has("runAsNonRoot") then .runAsNonRoot else $default end) | not)
        | ["run-as-non-root", "\(.path).securityContext.runAsNonRoot"])
    )),
    (select(.metadata.labels["app.kubernetes.io/part-of"] | not) | ["part-of", "metadata.labels"])
  )
| "\(.[0]) \($pod.metadata.namespace)/\($pod.metadata.name) \(.[1])"
