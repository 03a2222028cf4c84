-- Declarative: rules, whose functions are written where they are used.
local k8s = require "k8s"

k8s.rule {
  id = "limits",
  title = "Containers have a limit of memory",
  severity = "high",
  kinds = { "pods" },
  namespaces = { "!kube-*" },
  params = { most = "4Gi", count = 3, strict = { type = "boolean", default = true } },
  skip = function(pod) return pod:annotation "example.com/batch" ~= nil and "a batch" end,
  check = function(pod, r, _, params)
    local most = k8s.quantity(params.most)
    for i, container in ipairs(pod.spec.containers) do
      local memory = pod:get("spec.containers[" .. i - 1 .. "].resources.limits.memory")
      if not memory then
        r:fail("no limit of " .. container.name, { path = "spec.containers", value = container.name })
      elseif k8s.quantity(memory) > most then
        r:warn("a large limit", { path = "spec.containers" })
      end
    end
    if #pod.spec.containers > params.count then r:warn "many containers" end
  end,
}

k8s.rule {
  id = "selected",
  kinds = { "services" },
  uses = {
    pods = { kind = "pods", index = "namespace" },
    slices = { kind = "endpointslices.discovery.k8s.io", index = "metadata.labels['kubernetes.io/service-name']" },
  },
  check = function(service, r, use)
    local selector = service.spec.selector
    if not selector then r:skip "no selector" return end
    for _, pod in ipairs(use.pods(service:namespace())) do
      if pod.status.phase == "Running" and k8s.selects(selector, pod) then return end
    end
    r:fail("no pod", { path = "spec.selector" })
    if #use.slices(service:name()) == 0 then r:warn "no slice" end
  end,
  fix = function(service)
    if service:label "app" == nil then return nil end
    return { spec = { selector = { app = service:label "app" }, externalName = k8s.null } }
  end,
}

k8s.rule {
  id = "ready",
  kinds = { "widgets.example.com" },
  severity = "low",
  check = function(widget, r)
    local ready = widget:condition "Ready"
    if not ready or ready.status ~= "True" then r:fail("not ready", { path = "status.conditions" }) end
    for _, part in ipairs(widget.spec.parts or {}) do
      if part.weight > 10 then r:warn(part.name .. " is heavy") end
    end
  end,
}
