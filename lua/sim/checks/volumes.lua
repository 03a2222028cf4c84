-- Volumes of pods: of one type each, and what the types want. Functions have the arguments that rules of `lua` have:
-- the path of a value, the value, what holds it, the rule's argument, what was there before, and the whole object.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local found = require "sim.checks.found"
local json = require "sim.json"
local quantities = require "sim.checks.quantities"
local values = require "sim.values"
local vendors = require "sim.checks.vendor_volumes"

local at, text, each, int = json.at, json.text, json.each, json.int

local volumes = {}

local MODE = "must be a number between 0 and 0777 (octal), both inclusive"

local function check_mode(problems, path, holder, name)
  local mode = int(holder, name)
  if mode and (mode < 0 or mode > 511) then problems:invalid(path .. "." .. name, mode, MODE) end
end

local function need(problems, path, holder, name)
  if text(holder, name) == "" then problems:required(path .. "." .. name) end
end

local function check_file(problems, path, file)
  need(problems, path, file, "path")
  problems:form(path .. ".path", text(file, "path"), "path of a file")
end

local function check_items(problems, path, source)
  for i, item in each(at(source, "items")) do
    local place = string.format("%s.items[%d]", path, i - 1)
    need(problems, place, item, "key")
    check_file(problems, place, item)
    check_mode(problems, place, item, "mode")
  end
end

local function check_named(name)
  return function(problems, path, source)
    need(problems, path, source, name)
    check_mode(problems, path, source, "defaultMode")
    check_items(problems, path, source)
  end
end

local function check_downward(problems, path, source)
  check_mode(problems, path, source, "defaultMode")
  for _, file in each(at(source, "items")) do
    check_file(problems, path, file)
    local field, resource = at(file, "fieldRef"), at(file, "resourceFieldRef")
    if field and resource then
      problems:invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elseif not field and not resource then
      problems:required(path, "one of fieldRef and resourceFieldRef is required")
    elseif resource then
      for _, name in ipairs { "resource", "containerName" } do
        if text(resource, name) == "" then
          problems:required(path .. ".resourceFieldRef." .. name)
        end
      end
    end
    check_mode(problems, path, file, "mode")
  end
end

local function check_token(problems, path, token, above)
  local seconds = int(token, "expirationSeconds", 0)
  local place = path .. ".expirationSeconds"
  if seconds < 600 then problems:invalid(place, seconds, "may not specify a duration less than 10 minutes") end
  if seconds > 2 ^ 32 then problems:invalid(place, seconds, "may not specify a duration larger than 2^32 seconds") end
  if text(token, "path") == "" then return problems:required(above .. ".path") end
  problems:form(above .. ".path", text(token, "path"), "path of a file")
end

local projected = {
  secret = function(problems, path, source)
    need(problems, path, source, "name")
    check_items(problems, path, source)
  end,
  downwardAPI = check_downward,
  serviceAccountToken = check_token,
}
projected.configMap = projected.secret

local function check_projected(problems, path, source)
  check_mode(problems, path, source, "defaultMode")
  local seen = {}
  for i, part in each(at(source, "sources")) do
    local place, n = string.format("%s.sources[%d]", path, i - 1), 0
    for _, name in ipairs { "secret", "configMap", "downwardAPI", "serviceAccountToken" } do
      local inner = at(part, name)
      if inner then
        n = n + 1
        projected[name](problems, place .. "." .. name, inner, path)
      end
      for _, item in each(at(inner, "items")) do
        local file = text(item, "path")
        if seen[file] and file ~= "" then
          problems:invalid(path, name == "downwardAPI" and file or text(inner, "name"), "conflicting duplicate paths")
        end
        seen[file] = true
      end
    end
    if n > 1 then problems:forbidden(place, "may not specify more than 1 volume type per source") end
  end
end

-- In the order in which a server looks at them; those without a check are of single vendors.
local types = {
  { "emptyDir", function(problems, path, source)
    if text(source, "sizeLimit"):sub(1, 1) == "-" then
      problems:forbidden(path .. ".sizeLimit", "SizeLimit field must be a valid resource quantity")
    end
  end },
  { "hostPath", function(problems, path, source)
    if text(source, "path") == "" then return problems:required(path .. ".path") end
    problems:form(path .. ".path", text(source, "path"), "path without steps back")
    problems:enum(path .. ".type", text(source, "type"), { "", "BlockDevice", "CharDevice", "Directory",
      "DirectoryOrCreate", "File", "FileOrCreate", "Socket" })
  end },
  { "gitRepo", function(problems, path, source)
    need(problems, path, source, "repository")
    problems:form(path .. ".directory", text(source, "directory"), "path below")
  end },
  { "gcePersistentDisk" }, { "awsElasticBlockStore" },
  { "secret", check_named "secretName" },
  { "nfs", function(problems, path, source)
    need(problems, path, source, "server")
    need(problems, path, source, "path")
    if text(source, "path"):sub(1, 1) ~= "/" then
      problems:invalid(path .. ".path", text(source, "path"), "must be an absolute path")
    end
  end },
  { "iscsi" }, { "glusterfs" }, { "flocker" },
  { "persistentVolumeClaim", function(problems, path, source) need(problems, path, source, "claimName") end },
  { "rbd" }, { "cinder" }, { "cephfs" }, { "quobyte" },
  { "downwardAPI", check_downward },
  { "fc" }, { "flexVolume" },
  { "configMap", check_named "name" },
  { "azureFile" }, { "vsphereVolume" }, { "photonPersistentDisk" }, { "portworxVolume" }, { "azureDisk" },
  { "storageos" },
  { "projected", check_projected },
  { "scaleIO" },
  { "csi" },
  { "ephemeral", function(problems, path, source)
    if not at(source, "volumeClaimTemplate") then problems:required(path .. ".volumeClaimTemplate") end
  end },
  { "image" },
}

local checks = {}
for _, type in ipairs(types) do checks[type[1]] = type[2] or vendors[type[1]] end

local function types_of(volume)
  local n, one = 0, nil
  for name in json.members(volume) do
    if checks[name] then n, one = n + 1, name end
  end
  return n, one
end

function volumes.one(path, volume)
  local problems, first = found.new(), nil
  local n, only = types_of(volume)
  if n == 0 then problems:required(path, "must specify a volume type") end
  if n == 1 then checks[only](problems, path .. "." .. only, at(volume, only)) end
  for _, type in ipairs(n > 1 and types or {}) do
    local name = type[1]
    local source = at(volume, name)
    if source and first then
      problems:forbidden(path .. "." .. name, "may not specify more than 1 volume type")
    elseif source then
      first = name
      checks[name](problems, path .. "." .. name, source)
    end
  end
  return problems
end

-- --- what volumes and claims have

local known_modes = { ReadOnlyMany = true, ReadWriteMany = true, ReadWriteOnce = true }

-- The mode of a single pod stands alone, or repeated; unknown modes do not count.
function volumes.modes(path, modes)
  local problems, has_single, has_other = found.new(), false, false
  for _, mode in each(modes) do
    if mode == "ReadWriteOncePod" then has_single = true elseif known_modes[mode] then has_other = true end
  end
  if has_single and has_other then problems:forbidden(path, "may not use ReadWriteOncePod with other access modes") end
  return problems
end

-- A volume has no capacity but for storage, which rules check.
function volumes.capacity(path, capacity)
  local problems, names, shown = found.new(), values.names(capacity), json.object()
  for _, name in ipairs(names) do json.set(shown, name, json.get(capacity, name)) end
  if json.get(capacity, "storage") and #names > 1 then problems:enum(path, shown, { "storage" }) end
  for _, name in ipairs(names) do
    local amount, place = json.get(capacity, name), string.format("%s[%s]", path, name)
    local number = quantities.number(amount)
    if name ~= "storage" and number < 0 then
      problems:invalid(place, number, "must be a valid resource quantity")
    end
    if name ~= "storage" and number <= 0 then problems:invalid(place, amount, "must be greater than zero") end
  end
  return problems
end

local STORAGE, CLASS = "resources.requests", "volume.beta.kubernetes.io/storage-class"

-- The specs of a claim, so that they are equal if only what may change does.
local function comparable(new, old, claim)
  local a, b = json.copy(new), json.copy(old)
  local annotated = json.get(at(claim, "metadata.annotations"), CLASS)
  local function take(path, name)
    local value = json.get(path and at(b, path) or b, name)
    local to = path and values.submap(values.submap(a, "resources"), "requests") or a
    if value then json.set(to, name, value) else json.remove(to, name) end
  end
  if text(old, "volumeName") == "" then json.remove(a, "volumeName") end
  if not at(old, "storageClassName") and at(new, "storageClassName")
      and (not annotated or annotated == text(new, "storageClassName")) then
    json.remove(a, "storageClassName")
  end
  if text(claim, "status.phase") == "Bound" then
    take(STORAGE, "storage")
    take(nil, "volumeAttributesClassName")
  end
  return a, b
end

function volumes.claim_changes(path, spec, claim, _, old_spec)
  local problems, size = found.new(), quantities.number(json.get(at(spec, STORAGE), "storage"))
  if not json.equal(comparable(spec, old_spec, claim)) then
    problems:forbidden(path, "spec is immutable after creation except resources.requests and "
      .. "volumeAttributesClassName for bound claims")
  end
  if size < quantities.number(json.get(at(old_spec, STORAGE), "storage"))
      and size <= quantities.number(at(claim, "status.capacity.storage")) then
    problems:forbidden(path .. ".resources.requests.storage", "field can not be less than status.capacity")
  end
  return problems
end

return volumes
