-- How the first list comes from the real API server: by a watch-list, by a list when it is told so, and by a list when
-- the server has watch-lists switched off (R-30..R-33, R-38; spec/system/reflector_spec.lua has the faults).
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local colours = require "spec.support.colours"


local script = [[
  local k8s = require "k8s"
  local maps = k8s.informer("configmaps", { namespace = "default" })
  maps:on_update(function(old, new) print("update", new:name(), new.data.colour) end)
  k8s.main(function()
    local status = maps:status()
    print("synced", maps:lister():count(), status.synced_by, status.resource_version ~= nil)
  end)
]]

-- How a list came, with an engine that then follows a change.
local function first_list(server, colour, ...)
  local engine = cluster.run("--kubeconfig=" .. server.kubeconfig, cluster.script(script), { ... })
  local how = engine:wait_line("^synced\t%d+\t(.*)\ttrue$", 60)
  server:api():patch(colours.path .. "/one", { data = { colour = colour } })
  engine:wait_line("^update\tone\t" .. colour .. "$")
  assert.are.equal(0, cluster.terminate(engine))
  return how
end

-- Requests of the admin for configmaps so far.
local function count(server, verb) return #server:requests { verb = verb, resource = "configmaps", user = "admin" } end

for _, watch_list in ipairs { true, false } do
  local with = watch_list and "with" or "without"
  describe("the first list from a real API server " .. with .. " watch-lists", function()
    local server

    setup(function()
      server = apiserver.start { flags = not watch_list and { "--feature-gates=WatchList=false" } or nil }
      server:api():create(colours.path, colours.map("one", "red"))
      server:api():create(colours.path, colours.map("two", "red"))
    end)
    teardown(function()
      cluster.stop_all()
      if server then server:stop() end
    end)

    it("comes as it should", function()
      local how = first_list(server, "green")
      if watch_list then
        assert.are.equal("watch-list", how)
      else
        assert.has_match("^list in 1 page; watch%-list: .*sendInitialEvents", how)
      end
    end)

    it("comes by a list with --watch-list=off", function()
      local lists = count(server, "list")
      assert.are.equal("list in 1 page", first_list(server, "blue", "--watch-list=off"))
      assert.are.equal(lists + 1, count(server, "list"))
    end)
  end)
end
