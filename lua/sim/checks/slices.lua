-- ResourceSlices: the devices of a driver. Arguments as in volumes.lua.
local devices = require "sim.checks.devices"
local device_policies = require "sim.checks.device_policies"
local found = require "sim.checks.found"
local json = require "sim.json"
local shapes = require "sim.checks.device_shapes"
local values = require "sim.values"

local at, text, each, int, count, get = json.at, json.text, json.each, json.int, json.count, json.get

local slices = {}

local function names_of(map) return count(map) > 0 and values.names(map) or {} end

local function pool(problems, path, value)
  local name = text(value, "name")
  if name == "" then problems:required(path .. ".name") end
  if #name > 253 then problems:too_long(path .. ".name", 253) end
  for part in (name == "" and "" or name .. "/"):gmatch "([^/]*)/" do
    problems:form(path .. ".name", part, "subdomain")
  end
  local slice_count, generation = int(value, "resourceSliceCount", 0), int(value, "generation", 0)
  if slice_count <= 0 then
    problems:invalid(path .. ".resourceSliceCount", slice_count, "must be greater than zero")
  end
  if generation < 0 then
    problems:invalid(path .. ".generation", generation, "must be greater than or equal to zero")
  end
end

-- Driver, pool and the node's name.
function slices.head(path, spec, _, _, old)
  local problems, node = found.new(), at(spec, "nodeName")
  devices.driver(problems, path .. ".driver", text(spec, "driver"))
  pool(problems, path .. ".pool", get(spec, "pool"))
  for _, name in ipairs(old and { "pool.name", "driver", "nodeName" } or {}) do
    if at(spec, name) ~= at(old, name) then
      local none = name == "nodeName" and json.null or ""
      problems:invalid(path .. "." .. name, at(spec, name) or none, "field is immutable")
    end
  end
  if node == "" then
    problems:invalid(path .. ".nodeName", node, "must be either unset or set to a non-empty string")
  elseif node then
    problems:form(path .. ".nodeName", node, "subdomain")
  end
  return problems
end

function slices.warnings(path, driver)
  if driver == driver:lower() then return {} end
  return { string.format('%s: driver names should be lowercase; "%s" contains uppercase characters', path, driver) }
end

-- --- devices

local function is_version(version)
  local main, build = version:match "^([^+]*)%+(.*)$"
  local numbers, early = (main or version):match "^([^-]*)%-(.*)$"
  numbers = numbers or main or version
  local first, second, third = numbers:match "^(%d+)%.(%d+)%.(%d+)$"
  if not first then return false end
  for _, part in ipairs { first, second, third } do
    if part:find "^0%d" then return false end
  end
  for part in (early and early .. "." or ""):gmatch "([^.]*)%." do
    if not part:find "^[%w-]+$" or part:find "^0%d+$" then return false end
  end
  for part in (build and build .. "." or ""):gmatch "([^.]*)%." do
    if not part:find "^[%w-]+$" then return false end
  end
  return true
end

local MEMBERS = { { "IntValue", "int" }, { "BoolValue", "bool" }, { "StringValue", "string" },
  { "VersionValue", "version" }, { "IntValues" }, { "BoolValues" }, { "StringValues" }, { "VersionValues" } }

local function attribute(problems, path, value)
  local n, shown, version = 0, json.object(), at(value, "version")
  for _, member in ipairs(MEMBERS) do
    local own
    if member[2] then own = at(value, member[2]) end
    if own ~= nil then n = n + 1 end
    json.set(shown, member[1], own == nil and json.null or own)
  end
  if #text(value, "string") > 64 then problems:too_long(path .. ".string", 64) end
  if version and not is_version(version) then
    problems:invalid(path .. ".version", version, "must be a string compatible with semver.org spec 2.0.0")
  end
  if #(version or "") > 64 then problems:too_long(path .. ".version", 64) end
  if n ~= 1 then problems:invalid(path, n > 1 and shown or "", "exactly one value must be specified") end
end

local function capacity(problems, path, value, shared)
  local policy = at(value, "requestPolicy")
  if not policy then return end
  if shared then return device_policies.check(problems, path .. ".requestPolicy", policy, text(value, "value")) end
  problems:forbidden(path .. ".requestPolicy", "allowMultipleAllocations must be true")
end

local function taint(problems, path, value)
  local of_value, effect = text(value, "value"), text(value, "effect")
  problems:form(path .. ".key", text(value, "key"), "key")
  if of_value ~= "" then problems:form(path .. ".value", of_value, "value") end
  if effect == "" then problems:required(path .. ".effect") else devices.effect(problems, path .. ".effect", effect) end
end

local function counters(problems, path, map)
  if count(map) == 0 then return problems:required(path) end
  if count(map) > 32 then return problems:too_many(path, count(map), 32) end
  for _, name in ipairs(values.names(map)) do problems:form(path, name, "label") end
end

local function counter_set(problems, name, map)
  return function(place, set)
    local own = text(set, name)
    if own == "" then problems:required(place .. "." .. name) else problems:form(place .. "." .. name, own, "label") end
    counters(problems, place .. "." .. map, get(set, map))
  end
end

local ONE_NODE = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` "
  .. "is set to true in the ResourceSlice spec"
local NO_NODE = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true "
  .. "in the ResourceSlice spec"

local function node_of(problems, path, device, own)
  local node, selector, all, set = at(device, "nodeName"), at(device, "nodeSelector"), at(device, "allNodes"), {}
  if not own then
    if node or selector or all ~= nil then problems:invalid(path, json.null, NO_NODE) end
    return
  end
  if node == "" then
    problems:invalid(path .. ".nodeName", "", "must not be empty")
  elseif node then
    set[#set + 1] = "`nodeName`"
    problems:form(path .. ".nodeName", node, "subdomain")
  end
  if selector then
    set[#set + 1] = "`nodeSelector`"
    if count(get(selector, "nodeSelectorTerms")) == 0 then
      problems:required(path .. ".nodeSelector.nodeSelectorTerms", "must have at least one node selector term")
    end
  end
  if all then
    set[#set + 1] = "`allNodes`"
  elseif all == false then
    problems:invalid(path .. ".allNodes", false, "must be either unset or set to true")
  end
  if #set == 0 then problems:required(path, ONE_NODE) end
  if #set > 1 then problems:invalid(path, "{" .. table.concat(set, ", ") .. "}", ONE_NODE) end
end

local function names_twice(problems, path, list, others)
  local seen = {}
  for i, name in each(list) do
    local place = string.format("%s[%d]", path, i - 1)
    if seen[name] then problems:duplicate(place, name) end
    seen[name] = true
    if others and others[name] then
      problems:invalid(place, name, "bindingFailureConditions must not overlap with bindingConditions")
    end
  end
  return seen
end

local function conditions(problems, path, device)
  local good, bad = get(device, "bindingConditions"), get(device, "bindingFailureConditions")
  local paths = { path .. ".bindingConditions", path .. ".bindingFailureConditions" }
  for i = 1, 2 do
    devices.each(problems, paths[i], i == 1 and good or bad, 4, function(place, name)
      problems:form(place, name, "key")
    end)
  end
  names_twice(problems, paths[2], bad, names_twice(problems, paths[1], good))
  if count(good) == 0 and count(bad) > 0 then
    problems:invalid(paths[1], json.null, "bindingConditions are required to use bindingFailureConditions")
  elseif count(good) > 0 and count(bad) == 0 then
    problems:invalid(paths[2], json.null, "bindingFailureConditions are required to use bindingConditions")
  end
end

local MOST_MEMBERS = "the total number of attributes and capacities must not exceed 32"

local function before(old, name)
  for _, device in each(at(old, "devices")) do
    if text(device, "name") == name then return device end
  end
end

local function check_device(problems, path, device, per_device, old)
  local attributes, capacities, taints = get(device, "attributes"), get(device, "capacity"), get(device, "taints")
  problems:form(path .. ".name", text(device, "name"), "label")
  local n = count(attributes) + count(capacities)
  if n > 32 then problems:invalid(path, n, MOST_MEMBERS) end
  for _, name in ipairs(names_of(attributes)) do
    devices.attribute_name(problems, path .. ".attributes", name)
    attribute(problems, string.format("%s.attributes[%s]", path, name), get(attributes, name))
  end
  for _, name in ipairs(names_of(capacities)) do
    devices.attribute_name(problems, path .. ".capacity", name)
    capacity(problems, string.format("%s.capacity[%s]", path, name), get(capacities, name),
      at(device, "allowMultipleAllocations") == true)
  end
  if not (old and json.equal(taints, get(old, "taints"))) then
    devices.each(problems, path .. ".taints", taints, 16, function(place, value) taint(problems, place, value) end)
  end
  devices.set(problems, path .. ".consumesCounters", get(device, "consumesCounters"), 2,
    counter_set(problems, "counterSet", "counters"), function(set) return text(set, "counterSet") end)
  node_of(problems, path, device, per_device)
  conditions(problems, path, device)
end

-- --- the slice

local ONE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"

local function nodes(problems, path, spec)
  local set, terms = {}, at(spec, "nodeSelector.nodeSelectorTerms")
  if text(spec, "nodeName") ~= "" then set[#set + 1] = "`nodeName`" end
  if at(spec, "nodeSelector") then
    set[#set + 1] = "`nodeSelector`"
    if count(terms) ~= 1 then
      problems:invalid(path .. ".nodeSelector.nodeSelectorTerms",
        get(shapes.shown(at(spec, "nodeSelector"), "nodes"), "NodeSelectorTerms"),
        "must have exactly one node selector term")
    end
  end
  for _, name in ipairs { "allNodes", "perDeviceNodeSelection" } do
    local value = at(spec, name)
    if value then set[#set + 1] = "`" .. name .. "`" end
    if value == false then
      problems:invalid(path .. "." .. name, false, "must be either unset or set to true")
    end
  end
  if #set == 0 then problems:required(path, ONE) end
  if #set > 1 then
    problems:invalid(path, "{" .. table.concat(set, ", ") .. "}", ONE .. ", but multiple fields are set")
  end
end

local function most_devices(list)
  for _, device in each(list) do
    if count(get(device, "taints")) > 0 or count(get(device, "consumesCounters")) > 0 then return 64 end
  end
  return 128
end

local function name_of(item) return text(item, "name") end

-- Where the devices are, and what they are.
function slices.rest(path, spec, _, _, old)
  local problems, list, shared = found.new(), at(spec, "devices"), at(spec, "sharedCounters")
  nodes(problems, path, spec)
  if list and shared then problems:invalid(path, "", "only one of `sharedCounters` or `devices` is allowed") end
  local per_device = at(spec, "perDeviceNodeSelection") == true
  devices.set(problems, path .. ".devices", list, most_devices(list), function(place, device)
    check_device(problems, place, device, per_device, before(old, name_of(device)))
  end, name_of)
  devices.set(problems, path .. ".sharedCounters", shared, 8, counter_set(problems, "name", "counters"), name_of)
  return problems
end

return slices
