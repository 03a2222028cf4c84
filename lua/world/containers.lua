-- Containers of a pod: the statuses that a kubelet reports. What a container does is said by annotations of its pod.
local raw = require "world.raw"
local times = require "world.times"

local containers = {}

local RUN_FOR, EXIT_CODE = "sim.kubelua.dev/run-for", "sim.kubelua.dev/exit-code"
local units = { ms = 1e3, s = 1e6, m = 60e6, h = 3600e6 }

local function duration_of(text)
  local number, unit = tostring(text or ""):match "^([%d.]+)(%a*)$"
  return tonumber(number) and units[unit ~= "" and unit or "s"] and tonumber(number) * units[unit ~= "" and unit or "s"]
end

-- How long the containers of the pod run, in microseconds, and their exit code; nil: until they are stopped.
function containers.plan(pod)
  local notes = pod.metadata.annotations or {}
  local run_for, code = duration_of(notes[RUN_FOR]), tonumber(notes[EXIT_CODE]) or 0
  if not run_for and pod.spec.restartPolicy ~= "Always" then run_for = 2e6 + raw.random(3000) * times.ms end
  return run_for, code
end

-- Containers of a pod. A loaded object may be parts of objects: of pods without containers, too.
function containers.of(pod) return pod.spec.containers or {} end

local function base(container, old)
  return {
    name = container.name, image = container.image, imageID = old and old.imageID or "", ready = false,
    started = false, restartCount = old and old.restartCount or 0, lastState = old and old.lastState or {},
    containerID = old and old.containerID,
  }
end

function containers.waiting(container, old, reason, message)
  local status = base(container, old)
  status.state = { waiting = { reason = reason, message = message } }
  return status
end

-- `restarts` more than before.
function containers.running(container, old, restarts)
  local status = base(container, old)
  status.imageID = "sim.kubelua.dev/" .. (container.image or "") .. "@sha256:" .. ("0"):rep(64)
  status.containerID = "containerd://" .. raw.hex(64)
  status.restartCount = status.restartCount + (restarts or 0)
  status.state = { running = { startedAt = times.text() } }
  status.started = true
  return status
end

local function terminated(old, code)
  local running = old.state.running or {}
  return {
    exitCode = code, reason = code == 0 and "Completed" or "Error", startedAt = running.startedAt or times.text(),
    finishedAt = times.text(), containerID = old.containerID,
  }
end

function containers.ended(container, old, code)
  local status = base(container, old)
  status.state = { terminated = terminated(old, code) }
  return status
end

-- A pod in the messages of kubelets.
function containers.pod_text(pod)
  return ("%s_%s(%s)"):format(pod.metadata.name, pod.metadata.namespace, pod.metadata.uid)
end

-- One that ended and waits until it is started again.
function containers.crashed(pod, container, old, code, delay_s)
  local delay = delay_s < 60 and delay_s .. "s" or ("%dm%ds"):format(delay_s / 60, delay_s % 60)
  local status = containers.waiting(container, old, "CrashLoopBackOff",
    ("back-off %s restarting failed container=%s pod=%s"):format(delay, container.name, containers.pod_text(pod)))
  status.lastState = { terminated = terminated(old, code) }
  return status
end

-- One that ended and runs again at once.
function containers.restarted(container, old, code)
  local ended = containers.ended(container, old, code)
  ended.lastState = ended.state
  return containers.running(container, ended, 1)
end

-- The status of a container by its name.
function containers.find(statuses, name)
  for _, status in ipairs(statuses or {}) do
    if status.name == name then return status end
  end
end

return containers
