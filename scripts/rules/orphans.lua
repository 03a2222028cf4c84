-- Unused objects. Objects that programs read through the API also look unused, so review each finding before deleting
-- anything.
--   kubelua audit -f scripts/rules/orphans.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local references = require "_references"
local uses = require "_uses"
local values = require "_values"

local map, maps, text = values.map, values.maps, values.text

-- An object with an owner is deleted with it.
local function has_owner(obj)
  return values.first(obj.metadata.ownerReferences) and "it has an owner" or false
end

-- An index of pods and workloads by the keys of the objects that they reference.
local function by_reference(what)
  return function(obj, emit)
    local namespace = values.namespace(obj) .. "/"
    references.index(obj, what, function(name)
      emit(namespace .. name)
    end)
  end
end

local function is_used(obj, use)
  return uses.each(use, values.key(obj))() ~= nil
end

k8s.rule {
  id = "orphan-configmap",
  title = "ConfigMaps are used",
  severity = "info",
  category = "Orphans",
  why = "A ConfigMap that no pod and no pod template references is often a leftover. Somebody may edit it instead of "
    .. "the one in use.",
  how = "Delete it. If a program reads it through the API, accept the finding.",
  kinds = { "configmaps" },
  namespaces = { "!kube-*" },
  uses = uses.makers(by_reference "configmaps"),
  skip = function(obj)
    if obj:name() == "kube-root-ca.crt" then
      return "Kubernetes creates it"
    end
    return has_owner(obj)
  end,
  check = function(obj, r, use)
    if not is_used(obj, use) then
      r:fail "no pod and no workload references the ConfigMap"
    end
  end,
}

local function emit_names(list, field, namespace, emit)
  for _, value in maps(list) do
    local name = text(value[field])
    if name then
      emit(namespace .. "/" .. name)
    end
  end
end

local secrets_of_pods = by_reference "secrets"

local function secrets_of(obj, emit)
  local namespace, spec = values.namespace(obj), map(obj.spec)
  if obj.kind == "Ingress" then
    emit_names(spec and spec.tls, "secretName", namespace, emit)
  elseif obj.kind == "ServiceAccount" then
    emit_names(obj.secrets, "name", namespace, emit)
    emit_names(obj.imagePullSecrets, "name", namespace, emit)
  end
end

local function secrets_of_makers(obj, emit)
  local spec = pods.spec(obj)
  secrets_of_pods(obj, emit)
  emit_names(spec and spec.imagePullSecrets, "name", values.namespace(obj), emit)
end

local OTHERS_SECRETS = {
  ["kubernetes.io/service-account-token"] = "it is the token of a service account",
  ["bootstrap.kubernetes.io/token"] = "it is a bootstrap token for new nodes",
  ["helm.sh/release.v1"] = "it is a Helm release",
}

k8s.rule {
  id = "orphan-secret",
  title = "Secrets are used",
  severity = "info",
  category = "Orphans",
  why = "A Secret that nothing references is often a leftover, and can still be stolen.",
  how = "Delete it, and revoke the password or token in it. If a program reads it through the API, accept the finding.",
  kinds = { "secrets" },
  namespaces = { "!kube-*" },
  uses = uses.makers(secrets_of_makers, {
    ingresses = { kind = "ingresses.networking.k8s.io", index = secrets_of },
    accounts = { kind = "serviceaccounts", index = secrets_of },
  }),
  skip = function(obj)
    return OTHERS_SECRETS[obj.type] or has_owner(obj)
  end,
  check = function(obj, r, use)
    local key = values.key(obj)
    if not use.ingresses(key)[1] and not use.accounts(key)[1] and not is_used(obj, use) then
      r:fail "no object references the Secret"
    end
  end,
}

-- A StatefulSet names its claims after the template, itself and the pod's number, and keeps them when it scales down.
local function is_of_set(name, sets)
  for _, set in ipairs(sets) do
    local spec = map(set.spec)
    for _, template in maps(spec and spec.volumeClaimTemplates) do
      local metadata = map(template.metadata)
      local prefix = ("%s-%s-"):format(tostring(metadata and metadata.name), set:name())
      if name:sub(1, #prefix) == prefix and name:find("^%d+$", #prefix + 1) then
        return true
      end
    end
  end
  return false
end

k8s.rule {
  id = "orphan-pvc",
  title = "PersistentVolumeClaims are mounted",
  severity = "low",
  category = "Orphans",
  why = "A claim that no pod mounts keeps its disk. The disk costs money, and in time nobody knows what it contains.",
  how = "Check what the disk contains, then delete the claim.",
  kinds = { "persistentvolumeclaims" },
  uses = uses.makers(function(obj, emit)
    local namespace = values.namespace(obj) .. "/"
    references.index_claims(obj, function(name)
      emit(namespace .. name)
    end)
  end, { sets = uses.by_namespace "statefulsets.apps" }),
  skip = has_owner,
  check = function(obj, r, use)
    if not is_used(obj, use) and not is_of_set(obj:name(), use.sets(values.namespace(obj))) then
      r:fail "no pod mounts this claim"
    end
  end,
}

local function accounts_of_binding(obj, emit)
  for _, subject in maps(obj.subjects) do
    local name, namespace = text(subject.name), text(subject.namespace) or values.namespace(obj)
    if subject.kind == "ServiceAccount" and name then
      emit(namespace .. "/" .. name)
    end
  end
end

k8s.rule {
  id = "orphan-service-account",
  title = "Service accounts are used",
  severity = "info",
  category = "Orphans",
  why = "A service account that no pod uses and no binding names is a leftover. Its tokens are still valid.",
  how = "Delete it.",
  kinds = { "serviceaccounts" },
  namespaces = { "!kube-*" },
  uses = uses.makers(function(obj, emit)
    local name = references.account(obj)
    if name then
      emit(values.namespace(obj) .. "/" .. name)
    end
  end, {
    bindings = { kind = "rolebindings.rbac.authorization.k8s.io", index = accounts_of_binding },
    cluster_bindings = { kind = "clusterrolebindings.rbac.authorization.k8s.io", index = accounts_of_binding },
  }),
  skip = function(obj)
    if obj:name() == "default" then
      return "Kubernetes creates it"
    end
    return has_owner(obj)
  end,
  check = function(obj, r, use)
    local key = values.key(obj)
    if not use.bindings(key)[1] and not use.cluster_bindings(key)[1] and not is_used(obj, use) then
      r:fail "no pod runs as this account, and no binding names it"
    end
  end,
}
