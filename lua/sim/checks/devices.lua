-- What a ResourceClaim asks of devices. Arguments as in volumes.lua. Selectors in CEL are not compiled.
local found = require "sim.checks.found"
local json = require "sim.json"
local quotas = require "sim.checks.quotas"
local shapes = require "sim.checks.device_shapes"

local at, text, each, int, count, get = json.at, json.text, json.each, json.int, json.count, json.get

local devices = {}

local MOST, MOST_CHOICES, MOST_EXPRESSION, MOST_PARAMETERS = 32, 8, 10240, 10240
local EFFECTS = { "NoExecute", "NoSchedule", "None" }

-- --- lists

-- Calls `check` for each element, unless there are more than `most`, which then is the only problem.
function devices.each(problems, path, list, most, check)
  if count(list) > most then
    problems:too_many(path, count(list), most)
    return false
  end
  for i, item in each(list) do check(("%s[%d]"):format(path, i - 1), item) end
  return true
end

-- Likewise; `key` is the text by which an element is there once, if it is not itself a text.
function devices.set(problems, path, list, most, check, key)
  if not devices.each(problems, path, list, most, check) then return end
  local seen = {}
  for i, item in each(list) do
    local id = key and key(item) or item
    if seen[id] then problems:duplicate(("%s[%d]"):format(path, i - 1), id) end
    seen[id] = true
  end
end

-- --- names

-- The names of requests, each with those of its alternatives.
function devices.request_names(claim)
  local names = {}
  for _, request in each(at(claim, "requests")) do
    local own = {}
    for _, choice in each(get(request, "firstAvailable")) do own[text(choice, "name")] = true end
    names[text(request, "name")] = own
  end
  return names
end

local REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated "
  .. "by '/'"

-- A check of a request's name, or that of one and its alternative.
function devices.reference(problems, names)
  return function(path, name)
    local request, choice = name:match "^([^/]*)/([^/]*)$"
    if not request and name:find("/", 1, true) then return problems:invalid(path, name, REFERENCE) end
    problems:form(path, request or name, "label")
    if choice then problems:form(path, choice, "label") end
    local own = names[request or name]
    if not own or choice and not own[choice] then problems:invalid(path, name, REFERENCE) end
  end
end

function devices.driver(problems, path, name)
  if name == "" then return problems:required(path) end
  if #name > 63 then problems:too_long(path, 63) end
  problems:form(path, name:lower(), "subdomain", name)
end

function devices.identifier(problems, path, name)
  if #name > 32 then problems:too_long(path, 32) end
  problems:form(path, name, "C identifier")
end

-- The name of an attribute: of a driver's own ones without the domain and the slash.
function devices.attribute_name(problems, path, name)
  local domain, rest = name:match "^([^/]*)/([^/]*)$"
  if domain == "" then problems:invalid(path, "", "the domain must not be empty")
  elseif domain then devices.driver(problems, path, domain) end
  if rest == "" then problems:invalid(path, "", "the name must not be empty")
  elseif rest then devices.identifier(problems, path, rest)
  elseif not name:find("/", 1, true) then devices.identifier(problems, path, name) end
end

-- A name with its domain.
local function attribute(problems, path, name)
  devices.attribute_name(problems, path, name)
  if name:find("/", 1, true) then return end
  problems:invalid(path, name, "a fully qualified name must be a domain and a name separated by a slash")
end

-- --- requests

local function selectors(problems, path, list)
  devices.each(problems, path, list, MOST, function(place, selector)
    if not at(selector, "cel") then
      problems:required(place .. ".cel")
    elseif #text(selector, "cel.expression") > MOST_EXPRESSION then
      problems:too_long(place .. ".cel.expression", MOST_EXPRESSION)
    end
  end)
end

local function allocation(problems, path, request)
  local mode, n = text(request, "allocationMode"), int(request, "count", 0)
  if mode == "All" then
    if n ~= 0 then problems:invalid(path .. ".count", n, "must not be specified when allocationMode is 'All'") end
  elseif mode == "ExactCount" then
    if n <= 0 then problems:invalid(path .. ".count", n, "must be greater than zero") end
  else
    problems:enum(path .. ".allocationMode", mode, { "All", "ExactCount" })
  end
end

function devices.effect(problems, path, effect)
  if effect ~= "" then problems:enum(path, effect, EFFECTS) end
end

local function toleration(problems, path, item)
  local key, operator, value = text(item, "key"), text(item, "operator"), text(item, "value")
  if key ~= "" then problems:form(path .. ".key", key, "key") end
  if operator == "" then
    problems:required(path .. ".operator")
  elseif operator == "Equal" then
    problems:form(path .. ".value", value, "value")
  elseif operator ~= "Exists" then
    problems:enum(path .. ".operator", operator, { "Equal", "Exists" })
  elseif value ~= "" then
    problems:invalid(path .. ".value", value, "must be empty for operator `Exists`")
  end
  devices.effect(problems, path .. ".effect", text(item, "effect"))
end

local function exactly(problems, path, request)
  local class = text(request, "deviceClassName")
  if class == "" then problems:required(path .. ".deviceClassName")
  else problems:form(path .. ".deviceClassName", class, "subdomain") end
  selectors(problems, path .. ".selectors", get(request, "selectors"))
  allocation(problems, path, request)
  for i, item in each(get(request, "tolerations")) do
    toleration(problems, ("%s.tolerations[%d]"):format(path, i - 1), item)
  end
end

local function name_of(item) return text(item, "name") end

local ONE = "exactly one of `exactly` or `firstAvailable` is required"

local function request(problems, path, item)
  local choices, exact = get(item, "firstAvailable"), at(item, "exactly")
  problems:form(path .. ".name", text(item, "name"), "label")
  if count(choices) > 0 and exact then
    problems:invalid(path, json.null, ONE .. ", but multiple fields are set")
  elseif exact then
    exactly(problems, path .. ".exactly", exact)
  elseif count(choices) == 0 then
    problems:required(path, ONE)
  else
    devices.set(problems, path .. ".firstAvailable", choices, MOST_CHOICES, function(place, choice)
      problems:form(place .. ".name", text(choice, "name"), "label")
      exactly(problems, place, choice)
    end, name_of)
  end
end

-- --- constraints and configurations

local EITHER = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'

local function constraint(problems, path, item, reference)
  local match, distinct = at(item, "matchAttribute"), at(item, "distinctAttribute")
  devices.set(problems, path .. ".requests", get(item, "requests"), MOST, reference)
  if match then attribute(problems, path .. ".matchAttribute", match)
  elseif distinct then attribute(problems, path .. ".distinctAttribute", distinct)
  else problems:required(path, EITHER) end
end

-- JSON of a driver, which is a map.
function devices.raw(problems, path, value, most)
  if value == nil or value == json.null then
    problems:required(path)
  elseif #json.dump(value) > most then
    problems:too_long(path, most)
  elseif json.type(value) ~= "object" then
    problems:invalid(path, "<value omitted>", "must be a valid JSON object")
  end
end

function devices.configuration(problems, path, item, reference)
  devices.set(problems, path .. ".requests", get(item, "requests"), MOST, reference)
  local opaque = at(item, "opaque")
  if not opaque then return problems:required(path .. ".opaque") end
  devices.driver(problems, path .. ".opaque.driver", text(opaque, "driver"))
  devices.raw(problems, path .. ".opaque.parameters", get(opaque, "parameters"), MOST_PARAMETERS)
end

function devices.claim(path, claim)
  local problems = found.new()
  local reference = devices.reference(problems, devices.request_names(claim))
  devices.set(problems, path .. ".requests", get(claim, "requests"), MOST, function(place, item)
    request(problems, place, item)
  end, name_of)
  devices.each(problems, path .. ".constraints", get(claim, "constraints"), MOST, function(place, item)
    constraint(problems, place, item, reference)
  end)
  devices.each(problems, path .. ".config", get(claim, "config"), MOST, function(place, item)
    devices.configuration(problems, place, item, reference)
  end)
  return problems
end

local EXTENDED = "must be a valid extended resource name"

function devices.class(path, spec)
  local problems = found.new()
  selectors(problems, path .. ".selectors", get(spec, "selectors"))
  devices.each(problems, path .. ".config", get(spec, "config"), MOST, function(place, item)
    devices.configuration(problems, place, item)
  end)
  local name = at(spec, "extendedResourceName")
  if name and not quotas.is_extended(name) then problems:invalid(path .. ".extendedResourceName", name, EXTENDED) end
  return problems
end

-- A spec, or that of a template as the argument says, stays as it is.
function devices.fixed(path, spec, _, shape, old)
  local problems = found.new()
  if not json.equal(shapes.plain(spec, shape), shapes.plain(old, shape)) then
    problems:invalid(path, shapes.shown(spec, shape), "field is immutable")
  end
  return problems
end

return devices
