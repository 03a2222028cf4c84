-- The Pod Security Standards, for pods and workloads: the violations that a namespace which enforces them would reject.
--   kubelua audit -f scripts/rules/pod_security.lua --from pods.json
local k8s = require "k8s"
local controls = require "_pod_security"
local pods = require "_pods"
local values = require "_values"

-- Checks the object against each of the controls.
local function check(obj, r, wanted)
  local spec, prefix = pods.spec(obj)
  if not spec then
    return
  end
  local metadata = values.map(pods.template(obj).metadata)
  local pod, name = controls.pod(spec, prefix, metadata and metadata.annotations), nil
  local function report(problem, path, value)
    r:fail(("%s: %s"):format(name, problem), { path = path and prefix .. "." .. path, value = value })
  end
  for _, control in ipairs(wanted) do
    name = control.name
    control.check(pod, report)
  end
end

k8s.rule {
  id = "pss-baseline",
  title = "Pods meet the baseline Pod Security Standard",
  severity = "high",
  category = "Pod Security Standards",
  why = "The policy baseline forbids the known ways to take over a node from a pod. A namespace that enforces "
    .. "baseline rejects such pods, so their workload has no pods.",
  how = "Change the field in the message to one of the allowed values: "
    .. "https://kubernetes.io/docs/concepts/security/pod-security-standards/",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    check(obj, r, controls.baseline)
  end,
}

-- All controls of the baseline, except those that restricted replaces with stricter ones.
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
  title = "Pods meet the restricted Pod Security Standard",
  severity = "medium",
  category = "Pod Security Standards",
  why = "The policy restricted is the current best practice for hardening pods: no root, no capabilities, no "
    .. "privilege escalation. It includes the policy baseline.",
  how = "Change the field in the message to one of the allowed values: "
    .. "https://kubernetes.io/docs/concepts/security/pod-security-standards/",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    check(obj, r, restricted)
  end,
}
