-- Warnings of the containers of pods and templates, and of their ports; see pod_warnings.lua.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local app_armor = require "sim.app_armor"
local each_container = require "sim.checks.pod_containers"
local json = require "sim.json"

local at, text, each, int, get = json.at, json.text, json.each, json.int, json.get

local warned = {}

local function add(all, form, ...) all[#all + 1] = string.format(form, ...) end

-- Quantities are stored in their shortest form.
function warned.fraction(all, path, amounts, name)
  local amount = get(amounts, name)
  if type(amount) ~= "string" or not amount:find "[mun]$" then return end
  add(all, '%s[%s]: fractional byte value "%s" is invalid, must be an integer', path, name, amount)
end

local function add_env(all, path, env)
  local seen = {}
  for i, variable in each(env) do
    local name, value = text(variable, "name"), text(variable, "value")
    local ref = "$(" .. name .. ")"
    local hides = at(variable, "valueFrom") or value == ref or not value:find(ref, 1, true)
    if seen[name] and hides then
      add(all, '%s.env[%d]: hides previous definition of "%s", which may be dropped when using apply', path, i - 1,
        name)
    end
    seen[name] = true
  end
end

local SECCOMP, USE_SECCOMP = "seccomp.security.alpha.kubernetes.io/",
  'non-functional in v1.27+; use the "seccompProfile" field instead'
function warned.containers(all, path, spec, annotations, place, of_template)
  if get(annotations, SECCOMP .. "pod") and not at(spec, "securityContext.seccompProfile") then
    add(all, "%s[%spod]: %s", place, SECCOMP, USE_SECCOMP)
  end
  each_container(path, spec, function(container, own)
    local key = "container." .. SECCOMP .. text(container, "name")
    if get(annotations, key) and not at(container, "securityContext.seccompProfile") then
      add(all, "%s[%s]: %s", place, key, USE_SECCOMP)
    end
    if of_template and app_armor.is_ignored(annotations, spec, container) then
      add(all, '%s[%s]: %s', place, app_armor.key(container), app_armor.OLD)
    end
    local limits, requests = at(container, "resources.limits"), at(container, "resources.requests")
    for _, name in ipairs { "memory", "ephemeral-storage" } do
      warned.fraction(all, own .. ".resources.limits", limits, name)
      warned.fraction(all, own .. ".resources.requests", requests, name)
    end
    add_env(all, own, at(container, "env"))
  end)
end

-- --- ports

-- How two definitions of a port stand to each other; nil if well.
local function clash(port, other)
  local own, others = int(port, "hostPort", 0), int(other, "hostPort", 0)
  local ip, other_ip = text(port, "hostIP"), text(other, "hostIP")
  if ip == other_ip and own == others then return "duplicate" end
  if own == 0 or others == 0 then return "overlapping" end
  return own == others and (ip == "") ~= (other_ip == "") and "dangerously ambiguous" or nil
end

function warned.ports(all, path, spec)
  local known = {}
  each_container(path, spec, function(container, own)
    for i, port in each(at(container, "ports")) do
      local place, number, protocol = string.format("%s.ports[%d]", own, i - 1), int(port, "containerPort", 0),
        text(port, "protocol")
      if text(port, "hostIP") ~= "" and int(port, "hostPort", 0) == 0 then
        add(all, "%s: hostIP set without hostPort: {Name:%s HostPort:0 ContainerPort:%d Protocol:%s HostIP:%s}", place,
          text(port, "name"), number, protocol, text(port, "hostIP"))
      end
      local key = string.format("%d/%s", number, protocol)
      known[key] = known[key] or {}
      for _, other in ipairs(known[key]) do
        local how = clash(port, other.port)
        if how then add(all, "%s: %s port definition with %s", place, how, other.place) end
      end
      table.insert(known[key], { place = place, port = port })
    end
  end, "ports")
end

function warned.port_names(all, path, spec)
  local known = {}
  each_container(path, spec, function(container, own)
    for i, port in each(at(container, "ports")) do
      local place, name = string.format("%s.ports[%d]", own, i - 1), text(port, "name")
      local other = known[name]
      if other then
        add(all, '%s: duplicate port name "%s" with %s, services and probes that select ports by name will use %s',
          place, name, other, other)
      elseif name ~= "" then
        known[name] = place
      end
    end
  end, "ports")
end

return warned
