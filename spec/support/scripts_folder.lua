-- A folder of scripts and an engine on it, for specs of scripts that change.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local M = {}
M.__index = M

M.HEAD = 'local k8s = require "k8s"\n'

-- Has no end. ThreadSanitizer holds signals back, those that end a call over its limit too, until a function of C runs.
M.ENDLESS = "while true do local _ = {} end"

-- Says its mark when it is loaded and for each pod that it is told of; `more` follows.
function M.script(mark, more)
  return M.HEAD .. ([[
    k8s.informer("pods"):on_add(function(o) print("%s add " .. o:name()) end, { id = "it" })
    print "%s loaded"
  ]]):format(mark, mark) .. (more or "")
end

function M.new() return setmetatable({ path = temp.folder() }, M) end

-- Has each test of a describe begin with a folder of scripts and a simulated cluster of its own, of one pod or with
-- `flags`, which `begin` is given; `before_each` and `after_each` are busted's.
function M.each(before_each, after_each, begin, flags)
  local place
  before_each(function()
    place = M.new()
    begin(place, cluster.sim(flags or { "--pods", "1" }))
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)
end

function M:remove() temp.remove(self.path) end

function M:write(name, text) temp.write(self.path .. "/scripts/" .. name, text) end

-- An engine on the folder of scripts, or on what `what` says.
function M:start(sim, what, args)
  local path = self.path .. "/admin.sock"
  -- A good transform may take longer than 5 ms under a sanitizer; an endless one must not hold up `status`.
  local flags = { "--admin-socket", path, "--limit", "filter-cpu=100ms", unpack(args or {}) }
  local engine = cluster.run(sim.server, what or self.path .. "/scripts", flags)
  function engine.ask(...)
    local p = cluster.kubelua { select(1, ...), "--admin-socket", path, select(2, ...) }
    local code = p:wait()
    return p.streams.out.text, code, p.streams.err.text
  end
  -- The status of the script whose name ends so.
  function engine.script(name)
    local status = cjson.decode((engine.ask("status", "-ojson")))
    for _, one in ipairs(status.scripts) do
      if one.name:sub(-#name) == name then return one end
    end
  end
  function engine.await(name, good)
    return await(function()
      local one = engine.script(name)
      return one and good(one) and one
    end, function() return engine.ask("status", "-ojson") .. engine:report() end)
  end
  engine:wait_error "Synced"
  return engine
end

return M
