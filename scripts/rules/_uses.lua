-- Other objects that rules look for, for `uses`.
local pods = require "_pods"
local values = require "_values"

local uses = {}

-- use.NAME "shop/web" is an array of the one that is called so, or empty.
function uses.by_key(kind)
  return {
    kind = kind,
    index = function(obj, emit)
      emit(values.key(obj))
    end,
  }
end

-- use.NAME "shop" are those of the namespace.
function uses.by_namespace(kind)
  return {
    kind = kind,
    index = function(obj, emit)
      emit(values.namespace(obj))
    end,
  }
end

-- use.NAME "cluster-admin" of a kind without namespaces.
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

-- All that makes pods, and pods, each by that index: workloads count where their pods are not in what is looked at.
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

-- for obj in uses.each(use, value): over all of uses.makers, those of which there are fewest first.
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

-- The first of all in the namespace that the selector selects, as values.labels_selector gives it; nil for none.
function uses.selected(use, namespace, selector)
  for obj in uses.each(use, namespace) do
    if values.selects(selector, pods.labels(obj)) then
      return obj
    end
  end
end

return uses
