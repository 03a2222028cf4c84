-- Pods and all that makes them: where their pod spec is, its containers, and patches of both.
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

-- Those that are meant to run for ever.
pods.lasting_kinds = { "pods", "deployments.apps", "statefulsets.apps", "daemonsets.apps", "replicasets.apps" }

local OWNERS = {
  ReplicaSet = "^apps/",
  Deployment = "^apps/",
  StatefulSet = "^apps/",
  DaemonSet = "^apps/",
  Job = "^batch/",
  CronJob = "^batch/",
}

-- For `params`: --param owned=true has pods checked too that a workload makes, as in a dump of pods alone.
pods.params = { owned = false }

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

-- The template with the pod's metadata and spec; of a pod that is itself. Nil where there is none.
function pods.template(obj)
  return template_of(obj, obj.kind)
end

local function spec_of(obj, kind)
  local template = template_of(obj, kind)
  return template and map(template.spec)
end

-- The pod spec, and its path. Nil where there is none.
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

-- Raises an error for the first thing that is of another type than it should be, or not there.
local function find_type(obj)
  local prefix = PREFIX[obj.kind] or OTHERS
  local spec, path = obj, nil
  for name in prefix:gmatch "[^.]+" do
    spec = shapes.map(spec, name, path) or shapes.refuse("not there", path, name)
    path = path and path .. "." .. name or name
  end
  for _, name in ipairs(LISTS) do
    for i, container in shapes.maps(spec, name, path) do
      shapes.expect("text", container.image, path, "%s[%d].image", name, i)
    end
  end
  if values.list(spec.containers)[1] == nil then
    shapes.refuse(spec.containers == nil and "not there" or "empty", path, "containers")
  end
end

-- An error that names the path where the containers or their images cannot be found. Fields that only some rules read
-- are checked as these read them (_shapes.lua), so that pods which are as they should be cost no more.
function pods.check(obj, kind)
  if not is_plain(spec_of(obj, kind or obj.kind)) then
    find_type(obj)
  end
end

-- For `skip`: what a workload makes is checked where it is written, once. Who else makes pods is not looked at, and
-- its pods are. There are many of them: without a reason they are counted alone.
-- An error where containers cannot be found, as by pods.check.
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

-- Linux's ways to confine a process mean nothing there, and the server refuses them.
function pods.is_windows(spec, prefix)
  local os = shapes.map(spec, "os", prefix)
  return os ~= nil and os.name == "windows"
end

-- Where a container is.
local Place = {}
Place.__index = Place

-- "spec.containers[0]", or that of a field in it.
function Place:path(field)
  local path = ("%s.%s[%d]"):format(self.prefix, self.field, self.i - 1)
  return field and path .. "." .. field or path
end

-- "container web" for messages.
function Place:says()
  local container = self.items[self.i]
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

-- for container, place in pods.containers(obj) do ... end. `which` is "all", as without it; "planned", which leaves
-- out ephemeral ones, that nobody wrote down; or "lasting", without init containers too.
function pods.containers(obj, which)
  local spec, prefix = pods.spec(obj)
  if not spec then
    return no_container
  end
  local place = { spec = spec, prefix = prefix, items = {}, i = 0, n = 0, last = SETS[which or "all"] }
  return next_container, setmetatable(place, Place)
end

-- A field of that type of the security context of a container, or of a pod spec; false is a value. `where` is its
-- place, or the path of the spec.
function pods.security(holder, where, wanted, field)
  local context = shapes.map(holder, "securityContext", where)
  if context then
    return shapes.expect(wanted, context[field], where, "securityContext.%s", field)
  end
end

-- The same where the pod's counts for a container that says nothing.
function pods.inherited(container, place, wanted, field)
  local value = pods.security(container, place, wanted, field)
  if value == nil then
    return pods.security(place.spec, place.prefix, wanted, field)
  end
  return value
end

-- Templates of jobs cannot be changed, and next to nothing of a pod.
local CHANGEABLE = { Deployment = true, StatefulSet = true, DaemonSet = true, CronJob = true }

-- For `fix`: a merge patch that has these fields in the pod spec; nil where the server would refuse it.
function pods.patch(obj, fields)
  if not CHANGEABLE[obj.kind] then
    return nil
  end
  local patch = { spec = { template = { spec = fields } } }
  return obj.kind == "CronJob" and { spec = { jobTemplate = patch } } or patch
end

-- The same with containers that `change(copy)` made others; whole lists, as a merge patch replaces them. It returns
-- true for a container that it changed.
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
