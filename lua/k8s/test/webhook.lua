-- Requests to the webhooks of a script under test.
local raw = ...

local options = require "k8s.options"

local REQUEST = {
  method = "string",
  query = "table",
  headers = "table",
  body = "table or text", -- a table is sent as JSON
  token = "string",
  secret = "string",
}

-- Name, value, ...: sorted, so that the same request is the same bytes.
local function pairs_of(values)
  local names, list = {}, {}
  for name in pairs(values or {}) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    list[#list + 1], list[#list + 2] = name, tostring(values[name])
  end
  return list
end

-- The arguments of raw.test.webhook behind the engine: method, path, body, secret, query, headers.
local function parts_of(path, own)
  local headers = pairs_of(own.headers)
  if own.token then
    headers[#headers + 1], headers[#headers + 2] = "Authorization", "Bearer " .. own.token
  end
  local body = own.body or ""
  return own.method or "POST", path, type(body) == "string" and body or raw.json.encode(body), own.secret,
    pairs_of(own.query), headers
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
