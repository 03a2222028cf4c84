-- Scales and what a kubelet would answer, as far as they are looked up in the objects.
local json = require "sim.json"
local texts = require "sim.texts"

local at, text, int, object = json.at, json.text, json.int, json.object

local subresources = {}

-- --- Scale, by which clients of any kind set a number of replicas

local function add_labels(shown, labels)
  local own = {}
  for key, value in json.members(labels) do own[#own + 1] = key .. "=" .. text(value) end
  table.sort(own)
  for _, one in ipairs(own) do shown[#shown + 1] = one end
end

local signs = { In = "%s in (%s)", NotIn = "%s notin (%s)", DoesNotExist = "!%s" }

-- "app=web,tier in (a,b)": labels by their key, expressions as they come; "" if there is none.
local function selector_text(selector)
  local shown = {}
  add_labels(shown, at(selector, "matchLabels"))
  for _, requirement in json.each(at(selector, "matchExpressions")) do
    local values = {}
    for i, value in json.each(at(requirement, "values")) do values[i] = text(value) end
    shown[#shown + 1] = string.format(signs[text(requirement, "operator")] or "%s", text(requirement, "key"),
      table.concat(values, ","))
  end
  return table.concat(shown, ",")
end

-- Where the others are: a CRD says so; others have them where Deployments do.
local function path_of(paths, key, otherwise)
  return paths and text(paths, key):gsub("^%.", "") or otherwise
end

local function selector_of(value, kind, paths)
  if paths then return text(value, path_of(paths, "labelSelectorPath")) end
  local selector = at(value, "spec.selector")
  if kind ~= "ReplicationController" then return selector_text(selector) end
  local shown = {}
  add_labels(shown, selector)
  return table.concat(shown, ",")
end

-- The Scale of an object. `paths` are those of a CRD, `replicas` is the path of the number that a Scale sets.
function subresources.scale(value, kind, paths, replicas)
  local metadata, wanted, selector = object(), int(value, replicas, 0), selector_of(value, kind, paths)
  for _, name in ipairs { "name", "namespace", "uid", "resourceVersion", "creationTimestamp" } do
    json.set(metadata, name, at(value, "metadata." .. name))
  end
  return object("kind", "Scale", "apiVersion", "autoscaling/v1", "metadata", metadata,
    "spec", object("replicas", wanted ~= 0 and wanted or nil),
    "status", object("replicas", int(value, path_of(paths, "statusReplicasPath", "status.replicas"), 0),
      "selector", selector ~= "" and selector or nil))
end

-- --- Subresources of pods for which an API server asks a kubelet, of which there is none here

-- The refusal of a changed Scale; nil if there is none. A server checks it itself, or the custom object with the number
-- in it.
function subresources.scale_refusal(name, scale, paths)
  local own, replicas = text(scale, "metadata.name"), int(scale, "spec.replicas", 0)
  local kind = text(scale, "kind")
  if kind ~= "Scale" and kind ~= "" then return { 400, "cannot update scale to unexpected object kind" } end
  if own == "" then
    local message = "the name of the object (%s based on URL) was undeterminable: name must be provided"
    return { 400, string.format(message, name) }
  elseif own ~= name then
    local message = "the name of the object (%s) does not match the name on the URL (%s)"
    return { 400, string.format(message, own, name) }
  end
  if replicas >= 0 then return end
  return { 422, { { "FieldValueInvalid", paths and text(paths, "specReplicasPath") or "spec.replicas",
    paths and "should be a non-negative integer" or "must be greater than or equal to 0", replicas } } }
end

-- "strconv.ParseInt: parsing ..." of what is no integer of 64 bits; else nil and the number.
local function parse(given)
  local sign, digits = given:match "^([+-]?)(%d+)$"
  if not digits then return string.format('strconv.ParseInt: parsing "%s": invalid syntax', given) end
  digits = digits:gsub("^0+(%d)", "%1")
  local most = sign == "-" and "9223372036854775808" or "9223372036854775807"
  if #digits > #most or #digits == #most and digits > most then
    return string.format('strconv.ParseInt: parsing "%s": value out of range', given)
  end
  return nil, tonumber(given)
end

local LEAST = {
  { "tailLines", 0, "must be greater than or equal to 0" }, { "limitBytes", 1, "must be greater than 0" },
  { "sinceSeconds", 1, "must be greater than 0" },
}

-- Why the options of a log are refused; nil if they are not.
function subresources.log_problems(query)
  local found = {}
  for _, row in ipairs(LEAST) do
    local given = json.get(query, row[1])
    local problem, number = nil, nil
    if given then problem, number = parse(given) end
    if problem then return { 400, problem } end
    if row[1] == "sinceSeconds" and given and json.get(query, "sinceTime") then
      found[#found + 1] = { "FieldValueForbidden", "[]",
        "at most one of `sinceTime` or `sinceSeconds` may be specified" }
    elseif number and number < row[2] then
      found[#found + 1] = { "FieldValueInvalid", row[1], row[3], number }
    end
  end
  local since = json.get(query, "sinceTime")
  if since and not json.seconds(since) then
    local message = 'parsing time "%s" as "2006-01-02T15:04:05Z07:00": cannot parse "%s" as "2006"'
    return { 400, string.format(message, since, since) }
  end
  if json.get(query, "stream") then
    found[#found + 1] = { "FieldValueForbidden", "stream", "may not be specified" }
  end
  return #found > 0 and { 422, found } or nil
end

-- Returns why no container is meant, none of that name or one of several, or nil and its name.
local function choose(pod, name)
  local containers, own, names = at(pod, "spec.containers"), text(pod, "metadata.name"), {}
  if name and name ~= "" then
    local known = texts.find(containers, "name", name) or texts.find(at(pod, "spec.initContainers"), "name", name)
    return not known and string.format("container %s is not valid for pod %s", name, own) or nil, name
  end
  for i, container in json.each(containers) do names[i] = text(container, "name") end
  if #names == 1 then return nil, names[1] end
  return string.format("a container name must be specified for pod %s, choose one of: [%s]", own,
    table.concat(names, " "))
end

-- A failure behind the server has no reason, and code 500.
local function unreachable(pod, node, sub, container, upgrades)
  local address = text(json.element(at(node, "status.addresses"), 0), "address")
  local port = int(node, "status.daemonEndpoints.kubeletEndpoint.Port", 10250)
  if address == "" then return { 500, "no preferred addresses found; known addresses: []" } end
  local dial = string.format("dial tcp %s:%d: connect: connection refused", address, port)
  if sub == "log" then
    return { 500, string.format('Get "https://%s:%d/containerLogs/%s/%s/%s": %s', address, port,
      text(pod, "metadata.namespace"), text(pod, "metadata.name"), container, dial) }
  end
  if not upgrades then return { 400, "Upgrade request required" } end
  return { 500, "error dialing backend: " .. dial }
end

-- Returns the refusal; nil for the log of a pod that is not scheduled. A node that is missing is one of the pods, as a
-- real server has it.
function subresources.kubelet(pod, node, sub, container, upgrades)
  local mistake, name = nil, text(pod, "spec.nodeName")
  if sub ~= "portforward" then mistake, container = choose(pod, container) end
  if mistake then return { 400, mistake } end
  if name == "" then
    return sub ~= "log"
      and { 400, string.format("pod %s does not have a host assigned", text(pod, "metadata.name")) } or nil
  end
  return node and unreachable(pod, node, sub, container, upgrades) or { 404, "pods", name }
end

-- The problem of the node that a Binding names, or nil.
function subresources.binding_problem(target)
  local kind, missing = text(target, "kind"), "target.name: Required value"
  local other = (kind ~= "" and kind ~= "Node")
    and string.format('target.kind: Unsupported value: "%s": supported values: "Node", "<empty>"', kind)
  if text(target, "name") ~= "" then return other or nil end
  return other and string.format("[%s, %s]", other, missing) or missing
end

return subresources
