-- k8s.conditions: conditions of a status, by the conventions of Kubernetes' API (apimachinery's SetStatusCondition).
local raw = ...

local options = require "k8s.options"

local KNOWN = {
  type = "string",
  status = "string",
  reason = "string",
  message = "string",
  observedGeneration = "number",
  lastTransitionTime = "string",
}
local REASON_MAX, MESSAGE_MAX = 1024, 32768 -- bytes, of the API
local STATUSES = { True = true, False = true, Unknown = true }

local function write_out(status)
  return status and '"' .. status .. '"' or "nil"
end

local function check(given)
  local where = "k8s.conditions.set"
  local own = options.check(where, given, KNOWN)
  if not own.type or own.type == "" then
    raw.raise(where .. ": type is missing")
  elseif not STATUSES[own.status] then
    raw.raise(where .. ': status must be "True", "False" or "Unknown", not ' .. write_out(own.status))
  elseif not own.reason or own.reason == "" then
    raw.raise(where .. ": reason is missing: the API requires a word in CamelCase")
  elseif not string.find(own.reason, "^%a[%w_,:]*$") or string.find(own.reason, "[,:]$") then
    raw.raise(where .. ': reason must be a word in CamelCase, as the API requires, not "' .. own.reason .. '"')
  end
  own.message = own.message or ""
  for name, most in pairs { reason = REASON_MAX, message = MESSAGE_MAX } do
    if #own[name] > most then
      raw.raise(string.format("%s: the %s has %d bytes, the API takes %d", where, name, #own[name], most))
    end
  end
  return own
end

-- The object itself is passed easily, and has no numbers as keys: its conditions would be lost.
local function check_list(list)
  local where, is_view = "k8s.conditions.set", raw.view.is(list)
  if list == nil then
    return
  elseif not is_view and type(list) ~= "table" then
    raw.raise(where .. ": the conditions must be a list, such as object.status.conditions, not a " .. type(list))
  end
  local following, state, start = (is_view and raw.view.pairs or pairs)(list)
  local key = following(state, start)
  if key ~= nil and type(key) ~= "number" then
    raw.raise(string.format("%s: the conditions must be a list, such as object.status.conditions, not a map with %q",
      where, tostring(key)))
  end
end

local function copy_of(condition)
  if raw.view.is(condition) then
    return raw.object.copy(condition)
  elseif type(condition) ~= "table" then
    raw.raise("k8s.conditions.set: each condition must be a map, not a " .. type(condition))
  end
  local copy = {}
  for name, value in pairs(condition) do
    copy[name] = value
  end
  return copy
end

local function is_same(old, own)
  for _, name in ipairs { "status", "reason", "message", "observedGeneration" } do
    if own[name] ~= nil and old[name] ~= own[name] then
      return false
    end
  end
  return true
end

-- A new transition time only when the status changes.
local function merge(old, own)
  local moved = old.status ~= own.status
  local time = own.lastTransitionTime or (moved or not old.lastTransitionTime) and raw.schedule.format()
    or old.lastTransitionTime
  for name, value in pairs(own) do
    old[name] = value
  end
  old.lastTransitionTime = time
  return old
end

local conditions = {}

-- set(conditions, { type, status, reason, message, observedGeneration }): a copy of the array with that condition, and
-- whether it differs from before. `conditions` may be nil.
function conditions.set(list, given)
  check_list(list)
  local own, all, changed, found = check(given), raw.json.array(), true, false
  for i, one in (raw.view.is(list) and raw.view.ipairs or ipairs)(list or {}) do
    all[i] = copy_of(one)
    if one.type == own.type then
      found, changed = true, not is_same(all[i], own)
      all[i] = changed and merge(all[i], own) or all[i]
    end
  end
  if not found then
    all[#all + 1] = merge({}, own)
  end
  return all, changed
end

return conditions
