-- TokenRequests of service accounts: what is wrong with one, and its answer.
local json = require "sim.json"
local values = require "sim.values"

local at, text, object, set = json.at, json.text, json.object, json.set

local SHORTEST_S, USUAL_S, LONGEST_S = 600, 3600, 2 ^ 32
local VERSION = "authentication.k8s.io/v1"

local tokens = {}

local function refuse(status, ...) return { status, ... } end

-- Why a token cannot depend on that object; nil if it can.
local function check_bound(bound, namespace, is_there)
  if json.type(bound) ~= "object" then return end
  local kind, name = text(bound, "kind"), text(bound, "name")
  if kind ~= "Node" and kind ~= "Pod" and kind ~= "Secret" then
    return refuse(400, string.format("cannot bind token to object of type /%s, Kind=%s", text(bound, "apiVersion"),
      kind))
  end
  if is_there(kind, kind == "Node" and name or namespace .. "/" .. name) then return end
  return refuse(404, kind:lower() .. "s", name)
end

local function check(account, spec, is_there)
  local given = at(spec, "expirationSeconds")
  local seconds = json.int(spec, "expirationSeconds", (given == nil or given == json.null) and USUAL_S or 0)
  local detail = seconds < SHORTEST_S and "may not specify a duration less than 10 minutes"
    or seconds > LONGEST_S and "may not specify a duration larger than 2^32 seconds"
  if detail then return refuse(422, { { "FieldValueInvalid", "spec.expirationSeconds", detail, given } }) end
  return check_bound(at(spec, "boundObjectRef"), text(account, "metadata.namespace"), is_there)
end

-- Fields of the request that its sender owns; a server adds audiences later.
local function owned_of(spec)
  local fields = object("f:expirationSeconds", object())
  for name, value in json.members(spec) do
    if value ~= json.null then set(fields, "f:" .. name, object()) end
  end
  return object("f:spec", fields)
end

local function time_of(seconds) return os.date("!%Y-%m-%dT%H:%M:%SZ", seconds) end

-- Returns the answer to a request; a list of 400 and a message, of 404, plural and name of what is missing, or of 422
-- and problems. `is_there(kind, key)` looks for an object, `issue(audiences, until)` makes a token.
function tokens.create(body, account, manager, now, audience, is_there, issue)
  local spec = values.submap(body, "spec")
  local refusal, owned = check(account, spec, is_there), owned_of(spec)
  if refusal then return refusal end
  local ends = now + json.int(spec, "expirationSeconds", USUAL_S)
  if json.count(at(spec, "audiences")) == 0 then set(spec, "audiences", { audience }) end
  values.default(spec, "expirationSeconds", USUAL_S)
  values.default(spec, "boundObjectRef", json.null)
  local managed = object("manager", manager, "operation", "Update", "apiVersion", VERSION, "subresource", "token",
    "fieldsType", "FieldsV1", "time", time_of(now), "fieldsV1", owned)
  local metadata = object("name", text(account, "metadata.name"), "namespace", text(account, "metadata.namespace"),
    "uid", text(account, "metadata.uid"), "creationTimestamp", time_of(now), "managedFields", { managed })
  return object("kind", "TokenRequest", "apiVersion", VERSION, "metadata", metadata, "spec", spec, "status",
    object("token", issue(at(spec, "audiences"), ends), "expirationTimestamp", time_of(ends)))
end

return tokens
