-- Requests and limits of containers.
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

-- The request or limit of a resource; nil if it is not set. `part` is "requests" or "limits".
local function amount(holder, where, part, resource)
  local amounts = amounts_of(holder, where, part)
  return amounts and amounts[resource]
end

-- Returns true if a container, or the pod for all its containers, sets it. A missing request defaults to the limit.
local function is_set(holder, where, part, resource)
  return amount(holder, where, part, resource) ~= nil
    or part == "requests" and amount(holder, where, "limits", resource) ~= nil
end

-- Reports containers without a request or limit of the resource. Ephemeral containers have none.
local function check_set(obj, r, part, resource, problem)
  local spec, prefix = pods.spec(obj)
  if not spec or is_set(spec, prefix, part, resource) then
    return
  end
  for container, place in pods.containers(obj, "planned") do
    if not is_set(container, place, part, resource) then
      r:fail(place:says() .. problem, { path = place:path "resources" })
    end
  end
end

k8s.rule {
  id = "cpu-requests",
  title = "Containers request CPU",
  severity = "medium",
  category = "Resources",
  why = "The scheduler places pods by their requests. A pod without a CPU request may be placed on a full node, and "
    .. "gets almost no CPU there when other pods need it.",
  how = "Set resources.requests.cpu to what the container usually needs.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    check_set(obj, r, "requests", "cpu", " has no CPU request")
  end,
}

k8s.rule {
  id = "memory-requests",
  title = "Containers request memory",
  severity = "medium",
  category = "Resources",
  why = "The scheduler places pods by their requests. When a node runs out of memory, the kubelet first evicts pods "
    .. "that use more memory than they request; a pod without a request always does.",
  how = "Set resources.requests.memory to what the container needs.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    check_set(obj, r, "requests", "memory", " has no memory request")
  end,
}

k8s.rule {
  id = "memory-limits",
  title = "Containers have a memory limit",
  severity = "medium",
  category = "Resources",
  why = "A container that leaks memory and has no limit uses up the memory of its node. Other pods on the node are "
    .. "then evicted or killed.",
  how = "Set resources.limits.memory; start with the same value as the request.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    check_set(obj, r, "limits", "memory", " has no memory limit")
  end,
}

k8s.rule {
  id = "ephemeral-storage",
  title = "Containers have a limit for local storage",
  severity = "info",
  category = "Resources",
  why = "Logs, emptyDir volumes and the writable layers of containers share the node's disk. Without a limit, one pod "
    .. "can fill the disk, and pods on the node are evicted.",
  how = "Set resources.limits.ephemeral-storage.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    check_set(obj, r, "limits", "ephemeral-storage", " has no limit for local storage")
  end,
}

-- Reports requests and limits that are not quantities.
local function check_quantities(holder, where, r, says, path)
  for _, part in ipairs { "requests", "limits" } do
    for resource, value in pairs(amounts_of(holder, where, part) or {}) do
      if value ~= k8s.null and not values.quantity(value) then
        local shown = is_view(value) and "an object" or tostring(value)
        r:fail(("%s has the %s of %s %s, which is not a quantity"):format(says(), ONE[part], resource, shown), {
          path = ("%s.%s.%s"):format(path(), part, resource),
          value = shown,
        })
      end
    end
  end
end

-- Reports limits of a container or of a pod that are below its own requests.
local function check_limits(holder, where, r, says, path)
  check_quantities(holder, where, r, says, path)
  local requests, limits = amounts_of(holder, where, "requests"), amounts_of(holder, where, "limits")
  if not requests or not limits then
    return
  end
  for resource, asked in pairs(requests) do
    local request, limit = values.quantity(asked), values.quantity(limits[resource])
    if request and limit and limit < request then
      r:fail(("%s requests %s of %s, but its limit is %s"):format(says(), asked, resource, limits[resource]), {
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
  why = "The server rejects a pod whose limit is below its request or is not a quantity. It accepts a Deployment with "
    .. "such a pod template, but no pod is ever created.",
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
