-- Passwords and tokens where too many can read them.
--   kubelua audit -f scripts/rules/credentials.lua --from pods.json
local k8s = require "k8s"
local pods = require "_pods"
local shapes = require "_shapes"
local uses = require "_uses"
local values = require "_values"

-- Words in a variable's name that mark its value as a secret, and last words that mark it as none.
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

-- Returns false for a value that exposes nothing: a reference to another variable, or a switch.
local function exposes(value)
  return value ~= "true" and value ~= "false" and not value:find "^%$%([%w_]+%)$"
end

k8s.rule {
  id = "secrets-in-env",
  title = "Pod specs contain no secrets",
  severity = "medium",
  category = "Security",
  why = "Everybody with permission to read pods can read the value, and more users may read pods than Secrets. The "
    .. "value is also in manifests, in their history and in backups.",
  how = "Move the value to a Secret, and refer to it with valueFrom.secretKeyRef. Then change the password or token, "
    .. "because others may have read it.",
  kinds = pods.kinds,
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r)
    for container, place in pods.containers(obj) do
      for i, variable in shapes.maps(container, "env", place) do
        local name, value = values.text(variable.name), values.text(variable.value)
        if name and value and is_secret(name) and exposes(value) then
          r:fail(("%s has a secret in the variable %s"):format(place:says(), name), {
            path = place:path(("env[%d].value"):format(i)),
          })
        end
      end
    end
  end,
}

-- The pod's field wins over that of its service account.
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
  title = "Pods without their own service account mount no token",
  severity = "low",
  category = "Security",
  why = "A pod that names no service account mounts the token of the account default. An intruder in the pod can call "
    .. "the API server with that token, and has all permissions that the account default was ever granted.",
  how = "Set automountServiceAccountToken to false, or name a service account that has only the permissions that the "
    .. "pod needs.",
  kinds = pods.kinds,
  uses = { accounts = uses.by_key "serviceaccounts" },
  params = pods.params,
  skip = pods.owned,
  check = function(obj, r, use)
    local spec, prefix = pods.spec(obj)
    local account = spec and (values.text(spec.serviceAccountName) or values.text(spec.serviceAccount)) or "default"
    if spec and account == "default" and mounts_token(obj, spec, prefix, use) then
      r:fail("the pod mounts a token of the default service account", {
        path = prefix .. ".automountServiceAccountToken",
      })
    end
  end,
  fix = function(obj)
    return pods.patch(obj, { automountServiceAccountToken = false })
  end,
}
