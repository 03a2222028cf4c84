-- `kubelua get` of kinds whose columns only the API server knows: its Tables, of the objects that are cached.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local scripts_folder = require "spec.support.scripts_folder"
local server_tables = require "spec.support.server_tables"

local FROM_CACHE = "^NAMESPACE +NAME +AGE\ndefault +big +%w+\ndefault +small +%w+\nkube%-system +big +%w+\n$"

describe("kubelua get of a kind with columns of the server", function()
  local place, sim, world
  before_each(function()
    place = scripts_folder.new()
    sim = cluster.sim()
    world = { api = sim.api, args = { "--server", sim.server } }
    server_tables.fill(world)
  end)
  after_each(function()
    cluster.stop_all()
    place:remove()
  end)

  it("prints the columns of the server, for the objects of the cache", function()
    local get = server_tables.start(world, place)
    server_tables.prints(get)
    sim.api:create("/api/v1/namespaces/default/configmaps",
      { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "map" }, data = { a = "b" } })
    await(function() return (get("cm", "-o", "name")) == "configmap/map\n" end, "the object in the cache")
    assert.has_match("^NAMESPACE +NAME +DATA +AGE\ndefault +map +1 +%w+\n$", (get "cm"))
  end)

  it("asks for what the cache has: one namespace", function()
    local get = server_tables.start(world, place, '{ namespace = "kube-system" }')
    sim:play {
      ["do"] = "fault", verb = "list", path = "/apis/shop.example.com/v1/gadgets", what = "status", code = 403,
      times = 0,
    }
    assert.are.equal("NAMESPACE    NAME  SIZE  SHAPE\n" .. "kube-system  big   7     flat\n", (get "gadgets"))
  end)

  it("prints what the cache has when the server gives no table", function()
    local get = server_tables.start(world, place)
    sim:play { ["do"] = "fault", verb = "list", resource = "gadgets", what = "status", code = 406, times = 0 }
    assert.has_match(FROM_CACHE, (get "gadgets"))
  end)

  it("lists one object too, as it may be allowed no other verb", function()
    local get = server_tables.start(world, place)
    sim:play { ["do"] = "fault", verb = "get", resource = "gadgets", what = "status", code = 403, times = 0 }
    assert.are.equal("NAMESPACE    NAME  SIZE  SHAPE\n" .. "kube-system  big   7     flat\n",
      (get("gadgets", "kube-system/big")))
  end)

  it("prints many pages", function()
    local get = server_tables.start(world, place)
    for i = 1, 1100 do server_tables.put(world, "default", ("g-%04d"):format(i), nil, { size = i }) end
    await(function()
      return (get("gadgets", "g-1100", "-o", "name")) == "gadget.shop.example.com/g-1100\n"
    end, "the last object in the cache")
    local out = get "gadgets"
    assert.are.equal(1104, select(2, out:gsub("\n", "")))
    assert.has_match("\ndefault +g%-0001 +1 +<none>\n", out)
    assert.has_match("\ndefault +g%-1100 +1100 +<none>\n", out)
  end)

  it("watches what the cache has", function()
    server_tables.start(world, place)
    local watch = cluster.kubelua { "get", "gadgets", "-w", "--admin-socket", place.path .. "/admin.sock" }
    watch:wait_line "^NAMESPACE +NAME +AGE$"
    watch:kill "TERM"
  end)
end)
