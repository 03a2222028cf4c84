-- Sources of PersistentVolumes: one each, and what its type wants. Arguments as in volumes.lua.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local found = require "sim.checks.found"
local json = require "sim.json"
local vendors = require "sim.checks.vendor_volumes"

local at, text, int = json.at, json.text, json.int

local persistent = {}

local function is_set(value) return value ~= nil and value ~= json.null end

local function need(problems, path, holder, ...)
  for _, name in ipairs { ... } do
    if text(holder, name) == "" then problems:required(path .. "." .. name) end
  end
end

-- A secret in a namespace.
local function need_secret(problems, path, source)
  local reference = at(source, "secretRef")
  if is_set(reference) then need(problems, path .. ".secretRef", reference, "name", "namespace") end
end

local function check_secret(problems, path, reference)
  need(problems, path, reference, "name")
  if text(reference, "name") ~= "" then problems:form(path .. ".name", text(reference, "name"), "subdomain") end
  need(problems, path, reference, "namespace")
  if text(reference, "namespace") ~= "" then
    problems:form(path .. ".namespace", text(reference, "namespace"), "label")
  end
end

local own = {}

function own.hostPath(problems, path, source)
  if text(source, "path") == "" then return problems:required(path .. ".path") end
  problems:form(path .. ".path", text(source, "path"), "path without steps back")
  problems:enum(path .. ".type", text(source, "type"), { "", "BlockDevice", "CharDevice", "Directory",
    "DirectoryOrCreate", "File", "FileOrCreate", "Socket" })
end

function own.nfs(problems, path, source)
  need(problems, path, source, "server", "path")
  if text(source, "path"):sub(1, 1) ~= "/" then
    problems:invalid(path .. ".path", text(source, "path"), "must be an absolute path")
  end
end

function own.glusterfs(problems, path, source)
  local namespace, place = at(source, "endpointsNamespace"), path .. ".endpointsNamespace"
  need(problems, path, source, "endpoints", "path")
  if namespace == "" then
    problems:invalid(place, "", "if the endpointnamespace is set, it must be a valid namespace name")
  elseif is_set(namespace) then
    problems:form(place, namespace, "label")
  end
end

local function check_iscsi_name(problems, path, name)
  if not vendors.is_iscsi_name(name) then problems:invalid(path, name, "must be valid format") end
end

local TOO_LONG = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
  .. "iscsi.initiatorName is specified."

function own.iscsi(problems, path, source, volume)
  local name, initiator, portal = text(source, "iqn"), at(source, "initiatorName"), text(source, "targetPortal")
  need(problems, path, source, "targetPortal")
  if initiator and #text(volume, "metadata.name") + 1 + #portal > 64 then
    problems:invalid(path .. ".targetportal", portal, TOO_LONG)
  end
  need(problems, path, source, "iqn")
  if name ~= "" then check_iscsi_name(problems, path .. ".iqn", name) end
  problems:range(path .. ".lun", int(source, "lun", 0), 0, 255)
  local chap = at(source, "chapAuthDiscovery") == true or at(source, "chapAuthSession") == true
  local reference = at(source, "secretRef")
  if chap and not reference then problems:required(path .. ".secretRef") end
  if reference then need(problems, path .. ".secretRef", reference, "name") end
  if initiator then check_iscsi_name(problems, path .. ".initiatorname", initiator) end
end

function own.cinder(problems, path, source)
  need(problems, path, source, "volumeID")
  need_secret(problems, path, source)
end

function own.azureFile(problems, path, source)
  need(problems, path, source, "secretName", "shareName")
  if at(source, "secretNamespace") == "" then problems:required(path .. ".secretNamespace") end
end

own["local"] = function(problems, path, source, volume)
  if text(source, "path") == "" then
    problems:required(path .. ".path")
  else
    problems:form(path .. ".path", text(source, "path"), "path without steps back")
  end
  if not at(volume, "spec.nodeAffinity") then
    problems:required("spec.nodeAffinity", "Local volume requires node affinity")
  end
end

function own.storageos(problems, path, source)
  vendors.check_storageos(problems, path, source)
  need_secret(problems, path, source)
end

function own.csi(problems, path, source)
  vendors.check_driver(problems, path .. ".driver", text(source, "driver"))
  need(problems, path, source, "volumeHandle")
  for _, name in ipairs { "controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef",
    "nodeExpandSecretRef" } do
    if at(source, name) then check_secret(problems, path .. "." .. name, at(source, name)) end
  end
end

-- In the order in which a server looks at them.
local types = { "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd",
  "quobyte", "cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk",
  "portworxVolume", "azureDisk", "scaleIO", "local", "storageos", "csi" }
local SHOWN = { cephfs = "cephFS" }

function persistent.source(path, spec, _, _, _, volume)
  local problems, n = found.new(), 0
  for _, type in ipairs(types) do
    local source = at(spec, type)
    if source and n > 0 and type ~= "flexVolume" then
      problems:forbidden(path .. "." .. (SHOWN[type] or type), "may not specify more than 1 volume type")
    elseif source then
      (own[type] or vendors[type])(problems, path .. "." .. type, source, volume)
      n = n + 1
    end
  end
  if n == 0 then problems:required(path, "must specify a volume type") end
  return problems
end

local MOUNTED = { "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi", "cinder",
  "cephfs", "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk" }

-- Options of mounts by the old annotation, which sources of these types alone may have.
function persistent.mounts(path, annotations, _, _, _, volume)
  local problems = found.new()
  if not json.get(annotations, "volume.beta.kubernetes.io/mount-options") then return problems end
  for _, type in ipairs(MOUNTED) do
    if json.at(volume, "spec." .. type) then return problems end
  end
  problems:forbidden(path .. ".volume.beta.kubernetes.io/mount-options",
    "may not specify mount options for this volume type")
  return problems
end

return persistent
