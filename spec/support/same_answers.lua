-- The same requests to two servers: same.new(real, sim) gives a function ask(method, path, body, content_type, other)
-- that asserts the same code and body, once what differs from server to server is taken out, and returns both bodies.
-- `other` is the body for the second server where it must be another one. JSON in annotations is compared as such.
local cjson = require "cjson"
local assert = require "luassert"

local same = {}

-- Fields of metadata and of other places that differ at every start, and times; "username" and "groups" are those of
-- who asks.
local VARIES = { uid = true, resourceVersion = true, creationTimestamp = true, managedFields = true, token = true,
  expirationTimestamp = true, lastUpdateTime = true, lastTransitionTime = true, extra = true, error = true,
  selfLink = true, ["controller-uid"] = true, ["batch.kubernetes.io/controller-uid"] = true }

local function tidy(value)
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, inner in pairs(value) do
    local json = type(inner) == "string" and inner:find "^[%[{]" and select(2, pcall(cjson.decode, inner))
    if not VARIES[key] then copy[key] = key == "deletionTimestamp" and "a time" or tidy(json or inner) end
  end
  return copy
end

function same.tidy(text)
  local ok, value = pcall(cjson.decode, text)
  if not ok then return text end
  value = tidy(value)
  if type(value) == "table" and value.kind == "CertificateSigningRequest" then
    value.spec.username, value.spec.groups = nil, nil
  end
  return value
end

function same.new(real, sim)
  return function(method, path, body, content_type, other)
    local code, text = real:curl(method, path, body, content_type)
    local sim_code, sim_text = sim:curl(method, path, other or body, content_type)
    local place = method .. " " .. path
    assert.equal(("%s: %d"):format(place, code), ("%s: %d"):format(place, sim_code or 0), text .. "\n" .. sim_text)
    assert.same(same.tidy(text), same.tidy(sim_text), place)
    local ok, wanted = pcall(cjson.decode, text)
    return ok and wanted or text, ok and cjson.decode(sim_text) or sim_text
  end
end

return same
