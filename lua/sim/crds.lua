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

-- The versions that are served, in discovery's order of preference; none while another definition has its names. Where
-- none is, that which is stored: it has the objects, though nobody sees them. A text: why it cannot be served.
function crds.served(crd)
  local wrong = crds.name_problems(crd, "metadata.name")[1] or crds.obstacles(crd)[1]
  if wrong then return string.format("%s: %s", wrong[2], wrong[3] == "" and "required" or wrong[3]) end
  local list, stored, established = {}, nil, texts.find(at(crd, "status.conditions"), "type", "Established")
  if established and text(established, "status") ~= "True" then return list end
  for _, version in each(at(crd, "spec.versions")) do
    if at(version, "served") == true then list[#list + 1] = version end
    if at(version, "storage") == true then stored = version end
  end
  if #list == 0 then return { stored } end
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

-- Why it cannot be served, beside its name. All else that is wrong does not matter once it is stored, or of what is
-- loaded, which another server may have taken.
function crds.obstacles(crd)
  for _, path in ipairs { "spec.group", "spec.names.plural", "spec.names.kind" } do
    if text(crd, path) == "" then return { { "FieldValueRequired", path, "" } } end
  end
  local scope, versions, stored, unique, seen = text(crd, "spec.scope"), at(crd, "spec.versions"), 0, true, {}
  if scope ~= "Cluster" and scope ~= "Namespaced" then
    return { { "FieldValueNotSupported", "spec.scope", 'supported values: "Cluster", "Namespaced"', scope } }
  end
  for _, version in each(versions) do
    local name = text(version, "name")
    unique, seen[name] = unique and name ~= "" and not seen[name], true
    if at(version, "storage") == true then stored = stored + 1 end
  end
  if unique and stored == 1 then return {} end
  local detail = unique and "must have exactly one version marked as storage version"
    or "must contain unique version names"
  return { { "FieldValueInvalid", "spec.versions", detail, versions } }
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

-- By an update: the version that is stored now is among those that ever were. The status may be that of the old one.
function crds.store(crd)
  local status, name = json.copy(at(crd, "status")), stored_versions(crd)[1]
  for _, known in each(at(status, "storedVersions")) do
    if known == name then return end
  end
  if not status or not name then return end
  values.append(values.sublist(status, "storedVersions"), name)
  set(crd, "status", status)
end

local function is_true(crd, type)
  return text(texts.find(at(crd, "status.conditions"), "type", type), "status") == "True"
end

local function set_condition(crd, now, type, status, reason, message)
  local conditions = values.sublist(values.submap(crd, "status"), "conditions")
  local condition = texts.find(conditions, "type", type)
  if not condition then
    condition = json.object("type", type)
    values.append(conditions, condition)
  end
  local changes = text(condition, "status") ~= status
  set(condition, "status", status)
  if changes or not at(condition, "lastTransitionTime") then set(condition, "lastTransitionTime", now) end
  set(condition, "reason", reason)
  set(condition, "message", message)
end

-- The names that definitions of its group have, itself among them: of resources and of kinds.
local function used_names(crd, all)
  local resources, kinds = {}, {}
  for _, other in json.members(all) do
    local names = at(other, "accepted")
    if text(other, "group") == text(crd, "spec.group") then
      resources[text(names, "plural")], resources[text(names, "singular")] = true, true
      for _, name in each(at(names, "shortNames")) do resources[name] = true end
      kinds[text(names, "kind")], kinds[text(names, "listKind")] = true, true
    end
  end
  return resources, kinds
end

local function check_short_names(wanted, accepted, used)
  local own, taken = {}, {}
  for _, name in each(accepted) do own[name] = true end
  for _, name in each(wanted) do
    if not own[name] and used[name] then taken[#taken + 1] = string.format('"%s" is already in use', name) end
  end
  if #taken == 0 then return end
  return #taken == 1 and taken[1] or "[" .. table.concat(taken, ", ") .. "]"
end

local order = { { "plural", "PluralConflict" }, { "singular", "SingularConflict" },
  { "shortNames", "ShortNamesConflict" }, { "kind", "KindConflict" }, { "listKind", "ListKindConflict" } }

-- Returns the names that it may have, and why it may not have all it wants.
local function accept(crd, all)
  local resources, kinds = used_names(crd, all)
  local wanted, before = at(crd, "spec.names"), at(crd, "status.acceptedNames")
  local names, reason, message = json.object(), nil, nil
  for _, row in ipairs(order) do
    local name, used = row[1], (row[1] == "kind" or row[1] == "listKind") and kinds or resources
    local want, have = at(wanted, name), at(before, name)
    local conflict
    if name == "shortNames" then
      conflict = check_short_names(want, have, used)
    elseif want ~= have and used[want] then
      conflict = string.format('"%s" is already in use', want)
    end
    if conflict then reason, message = row[2], conflict end
    local own = want
    if conflict then own = have end
    set(names, name, json.copy(own))
    if own == nil and (name == "plural" or name == "kind") then set(names, name, "") end
  end
  set(names, "categories", json.copy(at(wanted, "categories")))
  return names, reason, message
end

-- Accepts the names that no other definition has; `all` are those that there are. A second call changes nothing.
function crds.establish(crd, now, all)
  local names, reason, message = accept(crd, all)
  set_condition(crd, now, "NamesAccepted", reason and "False" or "True", reason or "NoConflicts",
    message or "no conflicts found")
  if not reason and not is_true(crd, "Established") then
    set_condition(crd, now, "Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
  elseif reason and not texts.find(at(crd, "status.conditions"), "type", "Established") then
    set_condition(crd, now, "Established", "False", "NotAccepted", "not all names are accepted")
  end
  local status = at(crd, "status")
  set(status, "acceptedNames", names)
  if json.count(at(status, "storedVersions")) == 0 then set(status, "storedVersions", stored_versions(crd)) end
end

-- Whether its names are to be looked at (again).
function crds.is_unsettled(crd)
  return json.count(at(crd, "status.conditions")) == 0
    or not json.equal(at(crd, "spec.names"), at(crd, "status.acceptedNames"))
end

-- The part of it that other definitions are to know.
function crds.names(crd)
  return json.object("group", text(crd, "spec.group"), "accepted", json.copy(at(crd, "status.acceptedNames")),
    "unsettled", crds.is_unsettled(crd))
end

-- --- its end

local CLEANUP = "customresourcecleanup.apiextensions.k8s.io"

-- A deletion waits for the objects.
function crds.mark(crd, now)
  local metadata = at(crd, "metadata")
  values.default(metadata, "deletionTimestamp", now)
  local finalizers, there = values.sublist(metadata, "finalizers"), false
  for _, name in each(finalizers) do there = there or name == CLEANUP end
  if not there then values.append(finalizers, CLEANUP) end
  set_condition(crd, now, "Terminating", "True", "InstanceDeletionPending",
    "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon")
end

function crds.clean(crd, now)
  set_condition(crd, now, "Terminating", "True", "InstanceDeletionInProgress",
    "CustomResource deletion is in progress")
end

-- The last object is gone.
function crds.finish(crd, now)
  if not at(crd, "metadata.deletionTimestamp") then return end
  if is_true(crd, "Established") then
    set_condition(crd, now, "Terminating", "False", "InstanceDeletionCompleted", "removed all instances")
  else
    set_condition(crd, now, "Terminating", "False", "NeverEstablished", "resource was never established")
  end
  local finalizers = at(crd, "metadata.finalizers")
  for i = json.count(finalizers) - 1, 0, -1 do
    if json.element(finalizers, i) == CLEANUP then json.remove(finalizers, i) end
  end
end

return crds
