-- Five checks of pods, as many auditors have them: what `./dev bench audit` measures beside its peers in bench/audit/.
local k8s = require "k8s"

local function pods(id, severity, check)
  k8s.rule { id = id, severity = severity, kinds = { "pods" }, check = check }
end

-- A rule of containers: `check` gives what is wrong with one, and the field that it is about.
local function containers(id, severity, check)
  local function check_all(r, pod, list, all)
    for i, container in ipairs(all) do
      local problem, field = check(container, pod)
      if problem then
        r:fail(problem, { path = ("spec.%s[%d].%s"):format(list, i - 1, field) })
      end
    end
  end
  pods(id, severity, function(pod, r)
    local spec = pod.spec
    check_all(r, pod, "containers", spec.containers)
    if spec.initContainers then
      check_all(r, pod, "initContainers", spec.initContainers)
    end
  end)
end

containers("image-tag", "medium", function(container)
  local tag = container.image:match ":([^:/@]+)$"
  if not tag or tag == "latest" then
    return "the image has no tag that stays", "image"
  end
end)

containers("limits", "medium", function(container)
  local limits = container.resources and container.resources.limits
  if not (limits and limits.memory and limits.cpu) then
    return "no limits of memory and CPU", "resources"
  end
end)

containers("privileged", "critical", function(container)
  local security = container.securityContext
  if security and security.privileged then
    return "the container is privileged", "securityContext.privileged"
  end
end)

containers("run-as-non-root", "high", function(container, pod)
  local security = container.securityContext
  local value = security and security.runAsNonRoot
  if value == nil then
    local of_pod = pod.spec.securityContext
    value = of_pod and of_pod.runAsNonRoot
  end
  if not value then
    return "the container may run as root", "securityContext.runAsNonRoot"
  end
end)

pods("part-of", "low", function(pod, r)
  local labels = pod.metadata.labels
  if not (labels and labels["app.kubernetes.io/part-of"]) then
    r:fail("no label app.kubernetes.io/part-of", { path = "metadata.labels" })
  end
end)
