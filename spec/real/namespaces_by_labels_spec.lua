-- Informers that follow namespaces by their labels on the real API server, by an account that has the roles that
-- `kubelua rbac` prints and no others: for a watch of all, and with --namespaced for one of each.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local rights = require "spec.support.rights"

local script = [[
  local k8s = require "k8s"
  local maps = k8s.informer("configmaps",
    { namespaces = { selector = "team=shop" }, field_selector = "metadata.name=one" })
  maps:on_add(function(map) print("add " .. map:key()) end)
  maps:on_update(function(_, map) print("update " .. map:key() .. " " .. map.data.k) end)
  maps:on_delete(function(map) print("delete " .. map:key()) end)
  k8s.main(function() print("synced " .. maps:lister():count()) end)
]]

local GROUP = "rbac.authorization.k8s.io"

describe("namespaces by labels on the real API server", function()
  local nobody, api

  setup(function()
    nobody = rights.start(script)
    api = nobody.server:api()
    for _, name in ipairs { "a", "b" } do
      api:create("/api/v1/namespaces",
        { apiVersion = "v1", kind = "Namespace", metadata = { name = name, labels = { team = name } } })
      api:create("/api/v1/namespaces/" .. name .. "/configmaps",
        { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "one", namespace = name }, data = { k = "1" } })
    end
  end)
  after_each(cluster.stop_all)
  teardown(function()
    if nobody then nobody:stop() end
  end)

  local function label(ns, team)
    api:patch("/api/v1/namespaces/" .. ns, { metadata = { labels = { team = team } } })
  end

  -- Gives the roles, bound everywhere, but for that of single namespaces, which is bound in both.
  local function grant(...)
    local json = rights.with_file(nobody:printed(...), function(file)
      return nobody.server:kubectl("create --dry-run=client -o json -f " .. file)
    end)
    for document in json:gmatch "%b{}" do
      local role = cjson.decode(document)
      nobody:put(role, role.rules)
      if role.metadata.name == "kubelua" then nobody:bind(role) end
      for _, ns in ipairs(role.metadata.name ~= "kubelua" and { "a", "b" } or {}) do
        nobody.server:apply {
          apiVersion = GROUP .. "/v1", kind = "RoleBinding", metadata = { name = "shop", namespace = ns },
          roleRef = { apiGroup = GROUP, kind = "ClusterRole", name = role.metadata.name },
          subjects = { { apiGroup = GROUP, kind = "User", name = "nobody" } },
        }
      end
    end
  end

  local function follows(is_each)
    label("a", "shop")
    label("b", "pay")
    api:patch("/api/v1/namespaces/b/configmaps/one", { data = { k = "1" } })
    local engine = cluster.kubelua {
      "run", "--kubeconfig", nobody.server.kubeconfig, "--context", "nobody", "--metrics-bind-address", "0",
      "--health-probe-bind-address", "0", "--admin-socket", "0", "-f", nobody.path,
    }
    engine:wait_line "^add a/one$"
    engine:wait_line "^synced 1$"
    label("b", "shop")
    engine:wait_line "^add b/one$"
    api:patch("/api/v1/namespaces/b/configmaps/one", { data = { k = "2" } })
    engine:wait_line "^update b/one 2$"
    label("a", "pay")
    engine:wait_line "^delete a/one$"
    assert.are.equal(is_each, engine:err():find("Watching each namespace", 1, true) ~= nil, engine:report())
    assert.are.equal(0, cluster.terminate(engine))
  end

  it("are followed by one watch of all", function()
    grant()
    follows(false)
  end)

  it("are followed by a watch of each, with no right for all", function()
    grant "--namespaced"
    follows(true)
  end)
end)
