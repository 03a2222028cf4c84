-- k8s.scale, k8s.evict, k8s.restart: what kubectl scale, drain and rollout restart do to one object. All wait.
local raw = ...

local options = require "k8s.options"
local patch = require "k8s.patch"
local pod_ref = require "k8s.pod_ref"
local write = require "k8s.write"
local create = require("k8s.write_whole").create

local actions = {}

local function check_ref(where, ref)
  if not raw.view.is(ref) and type(ref) ~= "table" then
    raw.raise(where .. ": expected an object or a reference, not " .. type(ref))
  end
end

local REPLICAS_MAX = 2147483647 -- an int32 of the API

-- scale(ref, replicas): needs the write KIND/scale:patch. The Scale as the server has it, or nil, err.
function actions.scale(ref, replicas)
  check_ref("k8s.scale", ref)
  local is_whole = type(replicas) == "number" and replicas >= 0 and replicas == math.floor(replicas)
  if not is_whole or replicas > REPLICAS_MAX then
    raw.raise("k8s.scale: replicas must be a whole number from 0 to 2147483647, not "
      .. (type(replicas) == "string" and '"' .. replicas .. '"' or tostring(replicas)))
  end
  local good, err = write.check("k8s.scale", "k8s.patch", write.place_of_ref("k8s.scale", ref), "scale")
  if not good then
    return nil, err
  end
  return patch(ref, { spec = { replicas = replicas } }, { subresource = "scale" })
end

local EVICT_OPTIONS = { grace_period = "duration", dry_run = "boolean" }

-- evict(pod, { grace_period = "30s" }): needs pods/eviction:create. True, or nil, err: 429 TooManyRequests when a
-- PodDisruptionBudget forbids it now.
function actions.evict(pod, given)
  local own = options.check("k8s.evict", given, EVICT_OPTIONS)
  local namespace, name = pod_ref("k8s.evict", pod)
  local place = { kind = "pods", namespace = namespace, name = name }
  local good, err = write.check("k8s.evict", "k8s.create", place, "eviction")
  if not good then
    return nil, err
  end
  local seconds = own.grace_period and raw.params.seconds(tostring(own.grace_period))
  if own.grace_period and not seconds then
    raw.raise('k8s.evict: grace_period must be a duration, such as "30s", not "' .. own.grace_period .. '"')
  end
  local grace = seconds and math.ceil(seconds) or nil
  return create({
    apiVersion = "policy/v1",
    kind = "Eviction",
    metadata = { name = name, namespace = namespace },
    deleteOptions = grace and { gracePeriodSeconds = grace } or nil,
  }, {
    subresource = "eviction",
    of = place,
    dry_run = own.dry_run,
  })
end

local WORKLOADS = { DaemonSet = true, Deployment = true, StatefulSet = true }

-- Other built-in kinds have no template, or make no new pods when it changes. Kinds of a cluster's own may.
local function check_restarts(ref)
  local resource, err = write.check("k8s.restart", "k8s.patch", write.place_of_ref("k8s.restart", ref))
  if not resource then
    return nil, err
  end
  local version, kind = raw.write.type_of(resource)
  local group = string.match(version, "^(.+)/") or ""
  local is_own = string.find(group, ".", 1, true) and not string.find(group, "%.k8s%.io$")
  if not is_own and not (group == "apps" and WORKLOADS[kind]) then
    local works = "works for Deployments, StatefulSets, DaemonSets and custom kinds with spec.template, not for "
    raw.raise("k8s.restart: " .. works .. version .. " " .. kind)
  end
  return true
end

-- restart(ref): new pods for a Deployment, StatefulSet or DaemonSet, as kubectl rollout restart makes them; also of a
-- custom kind with spec.template. Needs KIND:patch. The object, or nil, err.
function actions.restart(ref)
  check_ref("k8s.restart", ref)
  local good, err = check_restarts(ref)
  if not good then
    return nil, err
  end
  local annotations = { ["kubectl.kubernetes.io/restartedAt"] = raw.schedule.format() }
  return patch(ref, { spec = { template = { metadata = { annotations = annotations } } } })
end

return actions
