-- Cells of pods: STATUS and RESTARTS follow the real printer case by case, as users read them daily.
local ages = require "sim.ages"
local json = require "sim.json"
local texts = require "sim.texts"

local at, text, int, each, count = json.at, json.text, json.int, json.each, json.count

local cells = {}

local function condition_is(pod, type, field, value)
  local condition = texts.find(at(pod, "status.conditions"), "type", type)
  return condition and text(condition, field) == value
end

-- Init containers that run as long as the pod.
local function is_sidecar(container) return text(container, "restartPolicy") == "Always" end

local function count_restarts(s, status)
  s.restarts = s.restarts + int(status, "restartCount", 0)
  local finished = json.seconds(text(status, "lastState.terminated.finishedAt"))
  if finished and finished > (s.last_restart or -math.huge) then s.last_restart = finished end
end

-- "Completed", "OOMKilled", "Signal:9" or "ExitCode:1".
local function terminated_text(terminated)
  local reason, signal = text(terminated, "reason"), int(terminated, "signal", 0)
  if reason ~= "" then return reason end
  if signal ~= 0 then return string.format("Signal:%d", signal) end
  return string.format("ExitCode:%d", int(terminated, "exitCode", 0))
end

-- Returns whether an init container has still to finish, which is then the reason. `sidecars` gets the restarts of
-- those that continue to count when the pod runs.
local function init_phase(s, sidecars, pod)
  local containers = at(pod, "spec.initContainers")
  for i, status in each(at(pod, "status.initContainerStatuses")) do
    local terminated, waiting = at(status, "state.terminated"), text(status, "state.waiting.reason")
    local is_terminated = json.type(terminated) == "object"
    local sidecar = is_sidecar(texts.find(containers, "name", text(status, "name")))
    count_restarts(s, status)
    if sidecar then count_restarts(sidecars, status) end
    if is_terminated and int(terminated, "exitCode", 0) == 0 then -- luacheck: ignore 542
      -- it has finished
    elseif sidecar and at(status, "started") == true then
      if at(status, "ready") == true then s.ready = s.ready + 1 end
    else
      s.reason = "Init:" .. (is_terminated and terminated_text(terminated)
        or waiting ~= "" and waiting ~= "PodInitializing" and waiting
        or string.format("%d/%d", i - 1, count(containers)))
      return true
    end
  end
  return false
end

local function main_phase(s, pod)
  local statuses, has_running, mistake = at(pod, "status.containerStatuses"), false, nil
  for i = count(statuses) - 1, 0, -1 do
    local status = json.element(statuses, i)
    local terminated, waiting = at(status, "state.terminated"), text(status, "state.waiting.reason")
    count_restarts(s, status)
    if waiting ~= "" then
      s.reason = waiting
    elseif json.type(terminated) == "object" then
      s.reason = terminated_text(terminated)
      if int(terminated, "exitCode", 0) ~= 0 then mistake = s.reason end
    elseif at(status, "ready") == true and json.type(at(status, "state.running")) == "object" then
      has_running = true
      s.ready = s.ready + 1
    end
  end
  if s.reason ~= "Completed" then return end
  if has_running and condition_is(pod, "Ready", "status", "True") then
    s.reason = "Running"
  else
    s.reason = mistake or has_running and "NotReady" or s.reason
  end
end

local function summary_of(pod)
  local phase, reason = text(pod, "status.phase"), text(pod, "status.reason")
  local s = { restarts = 0, ready = 0, total = count(at(pod, "spec.containers")) }
  local sidecars = { restarts = 0 }
  for _, container in each(at(pod, "spec.initContainers")) do
    if is_sidecar(container) then s.total = s.total + 1 end
  end
  s.reason = reason ~= "" and reason or phase
  if condition_is(pod, "PodScheduled", "reason", "SchedulingGated") then s.reason = "SchedulingGated" end
  if not init_phase(s, sidecars, pod) or condition_is(pod, "Initialized", "status", "True") then
    s.restarts, s.last_restart = sidecars.restarts, sidecars.last_restart
    main_phase(s, pod)
  end
  if text(pod, "metadata.deletionTimestamp") == "" then return s end
  if reason == "NodeLost" then
    s.reason = "Unknown"
  elseif phase ~= "Failed" and phase ~= "Succeeded" then
    s.reason = "Terminating"
  end
  return s
end

local function summarize(pod, known)
  known.pod = known.pod or summary_of(pod)
  return known.pod
end

cells["pod ready"] = function(pod, _, _, known)
  local s = summarize(pod, known)
  return string.format("%d/%d", s.ready, s.total)
end

cells["pod status"] = function(pod, _, _, known) return summarize(pod, known).reason end

cells["pod restarts"] = function(pod, _, now, known)
  local s = summarize(pod, known)
  if s.restarts == 0 or not s.last_restart then return string.format("%d", s.restarts) end
  return string.format("%d (%s ago)", s.restarts, ages.format(now - s.last_restart))
end

cells["pod gates"] = function(pod)
  local gates, held = at(pod, "spec.readinessGates"), 0
  for _, gate in each(gates) do
    if condition_is(pod, text(gate, "conditionType"), "status", "True") then held = held + 1 end
  end
  return count(gates) > 0 and string.format("%d/%d", held, count(gates)) or "<none>"
end

return cells
