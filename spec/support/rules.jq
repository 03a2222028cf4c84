# What five rules of scripts/rules find, written a second time by other means: a line for each finding, with the rule,
# the object and the path. The input is a List.

def kinds: ["Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob"];

# What makes it is looked at instead.
def is_owned:
  any(.metadata.ownerReferences[]?;
    .controller == true and
    ((.apiVersion | startswith("apps/")) and (.kind | IN("ReplicaSet", "Deployment", "StatefulSet", "DaemonSet"))
      or (.apiVersion | startswith("batch/")) and (.kind | IN("Job", "CronJob"))));

def spec_path:
  if .kind == "Pod" then ["spec"]
  elif .kind == "CronJob" then ["spec", "jobTemplate", "spec", "template", "spec"]
  else ["spec", "template", "spec"] end;

# A path as kubectl writes it.
def shown: map(if type == "number" then "[\(.)]" else "." + . end) | join("")[1:];

def containers($lists):
  . as $spec | $lists[] as $list | ($spec[$list] // []) | to_entries[] | { at: [$list, .key], it: .value };
def all: ["containers", "initContainers", "ephemeralContainers"];
def planned: ["containers", "initContainers"];

def image_tag:
  containers(all) | select(.it.image | type == "string" and contains("@") == false)
  | select(.it.image | split("/") | last | split(":") | .[1] == null or .[1] == "latest") | .at + ["image"];

def memory_limits:
  select(.resources.limits.memory == null)
  | containers(planned) | select(.it.resources.limits.memory == null) | .at + ["resources"];

def privileged:
  containers(all) | select(.it.securityContext.privileged == true) | .at + ["securityContext", "privileged"];

def either($mine; $pods): if $mine != null then $mine else $pods end;

def run_as_non_root:
  select(.os.name != "windows") | .securityContext as $pod | containers(all)
  | either(.it.securityContext.runAsUser; $pod.runAsUser) as $user
  | if $user == 0 then .at + ["securityContext", "runAsUser"]
    elif $user == null and either(.it.securityContext.runAsNonRoot; $pod.runAsNonRoot) != true
    then .at + ["securityContext", "runAsNonRoot"]
    else empty end;

# Each config map that is named: where, the name, the key if one is, and whether it may be missing.
def named:
  (containers(all) | .at as $at
    | ((.it.env // []) | to_entries[] | select(.value.valueFrom.configMapKeyRef)
        | { at: ($at + ["env", .key, "valueFrom", "configMapKeyRef"]), it: .value.valueFrom.configMapKeyRef }),
      ((.it.envFrom // []) | to_entries[] | select(.value.configMapRef)
        | { at: ($at + ["envFrom", .key, "configMapRef"]), it: .value.configMapRef })),
  ((.volumes // []) | to_entries[] | .key as $i
    | (select(.value.configMap) | { at: ["volumes", $i, "configMap"], it: .value.configMap }),
      ((.value.projected.sources // []) | to_entries[] | select(.value.configMap)
        | { at: ["volumes", $i, "projected", "sources", .key, "configMap"], it: .value.configMap }));

def configmap_missing($maps; $namespace):
  named | select(.it.optional != true) | .it.key as $key | $maps["\($namespace)/\(.it.name)"] as $map
  | if $map == null then .at + ["name"]
    elif $key and (($map.data // {}) + ($map.binaryData // {}) | has($key) | not) then .at + ["key"]
    else empty end;

([.items[] | select(.kind == "ConfigMap") | { key: "\(.metadata.namespace)/\(.metadata.name)", value: . }]
| from_entries) as $maps
| .items[] | select(.kind | IN(kinds[])) | select(is_owned | not)
| . as $object | spec_path as $path | (getpath($path) // empty)
| (image_tag | { rule: "image-tag", at: . }),
  (memory_limits | { rule: "memory-limits", at: . }),
  (privileged | { rule: "privileged", at: . }),
  (run_as_non_root | { rule: "run-as-non-root", at: . }),
  (configmap_missing($maps; $object.metadata.namespace) | { rule: "configmap-missing", at: . })
| "\(.rule) \($object.kind)/\($object.metadata.namespace)/\($object.metadata.name) \($path + .at | shown)"
