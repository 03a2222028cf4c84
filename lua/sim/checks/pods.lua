-- Pods and the templates of pods: what follows from several of their fields. Arguments as in volumes.lua.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local found = require "sim.checks.found"
local json = require "sim.json"

local at, text, each, int = json.at, json.text, json.each, json.int

local pods = {}

-- --- environments

local SOURCES = { "fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef" }

local field_paths = {
  "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP",
  "status.hostIPs", "status.podIP", "status.podIPs",
}
local resources = {
  "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage",
  "requests.memory",
}

local function check_key(problems, path, ref)
  problems:form(path .. ".name", text(ref, "name"), "subdomain")
  local key = text(ref, "key")
  if key == "" then return problems:required(path .. ".key") end
  problems:form(path .. ".key", key, "config key")
end

local function is_field(path)
  for _, known in ipairs(field_paths) do
    if known == path then return true end
  end
  return path == "spec.host" or path:find "^metadata%.labels$" or path:find "^metadata%.annotations$"
end

local checks = {
  configMapKeyRef = check_key,
  secretKeyRef = check_key,
  fieldRef = function(problems, path, ref)
    local field = text(ref, "fieldPath")
    if field == "" then return problems:required(path .. ".fieldPath") end
    local list, key = field:match "^(metadata%.%a+)%['(.*)'%]$"
    if list == "metadata.labels" or list == "metadata.annotations" then
      return problems:form(path, list == "metadata.labels" and key or key:lower(), "key")
    end
    if not is_field(field) then
      return problems:invalid(path .. ".fieldPath", field,
        string.format("error converting fieldPath: field label not supported: %s", field))
    end
    problems:enum(path .. ".fieldPath", field == "spec.host" and "spec.nodeName" or field, field_paths)
  end,
  resourceFieldRef = function(problems, path, ref)
    local resource = text(ref, "resource")
    if resource == "" then return problems:required(path .. ".resource") end
    if resource:find "^%a+%.hugepages%-" then return end
    problems:enum(path .. ".resource", resource, resources)
  end,
}

function pods.value_from(path, from, variable)
  local problems, n = found.new(), 0
  for _, name in ipairs(SOURCES) do
    local ref = at(from, name)
    if ref then
      n = n + 1
      if checks[name] then checks[name](problems, path .. "." .. name, ref) end
    end
  end
  if n == 0 then
    problems:invalid(path, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` "
      .. "or `fileKeyRef`")
  elseif text(variable, "value") ~= "" then
    problems:invalid(path, "", "may not be specified when `value` is not empty")
  elseif n > 1 then
    problems:invalid(path, "", "may not have more than one field specified at a time")
  end
  return problems
end

function pods.env_from(path, list)
  local problems = found.new()
  for i, from in each(list) do
    local place, n = string.format("%s[%d]", path, i - 1), 0
    if text(from, "prefix") ~= "" then problems:form(place .. ".prefix", text(from, "prefix"), "variable") end
    for _, name in ipairs { "configMapRef", "secretRef" } do
      local ref = at(from, name)
      local own = text(ref, "name")
      if ref then n = n + 1 end
      if ref and own == "" then problems:required(place .. "." .. name .. ".name") end
      if own ~= "" then problems:form(place .. "." .. name .. ".name", own, "subdomain") end
    end
    if n == 0 then problems:invalid(path, "", "must specify one of: `configMapRef` or `secretRef`") end
    if n > 1 then problems:invalid(path, "", "may not have more than one field specified at a time") end
  end
  return problems
end

-- --- containers among each other

local function list_of(path) return path:match "^(.-)%.?(%w*[cC]ontainers)%[(%d+)%]%.ports%[(%d+)%]" end

-- The port of a node: once in the containers of a pod, or in one that goes before them.
function pods.host_port(path, port, own, _, _, object)
  local above, list, container, place = list_of(path)
  local problems, address = found.new(), string.format("%s/%s/%d", text(own, "protocol"), text(own, "hostIP"), port)
  for c, other in each(at(object, above .. (above ~= "" and "." or "") .. list)) do
    local same = c - 1 == tonumber(container)
    local counts = same or c - 1 < tonumber(container) and list == "containers"
    for p, used in each(counts and at(other, "ports") or nil) do
      if same and p - 1 >= tonumber(place) then break end
      local shown = string.format("%s/%s/%d", text(used, "protocol"), text(used, "hostIP"), int(used, "hostPort", 0))
      if shown == address then
        -- A server looks at an init container as at a list of one.
        problems:duplicate(list == "containers" and path or (path:gsub("%[%d+%](%.ports%[%d+%])", "[0]%1")), address)
        return problems
      end
    end
  end
  return problems
end

function pods.host_network(path, spec)
  local problems = found.new()
  for c, container in each(at(spec, "containers")) do
    for p, port in each(at(container, "ports")) do
      local own = int(port, "hostPort", 0)
      if own ~= 0 and own ~= int(port, "containerPort", 0) then
        problems:invalid(string.format("%s.containers[%d].ports[%d].hostPort", path, c - 1, p - 1), own,
          "must match `containerPort` when `hostNetwork` is true")
      end
    end
  end
  return problems
end

return pods
