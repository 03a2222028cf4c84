-- k8s.each_kind on a whole engine: definitions that come, go and come back, and watches that end with them.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local crds = require "spec.support.crds"
local temp = require "spec.support.temp"

describe("k8s.each_kind #threads", function()
  local sim, folder, socket

  before_each(function()
    sim, folder = cluster.sim(), temp.folder()
    socket = folder .. "/admin.sock"
    crds.create(sim.api, "widgets", "example.com")
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local SCRIPT = [[
    local k8s = require "k8s"
    k8s.reads { "*.example.com:watch" }
    k8s.each_kind({ group = "*.example.com", verb = "watch" }, function(kind)
      local objects = k8s.informer(kind.name)
      objects:on_add(function(object) print("MARK add " .. kind.name .. " " .. object:name()) end)
      if objects:wait_for_sync() then print("MARK synced " .. kind.name) end
    end, { every = "1s" })
  ]]

  local function start(text, ...)
    temp.write(folder .. "/a.lua", text)
    return cluster.run(sim.server, folder .. "/a.lua", { "--admin-socket", socket, ... })
  end

  local function status()
    local p = cluster.kubelua { "status", "--admin-socket", socket, "-ojson" }
    assert.are.equal(0, p:wait(), p:report())
    return cjson.decode(p:out())
  end

  local function informers()
    local names = {}
    for _, one in ipairs(status().informers) do names[#names + 1] = one.kind end
    table.sort(names)
    return table.concat(names, " ")
  end

  it("follows definitions that come, go and come back", function()
    crds.add(sim.api, "widgets", "example.com", "w1")
    local engine = start(SCRIPT, "--informer-grace", "0")
    engine:wait_line "^MARK add widgets.example.com w1$"
    engine:wait_line "^MARK synced widgets.example.com$"
    crds.create(sim.api, "gadgets", "shop.example.com")
    crds.create(sim.api, "others", "other.com")
    engine:wait_line "^MARK synced gadgets.shop.example.com$"
    crds.add(sim.api, "gadgets", "shop.example.com", "g1")
    engine:wait_line "^MARK add gadgets.shop.example.com g1$"
    assert.are.equal("gadgets.shop.example.com widgets.example.com", informers())
    crds.remove(sim.api, "gadgets", "shop.example.com")
    await(function() return informers() == "widgets.example.com" end, "the end of the informer", 60)
    crds.create(sim.api, "gadgets", "shop.example.com")
    crds.add(sim.api, "gadgets", "shop.example.com", "g2")
    engine:wait_line "^MARK add gadgets.shop.example.com g2$"
    assert.is_nil(engine:out():find("other", 1, true))
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match(' errors=0 ', engine:err(), 1, true)
  end)

  it("starts anew after a reload, on the same caches", function()
    crds.add(sim.api, "widgets", "example.com", "w1")
    local engine = start(SCRIPT)
    engine:wait_line "^MARK synced"
    local function requests()
      local stats = sim.api:get "/sim/stats"
      return ("%d %d %d"):format(stats.lists, stats.watch_lists, stats.watches)
    end
    local before = requests()
    temp.write(folder .. "/a.lua", (SCRIPT:gsub("MARK", "NEXT")))
    local reload = cluster.kubelua { "reload", "--admin-socket", socket }
    assert.are.equal(0, reload:wait(30), reload:report())
    engine:wait_line "^NEXT add widgets.example.com w1$"
    assert.are.equal(before, requests())
    crds.add(sim.api, "widgets", "example.com", "w2")
    engine:wait_line "^NEXT add widgets.example.com w2$"
    assert.is_nil(engine:out():find("MARK add widgets.example.com w2", 1, true))
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("keeps what it made while discovery fails, and goes on after that", function()
    local engine = start(SCRIPT)
    engine:wait_line "^MARK synced"
    sim:play { ["do"] = "fault", verb = "get", path = "/apis", what = "status", code = 503, times = 3 }
    crds.create(sim.api, "gadgets", "example.com")
    engine:wait_line "^MARK synced gadgets.example.com$"
    crds.add(sim.api, "widgets", "example.com", "w1")
    engine:wait_line "^MARK add widgets.example.com w1$"
    assert.are.equal(1, select(2, engine:out():gsub("MARK synced widgets", "")))
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match(" errors=0 ", engine:err(), 1, true)
  end)

  -- The plan is of a copy elsewhere: the engine takes up changes of its own folder by itself.
  it("is in the plan of a reload, by its filter", function()
    local engine = start(SCRIPT)
    engine:wait_line "^MARK synced"
    local other = folder .. "/other"
    temp.write(other .. "/a.lua", (SCRIPT:gsub('group = "%*.example.com"', 'group = "example.com"')))
    local p = cluster.kubelua { "plan", "-f", other, "--admin-socket", socket }
    assert.are.equal(1, p:wait(30), p:report())
    assert.has_match("each kind *.example.com watch", p:out(), 1, true)
    assert.has_match("each kind example.com watch", p:out(), 1, true)
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
