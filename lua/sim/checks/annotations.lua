-- Annotations of pods and templates that mean something to a server. Arguments as in volumes.lua.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local each_container = require "sim.checks.pod_containers"
local found = require "sim.checks.found"
local json = require "sim.json"
local values = require "sim.values"

local at, text, get = json.at, json.text, json.get

local annotations = {}

local MIRROR, COST = "kubernetes.io/config.mirror", "controller.kubernetes.io/pod-deletion-cost"
local ARMOR, SECCOMP = "container.apparmor.security.beta.kubernetes.io/", "seccomp.security.alpha.kubernetes.io/"

-- The name behind the prefix; nil if there is another one.
local function behind(prefix, name) return name:sub(1, #prefix) == prefix and name:sub(#prefix + 1) or nil end

-- Leading zeros are taken behind a sign only.
local function is_int32(value)
  local number = value:find "^%-?%d+$" and tonumber(value)
  local starts_well = value == "0" or value:find "^[-1-9]"
  return number and starts_well and number >= -2 ^ 31 and number < 2 ^ 31
end

local function check_seccomp(problems, path, profile)
  local known = { unconfined = true, ["runtime/default"] = true, ["docker/default"] = true }
  if known[profile] then return end
  local file = behind("localhost/", profile)
  if not file then return problems:invalid(path, profile, "must be a valid seccomp profile") end
  problems:form(path, file, "path below")
end

local function check_armor(problems, path, name, profile, spec)
  local is_there = false
  each_container("", spec, function(container) is_there = is_there or text(container, "name") == name end)
  if not is_there then problems:invalid(path, name, "container not found") end
  local known = { [""] = true, unconfined = true, ["runtime/default"] = true }
  if known[profile] or behind("localhost/", profile) then return end
  problems:invalid(path, profile, string.format('invalid AppArmor profile name: "%s"', profile))
end

function annotations.known(path, map, holder)
  local problems, names, spec = found.new(), values.names(map), at(holder, "spec")
  local mirror, cost = get(map, MIRROR), get(map, COST)
  if mirror and text(spec, "nodeName") == "" then
    problems:invalid(string.format("%s[%s]", path, MIRROR), mirror,
      "must set spec.nodeName if mirror pod annotation is set")
  end
  if cost and not is_int32(cost) then
    problems:invalid(string.format("%s[%s]", path, COST), cost, "must be a 32bit integer")
  end
  local of_pod = get(map, SECCOMP .. "pod")
  if of_pod then check_seccomp(problems, path .. "." .. SECCOMP .. "pod", of_pod) end
  for _, name in ipairs(names) do
    if behind("container." .. SECCOMP, name) then check_seccomp(problems, path .. "." .. name, get(map, name)) end
  end
  for _, name in ipairs(names) do
    local container = behind(ARMOR, name)
    if container then check_armor(problems, string.format("%s[%s]", path, name), container, get(map, name), spec) end
  end
  return problems
end

-- --- with fields that say the same

local function check_match(problems, path, what, profile, annotation, of_default)
  local type, name = text(profile, "type"), behind("localhost/", annotation)
  local good = type == "Unconfined" and annotation == "unconfined" or type == "Localhost" and name
    or type == "RuntimeDefault" and of_default[annotation]
  if not good then
    problems:forbidden(path .. ".type", what .. " type in annotation and field must match")
  elseif type == "Localhost" and at(profile, "localhostProfile") ~= name then
    problems:forbidden(path .. ".localhostProfile", what .. " profile in annotation and field must match")
  end
end

local function match_seccomp(problems, path, map, spec)
  local of_default = { ["runtime/default"] = true, ["docker/default"] = true }
  local function match(place, profile, annotation)
    if profile and annotation then
      check_match(problems, place .. ".securityContext.seccompProfile", "seccomp", profile, annotation, of_default)
    end
  end
  match(path, at(spec, "securityContext.seccompProfile"), get(map, SECCOMP .. "pod"))
  each_container(path .. ".", spec, function(container, place)
    match(place, at(container, "securityContext.seccompProfile"), get(map, "container." .. SECCOMP
      .. text(container, "name")))
  end)
end

local function match_armor(problems, path, map, spec)
  if text(spec, "os.name") == "windows" then return end
  each_container(path .. ".", spec, function(container, place)
    local profile = at(container, "securityContext.appArmorProfile") or at(spec, "securityContext.appArmorProfile")
    local annotation = get(map, ARMOR .. text(container, "name"))
    if profile and annotation then
      check_match(problems, place .. ".securityContext.appArmorProfile", "apparmor", profile, annotation,
        { ["runtime/default"] = true })
    end
  end)
end

-- Of a pod or a template: the spec is where the path leads, and the value.
function annotations.matching(path, spec, holder)
  local problems, map = found.new(), at(holder, "metadata.annotations")
  match_seccomp(problems, path, map, spec)
  match_armor(problems, path, map, spec)
  return problems
end

-- --- updates of pods

function annotations.changes(path, map, holder, _, old)
  local problems = found.new()
  local function check(names, others, armor, mirror)
    for _, name in ipairs(values.names(names)) do
      local place = string.format("%s[%s]", path, name)
      local changed = get(others, name) ~= get(names, name)
      if changed and behind(ARMOR, name) then problems:forbidden(place, armor) end
      if changed and name == MIRROR then problems:forbidden(place, mirror) end
    end
  end
  check(old, map, "may not remove or update AppArmor annotations", "may not remove or update mirror pod annotation")
  local added = map and json.copy(map)
  for _, name in ipairs(added and values.names(old) or {}) do json.remove(added, name) end
  check(added, nil, "may not add AppArmor annotations", "may not add mirror pod annotation")
  for _, problem in ipairs(annotations.known(path, map, holder)) do problems[#problems + 1] = problem end
  return problems
end

return annotations
