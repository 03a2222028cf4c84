-- Claims of devices as Go shows them: the members of its own structs, in their order, with what is not set.
local json = require "sim.json"
local values = require "sim.values"

local shapes = {}

-- Each member: its name in Go, and what it is: a shape of this table, "*" before one that may be null, "[]" a list of
-- one; "value" may be null; "text" and "number" have a zero; "amounts" is a map of quantities, "meta" stands in line.
local types = {
  template = { { "", "meta" }, { "Spec", "spec" } },
  spec = { { "Devices", "claim" } },
  claim = { { "Requests", "[]request" }, { "Constraints", "[]constraint" }, { "Config", "[]config" } },
  request = { { "Name", "text" }, { "Exactly", "*exactly" }, { "FirstAvailable", "[]choice" } },
  exactly = { { "DeviceClassName", "text" }, { "Selectors", "[]selector" }, { "AllocationMode", "text" },
    { "Count", "number" }, { "AdminAccess", "value" }, { "Tolerations", "[]toleration" },
    { "Capacity", "*capacity" } },
  choice = { { "Name", "text" }, { "DeviceClassName", "text" }, { "Selectors", "[]selector" },
    { "AllocationMode", "text" }, { "Count", "number" }, { "Tolerations", "[]toleration" },
    { "Capacity", "*capacity" } },
  selector = { { "CEL", "*cel" } },
  cel = { { "Expression", "text" } },
  toleration = { { "Key", "text" }, { "Operator", "text" }, { "Value", "text" }, { "Effect", "text" },
    { "TolerationSeconds", "value" } },
  capacity = { { "Requests", "amounts" } },
  constraint = { { "Requests", "[]" }, { "MatchAttribute", "value" }, { "DistinctAttribute", "value" } },
  config = { { "Requests", "[]" }, { "Opaque", "*opaque" } },
  opaque = { { "Driver", "text" }, { "Parameters", "value" } },
  allocation = { { "Devices", "results" }, { "NodeSelector", "*nodes" }, { "AllocationTimestamp", "value" } },
  results = { { "Results", "[]result" }, { "Config", "[]source" } },
  result = { { "Request", "text" }, { "Driver", "text" }, { "Pool", "text" }, { "Device", "text" },
    { "AdminAccess", "value" }, { "Tolerations", "[]toleration" }, { "BindingConditions", "[]" },
    { "BindingFailureConditions", "[]" }, { "ShareID", "value" }, { "ConsumedCapacity", "amounts" } },
  source = { { "Source", "text" }, { "Requests", "[]" }, { "Opaque", "*opaque" } },
  nodes = { { "NodeSelectorTerms", "[]term" } },
  term = { { "MatchExpressions", "[]expression" }, { "MatchFields", "[]expression" } },
  expression = { { "Key", "text" }, { "Operator", "text" }, { "Values", "[]" } },
}

-- "DeviceClassName" is deviceClassName, "CEL" is cel.
local function json_name(name)
  if name:find "^%u+$" then return name:lower() end
  return name:sub(1, 1):lower() .. name:sub(2)
end

local convert

local function list_of(list, shape, plain)
  if json.type(list) ~= "array" or plain and json.count(list) == 0 then return json.null end
  local shown = {}
  for i, item in json.each(list) do shown[i] = shape == "" and item or convert(item, shape, plain) end
  return shown
end

local function amounts_of(map, plain)
  if json.type(map) ~= "object" or plain and json.count(map) == 0 then return json.null end
  local shown = json.object()
  for _, name in ipairs(values.names(map)) do json.set(shown, name, json.get(map, name)) end
  return shown
end

local function member_of(value, kind, plain)
  local missing = value == nil or value == json.null
  if kind == "text" then return missing and "" or value end
  if kind == "number" then return missing and 0 or value end
  if kind == "amounts" then return amounts_of(value, plain) end
  if kind:sub(1, 2) == "[]" then return list_of(value, kind:sub(3), plain) end
  if kind == "value" or kind:sub(1, 1) == "*" and missing then return missing and json.null or value end
  return convert(value, kind:gsub("^%*", ""), plain)
end

local function add_metadata(shown, metadata)
  for _, name in ipairs { "labels", "annotations" } do
    local own = json.get(metadata, name)
    if json.count(own) > 0 then json.set(shown, name, amounts_of(own)) end
  end
end

function convert(value, shape, plain)
  local shown = json.object()
  for _, member in ipairs(types[shape]) do
    local name, kind = member[1], member[2]
    if kind == "meta" then
      add_metadata(shown, json.get(value, "metadata"))
    else
      json.set(shown, name, member_of(json.get(value, json_name(name)), kind, plain))
    end
  end
  return shown
end

-- Returns the value of that shape as Go's JSON has it.
function shapes.shown(value, shape) return convert(value, shape, false) end

-- Likewise, and empty lists are as none: to compare two by.
function shapes.plain(value, shape) return convert(value, shape, true) end

return shapes
