-- The Pod Security Standards, for all that makes pods: what the server would say if a namespace enforced them.
--   kubelua audit -f scripts/rules/pod_security.lua --from pods.json
local k8s = require "k8s"
local controls = require "_pod_security"
local pods = require "_pods"
local values = require "_values"

-- Asks each of the controls about the object.
local function check(obj, r, asked)
  local spec, prefix = pods.spec(obj)
  if not spec then
    return
  end
  local metadata = values.map(pods.template(obj).metadata)
  local pod, name = controls.pod(spec, prefix, metadata and metadata.annotations), nil
  local function say(problem, path, value)
    r:fail(("%s: %s"):format(name, problem), { path = path and prefix .. "." .. path, value = value })
  end
  for _, control in ipairs(asked) do
    name = control.name
    control.check(pod, say)
  end
end

k8s.rule {
  id = "pss-baseline",
  title = "Pods meet the baseline of the Pod Security Standards",
  severity = "high",
  category = "Pod Security Standards",
  why = "The policy baseline forbids the known ways by which a pod takes over its node. A namespace that enforces "
    .. "it refuses such pods, and their workloads get none.",
  how = "Change what the control that is named asks for; "
    .. "https://kubernetes.io/docs/concepts/security/pod-security-standards/ has the allowed values.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    check(obj, r, controls.baseline)
  end,
}

-- All of the baseline too, but for controls that are stricter here.
local restricted = {}
for _, control in ipairs(controls.baseline) do
  if not control.overridden then
    restricted[#restricted + 1] = control
  end
end
for _, control in ipairs(controls.restricted) do
  restricted[#restricted + 1] = control
end

k8s.rule {
  id = "pss-restricted",
  title = "Pods meet the restricted policy of the Pod Security Standards",
  severity = "medium",
  category = "Pod Security Standards",
  why = "The policy restricted is how pods are hardened today: no root, no capabilities, no way to gain privileges. "
    .. "It holds all of the baseline too.",
  how = "Change what the control that is named asks for; "
    .. "https://kubernetes.io/docs/concepts/security/pod-security-standards/ has the allowed values.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    check(obj, r, restricted)
  end,
}
