-- Indexes of other objects that rules look up, for `uses`.
local pods = require "_pods"
local values = require "_values"

local uses = {}

-- use.NAME "shop/web" returns an array with the object of that key, or an empty one.
function uses.by_key(kind)
  return {
    kind = kind,
    index = function(obj, emit)
      emit(values.key(obj))
    end,
  }
end

-- use.NAME "shop" returns the objects of the namespace.
function uses.by_namespace(kind)
  return {
    kind = kind,
    index = function(obj, emit)
      emit(values.namespace(obj))
    end,
  }
end

-- use.NAME "cluster-admin" returns the object of that name, of a kind without namespaces.
function uses.by_name(kind)
  return { kind = kind, index = "metadata.name" }
end

local MAKERS = {
  pods = "pods",
  deployments = "deployments.apps",
  statefulsets = "statefulsets.apps",
  daemonsets = "daemonsets.apps",
  replicasets = "replicasets.apps",
  jobs = "jobs.batch",
  cronjobs = "cronjobs.batch",
}
local ORDER = { "deployments", "statefulsets", "daemonsets", "cronjobs", "jobs", "replicasets", "pods" }

-- Pods and workloads, each with that index. Workloads count because manifests contain them without their pods.
function uses.makers(index, more)
  local all = more or {}
  for name, kind in pairs(MAKERS) do
    all[name] = { kind = kind, index = index }
  end
  return all
end

function uses.makers_by_namespace(more)
  return uses.makers(function(obj, emit)
    emit(values.namespace(obj))
  end, more)
end

-- for obj in uses.each(use, value): over all kinds of uses.makers, the kinds with the fewest objects first.
function uses.each(use, value)
  local n, found, i = 0, {}, 0
  return function()
    i = i + 1
    while found[i] == nil do
      n = n + 1
      if not ORDER[n] then
        return nil
      end
      found, i = use[ORDER[n]](value), 1
    end
    return found[i]
  end
end

-- Returns the first object in the namespace that the selector of values.labels_selector selects; nil without one.
function uses.selected(use, namespace, selector)
  for obj in uses.each(use, namespace) do
    if values.selects(selector, pods.labels(obj)) then
      return obj
    end
  end
end

return uses
