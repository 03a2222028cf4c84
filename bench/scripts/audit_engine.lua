-- An engine that has all pods in its cache, and ten rules that `kubelua audit --engine` evaluates on them.
local k8s = require "k8s"

k8s.informer "pods"
k8s.main(function()
  print "synced"
end)

local function of_containers(id, check)
  k8s.rule {
    id = id,
    severity = "medium",
    kinds = { "pods" },
    check = function(pod, r)
      for i, container in ipairs(pod.spec.containers) do
        local fault = check(container)
        if fault then
          r:fail(fault, { path = "spec.containers[" .. i - 1 .. "]" })
        end
      end
    end,
  }
end

local function of_pods(id, check)
  k8s.rule {
    id = id,
    severity = "low",
    kinds = { "pods" },
    check = function(pod, r)
      local fault = check(pod)
      if fault then
        r:fail(fault)
      end
    end,
  }
end

of_containers("image-tag", function(container)
  return not container.image:find(":", 1, true) and "the image has no tag"
end)
of_containers("limits", function(container)
  local resources = container.resources
  return not (resources and resources.limits) and "no limits"
end)
of_containers("requests", function(container)
  local resources = container.resources
  return not (resources and resources.requests) and "no requests"
end)
of_containers("privileged", function(container)
  local context = container.securityContext
  return context and context.privileged and "it is privileged"
end)
of_containers("pull-policy", function(container)
  return container.imagePullPolicy == "Never" and "the image is never pulled"
end)
of_pods("host-network", function(pod)
  return pod.spec.hostNetwork and "it has the host's network"
end)
of_pods("host-pid", function(pod)
  return pod.spec.hostPID and "it sees the host's processes"
end)
of_pods("owner", function(pod)
  return not pod.metadata.ownerReferences and "nobody would start it anew"
end)
of_pods("label", function(pod)
  local labels = pod.metadata.labels
  return not (labels and labels.app) and "no label app"
end)
of_pods("service-account", function(pod)
  return pod.spec.serviceAccountName == "root" and "it is root"
end)
