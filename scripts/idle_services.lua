-- A custom rule: Services with too few running pods.
--   kubelua audit -f scripts/idle_services.lua --from dump.json --param least=2
local k8s = require "k8s"

k8s.rule {
  id = "idle-service",
  title = "Services have pods behind them",
  severity = "high",
  category = "Reliability",
  why = "A connection to a service without pods is refused.",
  how = "Mend the selector, start the pods, or delete the service.",
  kinds = { "services" },
  namespaces = { "!kube-*" },
  uses = { pods = { kind = "pods", index = "namespace" } },
  params = { least = 1 },
  skip = function(service)
    return service.spec.type == "ExternalName" and "it is a name of another server"
  end,
  check = function(service, r, use, params)
    if not service.spec.selector then
      return r:skip "it has no selector"
    end
    local running = 0
    for _, pod in ipairs(use.pods(service:namespace())) do
      if pod.status.phase == "Running" and k8s.selects(service.spec.selector, pod) then
        running = running + 1
      end
    end
    if running < params.least then
      r:fail(("%d pods run behind it"):format(running), { path = "spec.selector", value = service.spec.selector })
    end
  end,
}
