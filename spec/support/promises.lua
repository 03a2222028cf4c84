-- What an API server promises to those who list and watch (contract A-1..A-6), as specs that run on the simulated
-- server and on the real one: what passes on one and not on the other is a mistake in the simulator.
local assert = require "luassert"
local watching = require "spec.support.watching"

local promises = {}

local future = "9000000000000000"
local initial = "?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
local rooms = 0

local function names(list)
  local result = {}
  for i, item in ipairs(list.items) do result[i] = item.metadata.name end
  return result
end

-- An empty namespace of its own for each test.
local function new_room(api)
  rooms = rooms + 1
  local namespace = "room-" .. rooms
  api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = namespace } })
  local room = { path = "/api/v1/namespaces/" .. namespace .. "/configmaps" }
  function room.create(name)
    local object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name }, data = { a = "b" } }
    return api:create(room.path, object).metadata.resourceVersion
  end
  function room.list(query) return api:get(room.path .. (query or "")) end
  function room.names(query) return names(room.list(query)) end
  function room.version() return room.list().metadata.resourceVersion end
  function room.watch(query) return watching.open(api, room.path .. query) end
  function room.status(query, code) return api:request("GET", room.path .. query, nil, nil, code) end
  return room
end

-- { title, check } in order; `check(world, room)`.
local cases = {}

local function promise(title, check) cases[#cases + 1] = { title = title, check = check } end

-- A-1
promise("lists the newest state, or one not older than asked for, or exactly the one asked for", function(world, room)
  room.create "a"
  local old = room.version()
  room.create "b"
  assert.are.same({ "a", "b" }, room.names())
  assert.are.same({ "a", "b" }, room.names("?resourceVersion=" .. old))
  assert.are.same({ "a", "b" }, room.names("?resourceVersionMatch=NotOlderThan&resourceVersion=" .. old))
  local exact = room.list("?resourceVersionMatch=Exact&resourceVersion=" .. old)
  assert.are.same({ "a" }, names(exact))
  assert.are.equal(old, exact.metadata.resourceVersion)
  assert.are.same({ "a" }, room.names("?limit=5&resourceVersion=" .. old))
end)

-- A-1, A-2
promise("refuses options that contradict each other", function(world, room)
  for query, code in pairs {
    ["?resourceVersionMatch=Exact"] = 422,
    ["?resourceVersionMatch=Exact&resourceVersion=0"] = 422,
    ["?resourceVersionMatch=Newest&resourceVersion=5"] = 422,
    ["?sendInitialEvents=true"] = 422,
    ["?resourceVersion=abc"] = 400,
    ["?watch=true&sendInitialEvents=true&allowWatchBookmarks=true"] = 422,
    ["?watch=true&resourceVersionMatch=NotOlderThan"] = 422,
    ["?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact"] = 422,
    ["?watch=true&resourceVersion=abc"] = 500, -- A-6
  } do
    assert.are.equal("Failure", room.status(query, code).status, query)
  end
end)

-- A-2
promise("watches everything after a version, once and in order", function(world, room)
  room.create "before"
  local from = room.version()
  room.create "a"
  local w = room.watch("?resourceVersion=" .. from)
  assert.are.same({ "ADDED a" }, w:short(1))
  world.api:patch(room.path .. "/a", { data = { a = "c" } })
  local removed = world.api:get(room.path .. "/a")
  world.api:delete(room.path .. "/a")
  local changed, deleted = w:next(), w:next()
  assert.are.equal("MODIFIED", changed.type)
  assert.are.equal("ConfigMap", changed.object.kind)
  assert.are.equal("DELETED", deleted.type)
  assert.are.equal(removed.metadata.uid, deleted.object.metadata.uid)
  assert.are_not.equal(removed.metadata.resourceVersion, deleted.object.metadata.resourceVersion)
end)

-- A-2
promise("begins a watch without a version with what is there", function(world, room)
  room.create "a"
  room.create "b"
  for _, query in ipairs { "", "?resourceVersion=0" } do
    assert.are.same({ "ADDED a", "ADDED b" }, room.watch(query):short(2))
  end
end)

-- A-2
promise("ends a watch whose version is too old with an ERROR event of code 410", function(world, room)
  room.create "a"
  local from = room.version()
  local open = room.watch("?resourceVersion=" .. from)
  world.expire()
  open:finish(20)
  local event = room.watch("?resourceVersion=" .. from):next()
  assert.are.equal("ERROR", event.type)
  assert.are.equal(410, event.object.code)
  assert.are.equal("Expired", event.object.reason)
  assert.has_match("^too old resource version: " .. from, event.object.message)
end)

-- A-3
promise("streams a list, marks its end, and goes on with what comes", function(world, room)
  room.create "a"
  room.create "b"
  local w = room.watch(initial)
  local first = w:short(2)
  table.sort(first)
  assert.are.same({ "ADDED a", "ADDED b" }, first)
  local mark = w:next()
  assert.are.equal("BOOKMARK", mark.type)
  assert.are.equal("true", mark.object.metadata.annotations["k8s.io/initial-events-end"])
  assert.are.equal("ConfigMap", mark.object.kind)
  assert.is_nil(mark.object.metadata.name)
  room.create "c"
  assert.are.same({ "ADDED c" }, w:short(1))
end)

-- A-3
promise("marks no end for those who take no bookmarks", function(world, room)
  room.create "a"
  local w = room.watch "?sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
  assert.are.same({ "ADDED a" }, w:short(1))
  room.create "b"
  assert.are.same({ "ADDED b" }, w:short(1))
end)

-- A-4
promise("sends a bookmark with a version and nothing more before a watch ends", function(world, room)
  local from = room.version()
  local w = room.watch("?allowWatchBookmarks=true&timeoutSeconds=6&resourceVersion=" .. from)
  room.create "a"
  local newer = new_room(world.api).create "b"
  assert.are.same({ "ADDED a" }, w:short(1))
  local mark = w:next()
  assert.are.equal("BOOKMARK", mark.type)
  assert.are.equal("ConfigMap", mark.object.kind)
  assert.is_nil(mark.object.metadata.annotations)
  assert.is_true(tonumber(mark.object.metadata.resourceVersion) >= tonumber(newer))
  assert.are.equal(0, (w:finish()))
end)

-- A-4
promise("sends a bookmark before a watch ends of what it has delivered, too", function(_, room)
  local w = room.watch("?allowWatchBookmarks=true&timeoutSeconds=5&resourceVersion=" .. room.version())
  room.create "a"
  assert.are.same({ "ADDED a" }, w:short(1)) -- it may have been there when the watch began
  local created = room.create "b"
  assert.are.same({ "ADDED b" }, w:short(1))
  local mark = w:next()
  assert.are.same({ "BOOKMARK", "ConfigMap" }, { mark.type, mark.object.kind })
  assert.is_true(tonumber(mark.object.metadata.resourceVersion) >= tonumber(created))
  assert.are.equal(0, (w:finish()))
end)

-- A-5
promise("gives pages of one consistent state, until that expires", function(world, room)
  for _, name in ipairs { "a", "b", "c", "d", "e" } do room.create(name) end
  local first = room.list "?limit=2"
  assert.are.equal(3, first.metadata.remainingItemCount)
  world.api:delete(room.path .. "/c")
  room.create "bb"
  local query = "?limit=2&continue="
  local second = room.list(query .. first.metadata.continue)
  assert.are.same({ "c", "d" }, names(second))
  assert.are.equal(first.metadata.resourceVersion, second.metadata.resourceVersion)
  world.expire()
  local status = room.status(query .. first.metadata.continue, 410)
  assert.are.equal("Expired", status.reason)
  assert.are.same({ "bb", "d" }, room.names(query .. status.metadata.continue))
  local selected = room.list "?limit=1&labelSelector=%21absent"
  assert.is_nil(selected.metadata.remainingItemCount)
end)

-- A-6
promise("refuses a version that is still to come, and says why and when to ask again", function(world, room)
  local list = room.status("?resourceVersion=" .. future, 504)
  local event = room.watch(initial .. "&resourceVersion=" .. future):next()
  assert.are.equal("ERROR", event.type)
  for _, status in ipairs { list, event.object } do
    assert.are.equal(504, status.code)
    assert.are.equal("Timeout", status.reason)
    assert.are.equal("ResourceVersionTooLarge", status.details.causes[1].reason)
    assert.are.equal(1, status.details.retryAfterSeconds)
  end
end)
-- Declares the specs: `it` is busted's, `get_world` gives { api, expire } of a running server, inside of a test.
function promises.specify(it, get_world)
  for _, case in ipairs(cases) do
    it(case.title, function()
      local world = get_world()
      local ok, err = pcall(case.check, world, new_room(world.api))
      watching.close_all()
      if not ok then error(err, 0) end
    end)
  end
end

return promises
