-- Requests to an API server from a spec, by curl: api.new{ server, ca, cert, key, token } gives an object with one
-- method for each verb. A call without a 2xx response raises, unless another code is expected.
local cjson = require "cjson"

-- Of one request: nothing is judged by it, and a server may do much in one, such as the steps of a world.
local SECONDS = os.getenv "KUBELUA_REQUEST_SECONDS" or "30"

local api = {}
api.__index = api

local content_types = {
  merge = "application/merge-patch+json",
  json = "application/json-patch+json",
}

function api.new(options)
  return setmetatable(options, api)
end

local function quoted(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

function api:curl(method, path, body, content_type)
  local parts = { "curl --silent --show-error --max-time", SECONDS, "--write-out '\\n%{http_code}' --request", method }
  local function add(flag, value)
    if value then parts[#parts + 1] = flag .. " " .. quoted(value) end
  end
  add("--cacert", self.ca)
  add("--cert", self.cert)
  add("--key", self.key)
  add("--header", self.token and ("Authorization: Bearer " .. self.token))
  if body then
    add("--header", "Content-Type: " .. (content_type or "application/json"))
    add("--data-binary", type(body) == "string" and body or cjson.encode(body))
  end
  parts[#parts + 1] = quoted(self.server .. path)
  local pipe = assert(io.popen(table.concat(parts, " ") .. " 2>&1"))
  local text = pipe:read("*a")
  pipe:close()
  local answer, code = text:match("^(.*)\n(%d+)%s*$")
  return tonumber(code), answer or text
end

-- The decoded answer; raises for any code but 2xx, or but `expected`.
function api:request(method, path, body, content_type, expected)
  local code, text = self:curl(method, path, body, content_type)
  local good = code and (expected and code == expected or not expected and code >= 200 and code < 300)
  if not good then error(("%s %s: %s %s"):format(method, path, code, text), 2) end
  local ok, value = pcall(cjson.decode, text)
  return ok and value or text
end

function api:get(path) return self:request("GET", path) end
function api:create(path, object) return self:request("POST", path, object) end
function api:update(path, object) return self:request("PUT", path, object) end
function api:delete(path) return self:request("DELETE", path) end

-- `form` is "merge" (the default) or "json".
function api:patch(path, patch, form)
  return self:request("PATCH", path, patch, content_types[form or "merge"])
end

return api
