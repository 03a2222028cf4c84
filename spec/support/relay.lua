-- A TCP relay of its own process between an engine and a server, which a spec cuts and mends (see spec/support/relay).
local proc = require "spec.support.proc"

local relay = {}
relay.__index = relay

-- target: "http(s)://127.0.0.1:PORT" or "127.0.0.1:PORT". `url` of the result leads there through the relay.
function relay.start(target)
  local scheme, host = target:match("^(%a+://)(.*)$")
  local process = proc.spawn { "spec/support/relay", host or target }
  local port = process:wait_line("^listening (%d+)$", 10)
  return setmetatable({ process = process, port = tonumber(port), url = (scheme or "") .. "127.0.0.1:" .. port }, relay)
end

local function tell(self, word, argument)
  self.process:write(word .. (argument and " " .. argument or "") .. "\n")
  self.process:wait_line("^" .. word .. "$", 10)
end

-- Resets every connection, and refuses new ones until mend(). In force when it returns, as are the others.
function relay:cut() tell(self, "cut") end

-- Carries nothing while every connection stays open.
function relay:hold() tell(self, "hold") end

-- The same for the connections that are there; new ones work.
function relay:freeze() tell(self, "freeze") end

function relay:mend() tell(self, "mend") end

-- Lets so many more bytes to the client pass and then holds; wait_held() returns when that is so.
function relay:pass(bytes) tell(self, "pass", bytes) end
function relay:wait_held(seconds) self.process:wait_line("^held$", seconds or 60) end

-- Of the answer to the next request whose first line has the text lets so many bytes pass, then ends the connection in
-- good order; has_ended() tells when that was so.
function relay:end_answer(bytes, text) tell(self, "end", bytes .. " " .. text) end
function relay:has_ended() return self.process:out():find("\nended\n", 1, true) ~= nil end

-- Breaks off connections so many times, where the seed says; calm() ends that, and gives how often it was.
function relay:storm(seed, times) tell(self, "storm", seed .. " " .. times) end
function relay:calm()
  self.process:write "calm\n"
  return tonumber(self.process:wait_line("^calm (%d+)$", 10))
end

-- Carries new connections to another server; those that are there stay.
function relay:aim(target) tell(self, "target", target:match "[^/]*$") end

function relay:stop()
  self.process:kill("TERM")
  self.process:wait(10)
end

return relay
