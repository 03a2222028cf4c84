-- Resources of whole pods: what its containers take together, and what is defaulted from that.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local json = require "sim.json"
local quantities = require "sim.checks.quantities"
local values = require "sim.values"

local at, text, each, members, get = json.at, json.text, json.each, json.members, json.get

local pod_resources = {}

function pod_resources.is_huge(name) return name:sub(1, 10) == "hugepages-" end

local is_huge = pod_resources.is_huge

-- Whether a pod may have an amount of it.
function pod_resources.is_of_pods(name) return name == "cpu" or name == "memory" or is_huge(name) end

local function add(sums, amounts)
  for name, amount in pairs(amounts) do sums[name] = sums[name] and quantities.sum(sums[name], amount) or amount end
end

local function keep_largest(sums, amounts)
  for name, amount in pairs(amounts) do
    if not sums[name] or quantities.number(amount) > quantities.number(sums[name]) then sums[name] = amount end
  end
end

local function amounts_of(container, field)
  local amounts = {}
  for name, amount in members(at(container, "resources." .. field)) do amounts[name] = amount end
  return amounts
end

-- Returns the amounts by name: of all containers, or of an init container with those that stay beside it, whichever is
-- more. The field is "requests" or "limits".
function pod_resources.together(spec, field)
  local sums, staying, largest = {}, {}, {}
  for _, container in each(at(spec, "containers")) do add(sums, amounts_of(container, field)) end
  for _, container in each(at(spec, "initContainers")) do
    local own = amounts_of(container, field)
    if text(container, "restartPolicy") == "Always" then
      add(sums, own)
      add(staying, own)
      own = staying
    else
      add(own, staying)
    end
    keep_largest(largest, own)
  end
  keep_largest(sums, largest)
  return sums
end

-- Limits of huge pages are those of the containers, unless the pod says how many it wants.
local function default_limits(spec, resources)
  local limits, requests = at(resources, "limits"), at(resources, "requests")
  if json.count(limits) == 0 and json.count(requests) == 0 then return end
  for name, amount in pairs(pod_resources.together(spec, "limits")) do
    if is_huge(name) and not get(requests, name) then
      values.default(values.submap(resources, "limits"), name, amount)
    end
  end
end

-- Requests are those of the containers; or else the limits.
local function default_requests(spec, resources)
  local limits = at(resources, "limits")
  if json.count(limits) == 0 then return end
  local function default(name, amount)
    if pod_resources.is_of_pods(name) then values.default(values.submap(resources, "requests"), name, amount) end
  end
  for name, amount in pairs(pod_resources.together(spec, "requests")) do
    if not is_huge(name) then default(name, amount) end
  end
  for name, amount in members(limits) do default(name, amount) end
end

function pod_resources.default(spec)
  local resources = at(spec, "resources")
  if json.type(resources) ~= "object" then return end
  default_limits(spec, resources)
  default_requests(spec, resources)
end

-- --- classes

local function is_some(amount) return amount ~= nil and quantities.number(amount) > 0 end

-- Guaranteed, Burstable or BestEffort, by what the pod has itself, or its containers have.
function pod_resources.class(spec)
  local any, equal = false, true
  local function look(holder)
    for _, name in ipairs { "cpu", "memory" } do
      local limit, request = at(holder, "resources.limits." .. name), at(holder, "resources.requests." .. name)
      any = any or is_some(limit) or is_some(request)
      equal = equal and is_some(limit) and is_some(request) and quantities.number(limit) == quantities.number(request)
    end
  end
  if at(spec, "resources") then
    look(spec)
  else
    for _, container in each(at(spec, "containers")) do look(container) end
    for _, container in each(at(spec, "initContainers")) do look(container) end
  end
  return any and (equal and "Guaranteed" or "Burstable") or "BestEffort"
end

return pod_resources
