-- Calls the function given to k8s.webhook with a request, and takes its response.
local raw = ...

local header_pairs = require "k8s.header_pairs"
local options = require "k8s.options"

local admits, respond = raw.webhook.admits, raw.webhook.respond

local RESPONSE = { status = "number", headers = "table", body = "table or text" }

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
    respond(own.status or 200, own.body, unpack(header_pairs("k8s.webhook: headers", own.headers)))
  end
end

return function(fn, request, token, secret)
  if (token or secret) and not admits(token and token(), secret and secret()) then
    return
  end
  return answer(fn(request))
end
