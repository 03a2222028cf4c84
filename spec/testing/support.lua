-- Scripts under test that stand in the spec itself.
local test = require "k8s.test"

local support = {}

-- test.load of a script with this text; it is gone when this returns.
function support.load(text, options)
  local path = os.tmpname()
  local file = assert(io.open(path .. ".lua", "w"))
  file:write(text)
  file:close()
  os.remove(path)
  local ok, env = pcall(test.load, path .. ".lua", options)
  os.remove(path .. ".lua")
  if not ok then error((tostring(env):gsub("/tmp/lua_%w+", "script")), 0) end
  return env
end

-- A pod with labels.
function support.pod(name, labels)
  return { kind = "Pod", metadata = { namespace = "shop", name = name, labels = labels }, spec = { containers = {} } }
end

return support
