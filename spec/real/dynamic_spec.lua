-- Kinds that come, go, come back and change their version, and rights that are missing for a while, on the real API
-- server; the same stories as on the simulated one (spec/system/dynamic_spec.lua).
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local dynamic = require "spec.support.dynamic"

describe("a dynamic world on the real API server", function()
  local server

  setup(function() server = apiserver.start() end)
  teardown(function() server:stop() end)
  after_each(cluster.stop_all)

  local function world(context)
    return { api = server:api(), args = { "--kubeconfig", server.kubeconfig, "--context", context or "admin" } }
  end

  it("has kinds that come, go and come back", function() dynamic.comes_and_goes(world()) end)

  it("has kinds that change their version", function() dynamic.changes_version(world()) end)

  -- A user who may read pods everywhere and configmaps nowhere, until a RoleBinding of the namespace lets him.
  it("has rights that come with a RoleBinding (I-20, B-7)", function()
    local w = world "nobody"
    local rbac = "/apis/rbac.authorization.k8s.io/v1"
    local function rule(resource)
      return { { apiGroups = { "" }, resources = { resource }, verbs = { "list", "watch" } } }
    end
    local function bind(kind, name)
      return {
        apiVersion = "rbac.authorization.k8s.io/v1", kind = kind .. "Binding", metadata = { name = name },
        roleRef = { apiGroup = "rbac.authorization.k8s.io", kind = kind, name = name },
        subjects = { { apiGroup = "rbac.authorization.k8s.io", kind = "User", name = "nobody" } },
      }
    end
    local version = "rbac.authorization.k8s.io/v1"
    w.api:create(rbac .. "/clusterroles",
      { apiVersion = version, kind = "ClusterRole", metadata = { name = "pods" }, rules = rule "pods" })
    w.api:create(rbac .. "/clusterrolebindings", bind("ClusterRole", "pods"))
    local roles = rbac .. "/namespaces/default/roles"
    dynamic.waits_for_rights(w, function()
      w.api:create(roles,
        { apiVersion = version, kind = "Role", metadata = { name = "maps" }, rules = rule "configmaps" })
      w.api:create(rbac .. "/namespaces/default/rolebindings", bind("Role", "maps"))
    end)
  end)
end)
