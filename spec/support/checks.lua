-- `kubelua check`, or another command, on files of a folder, for specs.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local checks = {}
checks.__index = checks

function checks.new(command) return setmetatable({ path = temp.folder(), command = command or "check" }, checks) end

function checks:remove()
  cluster.stop_all()
  temp.remove(self.path)
end

function checks:write(name, text) temp.write(self.path .. "/" .. name, text) end

-- The exit code, stdout without the folder, and stderr.
function checks:run(...)
  local p = cluster.kubelua { self.command, ... }
  local code = p:wait()
  return code, (p.streams.out.text:gsub(self.path:gsub("%p", "%%%0") .. "/", "")), p.streams.err.text
end

return checks
