-- Rolling updates of Deployments and DaemonSets. Arguments as in volumes.lua.
local found = require "sim.checks.found"
local json = require "sim.json"

local at, int = json.at, json.int

local rollouts = {}

-- As Kubernetes reads it: of "10%" 10, and 0 of what is no number.
local function amount(rolling, name)
  local value = at(rolling, name)
  if type(value) ~= "string" then return value or 0 end
  return tonumber(value:match "^(%d+)%%$" or value:match "^[-+]?%d+$") or 0
end

function rollouts.deployment(path, rolling)
  local problems = found.new()
  if amount(rolling, "maxUnavailable") == 0 and amount(rolling, "maxSurge") == 0 then
    problems:invalid(path .. ".maxUnavailable", at(rolling, "maxUnavailable"), "may not be 0 when `maxSurge` is 0")
  end
  return problems
end

function rollouts.daemons(path, rolling)
  local problems = found.new()
  local has_unavailable, has_surge = amount(rolling, "maxUnavailable") ~= 0, amount(rolling, "maxSurge") ~= 0
  if has_unavailable and has_surge then
    problems:invalid(path .. ".maxSurge", at(rolling, "maxSurge"), "may not be set when maxUnavailable is non-zero")
  elseif not has_unavailable and not has_surge then
    problems:required(path .. ".maxUnavailable", "cannot be 0 when maxSurge is 0")
  end
  return problems
end

function rollouts.deadline(path, _, deployment)
  local problems, seconds = found.new(), int(deployment, "spec.progressDeadlineSeconds")
  if seconds <= int(deployment, "spec.minReadySeconds", 0) then
    problems:invalid(path, seconds, "must be greater than minReadySeconds")
  end
  return problems
end

return rollouts
