-- What a server may do wrong: each gives one clear line, and the cache of all other objects is right afterwards.
local cluster = require "spec.support.cluster"
local colours = require "spec.support.colours"

local configmaps, configmap = colours.path, colours.map

local watch_faults = {
  { what = "half-line", says = "the stream ended inside an event" },
  { what = "invalid-json", says = "JSON" },
  { what = "unknown-type", says = 'unknown event type \\"RENAMED\\"' },
  { what = "no-metadata", says = "missing metadata", goes_on = true },
  { what = "oversize", says = "ConfigMap default/oversize", goes_on = true },
  { what = "error-event", code = 500, says = "the scenario wants it so" },
  { what = "error-event", code = 410, says = "the scenario wants it so", level = "I" },
  { what = "reset", says = "connection reset", level = "[IW]" },
}

describe("bad input #threads", function()
  local sim, engine

  before_each(function() sim = colours.sim() end)
  after_each(cluster.stop_all)

  local function start(...)
    engine = cluster.run(sim.server, cluster.script(colours.script), { "--watch-list=off", ... })
    engine:wait_line("^synced by list", 60)
  end

  -- How many lines of the log say it, at a level.
  local function lines_saying(text, level)
    local count = 0
    for line in engine:err():gmatch "[^\n]+" do
      if line:find(text, 1, true) and line:find("^" .. (level or "[WE]")) then count = count + 1 end
    end
    return count
  end

  for _, fault in ipairs(watch_faults) do
    local name = fault.what .. (fault.code and " " .. fault.code or "")
    it("on a watch: " .. name, function()
      start()
      sim:play { ["do"] = "inject", resource = "configmaps", what = fault.what, code = fault.code }
      engine:wait_error((fault.says:gsub("%p", "%%%0")))
      sim.api:patch(configmaps .. "/one", { data = { colour = "green" } })
      engine:wait_line("^cache one=green two=blue$", 60)
      assert.are.equal(1, lines_saying(fault.says, fault.level))
      if fault.goes_on then assert.are.equal(1, sim.api:get("/sim/stats").watches) end
      assert.are.equal(0, cluster.terminate(engine))
    end)
  end

  for _, what in ipairs { "no-metadata", "oversize" } do
    it("in a list: " .. what, function()
      sim:play { ["do"] = "fault", verb = "list", resource = "configmaps", what = what, after = 1 }
      local says = what == "oversize" and "oversize" or "missing metadata"
      start()
      engine:wait_error(says)
      assert.are.equal(1, lines_saying(says))
      sim.api:patch(configmaps .. "/one", { data = { colour = "green" } })
      engine:wait_line "^cache one=green two=blue$"
      assert.are.equal(0, cluster.terminate(engine))
    end)
  end

  -- What JSON parsers refuse in an object whose brackets are right (R-19).
  local damages = {
    { says = "nested too deeply", value = ("["):rep(1100) .. ("]"):rep(1100) },
    { says = "nested too deeply", value = ("["):rep(3000) .. ("]"):rep(3000) },
    { says = "a string is malformed", value = '"\\ud800"' },
    { says = "a control character inside a string", value = '"a\tb"' },
    { says = "a number is malformed or out of range", value = "1e999" },
  }
  local damaged = '"metadata":{"name":"bad","namespace":"default"},"extra":%s}'

  for _, damage in ipairs(damages) do
    it(("costs one object, in a list and on a watch: %d bytes, %s"):format(#damage.value, damage.says), function()
      local says = "ConfigMap default/bad: invalid JSON: " .. damage.says
      local members = damaged:format(damage.value)
      sim:play { ["do"] = "fault", verb = "list", resource = "configmaps", what = "line", after = 1,
        text = "{" .. members }
      start()
      assert.has_match("cache one=red two=blue\n", engine:out(), 1, true)
      engine:wait_error((says:gsub("%p", "%%%0")))
      assert.are.equal(1, lines_saying(says))
      sim:play { ["do"] = "inject", resource = "configmaps", what = "line",
        text = '{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1",' .. members .. "}" }
      sim.api:patch(configmaps .. "/one", { data = { colour = "green" } })
      engine:wait_line("^cache one=green two=blue$", 60)
      assert.are.equal(1, sim.api:get("/sim/stats").watches)
      assert.are.equal(0, cluster.terminate(engine))
      assert.has_match('"Stopped".*objectsRefused=2', engine:err())
    end)
  end

  it("in a list: null costs nothing but itself", function()
    sim:play { ["do"] = "fault", verb = "list", resource = "configmaps", what = "line", after = 1, text = "null" }
    start()
    assert.has_match("cache one=red two=blue\n", engine:out(), 1, true)
    engine:wait_error "not a JSON object"
    assert.are.equal(1, lines_saying "not a JSON object")
    assert.are.equal(0, cluster.terminate(engine))
  end)

  for _, item in ipairs { "5", '"[1"', "[1]" } do
    it("in a list: " .. item .. " costs nothing but itself", function()
      sim:play { ["do"] = "fault", verb = "list", resource = "configmaps", what = "line", after = 1, text = item }
      start()
      assert.has_match("cache one=red two=blue\n", engine:out(), 1, true)
      engine:wait_error "not a JSON object"
      assert.are.equal(0, cluster.terminate(engine))
    end)
  end

  for _, what in ipairs { "invalid-json", "cut", "reset", "close" } do
    it("in a list, which is tried again: " .. what, function()
      sim:play { ["do"] = "fault", verb = "list", resource = "configmaps", what = what, after = 1 }
      start()
      engine:wait_error "failed to list configmaps"
      assert.are.equal(1, lines_saying "failed to list configmaps")
      assert.are.equal(0, cluster.terminate(engine))
    end)
  end

  it("names an object over --max-object-size and counts it", function()
    start("--max-object-size", "64Ki")
    sim.api:create(configmaps, configmap("large", ("x"):rep(100000)))
    engine:wait_error "large"
    sim.api:create(configmaps, configmap("three", "green"))
    engine:wait_line "^cache one=red three=green two=blue$"
    local line = engine:err():match "[^\n]*large[^\n]*"
    assert.has_match("default/large", line, 1, true)
    assert.has_match("--max-object-size", line, 1, true)
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match('"Stopped".*objectsRefused=1', engine:err())
  end)

  it("keeps an object that grew over --max-object-size until the server deletes it", function()
    start("--max-object-size", "64Ki")
    sim.api:patch(configmaps .. "/one", { data = { colour = ("x"):rep(100000) } })
    engine:wait_error "ConfigMap default/one: "
    sim:play { ["do"] = "expire", resource = "configmaps" } -- what comes from here on comes by a relist
    sim.api:patch(configmaps .. "/two", { data = { colour = "green" } })
    engine:wait_line("^cache one=red two=green$", 60)
    sim.api:delete(configmaps .. "/one")
    engine:wait_line("^cache two=green$", 60)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("a response with an error code is tried again", function()
    sim:play { ["do"] = "fault", verb = "list", resource = "configmaps", what = "status", code = 503 }
    start()
    engine:wait_error "failed to list configmaps"
    assert.are.equal(1, lines_saying "failed to list configmaps")
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("a refused connection is tried again until the server is back", function()
    start()
    local port = sim.server:match ":(%d+)$"
    sim:kill "KILL"
    sim:wait()
    engine:wait_error "refused"
    sim = cluster.sim({}, port)
    sim.api:create(configmaps, configmap("one", "red"))
    engine:wait_line("^cache one=red$", 60)
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
