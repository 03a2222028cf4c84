-- What scripts took and gave up goes back to the system.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local sanitized = os.getenv "KUBELUA_PRESET" and os.getenv "KUBELUA_PRESET" ~= "release"
local MIB = 2 ^ 20
local configmaps = "/api/v1/namespaces/default/configmaps"

-- Handlers that have 64 MiB and take them all.
local bombs = {
  tables = "while true do list[#list + 1] = { {}, {}, {} } end",
  texts = "for i = 1, 1e9 do list[i] = ('x'):rep(1e5) .. i end",
  doubled = "local text = 'x' while true do text = text .. text end",
}

describe("the memory of a script", function()
  local folder
  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  -- Runs the script until there is a line of the log like that; the engine then has at most 8 MiB more than it had.
  local function returns(text, flags, line)
    if sanitized then return pending "a sanitizer's allocator keeps what is freed" end
    temp.write(folder .. "/bomb.lua", text)
    local sim = cluster.sim()
    local engine = cluster.run(sim.server, folder, flags)
    engine:wait_error "Synced"
    local before = engine:rss()
    for i = 1, 3 do
      sim.api:create(configmaps, {
        apiVersion = "v1", kind = "ConfigMap", metadata = { name = "go" .. i, namespace = "default" },
      })
    end
    engine:wait_error(line, 60)
    local most = engine:peak_rss()
    await(function()
      engine:pump(proc.now() + 0.05)
      return engine:rss() < before + 8 * MIB
    end, function()
      return ("%.1f MiB before, at most %.1f, now %.1f"):format(before / MIB, most / MIB, engine:rss() / MIB)
    end)
    assert.is_true(most > before + 24 * MIB, most)
  end

  local function handler(body)
    return ([[
      require("k8s").informer("configmaps", { namespace = "default" }):on_add(function()
        local list = {}
        %s
      end)
    ]]):format(body)
  end

  for name, bomb in pairs(bombs) do
    it("goes back to the system when it took too much, though nobody calls it any more: " .. name, function()
      returns(handler(bomb), { "--handler-cpu", "5s" }, "Quarantined.*over the limit script%-memory")
    end)
  end

  it("goes back when a limit of CPU ended what took it", function()
    returns(handler(bombs.texts), { "--handler-cpu", "30ms", "--script-memory", "4Gi" },
      "Quarantined.*over the limit handler%-cpu")
  end)
end)
