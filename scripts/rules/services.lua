-- Services and Ingresses that lead nowhere, and workloads with the same pods.
--   kubelua audit -f scripts/rules/services.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local shapes = require "_shapes"
local uses = require "_uses"
local values = require "_values"

local map, maps, text = values.map, values.maps, values.text

-- The selector of a Service as a string; nil without a selector: its endpoints are created by other means.
local function selector_of(spec)
  local selector = shapes.map(spec, "selector", "spec")
  if shapes.text(spec, "type", "spec") ~= "ExternalName" then
    return values.labels_selector(selector)
  end
end

k8s.rule {
  id = "service-selects-nothing",
  title = "Services select pods",
  severity = "high",
  category = "Services",
  why = "A Service whose selector matches no pod has no endpoints: requests to it fail. Often a label was changed on "
    .. "one side only.",
  how = "Change spec.selector to match the labels of the pods, or delete the Service.",
  kinds = { "services" },
  uses = uses.makers_by_namespace(),
  check = function(obj, r, use)
    local selector = selector_of(shapes.spec(obj))
    if selector and not uses.selected(use, values.namespace(obj), selector) then
      r:fail("no pod has the labels " .. selector, { path = "spec.selector" })
    end
  end,
}

local function has_port(obj, name)
  for container in pods.containers(obj, "planned") do
    for _, port in maps(container.ports) do
      if port.name == name then
        return true
      end
    end
  end
  return false
end

-- Returns true if a selected pod has the port, or if no pod is selected.
local function is_offered(use, namespace, selector, name)
  local found = false
  for obj in uses.each(use, namespace) do
    if values.selects(selector, pods.labels(obj)) then
      if has_port(obj, name) then
        return true
      end
      found = true
    end
  end
  return not found
end

k8s.rule {
  id = "service-port-missing",
  title = "Named target ports of Services exist",
  severity = "medium",
  category = "Services",
  why = "A targetPort that is a name refers to a port of the selected pods. If no container has a port with that "
    .. "name, the Service has no endpoints for it.",
  how = "Give the container's port that name, or set targetPort to its number.",
  kinds = { "services" },
  uses = uses.makers_by_namespace(),
  check = function(obj, r, use)
    local spec = shapes.spec(obj)
    local selector = selector_of(spec)
    for i, port in shapes.maps(selector and spec, "ports", "spec") do
      local name = text(port.targetPort)
      if name and not is_offered(use, values.namespace(obj), selector, name) then
        r:fail(("no selected pod has a port named %s"):format(name), {
          path = ("spec.ports[%d].targetPort"):format(i),
          value = name,
        })
      end
    end
  end,
}

-- Returns true if the Service has the port of the backend, by name or number.
local function serves(service, port)
  local spec = map(service.spec)
  if not spec or spec.type == "ExternalName" or not port then
    return true
  end
  for _, own in maps(spec.ports) do
    if port.name ~= nil and own.name == port.name or port.number ~= nil and own.port == port.number then
      return true
    end
  end
  return false
end

local function check_backend(backend, obj, r, use, path)
  local wanted = shapes.map(backend, "service", path)
  local name = text(shapes.text(wanted, "name", path .. ".service"))
  if not name then
    return
  end
  local service, port = use.services(values.namespace(obj) .. "/" .. name)[1], map(wanted.port)
  if not service then
    r:fail(("the Service %s does not exist"):format(name), { path = path .. ".service.name", value = name })
  elseif not serves(service, port) then
    r:fail(("the Service %s has no port %s"):format(name, tostring(port.name or port.number)), {
      path = path .. ".service.port",
    })
  end
end

k8s.rule {
  id = "ingress-backend-missing",
  title = "Services that Ingresses reference exist",
  severity = "high",
  category = "Services",
  why = "Requests for a path whose Service or port is missing fail, most often with status 503.",
  how = "Correct the name or the port of the backend, or create the Service.",
  kinds = { "ingresses.networking.k8s.io" },
  uses = { services = uses.by_key "services" },
  check = function(obj, r, use)
    local spec = shapes.spec(obj)
    check_backend(shapes.map(spec, "defaultBackend", "spec"), obj, r, use, "spec.defaultBackend")
    for i, rule in shapes.maps(spec, "rules", "spec") do
      local where = ("spec.rules[%d]"):format(i)
      for j, path in shapes.maps(shapes.map(rule, "http", where), "paths", where .. ".http") do
        local place = ("%s.http.paths[%d]"):format(where, j)
        check_backend(shapes.map(path, "backend", place), obj, r, use, place .. ".backend")
      end
    end
  end,
}

local WORKLOADS = { "deployments.apps", "statefulsets.apps", "daemonsets.apps" }

k8s.rule {
  id = "duplicate-selectors",
  title = "No two workloads select the same pods",
  severity = "medium",
  category = "Services",
  why = "Each workload treats the pods of the other as its own. Budgets, autoscalers and rollouts count the wrong "
    .. "pods, and one workload may delete pods of the other.",
  how = "Give each workload a label of its own, in the selector and in the pod template.",
  kinds = WORKLOADS,
  uses = {
    deployments = uses.by_namespace "deployments.apps",
    statefulsets = uses.by_namespace "statefulsets.apps",
    daemonsets = uses.by_namespace "daemonsets.apps",
  },
  check = function(obj, r, use)
    local selector = values.label_selector(shapes.map(shapes.spec(obj), "selector", "spec"))
    if not selector then
      return
    end
    local count, first = 0, nil
    for _, find in ipairs { use.deployments, use.statefulsets, use.daemonsets } do
      for _, other in ipairs(find(values.namespace(obj))) do
        local is_itself = other.kind == obj.kind and other:name() == obj:name()
        if not is_itself and values.selects(selector, pods.labels(other)) then
          count, first = count + 1, first or ("the %s %s"):format(other.kind, other:name())
        end
      end
    end
    if count > 0 then
      local more = count > 1 and (" and %d more"):format(count - 1) or ""
      r:fail(("the selector also matches the pods of %s%s"):format(first, more), { path = "spec.selector" })
    end
  end,
}
