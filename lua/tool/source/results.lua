-- What functions of the API return where their stubs cannot say it: the objects of a kind, what is at a path.
-- Each gets (reader, node, arguments, their types, the objects of the receiver, the receiver) and returns the type, and
-- the objects that the call is about.
local types = require "tool.source.types"

local results = {}

-- What a cache stores: the objects, unless a transform makes something else of them.
local function stored(self, options, of)
  local transform = options and options.tag == "shape" and options.shape:get "transform"
  if not transform then return of end
  local info = transform.def and self:info_of(transform.def)
  local given = info and (info.results_before or info.results)[1]
  return given and given.tag == "kube" and of or types.OBJECT
end

local function informer(self, _, list, found)
  local kind = list[1] and list[1].tag == "String" and self.kinds:of(list[1][1])
  local of = types.object(kind or nil)
  return { tag = "class", name = "k8s.Informer", of = stored(self, found[2], of) }, of
end

results["k8s.informer"] = informer
results["k8s.Factory.informer"] = informer

local function live(self, _, list) return nil, types.object(self:kind_argument(list[1])) end

-- Of an object that a script names it knows what it has.
local function named(of, key) return key and key.tag == "String" and of and types.sure(of) or of end

results["k8s.get"] = function(self, _, list) return nil, named(types.object(self:kind_argument(list[1])), list[2]) end
results["k8s.Lister.get"] = function(_, _, list, _, of) return nil, named(of, list[1]) end
results["k8s.list"], results["k8s.pages"] = live, live
results["k8s.watch"] = live

-- A write returns the object that it was given.
local function write(self, _, _, found)
  local kind = self:kind_of_reference(found[1])
  return nil, types.object(kind)
end

for _, name in ipairs { "create", "update", "patch", "apply", "delete", "restart", "ensure", "retry_on_conflict" } do
  results["k8s." .. name] = write
end

results["k8s.retry_on_conflict"] = function(self, _, _, found)
  local fn = found[1]
  local info = fn and fn.def and self:info_of(fn.def)
  local given = info and (info.results_before or info.results)
  return given and given[1] or types.ANY
end

results["k8s.finalizers.add"], results["k8s.finalizers.remove"] = write, write

-- The methods of a cluster are the functions of k8s.
for _, name in ipairs {
  "apply", "create", "delete", "ensure", "get", "informer", "list", "pages", "patch", "restart", "update", "watch",
} do
  results["k8s.Cluster." .. name] = results["k8s." .. name]
end

-- A script that tests what is at a path has looked at all that the path goes through.
results["k8s.Object.get"] = function(self, node, list, _, _, subject)
  return self:path_argument(list[1], subject, self.testing == node), subject
end
results["k8s.object.get"] = function(self, node, list, found)
  return self:path_argument(list[2], found[1], self.testing == node)
end
results["k8s.Object.copy"] = function(self, _, _, _, _, subject) return self:copy_of(subject) end
results["k8s.object.copy"] = function(self, _, _, found) return self:copy_of(found[1]) end

results["k8s.Object.condition"] = function(self, _, _, _, _, subject)
  local status = self.kinds:field(subject.node, "status")
  local list = status and self.kinds:field(status, "conditions")
  if not list or not list.of then return types.ANY end
  return types.inside(subject, list.of, "status.conditions[*]")
end

local function of_informer(name)
  return function(_, _, _, found)
    local of = found[1] and found[1].of
    return { tag = "class", name = name, of = of }, of
  end
end

local function where(self, _, list, _, of) self:compared_values(list[1], list[2], list[3], of) end

results["k8s.Query.where"], results["k8s.GroupQuery.where"] = where, where

results["k8s.Snapshot.lister"] = of_informer "k8s.Lister"
results["k8s.Snapshot.query"] = of_informer "k8s.Query"

results["k8s.controller"] = function(self, _, _, found)
  local options = found[1]
  local of = options and options.tag == "shape" and options.shape:get "of"
  of = of and (of.of or of.value and types.object(self.kinds:of(of.value)))
  return { tag = "class", name = "k8s.Controller", of = of }, of
end

local OF_KUBERNETES = { foregroundDeletion = true, kubernetes = true, orphan = true } -- as lua/k8s/finalizers.lua has

local function finalizer(self, _, list, found)
  local node = list[2]
  local name = node and node.tag == "String" and node[1]
  if name and not name:find "^[%l%d.-]+/%w[%w._-]*$" and not OF_KUBERNETES[name] then
    self:error(node, '"%s" is not a finalizer: it has the form example.org/name', name)
  end
  return write(self, nil, nil, found)
end

results["k8s.finalizers.add"] = finalizer

results["k8s.params"] = function(self, _, _, found)
  return { tag = "settings", fields = self:settings_of(found[1]), what = "setting" }
end

results["k8s.sink"] = function(self, _, _, found) return self:sink_of(found[1]) end
results["k8s.Sink.publish"] = function(self, node, _, found, _, subject)
  self:published_event(node, found[1], subject)
end

-- Texts that these functions take apart.
results["k8s.time.parse"] = function(_, _, list, found)
  local is_read = list[1] and list[1].tag ~= "Id" and found[1] and types.is_free_text(found[1])
  return { tag = "number", unchecked = is_read and "k8s.time.parse" or nil }
end
results["k8s.quantity"] = function(self, _, list) self:quantity_argument(list[1]) end
results["k8s.yaml.decode"] = function(self, _, list) return (select(2, self:yaml_argument(list[1], true))) end
results["k8s.yaml.decode_all"] = function(self, _, list) self:yaml_argument(list[1]) end
results["k8s.template"] = function(self, _, list, found)
  return self:template_arguments(list[1], found[2])
end

return results
