-- Problems of running pods. Manifests have no status, so these rules report nothing for them.
--   kubelua audit -f scripts/rules/runtime.lua --from pods.json
local k8s = require "k8s"
local values = require "_values"

local map, maps, text = values.map, values.maps, values.text

local STATUSES = { "containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses" }

-- Calls fn(status, path) for each container that has one.
local function each_status(obj, fn)
  local status = map(obj.status)
  for _, field in ipairs(status and STATUSES or {}) do
    for i, container in maps(status[field]) do
      fn(container, ("status.%s[%d]"):format(field, i))
    end
  end
end

local BROKEN = {
  CrashLoopBackOff = "exits again and again",
  ImagePullBackOff = "cannot pull its image",
  ErrImagePull = "cannot pull its image",
  InvalidImageName = "has an invalid image name",
  CreateContainerConfigError = "lacks a ConfigMap, a Secret or a key",
  CreateContainerError = "cannot be created",
  RunContainerError = "cannot be started",
}

k8s.rule {
  id = "crash-looping",
  title = "Containers start",
  severity = "high",
  category = "Runtime",
  why = "The container does not run. The kubelet tries again with growing delays.",
  how = "Read the output of kubectl describe pod and kubectl logs --previous.",
  kinds = { "pods" },
  check = function(obj, r)
    each_status(obj, function(status, path)
      local state = map(status.state)
      local waiting = state and map(state.waiting)
      local problem = waiting and BROKEN[waiting.reason]
      if problem then
        r:fail(("container %s %s"):format(text(status.name) or "?", problem), {
          path = path .. ".state.waiting.reason",
          value = waiting.reason,
        })
      end
    end)
  end,
}

k8s.rule {
  id = "restarts",
  title = "Containers restart rarely",
  severity = "low",
  category = "Runtime",
  why = "A container that restarts now and then answers most requests, so the restarts stay unnoticed. The usual "
    .. "cause is a memory limit that is too low or a liveness probe that is too strict.",
  how = "Read the last state in kubectl describe pod: the exit code 137 means killed, most often for memory.",
  kinds = { "pods" },
  params = { restarts = { default = 5, help = "restarts of a container that are accepted" } },
  check = function(obj, r, _, params)
    each_status(obj, function(status, path)
      local count = status.restartCount
      if type(count) == "number" and count > params.restarts then
        r:fail(("container %s was restarted %d times"):format(text(status.name) or "?", count), {
          path = path .. ".restartCount",
          value = count,
        })
      end
    end)
  end,
}

local DAY = 24 * 3600

local function before(seconds)
  return os.date("!%Y-%m-%dT%H:%M:%SZ", math.floor(k8s.now() - seconds))
end

-- The time at which a pod finished, from its status; else its creation time.
local function ended_at(obj)
  local last = ""
  each_status(obj, function(status)
    local state = map(status.state)
    local terminated = state and map(state.terminated)
    local at = terminated and text(terminated.finishedAt)
    last = at and at > last and at or last
  end)
  return last ~= "" and last or text(obj.metadata.creationTimestamp)
end

k8s.rule {
  id = "finished-pods",
  title = "Finished pods are deleted",
  severity = "info",
  category = "Runtime",
  why = "Pods that succeeded, failed or were evicted keep their logs on the node and appear in every list. The "
    .. "cluster deletes them only when there are thousands.",
  how = "Delete them. Pods of a Job are deleted with it: set ttlSecondsAfterFinished on the Job.",
  kinds = { "pods" },
  params = { days = { default = 1, help = "days that a finished pod may stay" } },
  skip = function(obj)
    for _, owner in maps(obj.metadata.ownerReferences) do
      if owner.kind == "Job" then
        return "it is deleted with its Job"
      end
    end
    return false
  end,
  check = function(obj, r, _, params)
    local status = map(obj.status)
    local phase = status and status.phase
    if phase ~= "Succeeded" and phase ~= "Failed" then
      return
    end
    local at = ended_at(obj)
    if at and at < before(params.days * DAY) then
      local reason = text(status.reason)
      r:fail(("the pod finished at %s%s"):format(at, reason and ": " .. reason or ""), {
        path = "status.phase",
        value = phase,
      })
    end
  end,
}
