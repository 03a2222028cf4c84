-- Pods and all that makes them: where their pod spec is, its containers, and patches of both.
local k8s = require "k8s"
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

-- The template with the pod's metadata and spec; of a pod that is itself. Nil where there is none.
function pods.template(obj)
  local kind = obj.kind
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

-- The pod spec, and its path. Nil where there is none.
function pods.spec(obj)
  local template = pods.template(obj)
  return template and map(template.spec), PREFIX[obj.kind] or OTHERS
end

local function is_list_of_containers(containers)
  if containers == nil then
    return true
  elseif not is_view(containers) or containers[1] == nil then
    return false
  end
  for _, container in ipairs(containers) do
    local image = is_view(container) and container.image
    if image ~= nil and type(image) ~= "string" then
      return false
    end
  end
  return true
end

local function is_plain(spec)
  return spec
    and spec[1] == nil
    and is_list_of_containers(spec.containers)
    and is_list_of_containers(spec.initContainers)
    and is_list_of_containers(spec.ephemeralContainers)
end

-- Raises an error for the first thing that is of another type than it should be.
local function find_type(obj)
  local prefix = PREFIX[obj.kind] or OTHERS
  local spec, path = obj, nil
  for name in prefix:gmatch "[^.]+" do
    path = path and path .. "." .. name or name
    spec = values.expect("map", spec[name], path)
    if spec == nil or spec == k8s.null then
      error(path .. " is not there, so nothing can be said of it", 0)
    end
  end
  for _, name in ipairs(LISTS) do
    local containers, place = spec[name], prefix .. "." .. name
    for i, container in ipairs(values.list(values.expect("list", containers, place))) do
      local of_container = ("%s[%d]"):format(place, i - 1)
      values.expect("map", container, of_container)
      values.expect("text", values.list(container).image, of_container .. ".image")
    end
  end
end

-- For `skip`: what a workload makes is checked where it is written, once. Who else makes pods is not looked at, and
-- its pods are. There are many of them: without a reason they are counted alone.
-- An error that names the path where containers cannot be found, as something is of another type than it should be: the
-- server takes no such object, but a manifest may be one, and a rule that cannot look must not pass.
function pods.owned(obj, params)
  if not params.owned and is_owned(obj) then
    return true
  end
  if (obj.kind == "Pod" or OWNERS[obj.kind]) and not is_plain(pods.spec(obj)) then
    find_type(obj)
  end
  return false
end

function pods.labels(obj)
  local template = pods.template(obj)
  local metadata = template and map(template.metadata)
  return metadata and map(metadata.labels)
end

-- Linux's ways to confine a process mean nothing there, and the server refuses them.
function pods.is_windows(spec)
  local os = map(spec.os)
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

-- A field of the container's security context; false is a value.
function pods.security(container, field)
  local context = map(container.securityContext)
  if context then
    return context[field]
  end
end

-- The same where the pod's counts for a container that says nothing.
function pods.inherited(spec, container, field)
  local value = pods.security(container, field)
  if value == nil then
    return pods.security(spec, field)
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
