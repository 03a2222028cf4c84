-- Passwords and tokens that lie about.
--   kubelua audit -f scripts/rules/credentials.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local shapes = require "_shapes"
local uses = require "_uses"
local values = require "_values"

-- Words of a variable's name that say what its value is, and last words that say that it is not the secret itself.
local SECRET = { "PASSWORD$", "PASSWD$", "PASSPHRASE$", "SECRET$", "TOKEN$", "APIKEY$", "^KEY$", "^CREDENTIALS?$" }
local HARMLESS = {}
for word in
  ([[FILE PATH DIR NAME URL URI ENDPOINT HOST ID REF TTL EXPIRY EXPIRATION TIMEOUT LIFETIME LENGTH SIZE TYPE HEADER
  ENABLED REQUIRED PREFIX SUFFIX ALGORITHM VERSION MOUNT LIMIT COUNT]]):gmatch "%S+"
do
  HARMLESS[word] = true
end

local function is_secret(name)
  local found, last = false, nil
  for word in name:upper():gmatch "%w+" do
    if word == "PUBLIC" then
      return false
    end
    for _, pattern in ipairs(SECRET) do
      found = found or word:find(pattern) ~= nil
    end
    last = word
  end
  return found and not HARMLESS[last]
end

-- What only names other variables, or switches something, gives nothing away.
local function tells(value)
  return value ~= "true" and value ~= "false" and not value:find "^%$%([%w_]+%)$"
end

k8s.rule {
  id = "secrets-in-env",
  title = "Secrets are not written into pod specs",
  severity = "medium",
  category = "Security",
  why = "Who may read pods, which are more than may read Secrets, reads the value. It also stands in manifests, in "
    .. "their history and in every backup.",
  how = "Put it into a Secret, and refer to it by valueFrom.secretKeyRef. Change it, as it was seen.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    for container, place in pods.containers(obj) do
      for i, variable in shapes.maps(container, "env", place) do
        local name, value = values.text(variable.name), values.text(variable.value)
        if name and value and is_secret(name) and tells(value) then
          r:fail(("%s has a secret in the variable %s"):format(place:says(), name), {
            path = place:path(("env[%d].value"):format(i)),
          })
        end
      end
    end
  end,
}

-- The pod's word counts; without one that of its account.
local function mounts_token(obj, spec, prefix, use)
  local own = shapes.flag(spec, "automountServiceAccountToken", prefix)
  if own ~= nil then
    return own
  end
  local account = use.accounts(values.namespace(obj) .. "/default")[1]
  return not account or account.automountServiceAccountToken ~= false
end

k8s.rule {
  id = "service-account-token",
  title = "Pods without an account of their own have no token",
  severity = "low",
  category = "Security",
  why = "A pod that names no service account gets the token of the default one. Who gets into the pod can talk to "
    .. "the API server with it, and has what rights anybody ever gave to that account.",
  how = "Set automountServiceAccountToken to false, or name an account that has the rights which the pod needs.",
  kinds = pods.kinds,
  uses = { accounts = uses.by_key "serviceaccounts" },
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r, use)
    local spec, prefix = pods.spec(obj)
    local account = spec and (values.text(spec.serviceAccountName) or values.text(spec.serviceAccount)) or "default"
    if spec and account == "default" and mounts_token(obj, spec, prefix, use) then
      r:fail("the pod has a token of the default service account", {
        path = prefix .. ".automountServiceAccountToken",
      })
    end
  end,
  fix = function(obj)
    return pods.patch(obj, { automountServiceAccountToken = false })
  end,
}
