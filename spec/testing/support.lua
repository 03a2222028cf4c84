-- Scripts under test that stand in the spec itself.
local temp = require "spec.support.temp"
local test = require "k8s.test"

local support = {}

-- The path of a new file with this text, which goes with the process. `ending` such as ".lua", or none.
function support.file(text, ending)
  local path = temp.name() .. (ending or "")
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  return path
end

-- test.load of a script with this text; it is gone when this returns.
function support.load(text, options)
  local path = support.file(text, ".lua")
  local ok, env = pcall(test.load, path, options)
  os.remove(path)
  if not ok then error((tostring(env):gsub("/tmp/[%w.]+/%d+%.lua", "script.lua")), 0) end
  return env
end

-- A pod with labels.
function support.pod(name, labels)
  return { kind = "Pod", metadata = { namespace = "shop", name = name, labels = labels }, spec = { containers = {} } }
end

return support
