-- One script tried dry beside others that write: --dry-run SCRIPT=client|server.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"
local temp = require "spec.support.temp"

local maps = "/api/v1/namespaces/default/configmaps/"
local leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases/"

-- Creates a ConfigMap, and records an Event about it.
local function writer(name, more)
  return ([[
local k8s = require "k8s"
k8s.writes { "configmaps:create", "leases.coordination.k8s.io:*" }
%s
k8s.informer("namespaces"):on_add(function(ns)
  if ns.metadata.name ~= "default" then return end
  local map = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "%s", namespace = "default" } }
  local object, err = k8s.create(map)
  k8s.event(map, "Normal", "Made", "%s")
  print("%s", object and object:key() or err.message)
end)
]]):format(more or "", name, name, name)
end

describe("--dry-run of one script #threads", function()
  local place, sim

  before_each(function()
    place = scripts_folder.new()
    sim = cluster.sim()
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  -- The scripts write in any order.
  local function wrote(engine, name)
    local line = ("%s\tdefault/%s\n"):format(name, name)
    await(function() return engine:out():find(line, 1, true) end, line)
  end

  local function stored(name) return (sim.api:curl("GET", maps .. name)) == 200 end

  local function events()
    local messages = {}
    for _, event in ipairs(sim.api:get("/api/v1/namespaces/default/events").items) do
      messages[#messages + 1] = event.message
    end
    table.sort(messages)
    return table.concat(messages, " ")
  end

  for _, mode in ipairs { "client", "server" } do
    it("keeps its writes and Events out of the cluster with " .. mode .. ", after a reload too", function()
      place:write("keeps.lua", writer "kept")
      place:write("tries.lua", writer "tried")
      local engine = place:start(sim, nil, { "--dry-run=tries=" .. mode })
      wrote(engine, "kept")
      wrote(engine, "tried")
      await(function() return events() == "kept" end, "the Event of the other script")
      assert.is_true(stored "kept")
      assert.is_false(stored "tried")
      place:write("tries.lua", writer "again")
      wrote(engine, "again")
      assert.is_false(stored "again")
      local scripts = {}
      for _, script in ipairs(cjson.decode((engine.ask("status", "-ojson"))).scripts) do
        scripts[script.name:match "[^/]*$"] = script.dryRun
      end
      assert.are.same({ keeps = "none", tries = mode }, scripts)
      assert.has_match("dry run: " .. mode .. "\n", (engine.ask "status"), 1, true)
      local plans = cjson.decode((engine.ask("plan", "-f", place.path .. "/scripts", "-ojson"))).scripts
      assert.are.same({ "none", mode }, { plans[1].dryRun, plans[2].dryRun })
      assert.are.equal(mode == "client" and 4 or 0,
        select(2, engine:err():gsub("Not sent because of %-%-dry%-run=client", "")))
      assert.are.equal("kept", events())
    end)
  end

  it("has it lead without an election, in which others take part", function()
    place:write("leads.lua", writer("kept", "k8s.leader { lease = 'works' }"))
    place:write("tries.lua", writer("tried", "k8s.leader { lease = 'tried' }"))
    local engine = place:start(sim, nil, { "--dry-run=tries=client" })
    wrote(engine, "tried")
    await(function() return (sim.api:curl("GET", leases .. "works")) == 200 end, "the lease of the other script")
    assert.are.equal(404, (sim.api:curl("GET", leases .. "tried")))
    assert.has_match('Leader election is disabled by --dry-run, the script leads" script="', engine:err(), 1, true)
  end)

  it("is stronger than the one of all scripts", function()
    place:write("all.lua", writer "all")
    place:write("one.lua", writer "one")
    local engine = place:start(sim, nil, { "--dry-run=client", "--dry-run=one=server" })
    wrote(engine, "all")
    wrote(engine, "one")
    -- The log comes by another pipe than the lines that were waited for.
    local function unsent() return select(2, engine:err():gsub("Not sent because of %-%-dry%-run=client", "")) end
    engine:wait_until(function() return unsent() >= 2 end, "two writes in the log")
    assert.are.equal(2, unsent())
    assert.is_false(stored "one")
  end)

  it("is one clear error for what is not a script or a mode", function()
    local script = temp.name() .. ".lua"
    temp.write(script, writer "x")
    for value, expected in pairs {
      ["tires=client"] = '--dry-run: script "tires" not found',
      ["x=none"] = '--dry-run: "x=none" is not none, client, server, SCRIPT=client or SCRIPT=server',
      ["sever"] = '--dry-run: "sever" is not none, client, server, SCRIPT=client or SCRIPT=server',
    } do
      local p = cluster.kubelua { "run", "--server", sim.server, "-f", script, "--dry-run", value }
      assert.are.equal(2, p:wait(20))
      assert.has_match(expected, p:err(), 1, true)
    end
    os.remove(script)
  end)
end)
