#!/usr/bin/env bash
# The common part of the scripts of this folder: kubectl that shows itself, and waiting. A script is run as
# `KUBECONFIG=FILE TOOL=KUBECTL NS=NAMESPACE bash lib.sh SCRIPT`, with a namespace of its own, and prints what is compared.
set -uo pipefail

k() { "$TOOL" --kubeconfig "$KUBECONFIG" -n "$NS" "$@"; }

# Shows the command, what it prints and its exit code.
kubectl() {
  echo "\$ kubectl $*"
  k "$@" 2>&1
  echo "exit code $?"
}

# The same without what depends on when it looked: the last line alone.
last() {
  echo "\$ kubectl $*"
  k "$@" 2>&1 | tail -n 1
  echo "exit code ${PIPESTATUS[0]}"
}

# The same with its lines sorted, once generated names are taken out.
any_order() {
  echo "\$ kubectl $*"
  k "$@" 2>&1 | sed -E 's/-[a-z0-9]{5,10}-[a-z0-9]{5}\b/-GENERATED/g; s/[^ ]*[0-9]+(\.[0-9]+){3}[^ ]*/ADDRESS/g' | sort
}

# Objects as JSON with their fields in order, without what is the server's own, and what FILTER of jq makes of it.
objects() { # FILTER ARG ...
  local filter=$1
  shift
  echo "\$ kubectl get $*"
  k get "$@" -o json 2>/dev/null |
    jq -S ".items |= (map(del(.metadata.uid, .metadata.resourceVersion, .metadata.creationTimestamp)) | $filter)"
}

# Events but for those of kubelets, each once, without what depends on when something was seen: the replicas of steps of a
# rollout, nodes, and what was combined. It is looked until nothing comes any more.
told() { # [ARG ...]
  local now='' before=none
  echo "\$ kubectl get events $*"
  until [ "$now" = "$before" ]; do
    before=$now
    sleep 0.5
    now=$(k get events "$@" -o json | jq -r '.items[] | (.source.component // .reportingComponent) as $who
        | select($who != "kubelet") | [.type, .reason, .involvedObject.kind, .involvedObject.apiVersion, $who, .action // "",
          .message] | join(" ")' | sed -E 's/\(combined from similar events\): //; s/from [0-9]+ to [0-9]+/from N to N/
        s/-[0-9]{8}\b/-MINUTE/g; s/-[bcdfghjklmnpqrstvwxz2456789]{5,10}\b/-GENERATED/g; s/to node-[0-9]/to NODE/' | sort -u)
  done
  echo "$now"
}

# All that is said of an object, with its Events (of others nothing is compared but by told).
with_events() { kubectl describe "$@" | sed 's/^Events:/Told:/'; }

# Waits until `kubectl ...` prints the words VALUE.
until_is() { # VALUE ARG ...
  local value=$1 now='' end=$((SECONDS + ${LIMIT:-60}))
  shift
  while now=$(k "$@" 2>&1 | sed "/^Warning: v1 Endpoints is deprecated/d" | xargs); [ "$now" != "$value" ]; do
    [ $SECONDS -lt $end ] || { echo "kubectl $*: \"$now\" is not \"$value\""; return 1; }
    sleep 0.2
  done
}

# Waits until an object, or what a selector finds, is gone, and no more than that.
until_gone() { until_is "" get "$@" --ignore-not-found -o name; }

# A workload's manifest, with fields of the kind's own spec, which "; " parts.
workload() { # KIND NAME [SPEC [POD-SPEC]]
  local spec=${3:-minReadySeconds: 0}
  cat <<MANIFEST
apiVersion: apps/v1
kind: $1
metadata: {name: $2}
spec:
  ${spec//; /$'\n'  }
  selector: {matchLabels: {app: $2}}
  template:
    metadata: {labels: {app: $2}}
    spec: {${4:-}${4:+, }containers: [{name: c, image: "i:1"}]}
MANIFEST
}

k create namespace "$NS" >/dev/null
until_is configmap/kube-root-ca.crt get configmap -o name
# shellcheck source=/dev/null
. "$1"
k delete namespace "$NS" >/dev/null
until_gone pods
