-- What one more script costs: memory of the process beyond what it had, and time to load.
local cjson = require "cjson"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local sanitized = os.getenv "KUBELUA_PRESET" and os.getenv "KUBELUA_PRESET" ~= "release"
local MORE, PODS = 100, 5
local BYTES_MAX, MILLISECONDS_MAX = 150e3, 2

-- A script that only waits, and those of the examples that a user would begin with.
local waits = [[
  local k8s = require "k8s"
  k8s.every("1h", function() k8s.log.info("an hour") end)
]]
local patches = [[
  local k8s = require "k8s"
  k8s.writes { "pods:patch" }
  local pods = k8s.informer("pods")
  local function team(pod) return pod:label "team" end
  pods:add_event_handler {
    where = { ["status.phase"] = "Pending" },
    OnAdd = function(pod)
      if not team(pod) then
        local done, err = k8s.patch(pod, { metadata = { labels = { team = "nobody" } } })
        if not done then k8s.log.warn("not labelled", { pod = pod:key(), why = err.message }) end
      end
    end,
  }
]]

local controls = [[
  local k8s = require "k8s"
  k8s.writes { "deployments.apps:patch" }
  local deployments = k8s.informer("deployments.apps")
  k8s.controller {
    of = deployments,
    owns = { "replicasets.apps" },
    reconcile = function(key, job)
      local deployment = deployments:lister():get(key)
      if not deployment then return end
      local done, err = k8s.patch(deployment, { metadata = { annotations = { seen = "yes" } } })
      if not done then return nil, err end
    end,
  }
]]

describe("One more script", function()
  local folder
  before_each(function() folder = temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  -- An engine on so many files with this text: its process and what it tells of its scripts, once all have heard of
  -- all pods.
  local function engine_with(count, text, server)
    local scripts, socket = ("%s/%d"):format(folder, count), ("%s/%d.sock"):format(folder, count)
    assert(os.execute("mkdir " .. scripts) == 0)
    for i = 1, count do temp.write(("%s/s%d.lua"):format(scripts, i), text) end
    local engine = cluster.run(server, scripts, { "--admin-socket", socket })
    local status = await(function()
      local p = cluster.kubelua { "status", "--admin-socket", socket, "-ojson" }
      if p:wait() ~= 0 then return end
      local decoded = cjson.decode(p.streams.out.text)
      if not decoded.engine.ready then return end
      for _, script in ipairs(decoded.scripts) do
        if script.pending > 0 then return end
      end
      return decoded.scripts
    end, function() return engine:report() end)
    assert.are.equal(count, #status)
    return engine, status
  end

  -- Of the faster half, so that other work of the machine does not count.
  local function load_time(scripts)
    local times = {}
    for i, script in ipairs(scripts) do times[i] = script.loadMicroseconds / 1000 end
    table.sort(times)
    return times[math.ceil(#times / 4)]
  end

  for name, text in pairs {
    ["that waits"] = waits,
    ["that patches pods"] = patches,
    ["with a controller of two kinds"] = controls,
    ["like scripts/watch_pods.lua"] = temp.read "scripts/watch_pods.lua",
    ["like scripts/restarts.lua"] = temp.read "scripts/restarts.lua",
  } do
    it(name .. " costs under 150 KB and under 2 ms to load", function()
      if sanitized then return pending "a sanitizer's own memory and time would be measured" end
      local sim = cluster.sim { "--pods", tostring(PODS) }
      local one = engine_with(1, text, sim.server)
      local many, scripts = engine_with(1 + MORE, text, sim.server)
      local each, load = (many:rss() - one:rss()) / MORE, load_time(scripts)
      print(("# one more script %s: %.0f KB resident, %.0f KB of them Lua's, loaded in %.2f ms")
        :format(name, each / 1000, scripts[#scripts].memoryBytes / 1000, load))
      assert.is_true(each < BYTES_MAX, ("%.0f bytes for each script"):format(each))
      assert.is_true(load < MILLISECONDS_MAX, ("a quarter took under %.2f ms"):format(load))
    end)
  end

  it("reports how long it took to load", function()
    local sim = cluster.sim {}
    local path = cluster.script "local t = os.clock() + 0.02 while os.clock() < t do end"
    local engine = cluster.run(sim.server, path, {
      "--admin-socket", folder .. "/a.sock", "--metrics-bind-address", "127.0.0.1:0",
    })
    local function status(...)
      local p = cluster.kubelua { "status", "--admin-socket", folder .. "/a.sock", ... }
      return p:wait() == 0 and p.streams.out.text
    end
    local text = await(function() return status "-owide" end, function() return engine:report() end)
    assert.is_true(tonumber(text:match "loaded in ([%d.]+) ms") >= 20, text)
    local address = cjson.decode(status "-ojson").engine.metricsAddress
    local seconds = await(function()
      local page = io.popen("curl -s http://" .. address .. "/metrics"):read "*a"
      return tonumber(page:match "kubelua_script_load_seconds{[^}]*} ([%d.e-]+)")
    end, function() return engine:report() end)
    assert.is_true(seconds >= 0.02 and seconds < 20, tostring(seconds))
  end)
end)
