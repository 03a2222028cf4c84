-- Volumes of pods that one vendor or protocol has: by type, functions of problems, a path and the source.
-- Short calls of C functions, of which traces make nothing but aborts.
jit.off(true, true)

local json = require "sim.json"

local at, text, int, count = json.at, json.text, json.int, json.count

local vendors = {}

local function need(problems, path, source, ...)
  for _, name in ipairs { ... } do
    local value = at(source, name)
    local empty = text(source, name) == "" and count(value) == 0
    if empty then problems:required(path .. "." .. name) end
  end
end

local function needs(...)
  local names = { ... }
  return function(problems, path, source) need(problems, path, source, unpack(names)) end
end

local function need_name(problems, path, source, reference)
  if at(source, reference) then need(problems, path .. "." .. reference, at(source, reference), "name") end
end

vendors.rbd = needs("monitors", "image")
vendors.cephfs = needs "monitors"
vendors.glusterfs = needs("endpoints", "path")
vendors.azureFile = needs("secretName", "shareName")
vendors.vsphereVolume = needs "volumePath"
vendors.photonPersistentDisk = needs "pdID"
vendors.portworxVolume = needs "volumeID"
vendors.scaleIO = needs("gateway", "system", "volumeName")

local function check_disk(name)
  return function(problems, path, source)
    need(problems, path, source, name)
    local partition = int(source, "partition", 0)
    if partition < 0 or partition > 255 then
      problems:invalid(path .. ".partition", partition, "must be between 1 and 255, inclusive")
    end
  end
end

vendors.awsElasticBlockStore = check_disk "volumeID"

-- Causes have an older name.
function vendors.gcePersistentDisk(problems, path, source)
  check_disk "pdName"(problems, path:gsub("gcePersistentDisk$", "persistentDisk"), source)
end

function vendors.cinder(problems, path, source)
  need(problems, path, source, "volumeID")
  need_name(problems, path, source, "secretRef")
end

-- --- iSCSI and fibre channels

-- Of an initiator, or a target.
function vendors.is_iscsi_name(name)
  if name:find "^iqn" then return name:find "iqn%.%d%d%d%d%-%d%d%.[%w%-%.]+:[^,;*&$|%s]+$" ~= nil end
  local long = name:find "^eui" and 20 or name:find "^naa" and 36
  return #name == long and name:sub(5):find "^%w+$" ~= nil
end

local function check_iscsi_name(problems, path, name)
  if not (name:find "^iqn" or name:find "^eui" or name:find "^naa") then
    problems:invalid(path, name, "must be valid format starting with iqn, eui, or naa")
  elseif not vendors.is_iscsi_name(name) then
    problems:invalid(path, name, "must be valid format")
  end
end

function vendors.iscsi(problems, path, source)
  local name, initiator = text(source, "iqn"), at(source, "initiatorName")
  need(problems, path, source, "targetPortal", "iqn")
  if name ~= "" then check_iscsi_name(problems, path .. ".iqn", name) end
  problems:range(path .. ".lun", int(source, "lun", 0), 0, 255)
  local chap = at(source, "chapAuthDiscovery") == true or at(source, "chapAuthSession") == true
  if chap and not at(source, "secretRef") then problems:required(path .. ".secretRef") end
  if initiator then check_iscsi_name(problems, path .. ".initiatorname", initiator) end
end

function vendors.fc(problems, path, source)
  local names, ids, lun = at(source, "targetWWNs"), at(source, "wwids"), int(source, "lun")
  local place = path .. ".targetWWNs"
  if count(names) == 0 and count(ids) == 0 then
    problems:required(place, "must specify either targetWWNs or wwids, but not both")
  elseif count(names) > 0 and count(ids) > 0 then
    problems:invalid(place, names, "targetWWNs and wwids can not be specified simultaneously")
  end
  if count(names) == 0 then return end
  if not lun then problems:required(path .. ".lun", "lun is required if targetWWNs is specified") end
  problems:range(path .. ".lun", lun, 0, 255)
end

-- --- others

local PAIRS = "must be a host:port pair or multiple pairs separated by commas"

function vendors.quobyte(problems, path, source)
  local registry = text(source, "registry")
  if registry == "" then
    problems:required(path .. ".registry", PAIRS)
  elseif #text(source, "tenant") >= 65 then
    problems:required(path .. ".tenant", "must be a UUID and may not exceed a length of 64 characters")
  else
    for pair in (registry .. ","):gmatch "(.-)," do
      local good = pair:find "^[^:%[%]]*:[^:%[%]]*$" or pair:find "^%[[^%[%]]*%]:[^:%[%]]*$"
      if not good then problems:invalid(path .. ".registry", registry, PAIRS) end
    end
  end
  need(problems, path, source, "volume")
end

function vendors.flocker(problems, path, source)
  local name, uuid = text(source, "datasetName"), text(source, "datasetUUID")
  if name == "" and uuid == "" then problems:required(path, "one of datasetName and datasetUUID is required") end
  if name ~= "" and uuid ~= "" then
    problems:invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
  end
  if name:find("/", 1, true) then problems:invalid(path .. ".datasetName", name, "must not contain '/'") end
end

local function is_reserved(option)
  local space = "." .. option:match("^[^/]*"):lower()
  return space:sub(-14) == ".kubernetes.io" or space:sub(-7) == ".k8s.io"
end

function vendors.flexVolume(problems, path, source)
  need(problems, path, source, "driver")
  for option in json.members(at(source, "options")) do
    if is_reserved(option) then
      problems:invalid(string.format("%s.options[%s]", path, option), option,
        "kubernetes.io and k8s.io namespaces are reserved")
    end
  end
end

local MANAGED = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
local BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"

function vendors.azureDisk(problems, path, source)
  local caching, kind, uri = at(source, "cachingMode"), at(source, "kind"), text(source, "diskURI")
  need(problems, path, source, "diskName", "diskURI")
  if caching then problems:enum(path .. ".cachingMode", caching, { "None", "ReadOnly", "ReadWrite" }) end
  if kind then problems:enum(path .. ".kind", kind, { "Dedicated", "Managed", "Shared" }) end
  if kind == "Managed" and uri:find("/subscriptions/", 1, true) ~= 1 then
    problems:enum(path .. ".diskURI", uri, { MANAGED })
  elseif kind and kind ~= "Managed" and uri:find("https://", 1, true) ~= 1 then
    problems:enum(path .. ".diskURI", uri, { BLOB })
  end
end

function vendors.check_storageos(problems, path, source)
  local name, namespace = text(source, "volumeName"), text(source, "volumeNamespace")
  need(problems, path, source, "volumeName")
  if name ~= "" then problems:form(path .. ".volumeName", name, "label") end
  if namespace ~= "" then problems:form(path .. ".volumeNamespace", namespace, "label") end
end

function vendors.storageos(problems, path, source)
  vendors.check_storageos(problems, path, source)
  need_name(problems, path, source, "secretRef")
end

function vendors.check_driver(problems, path, driver)
  if driver == "" then return problems:required(path) end
  if #driver > 63 then problems:too_long(path, 63) end
  problems:form(path, driver:lower(), "subdomain", driver)
end

function vendors.csi(problems, path, source)
  local reference = at(source, "nodePublishSecretRef")
  vendors.check_driver(problems, path .. ".driver", text(source, "driver"))
  need_name(problems, path, source, "nodePublishSecretRef")
  if reference and text(reference, "name") ~= "" then
    problems:form(path .. ".name", text(reference, "name"), "subdomain")
  end
end

-- Templates need no image.
function vendors.image(problems, path, source)
  if path:find "^spec%.volumes" then need(problems, path, source, "reference") end
  problems:enum(path .. ".pullPolicy", text(source, "pullPolicy"), { "Always", "IfNotPresent", "Never" })
end

return vendors
