-- Events. Those that are written as events.k8s.io/v1 are held to more, and keep what they say; all are looked at as v1.
-- Arguments as in volumes.lua.
local found = require "sim.checks.found"
local json = require "sim.json"

local at, text, int = json.at, json.text, json.int

local events = {}

local NO_MATCH = "does not match event.namespace"

local function limited(problems, path, value, most)
  if #value <= most then return end
  problems:invalid(path, "", string.format("can have at most %d characters", most))
end

local function check_new(problems, event, reporter)
  local namespace, own = text(event, "involvedObject.namespace"), text(event, "metadata.namespace")
  if namespace == "" and own ~= "default" and own ~= "kube-system" then
    problems:invalid("involvedObject.namespace", namespace, NO_MATCH)
  end
  if text(event, "reportingComponent") == "" then problems:required(reporter) end
  problems:form(reporter, text(event, "reportingComponent"), "key")
  for _, name in ipairs { "reportingInstance", "action", "reason" } do
    if text(event, name) == "" then problems:required(name) end
    limited(problems, name, text(event, name), 128)
  end
  limited(problems, "message", text(event, "message"), 1024)
end

-- The argument is the name that the version has for who tells the event.
function events.any(_, event, _, reporter)
  local problems = found.new()
  if text(event, "eventTime") ~= "" then
    check_new(problems, event, reporter)
    return problems
  end
  local namespace, own = text(event, "involvedObject.namespace"), text(event, "metadata.namespace")
  if namespace ~= own and not (namespace == "" and own == "default") then
    problems:invalid("involvedObject.namespace", namespace, NO_MATCH)
  end
  return problems
end

local function check_series(problems, series)
  if not series then return end
  if int(series, "count", 0) < 2 then problems:invalid("series.count", "", "should be at least 2") end
  if text(series, "lastObservedTime") == "" then problems:required "series.lastObservedTime" end
end

-- A new event of events.k8s.io/v1.
function events.new(_, event)
  local problems, type = found.new(), text(event, "type")
  check_series(problems, at(event, "series"))
  if text(event, "eventTime") == "" then problems:required "eventTime" end
  if type ~= "Normal" and type ~= "Warning" then problems:invalid("type", "", "has invalid value: " .. type) end
  for _, name in ipairs { "firstTimestamp", "lastTimestamp" } do
    if text(event, name) ~= "" then problems:invalid(name, "", "needs to be unset") end
  end
  if int(event, "count", 0) ~= 0 then problems:invalid("count", "", "needs to be unset") end
  if text(event, "source.component") ~= "" or text(event, "source.host") ~= "" then
    problems:invalid("source", "", "needs to be unset")
  end
  return problems
end

-- An object that an event refers to as Go shows it.
local function shown(value)
  if json.type(value) ~= "object" then return value or json.null end
  return json.object("Kind", text(value, "kind"), "Namespace", text(value, "namespace"), "Name", text(value, "name"),
    "UID", text(value, "uid"), "APIVersion", text(value, "apiVersion"), "ResourceVersion",
    text(value, "resourceVersion"), "FieldPath", text(value, "fieldPath"))
end

local function same(a, b) return a == nil and b == nil or a ~= nil and b ~= nil and json.equal(a, b) end

local FIXED = { "involvedObject", "reason", "message", "firstTimestamp", "lastTimestamp", "count", "reason", "type",
  "eventTime", "action", "related", "reportingComponent", "reportingInstance" }

-- A changed one.
function events.changed(_, event, _, _, old)
  local problems = found.new()
  if not same(at(event, "series"), at(old, "series")) then check_series(problems, at(event, "series")) end
  for _, name in ipairs(FIXED) do
    if not same(at(event, name), at(old, name)) then
      problems:invalid(name == "reportingComponent" and "reportingController" or name, shown(at(event, name)),
        "field is immutable")
    end
  end
  return problems
end

return events
