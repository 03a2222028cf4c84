-- Scripts that read one cache in handlers of another, on servers whose lists come late and in any order.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local configmaps = "/api/v1/namespaces/default/configmaps"

-- Lists and watch-lists of a resource come late, until { do = "clear" }.
local function delay(sim, resource, time)
  for _, verb in ipairs { "list", "watch" } do
    sim:play { ["do"] = "fault", verb = verb, resource = resource, what = "delay", ["for"] = time, times = 0 }
  end
end

describe("with late lists", function()
  after_each(cluster.stop_all)

  it("scripts/namespace_team.lua labels every config map, however late the namespaces are listed", function()
    local sim = cluster.sim()
    sim.api:patch("/api/v1/namespaces/default", { metadata = { labels = { team = "blue" } } })
    delay(sim, "namespaces", "500ms")
    for i = 1, 12 do
      local path = configmaps .. "/c" .. i
      sim.api:create(configmaps, {
        apiVersion = "v1", kind = "ConfigMap", metadata = { name = "c" .. i, namespace = "default" },
      })
      local p = cluster.run(sim.server, "scripts/namespace_team.lua")
      p:wait_line("^default/c" .. i .. " is blue's$")
      await(function() return (sim.api:get(path).metadata.labels or {}).team == "blue" end, "the label")
      assert.are.equal(0, cluster.terminate(p))
    end
  end)

  local READER = [[
local k8s = require "k8s"
local namespaces = k8s.informer("namespaces"):lister()
k8s.every("20ms", function()
  if namespaces:count() > 0 then print "counted" end
end)
k8s.informer("configmaps"):on_add(function(map) print("told of", map:name(), namespaces:count()) end)
k8s.on_leader(function() print("leads", namespaces:count()) end)
]]

  local function warnings(p, text)
    local _, count = p.streams.err.text:gsub(text:gsub("%p", "%%%0"), "")
    return count
  end

  -- I-19
  it("a read before the first list is logged once, with its place; handlers and leaders wait", function()
    local sim = cluster.sim()
    sim.api:create(configmaps, {
      apiVersion = "v1", kind = "ConfigMap", metadata = { name = "c", namespace = "default" },
    })
    delay(sim, "namespaces", "500ms")
    local script = cluster.script(READER)
    local p = cluster.run(sim.server, script)
    p:wait_line "^leads\t[1-9]"
    p:wait_line "^told of\tc\t[1-9]"
    p:wait_line "^counted"
    assert.are.equal(0, cluster.terminate(p))
    assert.are.equal(1, warnings(p, '"Cache was read before it was synced, objects may be missing"'))
    assert.is_truthy(p.streams.err.text:find(script .. ":4", 1, true))
    assert.is_nil(p.streams.out.text:find("\t0\n", 1, true))
  end)

  it("an informer that is forbidden is not waited for, and the log reports it once", function()
    local sim = cluster.sim()
    sim.api:create(configmaps, {
      apiVersion = "v1", kind = "ConfigMap", metadata = { name = "c", namespace = "default" },
    })
    sim:forbid("namespaces", "namespaces is forbidden")
    local p = cluster.run(sim.server, cluster.script(READER))
    p:wait_line "^leads\t0$"
    p:wait_line "^told of\tc\t0$"
    sim:play { ["do"] = "clear" }
    p:wait_line "^counted"
    assert.are.equal(0, cluster.terminate(p))
    assert.are.equal(1, warnings(p, '"Handlers start without an informer that cannot sync"'))
  end)

  it("k8s.main and workers wait for an informer that is forbidden; log and status say so", function()
    local sim = cluster.sim()
    sim.api:create(configmaps, {
      apiVersion = "v1", kind = "ConfigMap", metadata = { name = "c", namespace = "default" },
    })
    sim:forbid("namespaces", "namespaces is forbidden")
    local socket = temp.folder() .. "/s"
    local p = cluster.run(sim.server, cluster.script [[
local k8s = require "k8s"
local namespaces = k8s.informer("namespaces"):lister()
local queue = k8s.queue { name = "work" }
k8s.informer("configmaps"):on_add(function(map)
  print("told of", map:name())
  queue:add(map:name())
end)
queue:run(function(key) print("works on", key, namespaces:count()) end)
k8s.main(function() print("main", namespaces:count()) end)
]], { "--admin-socket", socket })
    p:wait_line "^told of\tc$"
    p:wait_error '"Workers wait for an informer that cannot sync".*informer="namespaces"'
    p:wait_error '"k8s.main waits for an informer that cannot sync".*informer="namespaces"'
    local status = cluster.kubelua { "status", "--admin-socket", socket }
    assert.are.equal(0, status:wait(), status:err())
    assert.has_match("main: waiting for namespaces: forbidden", status:out())
    assert.has_match("workers wait for namespaces: forbidden", status:out())
    sim:play { ["do"] = "clear" }
    p:wait_until(function()
      local out = "\n" .. p.streams.out.text
      return out:find "\nworks on\tc\t[1-9]" and out:find "\nmain\t[1-9]"
    end, "main and the worker, with namespaces")
    assert.are.equal(0, cluster.terminate(p))
    for _, who in ipairs { "Workers wait", "k8s.main waits", "Handlers start without" } do
      local wait = ('"%s%s an informer that cannot sync"'):format(who, who:find "wait" and " for" or "")
      assert.are.equal(1, warnings(p, wait), p.streams.err.text)
    end
  end)
end)
