-- An engine with an admin socket on a simulated cluster, for specs that talk to it. Its scripts are in a folder of the
-- test, which also has the socket. Those that want `ticks` give it a command of that name.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local engine_at_socket = {}
engine_at_socket.__index = engine_at_socket

-- `script`: watch.lua, which prints "ready". `sim`: the arguments of kubelua sim.
function engine_at_socket.new(script, sim)
  local self = setmetatable({ folder = temp.folder { ["watch.lua"] = script } }, engine_at_socket)
  self.socket = self.folder .. "/admin.sock"
  self.sim = cluster.sim(sim)
  return self
end

-- A file in the folder; gives its path.
function engine_at_socket:write(name, text)
  temp.write(self.folder .. "/" .. name, text)
  return self.folder .. "/" .. name
end

function engine_at_socket:start(args)
  local words = { "--admin-socket", self.socket, unpack(args or {}) }
  self.engine = cluster.run(self.sim.server, self.folder .. "/watch.lua", words)
  self.engine:wait_line "^ready$"
  return self.engine
end

-- What `kubelua ...` prints.
function engine_at_socket:ask(verb, ...)
  local p = cluster.kubelua { verb, "--admin-socket", self.socket, ... }
  p:wait()
  return p:out()
end

function engine_at_socket:ticks() return tonumber(self:ask("call", "ticks")) end

-- It ticks, and does so after whatever has happened.
function engine_at_socket:goes_on()
  local before = self:ticks()
  await(function() return self:ticks() > before end, "the engine ticks")
end

-- `kubelua audit --engine` with these arguments, under way.
function engine_at_socket:begin_audit(...)
  return cluster.kubelua { "audit", "--engine", "--admin-socket", self.socket, ... }
end

function engine_at_socket:close()
  cluster.stop_all()
  temp.remove(self.folder)
end

return engine_at_socket
