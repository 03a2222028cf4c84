-- Permissions that a loaded script needs: list and watch of its informers, what it declares by k8s.reads and
-- k8s.writes, leases of its election, and Events. Fields of a permission:
--   ns             "": all namespaces, and kinds without; permissions.EACH: each namespace that an informer follows
--   group, resource   "pods/status" is a subresource, "*" any
--   path           of no resource, instead of those
--   name           of a single object; "": any. A create never has one
--   verbs          a set
--   is_namespaced  whether the kind has namespaces
--   of_group       the kinds are all of that group
--   what           as the script names it: "pods", "pods/status:patch"; "k8s.event", "k8s.leader"
--   is_cached      it is of an informer's cache, which kubelua run --from has from elsewhere
--   follows        it is of an informer that follows namespaces by labels, and does without by a watch of each
--   place          where the script does so; nil: not known
local paths = require "tool.check.paths"
local place = require "tool.check.place"

local permissions = { verbs = { "get", "list", "watch", "create", "update", "patch", "delete" }, EACH = "*" }

local function set(...)
  local names = {}
  for _, name in ipairs { ... } do names[name] = true end
  return names
end

-- "x:watch" is all that an informer needs that begins in a task, which lists, too.
local READS = {
  get = set "get", list = set "list", watch = set("list", "watch"), ["*"] = set("get", "list", "watch"),
}
-- "x:apply" may make the object. "x:patch" does not ask for that, and a subresource is never made so.
local WRITES = {
  create = set "create", update = set "update", patch = set "patch", apply = set("create", "patch"),
  delete = set "delete", ["*"] = set("create", "update", "patch", "delete"),
}

-- Adds the permission for each namespace of the informer.
local function add_each(list, informer, is_namespaced, of)
  local spaces = is_namespaced and informer.namespaces[1] and informer.namespaces or { "" }
  for _, ns in ipairs(spaces) do
    list[#list + 1] = {
      ns = ns, group = of.group, resource = of.resource, name = of.name or "", verbs = of.verbs,
      is_namespaced = is_namespaced, what = of.what, place = of.place, follows = of.follows,
      is_cached = of.is_cached,
    }
  end
end

-- To the server a list by the name alone is about that object.
local function only_name(informer) return (informer.field_selector or ""):match "^metadata%.name=([^,=! \\]*)$" end

-- Returns what the name alone says of a kind that has its group: "widgets.example.com", "widgets.v1.example.com",
-- "example.com/v1/Widget".
local function written(target, kind)
  local group, name = kind:match "^([^/]+)/[^/]+/([^/]+)$"
  if group then return { group = group, plural = target.plural(name), namespaced = true } end
  name, group = kind:match "^([^./]+)%.([^/]+)$"
  if not group then return nil end
  return { group = group:match "^v%d+%l*%d*%.(.+)$" or group, plural = name:lower(), namespaced = true }
end

-- `unknown` gets kinds that are not known, with `assumed` if the name has the group.
local function resolve(target, kind, registered, unknown)
  local resource, why, is_unsure = target.resolve(kind)
  if resource then return resource end
  local assumed = is_unsure and written(target, kind) or nil
  unknown[#unknown + 1] = { kind = kind, place = registered, why = why, is_unsure = is_unsure, assumed = assumed }
  return assumed
end

local function add_informer(list, target, script, informer, unknown, is_each)
  local registered = place.of(script, "informer", informer.text)
  local resource = resolve(target, informer.kind, registered, unknown)
  if not resource then return end
  local follows = resource.namespaced and informer.namespace_selector ~= ""
  local where = follows and is_each and { namespaces = { permissions.EACH } } or informer
  add_each(list, where, resource.namespaced, {
    group = resource.group, resource = resource.plural, name = only_name(informer), verbs = set("list", "watch"),
    what = informer.kind, place = registered, follows = follows, is_cached = true,
  })
  if follows then
    add_each(list, informer, false, {
      group = "", resource = "namespaces", verbs = set("list", "watch"), what = informer.text, place = registered,
      is_cached = true,
    })
  end
end

-- Groups that a pattern stands for: "*", or "*.example.com", in RBAC each group by its name. The group itself may come
-- later, as with a CustomResourceDefinition that is not applied yet.
local function resources_of_pattern(target, declared)
  if not declared.group then return { { group = "*", plural = "*", namespaced = true } } end
  local found = { { group = declared.group, plural = "*", namespaced = true, of_group = true } }
  for _, group in ipairs(target.groups(declared.group)) do
    if group ~= declared.group then
      found[#found + 1] = { group = group, plural = "*", namespaced = true, of_group = true }
    end
  end
  return found
end

-- "pods:list", "pods/status:patch": it may name any namespace when it is made.
local function add_declared(list, target, declared, verbs, registered, unknown)
  local is_pattern = declared.kind == "*" or declared.group
  local resources = is_pattern and resources_of_pattern(target, declared)
    or { resolve(target, declared.kind, registered, unknown) }
  local is_part = declared.subresource ~= ""
  for _, resource in ipairs(resources) do
    list[#list + 1] = {
      ns = "", group = resource.group, resource = resource.plural .. (is_part and "/" .. declared.subresource or ""),
      name = "", verbs = is_part and declared.verb == "apply" and WRITES.patch or verbs[declared.verb],
      is_namespaced = resource.namespaced, of_group = resource.of_group, what = declared.text, place = registered,
    }
  end
end

-- "/apis/metrics.k8s.io/v1beta1/nodes"
local function add_path(list, path, registered)
  local permission = paths.permission(path)
  permission.what, permission.place = path, registered
  list[#list + 1] = permission
end

-- --- Events, elections

-- The script reads objects of all namespaces.
local function sees_everywhere(script)
  if script.reads[1] or script.paths[1] or script.writes[1] or not script.informers[1] then return true end
  for _, informer in ipairs(script.informers) do
    if not informer.namespaces[1] then return true end
  end
  return false
end

-- Events are in the namespaces of what they tell of: those of the informers, when the script knows of nothing else, for
-- all that has none in "default".
local function add_events(list, target, script)
  local events = { group = "", resource = "events", verbs = set("create", "patch"), what = "k8s.event" }
  if sees_everywhere(script) then return add_each(list, { namespaces = {} }, true, events) end
  for _, informer in ipairs(script.informers) do
    local resource = resolve(target, informer.kind, nil, {})
    local where = resource and resource.namespaced and informer or { namespaces = { "default" } }
    if resource then add_each(list, where, true, events) end
  end
end

-- L-10: what comes of an election is told as Events of its lease.
local function add_election(list, script)
  local lease = script.lease
  local function add(group, resource, name, ...)
    list[#list + 1] = {
      ns = lease.namespace, group = group, resource = resource, name = name, verbs = set(...), is_namespaced = true,
      what = "k8s.leader", place = place.of(script, "leader", 1),
    }
  end
  add("coordination.k8s.io", "leases", lease.name, "get", "create", "update")
  add("", "events", "", "create")
end

-- --- states

-- k8s.state with keep = "configmap": also the one for what cannot be used is created.
local function add_state_map(list, script)
  local map = script.state_map
  list[#list + 1] = {
    ns = map.namespace, group = "", resource = "configmaps", name = map.name, verbs = set("get", "create", "patch"),
    is_namespaced = true, what = "k8s.state", place = place.of(script, "state", map.state),
  }
end

-- --- all of them

-- Returns the permissions, and a list of kinds that are unknown: { kind, place, why, is_unsure, assumed }.
-- `is_each`: informers that follow namespaces by labels have a watch for each.
function permissions.of(script, target, is_each)
  local list, unknown = {}, {}
  for _, informer in ipairs(script.informers) do add_informer(list, target, script, informer, unknown, is_each) end
  for _, read in ipairs(script.reads) do
    add_declared(list, target, read, READS, place.of(script, "read", read.text), unknown)
  end
  for _, path in ipairs(script.paths) do add_path(list, path, place.of(script, "read", path)) end
  for _, write in ipairs(script.writes) do
    add_declared(list, target, write, WRITES, place.of(script, "write", write.text), unknown)
  end
  if script.lease then add_election(list, script) end
  if script.state_map then add_state_map(list, script) end
  if script.records_events then add_events(list, target, script) end
  return list, unknown
end

-- Returns what `kubelua publish` needs for the informers of the script, whose kinds it has as a whole, within a
-- namespace ("": all).
function permissions.of_publisher(script, target, namespace)
  local list, unknown = {}, {}
  for _, informer in ipairs(script.informers) do
    local whole = { kind = informer.kind, text = informer.text, namespaces = { namespace } }
    whole.namespace_selector = informer.namespace_selector
    add_informer(list, target, script, whole, unknown, false)
  end
  return list, unknown
end

-- Likewise for a kind; nil and the reason: it is not known.
function permissions.of_published(kind, target, namespace)
  local resource, why = target.resolve(kind)
  if not resource then return nil, why end
  return {
    ns = resource.namespaced and namespace or "", group = resource.group, resource = resource.plural, name = "",
    verbs = set("list", "watch"),
  }
end

-- Returns what writing the fixes of its rules needs (kubelua audit --apply), as far as kinds are known: patch of the
-- kinds of rules that have a fix.
function permissions.of_fixes(script, target)
  local list = {}
  for _, rule in ipairs(script.rules) do
    for _, informer in ipairs(rule.has_fix and rule.kinds or {}) do
      local resource = resolve(target, informer.kind, nil, {})
      if resource then
        add_each(list, informer, resource.namespaced,
          { group = resource.group, resource = resource.plural, verbs = set "patch", what = informer.kind })
      end
    end
  end
  return list
end

return permissions
