-- Requests to the webhooks of a script under test.
local raw = ...

local header_pairs = require "k8s.header_pairs"
local options = require "k8s.options"

local REQUEST = {
  method = "string",
  query = "table",
  headers = "table",
  body = "table or text", -- a table is sent as JSON
  token = "string",
  secret = "string",
}

-- The arguments of raw.test.webhook behind the engine: method, path, body, secret, query, headers.
local function parts_of(path, own)
  local headers = header_pairs("env:call_webhook: headers", own.headers)
  if own.token then
    headers[#headers + 1], headers[#headers + 2] = "Authorization", "Bearer " .. own.token
  end
  local body = own.body or ""
  return own.method or "POST", path, type(body) == "string" and body or raw.json.encode(body), own.secret,
    header_pairs("env:call_webhook: query", own.query), headers
end

-- env:call_webhook(path, { method =, query =, headers =, body =, token =, secret = }): what the webhook responds:
-- { status, headers, body }, the body a table if it is JSON.
return function(note, take_in, env, path, given)
  local own = options.check("env:call_webhook", given, REQUEST)
  env:settle()
  note(env, "webhook  %s", tostring(path))
  local response, problem = raw.test.webhook(env.engine, parts_of(path, own))
  take_in(env, response ~= nil, "env:call_webhook: " .. tostring(problem))
  if response.is_json then
    response.body = raw.json.decode(response.body)
  end
  response.is_json = nil
  return response
end
