-- Manifests of versions that the server has no more, or will not have much longer.
--   kubelua audit -f scripts/rules/api_versions.lua --from pods.json --param kubernetes=1.31
local k8s = require "k8s"
local values = require "_values"
local versions = require "_api_versions"

local KINDS = {}
for kind in
  ([[deployments.apps statefulsets.apps daemonsets.apps replicasets.apps cronjobs.batch
  ingresses.networking.k8s.io ingressclasses.networking.k8s.io networkpolicies.networking.k8s.io
  horizontalpodautoscalers.autoscaling poddisruptionbudgets.policy roles.rbac.authorization.k8s.io
  rolebindings.rbac.authorization.k8s.io clusterroles.rbac.authorization.k8s.io
  clusterrolebindings.rbac.authorization.k8s.io customresourcedefinitions.apiextensions.k8s.io
  apiservices.apiregistration.k8s.io mutatingwebhookconfigurations.admissionregistration.k8s.io
  validatingwebhookconfigurations.admissionregistration.k8s.io
  validatingadmissionpolicies.admissionregistration.k8s.io
  validatingadmissionpolicybindings.admissionregistration.k8s.io flowschemas.flowcontrol.apiserver.k8s.io
  prioritylevelconfigurations.flowcontrol.apiserver.k8s.io runtimeclasses.node.k8s.io
  priorityclasses.scheduling.k8s.io csidrivers.storage.k8s.io storageclasses.storage.k8s.io]]):gmatch "%S+"
do
  KINDS[#KINDS + 1] = kind
end

local APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

-- Calls fn(what is known, version, path) for the version that the object is written in, and for that of the manifest
-- which was applied last: a server shows every object in the version that one asks for.
local function each_version(obj, fn)
  local kind = obj.kind
  local own = versions[obj.apiVersion]
  if own and own[kind] then
    fn(own[kind], obj.apiVersion, "apiVersion")
    return
  end
  local applied = values.text(obj:annotation(APPLIED))
  local version = applied and applied:match '^{"apiVersion":"([^"]*)"'
  local known = version and versions[version]
  if known and known[kind] then
    fn(known[kind], version, ("metadata.annotations['%s']"):format(APPLIED))
  end
end

-- The number behind "1." of the version that is looked at.
local function minor_of(params)
  local minor = params.kubernetes:match "^v?1%.(%d+)"
  return tonumber(minor) or error('kubernetes must be a version such as 1.31, not "' .. params.kubernetes .. '"')
end

k8s.rule {
  id = "removed-api",
  title = "Manifests are of versions that are served",
  severity = "high",
  category = "API versions",
  why = "The server does not know the version any more: the manifest cannot be applied, and a release that holds it "
    .. "cannot be upgraded.",
  how = "Write the manifest in the version that is named, and look at what its fields are called there. Which "
    .. "Kubernetes is looked at is told by --param kubernetes=1.31.",
  kinds = KINDS,
  params = { kubernetes = "1.37" },
  check = function(obj, r, _, params)
    each_version(obj, function(known, version, path)
      if known.removed <= minor_of(params) then
        r:fail(("%s is not served since Kubernetes 1.%d: use %s"):format(version, known.removed, known.instead), {
          path = path,
          value = version,
        })
      end
    end)
  end,
}

k8s.rule {
  id = "deprecated-api",
  title = "Manifests are of versions that will stay",
  severity = "low",
  category = "API versions",
  why = "The version will not be served much longer. Whoever upgrades the cluster then has to find all manifests "
    .. "that use it.",
  how = "Write the manifest in the version that is named. Which Kubernetes is looked at is told by --param "
    .. "kubernetes=1.31.",
  kinds = KINDS,
  params = { kubernetes = "1.37" },
  check = function(obj, r, _, params)
    each_version(obj, function(known, version, path)
      local minor = minor_of(params)
      if known.deprecated <= minor and known.removed > minor then
        r:fail(("%s is not served from Kubernetes 1.%d on: use %s"):format(version, known.removed, known.instead), {
          path = path,
          value = version,
        })
      end
    end)
  end,
}
