-- Servers other than the API server: what they respond to http.request of a script under test.
local raw = ...

local options = require "k8s.options"

local RESPONSE = {
  url = "string",
  method = "string",
  status = "number",
  headers = "table",
  body = "table or path", -- a text, or a table, which is sent as JSON
  delay = "duration",
  times = "number",
}

local function pairs_of(headers, is_json)
  local list, names = {}, {}
  for name in pairs(headers or {}) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    is_json = is_json and name:lower() ~= "content-type"
    list[#list + 1], list[#list + 2] = name, tostring(headers[name])
  end
  if is_json then
    list[#list + 1], list[#list + 2] = "content-type", "application/json"
  end
  return list
end

-- env:http { url =, method =, status = 200, headers =, body =, delay =, times = }: from now on that is the response.
return function(env, given)
  local response = options.check("env:http", given, RESPONSE)
  if not response.url then
    raw.raise 'env:http: url must be given, whole or as "https://hooks.example.com/*"'
  end
  local is_json = type(response.body) == "table"
  raw.test.respond(env.engine, {
    url = response.url,
    method = response.method,
    status = response.status,
    headers = pairs_of(response.headers, is_json),
    body = is_json and raw.json.encode(response.body) or response.body or "",
    delay_ms = response.delay and raw.test.duration(response.delay),
    times = response.times,
  })
end
