-- ResourceQuotas: names, numbers and scopes. Arguments as in volumes.lua.
local found = require "sim.checks.found"
local forms = require "sim.checks.forms"
local json = require "sim.json"
local quantities = require "sim.checks.quantities"
local words = require "sim.checks.words"

local at, text, each, members = json.at, json.text, json.each, json.members

local quotas = {}

local OBJECTS = "pods resourcequotas services replicationcontrollers secrets configmaps persistentvolumeclaims "
  .. "services.nodeports services.loadbalancers "
local COMPUTE = "cpu memory limits.cpu limits.memory requests.cpu requests.memory "
local counted, computed = words(OBJECTS), words(COMPUTE .. "pods")
local standard = words(OBJECTS .. COMPUTE .. "ephemeral-storage requests.storage requests.ephemeral-storage "
  .. "limits.ephemeral-storage")
local of_scope = {
  Terminating = computed, NotTerminating = computed, NotBestEffort = computed, PriorityClass = computed,
  CrossNamespacePodAffinity = computed, BestEffort = words "pods",
  VolumeAttributesClass = words "persistentvolumeclaims requests.storage",
}

local function is_standard(name)
  return standard[name] or name:find "^hugepages%-" or name:find "^requests%.hugepages%-"
end

-- Tells whether a name is that of a resource which none but a driver knows.
function quotas.is_extended(name)
  local native = not name:find("/", 1, true) or name:find("kubernetes.io/", 1, true) or name:find "^requests%."
  return not native and not forms.key("requests." .. name)
end

local function check_name(problems, path, name)
  problems:form(path, name, "key")
  if name:find("/", 1, true) or is_standard(name) then return end
  if name ~= "storage" and not forms.key(name) then
    problems:invalid(path, name, "must be a standard resource type or fully qualified")
  end
  problems:invalid(path, name, "must be a standard resource for quota")
end

function quotas.hard(path, hard)
  local problems = found.new()
  for name, amount in members(hard) do
    local place = string.format("%s[%s]", path, name)
    check_name(problems, place, name)
    if quantities.number(amount) < 0 then
      problems:invalid(place, amount, "must be greater than or equal to 0")
    end
    if (counted[name] or quotas.is_extended(name)) and not quantities.is_whole(amount) then
      problems:invalid(place, amount, "must be an integer")
    end
  end
  return problems
end

-- Problems of a scope with each resource that it cannot be about.
local function check_scope(problems, path, scope, hard, shown)
  for name in members(hard) do
    if of_scope[scope] and is_standard(name) and not of_scope[scope][name] then
      problems:invalid(path, shown, "unsupported scope applied to resource")
    end
  end
end

local function check_pairs(problems, path, scopes, shown)
  for _, pair in ipairs { { "BestEffort", "NotBestEffort" }, { "Terminating", "NotTerminating" } } do
    if scopes[pair[1]] and scopes[pair[2]] then problems:invalid(path, shown, "conflicting scopes") end
  end
end

function quotas.scopes(path, list, spec)
  local problems, seen = found.new(), {}
  for _, scope in each(list) do
    if not of_scope[scope] then problems:invalid(path, list, "unsupported scope") end
    check_scope(problems, path, scope, at(spec, "hard"), list)
    seen[scope] = true
  end
  check_pairs(problems, path, seen, list)
  return problems
end

local exists_only = words "BestEffort NotBestEffort Terminating NotTerminating CrossNamespacePodAffinity"
local MUST_EXIST = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
  .. "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
  .. "ResourceQuotaScopeCrossNamespacePodAffinity"

local function check_values(problems, path, operator, list)
  local count = json.count(list)
  if operator == "In" or operator == "NotIn" then
    if count > 0 then return end
    problems:required(path .. ".values",
      "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")
  elseif operator == "Exists" or operator == "DoesNotExist" then
    if count == 0 then return end
    problems:invalid(path .. ".values", list,
      "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")
  else
    problems:invalid(path .. ".operator", operator, "not a valid selector operator")
  end
end

-- The selector with the names of Go's fields, as a cause shows it.
local function in_go(selector)
  local list = {}
  for i, one in each(at(selector, "matchExpressions")) do
    list[i] = json.object("ScopeName", text(one, "scopeName"), "Operator", text(one, "operator"), "Values",
      at(one, "values") or json.null)
  end
  return json.object("MatchExpressions", list)
end

function quotas.selector(path, selector, spec)
  local problems, seen = found.new(), {}
  path = path .. ".matchExpressions"
  for _, one in each(at(selector, "matchExpressions")) do
    local scope, operator = text(one, "scopeName"), text(one, "operator")
    if not of_scope[scope] then problems:invalid(path .. ".scopeName", scope, "unsupported scope") end
    check_scope(problems, path, scope, at(spec, "hard"), in_go(selector))
    if exists_only[scope] and operator ~= "Exists" then problems:invalid(path .. ".operator", operator, MUST_EXIST) end
    check_values(problems, path, operator, at(one, "values"))
    seen[scope] = true
  end
  check_pairs(problems, path, seen, at(spec, "scopes") or json.null)
  return problems
end

return quotas
