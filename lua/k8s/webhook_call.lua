-- Calls the function given to k8s.webhook with a request, and takes its response.
local raw = ...

local options = require "k8s.options"

local admits, respond = raw.webhook.admits, raw.webhook.respond

local RESPONSE = { status = "number", headers = "table", body = "table or text" }

-- Name, value, ...: sorted, so that the same response is the same bytes.
local function pairs_of(headers)
  local names, list = {}, {}
  for name, value in pairs(headers or {}) do
    local kind = type(value)
    if type(name) ~= "string" or (kind ~= "string" and kind ~= "number") then
      raw.raise "k8s.webhook: headers must be a table of names and string values"
    end
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    list[#list + 1], list[#list + 2] = name, tostring(headers[name])
  end
  return list
end

-- nil is 204; a string a body of 200; nil, err a failure, which goes to the log and not to the caller.
local function answer(response, err)
  if response == nil then
    if err ~= nil then
      return nil, err
    end
    respond(204)
  elseif type(response) == "string" then
    respond(200, response)
  else
    if type(response) ~= "table" then
      raw.raise("k8s.webhook: fn must return a table, a string or nil, not a " .. type(response))
    end
    local own = options.check("k8s.webhook: the response", response, RESPONSE)
    respond(own.status or 200, own.body, unpack(pairs_of(own.headers)))
  end
end

return function(fn, request, token, secret)
  if (token or secret) and not admits(token and token(), secret and secret()) then
    return
  end
  return answer(fn(request))
end
