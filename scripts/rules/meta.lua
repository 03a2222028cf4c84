-- Labels, namespaces and owners of objects.
--   kubelua audit -f scripts/rules/meta.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local values = require "_values"

k8s.rule {
  id = "recommended-labels",
  title = "Workloads have the label app.kubernetes.io/name",
  severity = "info",
  category = "Metadata",
  why = "Tools that show applications, costs or owners group objects by the labels that Kubernetes recommends.",
  how = "Add the label app.kubernetes.io/name, and app.kubernetes.io/instance if the application is installed more "
    .. "than once.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    if not values.text(obj:label "app.kubernetes.io/name") then
      r:fail("the object has no label app.kubernetes.io/name", { path = "metadata.labels['app.kubernetes.io/name']" })
    end
  end,
}

local NAMESPACED = { "services", "configmaps", "secrets", "persistentvolumeclaims", "ingresses.networking.k8s.io" }
for _, kind in ipairs(pods.kinds) do
  NAMESPACED[#NAMESPACED + 1] = kind
end

-- Objects that Kubernetes creates in every cluster.
local OWN = { ["Service/kubernetes"] = true, ["ConfigMap/kube-root-ca.crt"] = true }

k8s.rule {
  id = "default-namespace",
  title = "No objects are in the namespace default",
  severity = "low",
  category = "Metadata",
  why = "Most objects in default are there because their manifest sets no namespace. The permissions, quotas and "
    .. "policies of a team's namespace do not apply in default.",
  how = "Move the object to a namespace of its application or team.",
  kinds = NAMESPACED,
  params = pods.params,
  skip = function(obj, params)
    return OWN[("%s/%s"):format(obj.kind, obj:name())] and "Kubernetes creates it" or pods.owned(obj, params)
  end,
  check = function(obj, r)
    if obj:namespace() == "" then
      r:fail("the manifest sets no namespace, so the object is created in default", { path = "metadata.namespace" })
    elseif obj:namespace() == "default" then
      r:fail("the object is in the namespace default", { path = "metadata.namespace", value = "default" })
    end
  end,
}

k8s.rule {
  id = "pods-without-owner",
  title = "Pods belong to a workload",
  severity = "low",
  category = "Metadata",
  why = "A pod without an owner is not created again when its node is drained or fails.",
  how = "Create the pod with a Deployment, a StatefulSet or a Job.",
  kinds = { "pods" },
  check = function(obj, r)
    if not values.first(obj.metadata.ownerReferences) and not obj:annotation "kubernetes.io/config.mirror" then
      r:fail "the pod has no owner"
    end
  end,
}
