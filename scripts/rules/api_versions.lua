-- Manifests that use removed or deprecated API versions.
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

-- Calls fn(entry of _api_versions.lua, version, path) for the version of the object, else for the version of the
-- manifest that kubectl applied last: a server returns every object in the version that the client requests.
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

-- Minor number of the Kubernetes version to check against: 31 for 1.31.
local PARAMS = { kubernetes = { default = "1.37", help = "version of Kubernetes to check against, such as 1.31" } }

local function minor_of(params)
  local minor = params.kubernetes:match "^v?1%.(%d+)"
  return tonumber(minor) or error('kubernetes must be a version such as 1.31, not "' .. params.kubernetes .. '"')
end

k8s.rule {
  id = "removed-api",
  title = "Manifests use API versions that the server serves",
  severity = "high",
  category = "API versions",
  why = "The server no longer serves this version: the manifest cannot be applied, and a Helm release that contains "
    .. "it cannot be upgraded.",
  how = "Change apiVersion to the version in the message, and check the fields: some are renamed between versions. "
    .. "Set the Kubernetes version to check against with --param kubernetes=1.31.",
  kinds = KINDS,
  params = PARAMS,
  check = function(obj, r, _, params)
    each_version(obj, function(known, version, path)
      if known.removed <= minor_of(params) then
        r:fail(("%s was removed in Kubernetes 1.%d; use %s"):format(version, known.removed, known.instead), {
          path = path,
          value = version,
        })
      end
    end)
  end,
}

k8s.rule {
  id = "deprecated-api",
  title = "Manifests do not use deprecated API versions",
  severity = "low",
  category = "API versions",
  why = "A future Kubernetes version removes this API version. After that upgrade, the manifest can no longer be "
    .. "applied.",
  how = "Change apiVersion to the version in the message. Set the Kubernetes version to check against with --param "
    .. "kubernetes=1.31.",
  kinds = KINDS,
  params = PARAMS,
  check = function(obj, r, _, params)
    each_version(obj, function(known, version, path)
      local minor = minor_of(params)
      if known.deprecated <= minor and known.removed > minor then
        local message = "%s is deprecated and is removed in Kubernetes 1.%d; use %s"
        r:fail(message:format(version, known.removed, known.instead), { path = path, value = version })
      end
    end)
  end,
}
