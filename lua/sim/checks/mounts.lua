-- Where containers have the volumes of their pod: mounts and block devices. Arguments as in volumes.lua.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local found = require "sim.checks.found"
local forms = require "sim.checks.forms"
local json = require "sim.json"
local volumes = require "sim.checks.volumes"

local at, text, each = json.at, json.text, json.each

local mounts = {}

local propagations = { "Bidirectional", "HostToContainer", "None" }

local function need(problems, path, holder, name)
  if text(holder, name) == "" then problems:required(path .. "." .. name) end
end

local function check_propagation(problems, path, propagation, container)
  if propagation == "" then return end
  problems:enum(path .. ".mountPropagation", propagation, propagations)
  if propagation == "Bidirectional" and at(container, "securityContext.privileged") ~= true then
    problems:forbidden(path .. ".mountPropagation",
      "Bidirectional mount propagation is available only to privileged containers")
  end
end

local function check_mount(problems, path, mount, container)
  local propagation = text(mount, "mountPropagation")
  check_propagation(problems, path, propagation, container)
  local deep, place = text(mount, "recursiveReadOnly"), path .. ".recursiveReadOnly"
  if deep == "" or deep == "Disabled" then return end
  if deep ~= "Enabled" and deep ~= "IfPossible" then
    return problems:enum(place, deep, { "Disabled", "Enabled", "IfPossible" })
  end
  if at(mount, "readOnly") ~= true then problems:forbidden(place, "may only be specified when readOnly is true") end
  if propagation ~= "" and propagation ~= "None" then
    problems:forbidden(place, "may only be specified when mountPropagation is None or not specified")
  end
end

-- The valid volumes of a pod: true if one may be a block device. Claims of a StatefulSet are volumes of its pods.
local function volumes_of(path, object)
  local above, names = path:match "^(.-)%.?%w*[cC]ontainers%[", {}
  for _, volume in each(at(object, above .. ".volumes")) do
    local name = text(volume, "name")
    if names[name] == nil and not forms.label(name) and #volumes.one("", volume) == 0 then
      names[name] = at(volume, "persistentVolumeClaim") ~= nil or at(volume, "ephemeral") ~= nil
    end
  end
  for _, claim in each(at(object, "spec.volumeClaimTemplates")) do names[text(claim, "metadata.name")] = true end
  return names
end

-- What stands in a list of mounts or devices: paths by name, and a set of them; of a name the last one counts.
local function names_and_paths(list, path)
  local names, paths = {}, {}
  for _, one in each(list) do names[text(one, "name")] = text(one, path) end
  for _, last in pairs(names) do paths[last] = true end
  return names, paths
end

local function check_below(problems, path, place, mount)
  local sub, expression = text(mount, "subPath"), text(mount, "subPathExpr")
  problems:form(path .. ".subPath", sub, "path below")
  if sub ~= "" and expression ~= "" then
    problems:invalid(place .. ".subPathExpr", expression, "subPathExpr and subPath are mutually exclusive")
  end
  problems:form(path .. ".subPathExpr", expression, "path below")
end

function mounts.mounts(path, list, container, _, _, object)
  local problems, paths, known = found.new(), {}, volumes_of(path, object)
  local names, others = names_and_paths(at(container, "volumeDevices"), "devicePath")
  for i, mount in each(list) do
    local place, name, own = string.format("%s[%d]", path, i - 1), text(mount, "name"), text(mount, "mountPath")
    need(problems, place, mount, "name")
    if known[name] == nil then problems:not_found(place .. ".name", name) end
    need(problems, place, mount, "mountPath")
    if paths[own] then problems:invalid(place .. ".mountPath", own, "must be unique") end
    paths[own] = true
    if names[name] then problems:invalid(place .. ".name", name, "must not already exist in volumeDevices") end
    if others[own] then
      problems:invalid(place .. ".mountPath", own, "must not already exist as a path in volumeDevices")
    end
    check_below(problems, path, place, mount)
    check_mount(problems, path, mount, container)
  end
  return problems
end

local function check_device(problems, place, name, own, known, is_used)
  if name == "" then problems:required(place .. ".name") end
  if is_used then problems:invalid(place .. ".name", name, "must be unique") end
  if known[name] == false then
    problems:invalid(place .. ".name", name,
      "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode")
  elseif known[name] == nil then
    problems:not_found(place .. ".name", name)
  end
  if own == "" then problems:required(place .. ".devicePath") end
end

function mounts.devices(path, list, container, _, _, object)
  local problems, seen, paths, known = found.new(), {}, {}, volumes_of(path, object)
  local names, others = names_and_paths(at(container, "volumeMounts"), "mountPath")
  for i, device in each(list) do
    local place, name, own = string.format("%s[%d]", path, i - 1), text(device, "name"), text(device, "devicePath")
    check_device(problems, place, name, own, known, seen[name])
    if paths[own] then problems:invalid(place .. ".devicePath", own, "must be unique") end
    if string.find("/" .. own .. "/", "/../", 1, true) then
      problems:invalid(place .. ".devicePath", own, "can not contain backsteps ('..')")
    else
      paths[own] = true
    end
    if names[name] then problems:invalid(place .. ".name", name, "must not already exist in volumeMounts") end
    if others[own] then
      problems:invalid(place .. ".devicePath", own, "must not already exist as a path in volumeMounts")
    end
    if name ~= "" then seen[name] = true end
  end
  return problems
end

return mounts
