-- Classes, revisions, drivers of volumes and ranges of addresses. Arguments as in volumes.lua.
local addresses = require "sim.checks.addresses"
local forms = require "sim.checks.forms"
local found = require "sim.checks.found"
local json = require "sim.json"

local at, text, each, int, count = json.at, json.text, json.each, json.int, json.count

local classes = {}

local PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+"

-- A domain, a slash and a path.
function classes.domain_path(problems, path, value)
  local host, rest = value:match "^([^/]+)/(.+)$"
  if value == "" then
    problems:required(path)
  elseif not host then
    problems:invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')
  else
    problems:form(path, host, "subdomain")
    if not rest:find "^[%w/\\%-._~%%!$&'()*+,;=:]+$" then
      problems:invalid(path, rest, "Invalid path (regex used for validation is '" .. PATH .. "')")
    end
  end
end

-- The controller of an IngressClass.
function classes.controller(path, controller, _, _, old)
  local problems = found.new()
  if old and old ~= controller then problems:invalid(path, controller or "", "field is immutable") end
  if #(controller or "") > 250 then problems:too_long(path, 250) end
  classes.domain_path(problems, path, controller or "")
  return problems
end

-- --- priorities and revisions

local SYSTEM = "priority class names with 'system-' prefix are reserved for system use only. error: "
local HIGHEST = 1000000000
local known = { ["system-node-critical"] = 2000001000, ["system-cluster-critical"] = 2000000000 }

local function system_wrong(name, class)
  if not known[name] then return name .. " is not a known system priority class" end
  if int(class, "value", 0) ~= known[name] then
    return string.format("value of %s PriorityClass must be %d", name, known[name])
  end
  return at(class, "globalDefault") and string.format("globalDefault of %s PriorityClass must be false", name)
end

function classes.priority(_, class)
  local problems, name = found.new(), text(class, "metadata.name")
  if name:sub(1, 7) == "system-" then
    local wrong = system_wrong(name, class)
    if wrong then problems:forbidden("metadata.name", SYSTEM .. wrong) end
  elseif int(class, "value", 0) > HIGHEST then
    problems:forbidden("value", string.format("maximum allowed value of a user defined priority is %d", HIGHEST))
  end
  return problems
end

function classes.revision(path, data)
  local problems = found.new()
  if data == nil or data == json.null then
    problems:required(path, "data is mandatory")
  elseif json.type(data) ~= "object" then
    problems:required(path, "data must be a valid JSON object")
  end
  return problems
end

-- --- addresses and ranges of services

function classes.address_name(path, name)
  if not name then return found.new() end
  local problems, own = found.new(), addresses.canonical(name)
  if forms.address(name) then
    problems:form(path, name, "address")
  elseif own ~= name then
    problems:invalid(path, name, string.format('must be in canonical form ("%s")', own))
  end
  return problems
end

local function is_wide(cidr) return cidr:find(":", 1, true) ~= nil end

local function check_cidrs(problems, path, cidrs)
  if count(cidrs) == 0 then return problems:required(path, "at least one CIDR required") end
  for i, cidr in each(cidrs) do problems:form(string.format("%s[%d]", path, i - 1), cidr, "cidr") end
  local first, second = json.element(cidrs, 0), json.element(cidrs, 1)
  if second and is_wide(first) == is_wide(second) and first:find "/" and second:find "/" then
    problems:invalid(path, cidrs,
      "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64")
  end
end

-- The object that an address belongs to stays; the cause shows Go's struct.
function classes.parent(path, parent, _, _, old)
  local problems = found.new()
  local shown = parent and json.object("Group", text(parent, "group"), "Resource", text(parent, "resource"),
    "Namespace", text(parent, "namespace"), "Name", text(parent, "name"))
  if not (parent and old and json.equal(parent, old)) then
    problems:invalid(path, shown or json.null, "field is immutable")
  end
  return problems
end

function classes.cidrs(path, spec, _, _, old)
  local problems, cidrs, before = found.new(), at(spec, "cidrs"), at(old, "cidrs")
  path = path .. ".cidrs"
  if not old and count(cidrs) > 2 then
    problems:invalid(path, json.object("CIDRs", cidrs), "may only hold up to 2 values")
    return problems
  end
  if not old then
    check_cidrs(problems, path, cidrs)
    return problems
  end
  local grows = count(before) == 1 and count(cidrs) == 2
  if count(before) ~= count(cidrs) and not grows then
    problems:invalid(path, cidrs or {}, "field is immutable")
    return problems
  end
  for i, cidr in each(before) do
    local now = json.element(cidrs, i - 1)
    if now ~= cidr then problems:invalid(string.format("%s[%d]", path, i - 1), now, "field is immutable") end
  end
  if grows then check_cidrs(problems, path, cidrs) end
  return problems
end

-- --- drivers of volumes

local function check_driver(problems, path, name)
  if name == "" then problems:required(path) end
  if #name > 63 then problems:too_long(path, 63) end
  if name ~= "" then problems:form(path, name:lower(), "subdomain", name) end
end

function classes.driver(path, name)
  local problems = found.new()
  problems:form(path, name:lower(), "key")
  return problems
end

function classes.parameters(path, parameters)
  local problems = found.new()
  if json.get(parameters, "") then problems:invalid(path, "", "field can not be empty.") end
  return problems
end

function classes.token_requests(path, requests)
  local problems, seen = found.new(), {}
  for i, request in each(requests) do
    local place, audience = string.format("%s[%d]", path, i - 1), text(request, "audience")
    local seconds = int(request, "expirationSeconds")
    if seen[audience] then
      problems:duplicate(place .. ".audience", audience)
    elseif seconds and seconds < 600 then
      problems:invalid(place .. ".expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    elseif seconds and seconds > 2 ^ 32 then
      problems:invalid(place .. ".expirationSeconds", seconds,
        "may not specify a duration larger than 2^32 seconds")
    end
    seen[audience] = true
  end
  return problems
end

local function check_node_driver(problems, path, driver, seen)
  local name, id, keys = text(driver, "name"), text(driver, "nodeID"), {}
  check_driver(problems, path .. ".name", name)
  if id == "" then problems:required(path .. ".nodeID") end
  if #id > 256 then problems:invalid(path .. ".nodeID", id, "must be 256 characters or less") end
  problems:range(path .. ".allocatable.count", int(driver, "allocatable.count"), 0)
  if seen[name] then problems:duplicate(path .. ".name", name) end
  seen[name] = true
  for _, key in each(at(driver, "topologyKeys")) do
    if key == "" then problems:required(path) end
    if keys[key] then problems:duplicate(path, key) end
    keys[key] = true
    problems:form(path, key, "key")
  end
end

local function without_room(driver)
  local copy = json.copy(driver)
  if at(copy, "allocatable") then json.remove(copy, "allocatable") end
  return copy
end

function classes.node_drivers(path, drivers, _, _, old)
  local problems, seen = found.new(), {}
  for i, driver in each(drivers) do
    check_node_driver(problems, string.format("%s[%d]", path, i - 1), driver, seen)
  end
  for _, before in each(old) do
    for _, driver in each(drivers) do
      local same = text(driver, "name") == text(before, "name")
      if same and not json.equal(without_room(driver), without_room(before)) then
        problems:invalid(path, json.object("Name", text(driver, "name"), "NodeID", text(driver, "nodeID"),
          "TopologyKeys", at(driver, "topologyKeys") or json.null, "Allocatable", json.null), "field is immutable")
      end
    end
  end
  return problems
end

function classes.attachment(path, spec)
  local problems, source = found.new(), path .. ".source"
  local volume, inline = at(spec, "source.persistentVolumeName"), at(spec, "source.inlineVolumeSpec")
  check_driver(problems, path .. ".attacher", text(spec, "attacher"))
  if not volume and not inline then
    problems:required(source, "must specify exactly one of inlineVolumeSpec and persistentVolumeName")
  elseif volume and inline then
    problems:forbidden(source, "must specify exactly one of inlineVolumeSpec and persistentVolumeName")
  elseif volume == "" then
    problems:required(source .. ".persistentVolumeName", "must specify non empty persistentVolumeName")
  end
  return problems
end

-- Nothing of it changes; the cause shows Go's struct, where an inline volume is left out.
function classes.attachment_change(path, spec, _, _, old)
  local problems = found.new()
  if json.equal(spec, old) then return problems end
  local source = json.object("PersistentVolumeName", at(spec, "source.persistentVolumeName") or json.null,
    "InlineVolumeSpec", json.null)
  problems:invalid(path, json.object("Attacher", text(spec, "attacher"), "Source", source, "NodeName",
    text(spec, "nodeName")), "field is immutable")
  return problems
end

return classes
