-- Missing objects that pods reference. Such pods are not started, or not even created.
--   kubelua audit -f scripts/rules/references.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local references = require "_references"
local shapes = require "_shapes"
local uses = require "_uses"
local values = require "_values"

-- Returns true if the ConfigMap or Secret has the key.
local function has_key(obj, key)
  for _, field in ipairs { "data", "binaryData", "stringData" } do
    local data = values.map(obj[field])
    if data and data[key] ~= nil then
      return true
    end
  end
  return false
end

-- Looks each reference up; `find` returns an array.
local function check_all(obj, r, what, find, called)
  local namespace = values.namespace(obj) .. "/"
  references.each(obj, what, function(name, optional, key, path, ...)
    if optional then
      return
    end
    local found = find(namespace .. name)[1]
    local lacks_key = found and key and not has_key(found, key)
    if not found or lacks_key then
      local _, prefix = pods.spec(obj)
      local place = ("%s.%s"):format(prefix, path:format(...))
      r:fail(("the %s %s %s"):format(called, name, lacks_key and "has no key " .. key or "does not exist"), {
        path = lacks_key and place:gsub("name$", "key") or place,
        value = lacks_key and key or name,
      })
    end
  end)
end

k8s.rule {
  id = "configmap-missing",
  title = "ConfigMaps that pods reference exist",
  severity = "high",
  category = "References",
  why = "A container whose ConfigMap or key is missing does not start until somebody creates it. The server accepts "
    .. "the workload without a warning.",
  how = "Create the ConfigMap or the key, correct the name, or set optional: true if the program works without it.",
  kinds = pods.kinds,
  uses = { configmaps = uses.by_key "configmaps" },
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r, use)
    check_all(obj, r, "configmaps", use.configmaps, "ConfigMap")
  end,
}

local SECRET_KINDS = { "ingresses.networking.k8s.io" }
for i, kind in ipairs(pods.kinds) do
  SECRET_KINDS[i + 1] = kind
end

local function check_certificates(obj, r, use)
  for i, tls in shapes.maps(shapes.spec(obj), "tls", "spec") do
    local name = values.text(tls.secretName)
    if name and not use.secrets(values.namespace(obj) .. "/" .. name)[1] then
      r:fail(("the Secret %s does not exist"):format(name), {
        path = ("spec.tls[%d].secretName"):format(i),
        value = name,
      })
    end
  end
end

local function check_pull_secrets(obj, r, use)
  local spec, prefix = pods.spec(obj)
  for i, name in references.image_pull_secrets(spec or obj, spec and prefix) do
    if name ~= "" and not use.secrets(values.namespace(obj) .. "/" .. name)[1] then
      r:warn(("the Secret %s for pulling images does not exist"):format(name), {
        path = ("%s.imagePullSecrets[%d].name"):format(prefix, i),
        value = name,
      })
    end
  end
end

k8s.rule {
  id = "secret-missing",
  title = "Secrets that pods and Ingresses reference exist",
  severity = "high",
  category = "References",
  why = "A container whose Secret or key is missing does not start until somebody creates it. An Ingress without its "
    .. "certificate answers with a certificate that no client trusts.",
  how = "Create the Secret or the key, correct the name, or set optional: true if the program works without it.",
  kinds = SECRET_KINDS,
  uses = { secrets = uses.by_key "secrets" },
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r, use)
    if obj.kind == "Ingress" then
      check_certificates(obj, r, use)
      return
    end
    check_all(obj, r, "secrets", use.secrets, "Secret")
    check_pull_secrets(obj, r, use)
  end,
}

k8s.rule {
  id = "service-account-missing",
  title = "Service accounts that pods name exist",
  severity = "high",
  category = "References",
  why = "The server rejects pods whose service account does not exist, so their workload has no pods.",
  how = "Create the service account, or correct the name.",
  kinds = pods.kinds,
  uses = { accounts = uses.by_key "serviceaccounts" },
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r, use)
    local name = references.account(obj)
    if name and name ~= "default" and not use.accounts(values.namespace(obj) .. "/" .. name)[1] then
      local _, prefix = pods.spec(obj)
      r:fail(("the service account %s does not exist"):format(name), {
        path = prefix .. ".serviceAccountName",
        value = name,
      })
    end
  end,
}

k8s.rule {
  id = "pvc-missing",
  title = "PersistentVolumeClaims that pods mount exist",
  severity = "high",
  category = "References",
  why = "A pod whose PersistentVolumeClaim does not exist stays Pending.",
  how = "Create the claim, or correct the name.",
  kinds = pods.kinds,
  uses = { claims = uses.by_key "persistentvolumeclaims" },
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r, use)
    references.claims(obj, function(name, i)
      if not use.claims(values.namespace(obj) .. "/" .. name)[1] then
        local _, prefix = pods.spec(obj)
        r:fail(("the PersistentVolumeClaim %s does not exist"):format(name), {
          path = ("%s.volumes[%d].persistentVolumeClaim.claimName"):format(prefix, i),
          value = name,
        })
      end
    end)
  end,
}
