-- How the kubelet learns whether a container is well.
--   kubelua audit -f scripts/rules/probes.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local shapes = require "_shapes"

-- What ends by itself needs no probes; what a workload makes is checked there.
local function skip(obj, params)
  local spec = pods.spec(obj)
  local policy = spec and spec.restartPolicy
  if policy == "Never" or policy == "OnFailure" then
    return "it is meant to end"
  end
  return pods.owned(obj, params)
end

local function check_probe(obj, r, probe, problem)
  for container, place in pods.containers(obj, "lasting") do
    if not shapes.map(container, probe, place) then
      r:fail(place:says() .. problem, { path = place:path() })
    end
  end
end

k8s.rule {
  id = "readiness-probe",
  title = "Containers have a readiness probe",
  severity = "medium",
  category = "Probes",
  why = "Without one a container counts as ready the moment it is started, and Services send it requests before it "
    .. "can answer. A rollout goes on although the new version does not work.",
  how = "Add a readinessProbe that asks what a client would ask.",
  kinds = pods.lasting_kinds,
  params = pods.params,
  skip = skip,
  check = function(obj, r)
    check_probe(obj, r, "readinessProbe", " has no readiness probe")
  end,
}

k8s.rule {
  id = "liveness-probe",
  title = "Containers have a liveness probe",
  severity = "low",
  category = "Probes",
  why = "A program that hangs does not end, so nothing starts it again.",
  how = "Add a livenessProbe that depends on the container alone: one that asks a database restarts all pods when "
    .. "the database is slow. A program that ends when it cannot go on needs none: accept the finding there.",
  kinds = pods.lasting_kinds,
  params = pods.params,
  skip = skip,
  check = function(obj, r)
    check_probe(obj, r, "livenessProbe", " has no liveness probe")
  end,
}

local HANDLERS = { "httpGet", "tcpSocket", "exec", "grpc" }

-- Whether both ask the same, and give up at the same time.
local function are_identical(a, b)
  for _, handler in ipairs(HANDLERS) do
    if a[handler] ~= b[handler] then
      return false
    end
  end
  return (a.failureThreshold or 3) == (b.failureThreshold or 3) and (a.periodSeconds or 10) == (b.periodSeconds or 10)
end

k8s.rule {
  id = "probes-identical",
  title = "Liveness and readiness are not the same question",
  severity = "low",
  category = "Probes",
  why = "A container that is too busy to answer should get fewer requests, which readiness does. When liveness "
    .. "fails at the same time, it is killed instead, and the others get its load too.",
  how = "Ask something cheaper for liveness, or give it a higher failureThreshold.",
  kinds = pods.lasting_kinds,
  params = pods.params,
  skip = skip,
  check = function(obj, r)
    for container, place in pods.containers(obj, "lasting") do
      local live = shapes.map(container, "livenessProbe", place)
      local ready = shapes.map(container, "readinessProbe", place)
      if live and ready and are_identical(live, ready) then
        r:fail(place:says() .. " is killed as soon as it is not ready", { path = place:path "livenessProbe" })
      end
    end
  end,
}
