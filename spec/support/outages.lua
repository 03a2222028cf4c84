-- A server that ends and comes back in the middle of a watch and of a first list, as specs that run on the simulated
-- server and on the real one.
local assert = require "luassert"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local replay = require "spec.support.replay"

local outages = {}

local configmaps = "/api/v1/namespaces/default/configmaps"
local objects, object_bytes = 120, 4000

-- Text that does not compress: a list of it is as long on the wire.
local function noise()
  local bytes = {}
  for i = 1, object_bytes do bytes[i] = string.char(math.random(97, 122)) end
  return table.concat(bytes)
end

local function create(world, name)
  world.api:create(configmaps, {
    apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" },
    data = { noise = noise() },
  })
end

local function start(world, flags)
  local args = { "run", "-f", "spec/support/scripts/replay.lua" }
  for _, list in ipairs { world.args, flags or {} } do
    for _, word in ipairs(list) do args[#args + 1] = word end
  end
  local engine = cluster.kubelua(args)
  return engine, replay.new(engine)
end

-- Until the calls, replayed, are what the server has.
local function wait_until_equal(world, calls, engine)
  local difference
  await(function()
    calls:take()
    difference = calls:difference("configmaps", world.api:get "/api/v1/configmaps")
    if difference then engine:pump(proc.now() + 0.1) end
    return not difference
  end, function() return difference .. engine:report() end, 60)
end

local cases = {}

local function case(title, check) cases[#cases + 1] = { title = title, check = check } end

-- Decision table, "watch open | 429, connection refused".
case("in the middle of a watch: what changed is told, and nothing else", function(world)
  create(world, "a")
  local engine, calls = start(world)
  engine:wait_line("^synced$", 60)
  calls:take()
  local before = calls.calls
  world.restart()
  create(world, "b")
  wait_until_equal(world, calls, engine)
  if world.keeps_versions then assert.are.equal(before + 1, calls.calls) end
  assert.are.equal(0, cluster.terminate(engine))
end)

for _, mode in ipairs { "off", "on" } do
  -- Decision table, "list | other error (or 2nd failure)", "watch-list open or stream | any other error".
  case("in the middle of a first list, watch-list " .. mode .. ": nobody hears of half of it", function(world)
    for i = 1, objects do create(world, ("%s%03d"):format(mode, i)) end
    world.relay:pass(objects * object_bytes / 3)
    local engine, calls = start(world, { "--watch-list", mode })
    world.relay:wait_held()
    world.restart()
    world.relay:cut()
    calls:take()
    assert.are.equal(0, calls.calls)
    world.relay:mend()
    engine:wait_line("^synced$", 60)
    wait_until_equal(world, calls, engine)
    assert.are.equal(0, cluster.terminate(engine))
  end)
end

-- Declares the specs: `it` is busted's, `get_world` gives a world of spec.support.world with restart(), and with
-- keeps_versions if the server goes on with the versions it had.
function outages.specify(it, get_world)
  for _, each in ipairs(cases) do
    it(each.title, function() each.check(get_world()) end)
  end
end

return outages
