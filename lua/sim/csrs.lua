-- Conditions of CertificateSigningRequests: who may approve, and that nobody takes it back.
local json = require "sim.json"
local texts = require "sim.texts"

local csrs = {}

-- Mistakes of an update, as in crds.lua; `approves` is one of the subresource `approval`.
function csrs.problems(old, object, approves)
  local before, after, found = json.at(old, "status.conditions"), json.at(object, "status.conditions"), {}
  local function forbid(what, type)
    found[#found + 1] = { "FieldValueForbidden", "status.conditions",
      string.format('updates may not %s a condition of type "%s"', what, type) }
  end
  for _, type in ipairs { "Approved", "Denied", "Failed" } do
    local was, is = texts.find(before, "type", type), texts.find(after, "type", type)
    if was and not is then forbid("remove", type) end
    if is and not was and not approves and type ~= "Failed" then forbid("add", type) end
  end
  return found
end

-- Sets who sent the request.
function csrs.sign(object, user)
  local spec = json.at(object, "spec")
  for _, field in ipairs { "username", "uid", "groups", "extra" } do
    if json.type(spec) == "object" then json.remove(spec, field) end
    if json.type(spec) == "object" then json.set(spec, field, json.at(user, field)) end
  end
end

return csrs
