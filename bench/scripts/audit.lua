-- Five checks of pods, as many auditors have them, written as a user would.
local k8s = require "k8s"

local function each_container(pod, check)
  local spec = pod.spec
  for _, list in ipairs { "containers", "initContainers" } do
    for i, container in ipairs(spec[list] or {}) do
      check(container, list, i - 1)
    end
  end
end

local function path(list, i, field)
  return ("spec.%s[%d].%s"):format(list, i, field)
end

k8s.rule {
  id = "image-tag",
  severity = "medium",
  kinds = { "pods" },
  check = function(pod, r)
    each_container(pod, function(container, list, i)
      local tag = container.image:match ":([^:/@]+)$"
      if not tag or tag == "latest" then
        r:fail("the image has no tag that stays", { path = path(list, i, "image") })
      end
    end)
  end,
}

k8s.rule {
  id = "limits",
  severity = "medium",
  kinds = { "pods" },
  check = function(pod, r)
    each_container(pod, function(container, list, i)
      local limits = container.resources and container.resources.limits
      if not (limits and limits.memory and limits.cpu) then
        r:fail("no limits of memory and CPU", { path = path(list, i, "resources") })
      end
    end)
  end,
}

k8s.rule {
  id = "privileged",
  severity = "critical",
  kinds = { "pods" },
  check = function(pod, r)
    each_container(pod, function(container, list, i)
      local security = container.securityContext
      if security and security.privileged then
        r:fail("the container is privileged", { path = path(list, i, "securityContext.privileged") })
      end
    end)
  end,
}

k8s.rule {
  id = "run-as-non-root",
  severity = "high",
  kinds = { "pods" },
  check = function(pod, r)
    local of_pod = pod.spec.securityContext
    each_container(pod, function(container, list, i)
      local own = container.securityContext
      local value = own and own.runAsNonRoot
      if value == nil and of_pod then
        value = of_pod.runAsNonRoot
      end
      if not value then
        r:fail("the container may run as root", { path = path(list, i, "securityContext.runAsNonRoot") })
      end
    end)
  end,
}

k8s.rule {
  id = "part-of",
  severity = "low",
  kinds = { "pods" },
  check = function(pod, r)
    local labels = pod.metadata.labels
    if not (labels and labels["app.kubernetes.io/part-of"]) then
      r:fail("no label app.kubernetes.io/part-of", { path = "metadata.labels" })
    end
  end,
}
