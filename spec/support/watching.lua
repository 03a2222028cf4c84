-- A watch that a spec reads event by event, by curl: watching.open(sim, path) and then :next().
local cjson = require "cjson"
local proc = require "spec.support.proc"

local watching = {}
watching.__index = watching

local open = {}

-- `server` is an address, or what spec.support.api makes. `path` may have a query; `headers` are words such as
-- "Accept: ...".
function watching.open(server, path, headers)
  local words = { "curl", "--silent", "--no-buffer", "--max-time", "60" }
  if type(server) == "table" then
    for flag, value in pairs { cacert = server.ca or false, cert = server.cert or false, key = server.key or false } do
      if value then
        words[#words + 1] = "--" .. flag
        words[#words + 1] = value
      end
    end
    server = server.server
  end
  for _, header in ipairs(headers or {}) do
    words[#words + 1] = "--header"
    words[#words + 1] = header
  end
  words[#words + 1] = server .. path .. (path:find("?", 1, true) and "&" or "?") .. "watch=true"
  local self = setmetatable({ proc = proc.spawn(words) }, watching)
  open[#open + 1] = self
  return self
end

-- The next event; raises when none comes in time.
function watching:next(seconds)
  return cjson.decode(self.proc:wait_line("^.*$", seconds))
end

-- The next event as text.
function watching:line(seconds) return self.proc:wait_line("^.*$", seconds) end

-- "ADDED a", "BOOKMARK": the next `count` events in short.
function watching:short(count)
  local events = {}
  for i = 1, count do
    local event = self:next()
    local name = (event.object.metadata or {}).name
    events[i] = event.type .. (name and " " .. name or "")
  end
  return events
end

-- Waits for the end of the stream: curl's exit code (0 in good order, 18 broken off, 56 reset), and what came.
function watching:finish(seconds)
  local code = self.proc:wait(seconds)
  return code, self.proc:out()
end

function watching.close_all()
  for i = #open, 1, -1 do
    open[i].proc:kill "KILL"
    open[i].proc:wait(20)
    open[i] = nil
  end
end

return watching
