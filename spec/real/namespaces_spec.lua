-- Several namespaces read as one, and rights that a user has in some of them, on the real API server (B-6, B-7).
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"

local rbac = "rbac.authorization.k8s.io"

-- Says what it sees, and how it fares.
local script = [[
  local k8s = require "k8s"
  local maps = k8s.informer("configmaps", { namespaces = { "left", "right" }, selector = "spec=yes" })
  local function tell()
    local s = maps:status()
    print(("%s objects=%d left=%s right=%s %s"):format(s.state, s.objects, s.namespaces.left.state,
      s.namespaces.right.state, tostring(s.last_error)))
  end
  maps:on_add(function(map) print("add " .. map:key()) tell() end)
  maps:on_update(function(_, map) print("update " .. map:key()) tell() end)
  k8s.main(function() print("synced " .. maps:lister():count()) end)
]]

local function configmap(ns)
  local metadata = { name = "one", namespace = ns, labels = { spec = "yes" } }
  return { apiVersion = "v1", kind = "ConfigMap", metadata = metadata, data = { k = "1" } }
end

-- What nobody may do in a namespace.
local function allow(server, ns)
  server:apply { apiVersion = rbac .. "/v1", kind = "Role", metadata = { name = "reader", namespace = ns },
    rules = { { apiGroups = { "" }, resources = { "configmaps" }, verbs = { "list", "watch" } } } }
  server:apply { apiVersion = rbac .. "/v1", kind = "RoleBinding", metadata = { name = "reader", namespace = ns },
    roleRef = { apiGroup = rbac, kind = "Role", name = "reader" },
    subjects = { { apiGroup = rbac, kind = "User", name = "nobody" } } }
end

describe("on the real API server an informer of several namespaces", function()
  local server

  setup(function()
    server = apiserver.start()
    for _, ns in ipairs { "left", "right" } do
      server:apply { apiVersion = "v1", kind = "Namespace", metadata = { name = ns } }
      server:apply(configmap(ns))
    end
    allow(server, "left")
  end)

  teardown(function()
    cluster.stop_all()
    if server then server:stop() end
  end)

  it("goes on where it has permissions, reports where it has none, and recovers when they come", function()
    local engine = cluster.run("--kubeconfig=" .. server.kubeconfig, cluster.script(script), { "--context", "nobody" })
    engine:wait_line("^add left/one$", 60)
    engine:wait_error('configmaps is forbidden: User \\"nobody\\" cannot %w+ resource \\"configmaps\\".*'
      .. 'namespace \\"right\\"')
    server:kubectl "--namespace left patch configmap one --type merge --patch '{\"data\":{\"k\":\"2\"}}'"
    engine:wait_line('^forbidden objects=1 left=synced right=forbidden .*configmaps is forbidden: User "nobody"', 60)
    allow(server, "right")
    engine:wait_line("^synced 2$", 90)
    server:kubectl "--namespace right patch configmap one --type merge --patch '{\"data\":{\"k\":\"3\"}}'"
    engine:wait_line("^synced objects=2 left=synced right=synced nil$", 60)
    assert.are.equal(0, cluster.terminate(engine))
  end)
end)
