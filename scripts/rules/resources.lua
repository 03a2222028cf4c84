-- What containers ask for, and how much they may take.
--   kubelua audit -f scripts/rules/resources.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local shapes = require "_shapes"
local values = require "_values"

local is_view = k8s.object.is_view
local ONE = { requests = "request", limits = "limit" }

-- The map `requests` or `limits` of a container or a pod spec; nil without one.
local function amounts_of(holder, where, part)
  local resources = shapes.map(holder, "resources", where)
  return resources and shapes.expect("map", resources[part], where, "resources.%s", part)
end

-- Of "requests" or "limits" that of a resource; nil when it says nothing.
local function amount(holder, where, part, resource)
  local amounts = amounts_of(holder, where, part)
  return amounts and amounts[resource]
end

-- Whether a container, or the pod for all of them, says it. A request that is missing is taken from the limit.
local function is_said(holder, where, part, resource)
  return amount(holder, where, part, resource) ~= nil
    or part == "requests" and amount(holder, where, "limits", resource) ~= nil
end

-- Has each container that somebody wrote down say so much of a resource.
local function check_said(obj, r, part, resource, problem)
  local spec, prefix = pods.spec(obj)
  if not spec or is_said(spec, prefix, part, resource) then
    return
  end
  for container, place in pods.containers(obj, "planned") do
    if not is_said(container, place, part, resource) then
      r:fail(place:says() .. problem, { path = place:path "resources" })
    end
  end
end

k8s.rule {
  id = "cpu-requests",
  title = "Containers ask for CPU",
  severity = "medium",
  category = "Resources",
  why = "The scheduler counts requests. A pod without them goes to any node, also a full one, and gets next to no "
    .. "CPU there when others want it.",
  how = "Set resources.requests.cpu to what the container needs on a usual day.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    check_said(obj, r, "requests", "cpu", " asks for no CPU")
  end,
}

k8s.rule {
  id = "memory-requests",
  title = "Containers ask for memory",
  severity = "medium",
  category = "Resources",
  why = "The scheduler counts requests. When a node runs out of memory, pods that use more than they asked for are "
    .. "the first to go, and one that asked for none always does.",
  how = "Set resources.requests.memory to what the container needs.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    check_said(obj, r, "requests", "memory", " asks for no memory")
  end,
}

k8s.rule {
  id = "memory-limits",
  title = "Containers have a memory limit",
  severity = "medium",
  category = "Resources",
  why = "A container without a limit that leaks takes the memory of its node, and its neighbours are evicted or "
    .. "killed with it.",
  how = "Set resources.limits.memory; the same as the request is a good beginning.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    check_said(obj, r, "limits", "memory", " has no memory limit")
  end,
}

k8s.rule {
  id = "ephemeral-storage",
  title = "Containers have a limit for local storage",
  severity = "info",
  category = "Resources",
  why = "Logs, empty directories and the container's own layer share the node's disk. Without a limit one pod can "
    .. "fill it, and all pods of the node are evicted.",
  how = "Set resources.limits.ephemeral-storage.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    check_said(obj, r, "limits", "ephemeral-storage", " has no limit for local storage")
  end,
}

-- Amounts that are no quantities, which no other rule here can count with.
local function check_quantities(holder, where, r, says, path)
  for _, part in ipairs { "requests", "limits" } do
    for resource, value in pairs(amounts_of(holder, where, part) or {}) do
      if value ~= k8s.null and not values.quantity(value) then
        local shown = is_view(value) and "an object" or tostring(value)
        r:fail(("%s has %s as %s of %s, which is no quantity"):format(says(), shown, ONE[part], resource), {
          path = ("%s.%s.%s"):format(path(), part, resource),
          value = shown,
        })
      end
    end
  end
end

-- Requests of a container or of a pod that its own limits are below.
local function check_limits(holder, where, r, says, path)
  check_quantities(holder, where, r, says, path)
  local requests, limits = amounts_of(holder, where, "requests"), amounts_of(holder, where, "limits")
  if not requests or not limits then
    return
  end
  for resource, asked in pairs(requests) do
    local request, limit = values.quantity(asked), values.quantity(limits[resource])
    if request and limit and limit < request then
      r:fail(("%s asks for %s of %s, and may take %s"):format(says(), asked, resource, limits[resource]), {
        path = path() .. ".limits." .. resource,
        value = limits[resource],
      })
    end
  end
end

k8s.rule {
  id = "limits-below-requests",
  title = "Limits are not below requests",
  severity = "high",
  category = "Resources",
  why = "The server refuses a pod that asks for more than it may take, or whose amounts are no quantities. A "
    .. "Deployment with such a template is accepted, and then never gets a pod.",
  how = "Raise the limit to the request, or lower the request. Write quantities as 500m, 2 or 1Gi.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    local spec, prefix = pods.spec(obj)
    if not spec then
      return
    end
    check_limits(spec, prefix, r, function()
      return "the pod"
    end, function()
      return prefix .. ".resources"
    end)
    for container, place in pods.containers(obj, "planned") do
      check_limits(container, place, r, function()
        return place:says()
      end, function()
        return place:path "resources"
      end)
    end
  end,
}
