-- Messages of the Model Context Protocol, which are JSON-RPC 2.0: what a line asks, and what is replied to it. Clients
-- of revisions with a handshake (initialize) are served, and those that send their revision with each request. Calls of
-- tools are handed on, as they take time (init.lua).
local json = require "tool.json"
local tools = require "tool.mcp.tools"

local protocol = {}
protocol.__index = protocol

local HANDSHAKE = { "2024-11-05", "2025-06-18", "2025-11-25" } -- without that of batches, 2025-03-26
local MODERN = "2026-07-28"
local VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
local CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"

local PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, NO_VERSION = -32700, -32600, -32601, -32602, -32022

local INSTRUCTIONS = "Looks into a running kubelua engine: Kubernetes objects in its caches, its scripts and its audit "
  .. "rules. Begin with status. Results are text; long ones are cut, so ask for few objects or columns."

-- `host` has parse, quote, nearest and version; `settings`: show_secrets, allow_writes, admin_socket.
function protocol.new(host, settings)
  return setmetatable({ host = host, settings = settings, tools = tools.list(settings) }, protocol)
end

-- --- replies

local function id_of(id)
  if type(id) ~= "number" then return nil end
  return id % 1 == 0 and math.abs(id) < 2 ^ 53 and ("%d"):format(id) or ("%.17g"):format(id)
end

local function refusal(id, code, text, data)
  return json.object("jsonrpc", '"2.0"', "id", id or "null",
    "error", json.object("code", json.integer(code), "message", text, "data", data))
end

function protocol:refuse(id, code, text, data) return refusal(id, code, self.host.quote(text), data) end

local function is_map(value) return type(value) == "table" and getmetatable(value) ~= nil end

-- Null is as good as left out.
local function is_absent(value) return value == nil or type(value) == "userdata" end

local function info(self)
  return json.object("name", '"kubelua"', "title", '"kubelua"', "version", json.text(self.host.version))
end

-- Fields of a result in turn, as json.object has them. `request.modern`: the client sends its revision each time.
local function result(self, request, ...)
  local fields = { ... }
  if request.modern then
    fields[#fields + 1], fields[#fields + 2] = "resultType", '"complete"'
    fields[#fields + 1], fields[#fields + 2] = "_meta", json.object("io.modelcontextprotocol/serverInfo", info(self))
  end
  return json.object("jsonrpc", '"2.0"', "id", request.id, "result", json.object(unpack(fields)))
end

-- One that stays as it is while this process lives.
local function lasting(self, request, ...)
  if not request.modern then return result(self, request, ...) end
  local fields = { ... }
  for _, field in ipairs { "ttlMs", "3600000", "cacheScope", '"private"' } do fields[#fields + 1] = field end
  return result(self, request, unpack(fields))
end

-- The result of a tool: its text, and whether it failed.
function protocol:answer(request, text, failed)
  return result(self, request, "content",
    "[" .. json.object("type", '"text"', "text", self.host.quote(text)) .. "]", "isError", failed and "true" or "false")
end

-- --- methods

local methods = {}

local function supported() return json.list({ MODERN, unpack(HANDSHAKE) }, json.text) end

-- The newest revision that is not beyond the client's.
local function agreed(wanted)
  local version = HANDSHAKE[1]
  for _, one in ipairs(HANDSHAKE) do
    if one <= wanted then version = one end
  end
  return version
end

function methods:initialize(request, params)
  local wanted = params.protocolVersion
  if type(wanted) ~= "string" then
    return self:refuse(request.id, INVALID_PARAMS, 'initialize: "protocolVersion" must be a string')
  end
  return result(self, request, "protocolVersion", json.text(agreed(wanted)), "capabilities", '{"tools":{}}',
    "serverInfo", info(self), "instructions", json.text(INSTRUCTIONS))
end

methods["server/discover"] = function(self, request)
  return lasting(self, request, "supportedVersions", supported(), "capabilities", '{"tools":{}}',
    "instructions", json.text(INSTRUCTIONS))
end

function methods:ping(request) return result(self, request) end

methods["tools/list"] = function(self, request, params)
  if not is_absent(params.cursor) then
    return self:refuse(request.id, INVALID_PARAMS, "tools/list: there is no such cursor; all tools are on one page")
  end
  return lasting(self, request, "tools", json.list(self.tools, tools.describe))
end

methods["tools/call"] = function(self, request, params)
  local name, given = params.name, params.arguments
  local one = type(name) == "string" and self.tools[name]
  if not one then
    local names = {}
    for i, each in ipairs(self.tools) do names[i] = each.name end
    local near = type(name) == "string" and self.host.nearest(name, names)
    return self:refuse(request.id, INVALID_PARAMS, ('unknown tool "%s"%s'):format(tostring(name),
      near and (', did you mean "%s"?'):format(near) or ""))
  end
  if not is_absent(given) and not is_map(given) then
    return self:refuse(request.id, INVALID_PARAMS, 'tools/call: "arguments" must be an object')
  end
  local words, why = tools.words(one, is_map(given) and given or {}, self.settings, self.host.nearest)
  if not words then return self:answer(request, ("%s: %s"):format(name, why), true) end
  return nil, { request = request, tool = one, words = words }
end

-- --- requests

-- What is wrong with the revision that a request carries; nil: nothing, or it carries none.
local function check_version(self, request, params)
  local meta = params._meta
  local version = is_map(meta) and meta[VERSION_KEY] or nil
  if version == nil then return nil end
  request.modern = true
  if version ~= MODERN then
    local data = json.object("supported", supported(), "requested", self.host.quote(tostring(version)))
    return self:refuse(request.id, NO_VERSION, "unsupported protocol version", data)
  end
  if not is_map(meta[CAPABILITIES_KEY]) then
    return self:refuse(request.id, INVALID_PARAMS, ('"_meta" lacks "%s"'):format(CAPABILITIES_KEY))
  end
end

-- Of a message without an id nothing is replied: a request to forget another is the one that means something here.
local function notified(message)
  local params = message.params
  if message.method ~= "notifications/cancelled" or not is_map(params) then return nil end
  return nil, nil, params.requestId
end

-- What is replied to a line, or nil; a call to be made: its request, tool and words; and the id of a request that is
-- cancelled.
function protocol:receive(line)
  if not line:find "%S" then return nil end
  local ok, message, why = pcall(self.host.parse, line)
  if not ok or message == nil then return self:refuse(nil, PARSE_ERROR, tostring(ok and why or message)) end
  if not is_map(message) then
    return self:refuse(nil, INVALID_REQUEST, "a message must be an object; batches are not supported")
  end
  if message.method == nil and (message.result ~= nil or message.error ~= nil) then return nil end
  local id = type(message.id) == "string" and self.host.quote(message.id) or id_of(message.id)
  if message.jsonrpc ~= "2.0" or type(message.method) ~= "string" or message.id ~= nil and not id then
    return self:refuse(id, INVALID_REQUEST,
      'a message must have "jsonrpc": "2.0", a method, and an id that is a string or number')
  end
  if not id then return notified(message) end
  local request, params = { id = id, key = message.id }, is_absent(message.params) and {} or message.params
  if not is_absent(message.params) and not is_map(params) then
    return self:refuse(id, INVALID_PARAMS, message.method .. ': "params" must be an object')
  end
  local wrong = check_version(self, request, params)
  if wrong then return wrong end
  local method = methods[message.method]
  if not method then return self:refuse(id, NO_METHOD, ('method "%s" not found'):format(message.method)) end
  return method(self, request, params)
end

-- In place of a line that is longer than a message may be.
function protocol:refuse_long() return self:refuse(nil, INVALID_REQUEST, "a message must not exceed 1 MiB") end

return protocol
