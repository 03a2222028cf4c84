-- Scripts that create Events by k8s.event, and what the server then has: the same on a simulated server and on a
-- real one. events.specify(it, world) makes the specs; `world()` gives { api, args } of a server that runs.
local assert = require "luassert"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local colours = require "spec.support.colours"

local events = {}

local prelude = [[
  local k8s = require "k8s"
  k8s.reads { "configmaps:get", "namespaces:get" }
]]

-- `kubelua exec` of a script whose main is `body`; gives the process, which has ended well.
function events.run(world, body, ...)
  local script = cluster.script(prelude .. "k8s.main(function()\n" .. body .. "\nend)\n")
  local args = { "exec", script }
  for _, arg in ipairs(world.args) do args[#args + 1] = arg end
  for _, arg in ipairs { ... } do args[#args + 1] = arg end
  local engine = cluster.kubelua(args)
  assert(engine:wait(30) == 0, engine:report())
  return engine, script:match "([^/]+)%.lua$"
end

-- The Events of a namespace about an object, those first that were made first.
function events.of(world, name, namespace)
  local found = {}
  for _, event in ipairs(world.api:get("/api/v1/namespaces/" .. (namespace or "default") .. "/events").items) do
    if event.involvedObject.name == name then found[#found + 1] = event end
  end
  table.sort(found, function(a, b) return a.metadata.name < b.metadata.name end)
  return found
end

local function map_of(world, name)
  return world.api:create(colours.path, colours.map(name, "red"))
end

function events.specify(it, world_of)
  -- EV-3
  it("makes an Event of the object, in its namespace and under its name", function()
    local world = world_of()
    local map = map_of(world, "told")
    local _, script = events.run(world, [[
      local map = assert(k8s.get("configmaps", "default/told"))
      k8s.event(map, "Warning", "Faded", "%s is %d%% red", map:name(), 40)
    ]])
    local found = events.of(world, "told")
    assert.are.equal(1, #found)
    local event = found[1]
    assert.are.equal("told is 40% red", event.message)
    assert.are.same({ "Warning", "Faded", 1 }, { event.type, event.reason, event.count })
    assert.are.same({
      apiVersion = "v1", kind = "ConfigMap", namespace = "default", name = "told", uid = map.metadata.uid,
      resourceVersion = map.metadata.resourceVersion,
    }, event.involvedObject)
    assert.are.equal("kubelua/" .. script:gsub("^[^%w]+", ""):gsub("[^%w._-]", "-"), event.source.component)
    local nanoseconds = assert(event.metadata.name:match "^told%.(%x+)$")
    assert.is_true(math.abs(tonumber(nanoseconds, 16) / 1e9 - os.time()) < 60)
    assert.is_truthy(event.firstTimestamp:find "^%d+%-%d%d%-%d%dT%d%d:%d%d:%d%dZ$")
  end)

  -- EV-2
  it("counts the same event, combines similar ones, and limits their rate", function()
    local world = world_of()
    map_of(world, "many")
    events.run(world, [[
      local map = assert(k8s.get("configmaps", "default/many"))
      for _ = 1, 3 do k8s.event(map, "Normal", "Seen", "hello") end
      for i = 1, 12 do k8s.event(map, "Normal", "Odd", "number %d", i) end
      for _ = 1, 20 do k8s.event(map, "Normal", "Late", "hello") end
    ]])
    local found = events.of(world, "many")
    local counts = {}
    for _, event in ipairs(found) do counts[event.reason .. ": " .. event.message] = event.count end
    assert.are.equal(3, counts["Seen: hello"])
    for i = 1, 9 do assert.are.equal(1, counts["Odd: number " .. i]) end
    assert.are.equal(3, counts["Odd: (combined from similar events): number 12"])
    assert.are.equal(10, counts["Late: hello"]) -- 25 in all
    assert.are.equal(12, #found)
  end)

  -- EV-1
  it("creates a missing Event again, with the count that it had", function()
    local world = world_of()
    map_of(world, "gone")
    local script = cluster.script(prelude .. [[
      k8s.main(function()
        local map = assert(k8s.get("configmaps", "default/gone"))
        k8s.event(map, "Normal", "Seen", "hello")
        print "told"
        while k8s.get("configmaps", "default/go") == nil do k8s.sleep(0.05) end
        k8s.event(map, "Normal", "Seen", "hello")
      end)
    ]])
    local args = { "exec", script }
    for _, arg in ipairs(world.args) do args[#args + 1] = arg end
    local engine = cluster.kubelua(args)
    engine:wait_line "told"
    local first = await(function() return events.of(world, "gone")[1] end, function() return engine:report() end)
    world.api:delete("/api/v1/namespaces/default/events/" .. first.metadata.name)
    world.api:create(colours.path, colours.map("go", "red"))
    assert(engine:wait(30) == 0, engine:report())
    local second = events.of(world, "gone")
    assert.are.equal(1, #second)
    assert.are.equal(2, second[1].count)
    assert.are_not.equal(first.metadata.uid, second[1].metadata.uid)
  end)

  -- EV-3
  it("has those of an object without a namespace in the namespace default", function()
    local world = world_of()
    events.run(world, [[
      k8s.event(assert(k8s.get("namespaces", "default")), "Normal", "Seen", "hello")
      k8s.event({ kind = "ns", name = "Not:A.Name" }, "Normal", "Seen", "100%")
      k8s.event({ kind = "example.com/v1/Gadget", name = "g-1" }, "Normal", "Seen", "hello")
      k8s.event({ kind = "ConfigMap", apiVersion = "v1", metadata = { name = "m-1", uid = "u-1" } }, "Normal", "A", "b")
    ]])
    assert.are.equal("Namespace", events.of(world, "default")[1].involvedObject.kind)
    local odd = events.of(world, "Not:A.Name")[1]
    assert.are.equal("100%", odd.message)
    assert.are.same({ "Namespace", "v1" }, { odd.involvedObject.kind, odd.involvedObject.apiVersion })
    assert.is_truthy(odd.metadata.name:find "^event%-%x+%.%x+$")
    assert.are.equal("example.com/v1", events.of(world, "g-1")[1].involvedObject.apiVersion)
    assert.are.equal("u-1", events.of(world, "m-1")[1].involvedObject.uid)
  end)
end

return events
