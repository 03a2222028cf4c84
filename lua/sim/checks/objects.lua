-- Contents of other objects: secrets and configurations, taints. Arguments as in volumes.lua.
local found = require "sim.checks.found"
local forms = require "sim.checks.forms"
local json = require "sim.json"
local pem = require "sim.checks.pem"
local values = require "sim.values"

local at, text, each, members = json.at, json.text, json.each, json.members

local objects = {}

local MAX = 1024 * 1024

-- How many bytes base64 stands for.
local function decoded_size(value)
  local _, pads = value:gsub("=", "")
  return math.floor(#value / 4) * 3 - pads
end

function objects.secret_size(path, data)
  local problems, size = found.new(), 0
  for _, value in members(data) do size = size + decoded_size(value) end
  if size > MAX then problems:too_long(path, MAX) end
  return problems
end

-- The member that the argument names is a map.
function objects.json(path, data, _, name)
  local problems, value = found.new(), json.get(data, name)
  local _, wrong = json.read(value and json.unbase64(value) or "{}", "map[string]interface {}")
  if wrong then problems:invalid(string.format("%s[%s]", path, name), "<secret contents redacted>", wrong) end
  return problems
end

function objects.config_size(_, _, object)
  local problems, size = found.new(), 0
  for _, value in members(at(object, "data")) do size = size + #value end
  for _, value in members(at(object, "binaryData")) do size = size + decoded_size(value) end
  if size > MAX then problems:too_long("[]", MAX) end
  return problems
end

-- --- certificate requests

-- The first block is a request; what is in it is not read.
function objects.certificate_request(path, request)
  local problems = found.new()
  local type_, inner = pem.blocks(type(request) == "string" and json.unbase64(request) or "")()
  if type_ ~= "CERTIFICATE REQUEST" or inner:find "[^%w+/=%s:,%-]" then
    problems:invalid(path, request == nil and json.null or request, "PEM block type must be CERTIFICATE REQUEST")
  end
  return problems
end

-- Each text once.
function objects.distinct(path, list)
  local problems, seen = found.new(), {}
  for i, one in each(list) do
    if seen[one] then problems:duplicate(string.format("%s[%d]", path, i - 1), one) end
    seen[one] = true
  end
  return problems
end

-- The first of the parts between dots that has not the form.
local function check_parts(problems, path, name, form)
  for part in (name .. "."):gmatch "(.-)%." do
    local wrong = forms[form](part)
    for problem in ((wrong or "") .. "; "):gmatch "(.-); " do
      if wrong then problems:invalid(path, name, string.format('validating label "%s": %s', part, problem)) end
    end
    if wrong then return end
  end
end

-- "example.com/signer-name"
function objects.signer(path, signer)
  local problems = found.new()
  local domain, name = string.match(signer or "", "^([^/]*)/([^/]*)$")
  if not signer or signer == "" then
    problems:required(path)
  elseif not domain then
    problems:invalid(path, signer, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
  else
    if #domain > 253 then problems:too_long(path, 253) end
    check_parts(problems, path, domain, "label")
    if not domain:find(".", 1, true) then
      problems:invalid(path, domain, "should be a domain with at least two segments separated by dots")
    end
    check_parts(problems, path, name, "subdomain")
    if #signer > 571 then problems:too_long(path, 571) end
  end
  return problems
end

-- Each key and effect once.
function objects.taints(path, taints)
  local problems, seen = found.new(), {}
  for i, taint in each(taints) do
    local id = text(taint, "key") .. "\n" .. text(taint, "effect")
    if seen[id] then
      local shown = json.object("Key", text(taint, "key"), "Value", text(taint, "value"), "Effect",
        text(taint, "effect"), "TimeAdded", at(taint, "timeAdded") or json.null)
      problems:add("Duplicate", string.format("%s[%d]", path, i - 1), "taints must be unique by key and effect pair",
        shown)
    end
    seen[id] = true
  end
  return problems
end

-- The labels that a job's pods have, and that its selector asks for, are of its own uid and name.
function objects.generated(path, spec, _, _, _, job)
  local problems, labels = found.new(), json.at(spec, "template.metadata.labels")
  local uid, name = json.text(job, "metadata.uid"), json.text(job, "metadata.name")
  local wanted = {}
  for _, own in ipairs { { "controller-uid", uid }, { "job-name", name }, { "batch.kubernetes.io/controller-uid", uid },
    { "batch.kubernetes.io/job-name", name } } do
    wanted[own[1]] = own[2]
    local there, place = json.get(labels, own[1]), ("%s.template.metadata.labels[%s]"):format(path, own[1])
    local detail = ("must be '%s'"):format(own[2])
    if there == nil then problems:required(place, detail)
    elseif there ~= own[2] then problems:invalid(place, values.sorted(labels), detail) end
  end
  for label, value in json.members(json.at(spec, "selector.matchLabels")) do
    if value ~= wanted[label] then
      problems:invalid(path .. ".selector", values.sorted(json.at(spec, "selector")),
        "`selector` not auto-generated")
      break
    end
  end
  return problems
end

-- Of an APIService without a service; the cause shows a length alone.
function objects.local_authority(path, bundle)
  local problems, size = found.new(), decoded_size(bundle)
  if size > 0 then
    problems:invalid(path, ("%d bytes"):format(size), "local APIServices may not have a caBundle")
  end
  return problems
end

-- The name of an APIService is its version and group. One that is missing, or no segment of a path, has been refused
-- for that.
function objects.api_service_name(path, name, _, _, _, service)
  local problems = found.new()
  local wanted = text(service, "spec.version") .. "." .. text(service, "spec.group")
  if name and name ~= wanted and name ~= "." and name ~= ".." and not name:find "[/%%]" then
    problems:invalid(path, name, ('must be `spec.version+"."+spec.group`: "%s"'):format(wanted))
  end
  return problems
end

-- At most one owner is the controller. The cause shows the references with their members in the order of Go's struct.
function objects.controllers(path, owners)
  local problems, shown, first = found.new(), {}, nil
  for i, owner in each(owners) do
    shown[i] = json.object("apiVersion", at(owner, "apiVersion"), "kind", at(owner, "kind"), "name", at(owner, "name"),
      "uid", at(owner, "uid"), "controller", at(owner, "controller"), "blockOwnerDeletion",
      at(owner, "blockOwnerDeletion"))
  end
  for _, owner in each(owners) do
    local controls = at(owner, "controller") == true
    if controls and first then
      problems:invalid(path, shown, string.format('Only one reference can have Controller set to true. Found "true" in '
        .. "references for %s/%s and %s/%s", text(first, "kind"), text(first, "name"), text(owner, "kind"),
        text(owner, "name")))
    end
    first = first or controls and owner or nil
  end
  return problems
end

-- The two finalizers of a deletion's policies exclude each other.
function objects.finalizers(path, names)
  local problems, there = found.new(), {}
  for _, name in each(names) do there[name] = true end
  if there.foregroundDeletion and there.orphan then
    problems:invalid(path, names, "finalizer orphan and foregroundDeletion cannot be both set")
  end
  return problems
end

-- --- nodes and namespaces

function objects.pod_ranges(path, ranges)
  local problems, families = found.new(), {}
  for i, range in json.each(ranges) do
    if i > 1 then problems:form(("%s[%d]"):format(path, i - 1), range, "cidr") end
    families[range:find(":", 1, true) and 6 or 4] = true
  end
  if not (families[4] and families[6]) or json.count(ranges) > 2 then
    problems:invalid(path, ranges, "may specify no more than one CIDR for each IP family")
  end
  return problems
end

function objects.external_id(path, id, _, _, old)
  local problems = found.new()
  if (id or "") ~= (old or "") then problems:forbidden(path, "may not be updated") end
  return problems
end

local LEVELS = { privileged = true, baseline = true, restricted = true }

local function wrong_label(name, value)
  if not name:find("-version", 1, true) then
    return not LEVELS[value] and "must be one of privileged, baseline, restricted"
  end
  local minor = value:match "^v1%.(%d+)$"
  return value ~= "latest" and (not minor or minor:find "^0%d") and 'must be "latest" or "v1.x"'
end

-- Labels of PodSecurity, of which a namespace keeps the wrong ones that it has.
function objects.pod_security(path, labels, _, _, old)
  local problems, has_changed = found.new(), false
  for _, name in ipairs { "enforce", "enforce-version", "audit", "audit-version", "warn", "warn-version" } do
    local label = "pod-security.kubernetes.io/" .. name
    local value = json.get(labels, label)
    local wrong = value and wrong_label(name, value)
    has_changed = has_changed or value ~= json.get(old, label)
    if wrong then problems:invalid(("%s[%s]"):format(path, label), value, wrong) end
  end
  return has_changed and problems or found.new()
end

return objects
