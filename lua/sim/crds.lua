-- CustomResourceDefinitions: their names, their status, the order of their versions. Problems are lists of a cause's
-- type, field, detail and value; the rest of them is found in checks/crd_definitions.lua.
local json = require "sim.json"
local texts = require "sim.texts"
local values = require "sim.values"

local at, text, each, set = json.at, json.text, json.each, json.set

local crds = {}

-- --- the order of API versions by how stable they are: v2, v1, v1beta2, v1beta1, v1alpha1, then all others by name

local stages = { beta = 2, alpha = 1 }

-- Returns stage, major and minor of v<major>, v<major>alpha<minor> or v<major>beta<minor>; stage 0 for anything else.
local function parse(version)
  local major, word, minor = version:match "^v([1-9]%d*)(%a*)(%d*)$"
  if major and word == "" and minor == "" then return 3, tonumber(major), 0 end
  if stages[word] and minor:find "^[1-9]" then return stages[word], tonumber(major), tonumber(minor) end
  return 0
end

function crds.precedes(a, b)
  local stage, major, minor = parse(a)
  local other_stage, other_major, other_minor = parse(b)
  if stage ~= other_stage then return stage > other_stage end
  if stage == 0 then return a < b end
  if major ~= other_major then return major > other_major end
  return minor > other_minor
end

-- The versions that are served, in discovery's order of preference.
function crds.served(crd)
  local list = {}
  for _, version in each(at(crd, "spec.versions")) do
    if at(version, "served") == true then list[#list + 1] = version end
  end
  table.sort(list, function(a, b) return crds.precedes(text(a, "name"), text(b, "name")) end)
  return list
end

-- --- problems

-- Of a field that is the name, or the prefix of names.
function crds.name_problems(crd, field)
  local name = text(crd, field)
  if name == "" or name == text(crd, "spec.names.plural") .. "." .. text(crd, "spec.group") then return {} end
  return { { "FieldValueInvalid", field, 'must be spec.names.plural+"."+spec.group', name } }
end

local function stored_versions(crd)
  local stored = {}
  for _, version in each(at(crd, "spec.versions")) do
    if at(version, "storage") == true then stored[#stored + 1] = text(version, "name") end
  end
  return stored
end

-- --- status, in place

function crds.begin(crd)
  set(crd, "status", json.object("conditions", json.null, "acceptedNames", json.object("plural", "", "kind", ""),
    "storedVersions", stored_versions(crd)))
end

-- A second call changes nothing.
function crds.establish(crd, now)
  local status = values.submap(crd, "status")
  local conditions = values.sublist(status, "conditions")
  local function add(type, reason, message)
    if texts.find(conditions, "type", type) then return end
    values.append(conditions, json.object("type", type, "status", "True", "lastTransitionTime", now, "reason", reason,
      "message", message))
  end
  add("NamesAccepted", "NoConflicts", "no conflicts found")
  add("Established", "InitialNamesAccepted", "the initial names have been accepted")
  set(status, "acceptedNames", json.copy(at(crd, "spec.names")))
  if json.count(at(status, "storedVersions")) == 0 then set(status, "storedVersions", stored_versions(crd)) end
end

return crds
