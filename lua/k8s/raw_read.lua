-- k8s.raw { path = "/apis/metrics.k8s.io/v1beta1/nodes", query = { labelSelector = "a=b" }, timeout = "10s" }: what the
-- API server has there, decoded where it is JSON. Paths are declared with k8s.reads.
local raw = ...

local options = require "k8s.options"
local task = require "k8s.task"
local read = task.blocking(raw.live.raw)

local OPTIONS = { path = "string", query = "table", timeout = "duration" }

local VALUES = { string = true, number = true, boolean = true }

-- Names and values in turn, by name, so that a request is the same each time.
local function query_of(given)
  local names, values, query = {}, {}, {}
  for name, value in pairs(given or {}) do
    if type(name) ~= "string" or not VALUES[type(value)] then
      raw.raise "k8s.raw: query must be { name = text, number or boolean }"
    end
    names[#names + 1], values[name] = name, tostring(value)
  end
  table.sort(names)
  for _, name in ipairs(names) do
    query[#query + 1], query[#query + 2] = name, values[name]
  end
  return query
end

-- A table for a JSON object, as k8s.json.decode has it, or a text; nil, err.
return function(given)
  local own = options.check("k8s.raw", given, OPTIONS)
  if not own.path then
    raw.raise "k8s.raw: path is missing"
  end
  local text, is_json = read(own.path, own.timeout, task.cluster(), unpack(query_of(own.query)))
  if not text then
    return nil, is_json
  elseif is_json and text ~= "" then
    return raw.json.decode(text)
  end
  return text
end
