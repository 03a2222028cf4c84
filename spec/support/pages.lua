-- A list in pages that no longer fit together, on a server without a watch cache: the check runs on the simulated
-- server and on the real one.
local assert = require "luassert"
local cluster = require "spec.support.cluster"
local replay = require "spec.support.replay"

local pages = {}

local configmaps = "/api/v1/namespaces/default/configmaps"
local objects, object_bytes = 620, 600 -- more than a page of 500

local function fill(api)
  for i = 1, objects do
    api:create(configmaps, {
      apiVersion = "v1", kind = "ConfigMap", metadata = { name = ("c%03d"):format(i), namespace = "default" },
      data = { text = ("x"):rep(object_bytes) },
    })
  end
end

-- In a world of spec.support.world, whose lists() counts `other_lists` that the engine makes of other kinds.
-- P-3, R-9, R-12; A-5 for what the server does.
function pages.check(world, other_lists)
  fill(world.api)
  local before = world.lists()
  world.relay:pass(objects * object_bytes / 4) -- somewhere in the first page
  local args = { "run", "-f", "spec/support/scripts/replay.lua", "--watch-list", "off" }
  for _, word in ipairs(world.args) do args[#args + 1] = word end
  local engine = cluster.kubelua(args)
  local calls = replay.new(engine)
  world.relay:wait_held()
  world.api:delete(configmaps .. "/c001")
  world.compact()
  world.relay:mend()
  engine:wait_line("^synced$", 60)
  -- A page, a page that is refused, the whole.
  assert.are.equal(before + 3 + other_lists, world.lists())
  calls:take()
  assert.is_nil(calls:difference("configmaps", world.api:get "/api/v1/configmaps"))
  assert.is_nil(engine:out():find "default/c001")
  assert.are.equal(0, cluster.terminate(engine))
end

return pages
