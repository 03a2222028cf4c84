-- 10,000 and 100,000 pods of 9.4 KB: all in the lister, in little memory, and a relist that disturbs nobody.
local cluster = require "spec.support.cluster"

local pods = 10000
local script = [[
  local k8s = require "k8s"
  local calls = 0
  local pods = k8s.informer("pods")
  pods:add_event_handler {
    OnAdd = function(obj, ev) if not ev.initial then print("add", obj:key()) end end,
    OnUpdate = function(old, new) print("update", new:key()) end,
    OnDelete = function(last) print("delete", last:key()) end,
  }
  k8s.main(function() print("synced", pods:lister():count()) end)
]]

local sanitized = os.getenv "KUBELUA_PRESET" and os.getenv "KUBELUA_PRESET" ~= "release"

local function marker(name)
  return {
    apiVersion = "v1", kind = "Pod", metadata = { name = name, namespace = "default" },
    spec = { containers = { { name = "c", image = "i" } } },
  }
end

-- No handler heard of anything but what is named.
local function assert_undisturbed(engine, name)
  for line in engine:out():gmatch "[^\n]+" do
    local known = line:find "^synced" or line == "add\tdefault/" .. name
    assert.is_truthy(known, "an unchanged pod called a handler: " .. line)
  end
end

describe("10,000 pods #threads", function()
  after_each(cluster.stop_all)

  it("take at most 4 KB each beyond the idle process", function()
    if sanitized then return pending "a sanitizer's own memory would be measured" end
    local sim = cluster.sim { "--pods", tostring(pods) }
    local idle = cluster.run(sim.server, cluster.script [[ require("k8s").main(function() print "idle" end) ]])
    idle:wait_line "^idle$"
    local engine = cluster.run(sim.server, cluster.script(script))
    assert.are.equal(tostring(pods), engine:wait_line("^synced\t(%d+)$", 60))
    local each = (engine:rss() - idle:rss()) / pods
    print(("# %.0f bytes resident per pod, idle process %.1f MB"):format(each, idle:rss() / 2 ^ 20))
    assert.is_true(each <= 4096, ("%.0f bytes per pod"):format(each))
  end)

  it("are read page by page in the memory of some pages", function()
    if sanitized then return pending "a sanitizer's own memory would be measured" end
    local sim = cluster.sim { "--pods", tostring(pods) }
    local engine = cluster.run(sim.server, cluster.script [[
      local k8s = require "k8s"
      k8s.reads { "pods:list" }
      k8s.main(function()
        k8s.list("pods", { limit = 1 })
        print "idle"
        local count = 0
        for page in k8s.pages "pods" do count = count + #page end
        print("read", count)
      end)
    ]])
    engine:wait_line "^idle$"
    local idle = engine:rss()
    assert.are.equal(tostring(pods), engine:wait_line("^read\t(%d+)$", 60))
    local grown = (engine:rss() - idle) / 2 ^ 20
    print(("# %.1f MB more after reading %d pods"):format(grown, pods))
    assert.is_true(grown <= 12, ("%.1f MB more"):format(grown))
  end)

  it("stay as they are when the server is killed and comes back", function()
    local sim = cluster.sim { "--pods", tostring(pods) }
    local port = sim.server:match ":(%d+)$"
    local engine = cluster.run(sim.server, cluster.script(script), { "-v", "1" })
    engine:wait_line("^synced\t" .. pods .. "$", 60)
    sim:kill "KILL"
    sim:wait()
    local again = cluster.sim({ "--pods", tostring(pods) }, port)
    -- The relist is behind the engine as soon as it knows of something new.
    again.api:create("/api/v1/namespaces/default/pods", marker "marker")
    engine:wait_line("^add\tdefault/marker$", 60)
    assert_undisturbed(engine, "marker")
    local stats = again.api:get "/sim/stats"
    assert.is_true(stats.lists + stats.watch_lists >= 1, "the engine did not list again")
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)

-- B-3: nor does an index function hear of it.
local indexes = [[
  pods:add_index("node", "spec.nodeName")
  pods:add_index("image", "spec.containers[*].image")
  pods:add_index("asked", function(obj, emit)
    if pods:lister():count() > 100000 and obj:name() ~= "marker" then print("index function called", obj:key()) end
  end)
]]

-- B-3, B-4, R-40: a relist has one pointer for each object until its end.
describe("100,000 pods", function()
  after_each(cluster.stop_all)

  local function assert_listed_again(sim, mode, more)
    local engine = cluster.run(sim.server, cluster.script(script .. (more or "")), { "--watch-list", mode })
    engine:wait_line("^synced\t100000$", 120)
    local counter = mode == "on" and "watch_lists" or "lists"
    local before, lists = engine:rss(), sim.api:get("/sim/stats")[counter]
    engine:forget_peak()
    sim:play { ["do"] = "expire" }
    sim.api:create("/api/v1/namespaces/default/pods", marker "marker")
    engine:wait_line("^add\tdefault/marker$", 120)
    assert_undisturbed(engine, "marker")
    sim.api:delete "/api/v1/namespaces/default/pods/marker"
    local growth = engine:peak_rss() / before - 1
    local text = "# %.1f MB resident, %+.1f %% at the peak of a list of all again, watch-list %s"
    print(text:format(before / 2 ^ 20, 100 * growth, mode))
    assert.is_true(sim.api:get("/sim/stats")[counter] > lists, "the engine did not list again")
    assert.is_true(growth <= 0.05, ("%.1f %% more"):format(100 * growth))
    assert.are.equal(0, cluster.terminate(engine))
  end

  it("are listed again without a handler's call and in the memory they had", function()
    if sanitized then return pending "a sanitizer's own memory would be measured" end
    local sim = cluster.sim { "--pods", "100000" }
    for _, mode in ipairs { "off", "on" } do assert_listed_again(sim, mode) end
    assert_listed_again(sim, "off", indexes)
  end)
end)
