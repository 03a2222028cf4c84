-- Pods and the workloads that create them: their pod specs and containers, and patches of both.
local k8s = require "k8s"
local shapes = require "_shapes"
local values = require "_values"

local list, map = values.list, values.map
local is_view = k8s.object.is_view

local pods = {}

pods.kinds = {
  "pods",
  "deployments.apps",
  "statefulsets.apps",
  "daemonsets.apps",
  "replicasets.apps",
  "jobs.batch",
  "cronjobs.batch",
}

-- Kinds that do not run to completion.
pods.lasting_kinds = { "pods", "deployments.apps", "statefulsets.apps", "daemonsets.apps", "replicasets.apps" }

local OWNERS = {
  ReplicaSet = "^apps/",
  Deployment = "^apps/",
  StatefulSet = "^apps/",
  DaemonSet = "^apps/",
  Job = "^batch/",
  CronJob = "^batch/",
}

-- For `params`.
pods.params = { owned = { default = false, help = "also audit pods of workloads, as in a dump that has only pods" } }

local function is_owned(obj)
  for _, owner in values.maps(obj.metadata.ownerReferences) do
    local pattern = owner.controller == true and OWNERS[owner.kind]
    if pattern and type(owner.apiVersion) == "string" and owner.apiVersion:find(pattern) then
      return true
    end
  end
  return false
end

local PREFIX = { Pod = "spec", CronJob = "spec.jobTemplate.spec.template.spec" }
local OTHERS = "spec.template.spec"
local LISTS = { "containers", "initContainers", "ephemeralContainers" }

local function template_of(obj, kind)
  if kind == "Pod" then
    return obj
  end
  local spec = map(obj.spec)
  if kind == "CronJob" then
    local job = spec and map(spec.jobTemplate)
    spec = job and map(job.spec)
  end
  return spec and map(spec.template)
end

-- The pod template, or the pod itself; nil without a template.
function pods.template(obj)
  return template_of(obj, obj.kind)
end

local function spec_of(obj, kind)
  local template = template_of(obj, kind)
  return template and map(template.spec)
end

-- The pod spec, nil if it is missing, and its path.
function pods.spec(obj)
  local kind = obj.kind
  return spec_of(obj, kind), PREFIX[kind] or OTHERS
end

local function is_list_of_containers(containers)
  if containers == nil then
    return true
  elseif not is_view(containers) then
    return false
  end
  local i, container = 1, containers[1]
  repeat
    local image = is_view(container) and container.image
    if image ~= nil and type(image) ~= "string" then
      return false
    end
    i = i + 1
    container = containers[i]
  until container == nil
  return true
end

local function is_plain(spec)
  return spec
    and spec.containers ~= nil
    and is_list_of_containers(spec.containers)
    and is_list_of_containers(spec.initContainers)
    and is_list_of_containers(spec.ephemeralContainers)
end

-- Raises an error for the first field that is missing or has the wrong type.
local function find_type(obj)
  local prefix = PREFIX[obj.kind] or OTHERS
  local spec, path = obj, nil
  for name in prefix:gmatch "[^.]+" do
    spec = shapes.map(spec, name, path) or shapes.refuse("is missing", path, name)
    path = path and path .. "." .. name or name
  end
  for _, name in ipairs(LISTS) do
    for i, container in shapes.maps(spec, name, path) do
      shapes.expect("text", container.image, path, "%s[%d].image", name, i)
    end
  end
  if values.list(spec.containers)[1] == nil then
    shapes.refuse(spec.containers == nil and "is missing" or "is empty", path, "containers")
  end
end

-- Raises an error that names the path if the containers or their images cannot be read. Fields that only some rules
-- read are checked when those rules read them (_shapes.lua), so valid pods cost no more.
function pods.check(obj, kind)
  if not is_plain(spec_of(obj, kind or obj.kind)) then
    find_type(obj)
  end
end

-- For `skip`: pods of a workload are checked once, in its template. Pods of other owners are checked themselves.
-- Returns true without a reason, so that skipped pods, of which there are many, are only counted. Raises an error if
-- the containers cannot be read, as pods.check does.
function pods.owned(obj, params)
  if not params.owned and is_owned(obj) then
    return true
  end
  local kind = obj.kind
  if kind == "Pod" or OWNERS[kind] then
    pods.check(obj, kind)
  end
  return false
end

function pods.labels(obj)
  local template = pods.template(obj)
  local metadata = template and map(template.metadata)
  return metadata and map(metadata.labels)
end

-- Windows has none of Linux's ways to confine a process, and the server rejects their fields.
function pods.is_windows(spec, prefix)
  local os = shapes.map(spec, "os", prefix)
  return os ~= nil and os.name == "windows"
end

-- Position of a container in its pod spec.
local Place = {}
Place.__index = Place

-- "spec.containers[0]", or that of a field in it.
function Place:path(field)
  local path = ("%s.%s[%d]"):format(self.prefix, self.field, self.i - 1)
  return field and path .. "." .. field or path
end

-- "container web" for messages.
function Place:says()
  local container = self.items[self.i] ---@type table
  local kind = self.n == 1 and "container" or self.n == 2 and "init container" or "ephemeral container"
  return kind .. " " .. (values.text(container.name) or self.i - 1)
end

local SETS = { lasting = 1, planned = 2, all = 3 }

local function next_container(place)
  while true do
    local i = place.i + 1
    local container = place.items[i]
    place.i = i
    if container == nil then
      local n = place.n + 1
      if n > place.last then
        return nil
      end
      place.n, place.field, place.i = n, LISTS[n], 0
      place.items = list(place.spec[LISTS[n]])
    elseif is_view(container) then
      return container, place
    end
  end
end

local function no_container() end

-- for container, place in pods.containers(obj) do ... end. `which` is "all", the default; "planned", without ephemeral
-- containers, which no manifest has; or "lasting", without init containers too.
function pods.containers(obj, which)
  local spec, prefix = pods.spec(obj)
  if not spec then
    return no_container
  end
  local place = { spec = spec, prefix = prefix, items = {}, i = 0, n = 0, last = SETS[which or "all"] }
  return next_container, setmetatable(place, Place)
end

-- A field of the security context of a container or of a pod spec, checked for its type; false is a value. `where` is
-- the place of the container, or the path of the spec.
function pods.security(holder, where, wanted, field)
  local context = shapes.map(holder, "securityContext", where)
  if context then
    return shapes.expect(wanted, context[field], where, "securityContext.%s", field)
  end
end

-- The same; the pod's field is the default of its containers.
function pods.inherited(container, place, wanted, field)
  local value = pods.security(container, place, wanted, field)
  if value == nil then
    return pods.security(place.spec, place.prefix, wanted, field)
  end
  return value
end

-- Kinds whose pod template can be changed. Jobs and pods are almost immutable.
local CHANGEABLE = { Deployment = true, StatefulSet = true, DaemonSet = true, CronJob = true }

-- For `fix`: a merge patch with these fields of the pod spec; nil if the server would reject it.
function pods.patch(obj, fields)
  if not CHANGEABLE[obj.kind] then
    return nil
  end
  local patch = { spec = { template = { spec = fields } } }
  return obj.kind == "CronJob" and { spec = { jobTemplate = patch } } or patch
end

-- The same for containers: `change(copy)` changes one and returns true if it did. A merge patch replaces lists, so the
-- patch contains them complete.
function pods.patch_containers(obj, change)
  local spec = CHANGEABLE[obj.kind] and pods.spec(obj)
  local fields = {}
  for _, name in ipairs { "containers", "initContainers" } do
    local found = spec and map(spec[name])
    local copies, changed = found and k8s.object.copy(found), false
    for _, container in ipairs(copies or {}) do
      changed = type(container) == "table" and change(container) or changed
    end
    fields[name] = changed and copies or nil
  end
  if next(fields) then
    return pods.patch(obj, fields)
  end
end

return pods
