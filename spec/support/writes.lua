-- Scripts that write, for specs: what they begin with, and `kubelua exec` of one.
local cluster = require "spec.support.cluster"

local writes = { configmaps = "/api/v1/namespaces/default/configmaps" }

writes.prelude = [[
  local k8s = require "k8s"
  k8s.reads { "*:*" }
  k8s.writes { "configmaps:*", "pods:*", "pods/status:patch", "deployments.apps:*" }
  local function map(name, data)
    return { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" }, data = data }
  end
  local function failed(object, err)
    print(object, err and err.code, err and err.reason, err and err.message)
  end
  -- What raises, without the place.
  local function raises(fn, ...)
    local ok, err = pcall(fn, ...)
    print(ok, (tostring(err):gsub("^%S-:%d+: ", "")))
  end
]]

-- `kubelua exec` of a script whose main is `body`, with the flags that lead to the server.
function writes.start(connection, body, ...)
  local script = cluster.script(writes.prelude .. "k8s.main(function()\n" .. body .. "\nend)\n")
  return cluster.kubelua { "exec", connection, script, ... }
end

-- The same to its end: what it printed; raises when it did not end well.
function writes.run(connection, body, ...)
  local engine = writes.start(connection, body, ...)
  assert(engine:wait(30) == 0, engine:report())
  return engine:out()
end

return writes
