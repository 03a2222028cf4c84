-- An engine that evaluates rules continuously (`kubelua run --report`), for specs of it.
local api = require "spec.support.api"
local await = require "spec.support.await"
local cjson = require "cjson"
local scripts_folder = require "spec.support.scripts_folder"

local M = {}

M.PODS = "/api/v1/namespaces/default/pods"

function M.pod(name, labels)
  local spec = { containers = { { name = "main", image = "web" } } }
  local metadata = { name = name, namespace = "default", labels = labels }
  return { apiVersion = "v1", kind = "Pod", metadata = metadata, spec = spec }
end

-- As scripts_folder.each, without pods.
function M.each(before_each, after_each, begin) scripts_folder.each(before_each, after_each, begin, {}) end

-- The name of a gauge of results.
function M.results(rule, severity, category, result)
  return ('kubelua_audit_results{rule="%s",severity="%s",category="%s",result="%s"}')
    :format(rule, severity, category, result)
end

-- On the folder of scripts `place` (scripts_folder.lua), with more flags.
function M.start(place, sim, args)
  local flags = { "--report", "--metrics-bind-address", "127.0.0.1:0", unpack(args or {}) }
  local engine = place:start(sim, nil, flags)
  local http = api.new { server = "http://" .. engine.streams.err.text:match 'Serving metrics" address="([^"]+)"' }
  -- Waits until the sample is there with that value; nil: not there.
  function engine.await_sample(name, value)
    local found
    await(function()
      local _, text = http:curl("GET", "/metrics")
      found = nil
      for line in text:gmatch "[^\n]+" do
        local series, number = line:match "^(.-) (%S+)$"
        if series == name then found = tonumber(number) end
      end
      return found == value
    end, function() return ("%s is %s"):format(name, found) .. engine:report() end)
  end
  function engine.audit() return cjson.decode((engine.ask("status", "-ojson"))).audit end
  -- What the status says of the rule.
  function engine.rule(id)
    for _, rule in ipairs(engine.audit().byRule or {}) do
      if rule.id == id then return rule end
    end
  end
  return engine
end

return M
