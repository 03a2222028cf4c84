-- Evictions: which pods a PodDisruptionBudget protects, and what it says.
local json = require "sim.json"
local texts = require "sim.texts"
local values = require "sim.values"

local at, text, int = json.at, json.text, json.int

local evictions = {}

local SOON_S = 10 -- when to ask again about a budget that nobody has looked at yet
local DISRUPTED_MAX = 2000
local REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."

-- Pods that do not run, or are about to end, are evicted whatever a budget says.
local function counts(pod)
  local phase = text(pod, "status.phase")
  return phase ~= "Succeeded" and phase ~= "Failed" and phase ~= "Pending"
    and at(pod, "metadata.deletionTimestamp") == nil
end

-- Pods that are not ready are no loss: always, or as long as enough others are.
local function spares(pod, budget)
  local ready = texts.find(at(pod, "status.conditions"), "type", "Ready")
  if ready and text(ready, "status") == "True" then return false end
  local needed = int(budget, "status.desiredHealthy", 0)
  return text(budget, "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow"
    or needed > 0 and int(budget, "status.currentHealthy", 0) >= needed
end

-- By operator: whether a value, nil for no label, fits.
local fits = {
  In = function(value, listed) return value ~= nil and listed end,
  NotIn = function(value, listed) return value == nil or not listed end,
  Exists = function(value) return value ~= nil end,
  DoesNotExist = function(value) return value == nil end,
}

-- An empty selector selects all, none nothing.
local function selects(selector, labels)
  if json.type(selector) ~= "object" then return false end
  for key, value in json.members(at(selector, "matchLabels")) do
    if json.get(labels, key) ~= value then return false end
  end
  for _, one in json.each(at(selector, "matchExpressions")) do
    local value, fit = json.get(labels, text(one, "key")), fits[text(one, "operator")]
    if not fit or not fit(value, value and texts.find(at(one, "values"), "", value)) then return false end
  end
  return true
end

-- The budgets that protect the pod; false in the place of one to which the pod is no loss.
function evictions.budgets(pod, all)
  local found, labels = {}, at(pod, "metadata.labels")
  for _, budget in json.each(counts(pod) and all or nil) do
    if text(budget, "metadata.namespace") == text(pod, "metadata.namespace")
      and selects(at(budget, "spec.selector"), labels) then
      found[#found + 1] = not spares(pod, budget) and budget
    end
  end
  return found
end

local function shortage(budget)
  local name, condition = text(budget, "metadata.name"), texts.find(at(budget, "status.conditions"), "type",
    "DisruptionAllowed")
  local needed, healthy = int(budget, "status.desiredHealthy", 0), int(budget, "status.currentHealthy", 0)
  local message = condition and text(condition, "status") == "False" and text(condition, "message") or ""
  local reason = condition and text(condition, "reason") or ""
  if message ~= "" and reason == "SyncFailed" then
    return string.format("The disruption budget %s does not allow evicting pods currently because it failed sync: %s",
      name, message)
  elseif healthy <= needed then
    return string.format("The disruption budget %s needs %d healthy pods and has %d currently", name, needed, healthy)
  elseif message ~= "" then
    return string.format("The disruption budget %s does not allow evicting pods currently (%s): %s", name, reason,
      message)
  end
  return string.format("The disruption budget %s does not allow evicting pods currently", name)
end

-- The refusal of one more disruption; nil if the budget allows it.
local function forbids(budget)
  local allowed = int(budget, "status.disruptionsAllowed", 0)
  if int(budget, "status.observedGeneration", 0) < int(budget, "metadata.generation", 0) then
    local cause = "The disruption budget %s is still being processed by the server."
    return { 429, REFUSED, string.format(cause, text(budget, "metadata.name")), SOON_S }
  elseif allowed < 0 then
    return { 403, "pdb disruptions allowed is negative" }
  elseif json.count(at(budget, "status.disruptedPods")) > DISRUPTED_MAX then
    return { 403, "DisruptedPods map too big - too many evictions not confirmed by PDB controller" }
  elseif allowed == 0 then
    return { 429, REFUSED, shortage(budget), false }
  end
end

-- Sets a condition; its time is that of the last change of its status.
local function set_condition(list, condition, now)
  local old, type = nil, text(condition, "type")
  for i, one in json.each(list) do
    if text(one, "type") == type then
      old = one
      json.set(list, i - 1, condition)
    end
  end
  local same = old and text(old, "status") == text(condition, "status")
  json.set(condition, "lastTransitionTime", same and at(old, "lastTransitionTime") or now)
  if not old then values.append(list, condition) end
end

-- One disruption less is allowed, from now on; the last one changes the condition. Returns the refusal of another.
function evictions.disrupt(budget, pod, now)
  local refusal = forbids(budget)
  if refusal then return refusal end
  local status = values.submap(budget, "status")
  local left = int(status, "disruptionsAllowed", 0) - 1
  json.set(status, "disruptionsAllowed", left)
  json.set(values.submap(status, "disruptedPods"), pod, now)
  if left > 0 then return end
  set_condition(values.sublist(status, "conditions"), json.object("type", "DisruptionAllowed", "status", "False",
    "reason", "InsufficientPods", "message", "", "observedGeneration", at(status, "observedGeneration")), now)
end

return evictions
