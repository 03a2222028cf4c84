-- What objects say of themselves.
--   kubelua audit -f scripts/rules/meta.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local values = require "_values"

k8s.rule {
  id = "recommended-labels",
  title = "Workloads say which application they are of",
  severity = "info",
  category = "Metadata",
  why = "Tools that show applications, costs or who to ask go by the labels that Kubernetes recommends.",
  how = "Add the label app.kubernetes.io/name, and app.kubernetes.io/instance where there are several.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    if not values.text(obj:label "app.kubernetes.io/name") then
      r:fail("it has no label app.kubernetes.io/name", { path = "metadata.labels['app.kubernetes.io/name']" })
    end
  end,
}

local NAMESPACED = { "services", "configmaps", "secrets", "persistentvolumeclaims", "ingresses.networking.k8s.io" }
for _, kind in ipairs(pods.kinds) do
  NAMESPACED[#NAMESPACED + 1] = kind
end

-- What the cluster puts there itself.
local OWN = { ["Service/kubernetes"] = true, ["ConfigMap/kube-root-ca.crt"] = true }

k8s.rule {
  id = "default-namespace",
  title = "Nothing is in the namespace default",
  severity = "low",
  category = "Metadata",
  why = "What is in default most often got there because somebody forgot to say where. Rights, quotas and policies "
    .. "of a team's namespace do not count for it.",
  how = "Put it into a namespace of its own.",
  kinds = NAMESPACED,
  params = pods.params,
  skip = function(obj, params)
    return OWN[("%s/%s"):format(obj.kind, obj:name())] and "the cluster makes it" or pods.owned(obj, params)
  end,
  check = function(obj, r)
    if obj:namespace() == "" then
      r:fail("it names no namespace, and so is in default", { path = "metadata.namespace" })
    elseif obj:namespace() == "default" then
      r:fail("it is in the namespace default", { path = "metadata.namespace", value = "default" })
    end
  end,
}

k8s.rule {
  id = "pods-without-owner",
  title = "Pods belong to a workload",
  severity = "low",
  category = "Metadata",
  why = "A pod that nobody owns is not made again when its node is drained or lost.",
  how = "Make it of a Deployment, a StatefulSet or a Job.",
  kinds = { "pods" },
  check = function(obj, r)
    if not values.first(obj.metadata.ownerReferences) and not obj:annotation "kubernetes.io/config.mirror" then
      r:fail "nobody owns this pod"
    end
  end,
}
