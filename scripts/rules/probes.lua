-- Readiness and liveness probes of containers.
--   kubelua audit -f scripts/rules/probes.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local shapes = require "_shapes"

-- Pods that run to completion need no probes; pods of a workload are checked in its template.
local function skip(obj, params)
  local spec = pods.spec(obj)
  local policy = spec and spec.restartPolicy
  if policy == "Never" or policy == "OnFailure" then
    return "the pod runs to completion"
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
  why = "Without a readiness probe, a container counts as ready as soon as it starts, and Services send requests to "
    .. "it before it can answer. A rollout continues even if the new version does not work.",
  how = "Add a readinessProbe that sends a request as a client would.",
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
  why = "A program that hangs does not exit, so the kubelet does not restart it.",
  how = "Add a livenessProbe that depends on the container alone: a probe that queries a database restarts all pods "
    .. "when the database is slow. If the program exits when it cannot continue, accept the finding.",
  kinds = pods.lasting_kinds,
  params = pods.params,
  skip = skip,
  check = function(obj, r)
    check_probe(obj, r, "livenessProbe", " has no liveness probe")
  end,
}

local HANDLERS = { "httpGet", "tcpSocket", "exec", "grpc" }

-- Returns true if both probes do the same and fail at the same time.
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
  title = "Liveness and readiness probes differ",
  severity = "low",
  category = "Probes",
  why = "A busy container should receive fewer requests; a failing readiness probe does that. If its liveness probe "
    .. "fails at the same time, the container is killed, and the other pods receive its requests too.",
  how = "Use a cheaper check for the liveness probe, or raise its failureThreshold.",
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
