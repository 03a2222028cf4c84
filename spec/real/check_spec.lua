-- `kubelua check` asks the real API server what its user may do: the same rights that `kubelua rbac` prints.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local rights = require "spec.support.rights"

local script = [[
local k8s = require "k8s"
k8s.informer("pods")
k8s.informer("configmaps", { namespaces = { "default", "kube-system" } })
k8s.reads { "secrets:get" }
k8s.writes { "deployments/status:patch", "*:delete" }
k8s.informer("services", { field_selector = "metadata.name=kubernetes", namespace = "default" })
k8s.leader { lease = "own" }
]]

describe("kubelua check on a real server", function()
  local nobody

  setup(function() nobody = rights.start(script) end)
  after_each(cluster.stop_all)
  teardown(function()
    if nobody then nobody:stop() end
  end)

  local function shown(p)
    return (p:out():gsub("[^\n]*/([^/\n]*:%d+:)", "%1"))
  end

  local function check(...)
    local p = cluster.kubelua {
      "check", "--kubeconfig", nobody.server.kubeconfig, "-f", nobody.path,
      "--leader-elect-resource-namespace=kube-system", ...
    }
    local code = p:wait(30)
    return code, shown(p), p:report()
  end

  local function bind(kind, namespace, rules)
    local role = { kind = kind, metadata = { name = "own", namespace = namespace } }
    nobody:put(role, rules)
    nobody:bind(role)
  end

  it("finds nothing as admin, and each missing permission as another user", function()
    local code, out, report = check()
    assert.are.equal(0, code, report)
    bind("ClusterRole", nil, { { apiGroups = { "" }, resources = { "pods" }, verbs = { "list" } } })
    bind("Role", "default", {
      { apiGroups = { "" }, resources = { "configmaps" }, verbs = { "list", "watch" } },
      { apiGroups = { "" }, resources = { "services" }, resourceNames = { "kubernetes" }, verbs = { "list" } },
    })
    local leases, own = { "leases" }, { "own" }
    bind("Role", "kube-system", {
      { apiGroups = { "coordination.k8s.io" }, resources = leases, resourceNames = own, verbs = { "get" } },
      { apiGroups = { "coordination.k8s.io" }, resources = leases, resourceNames = { "other" }, verbs = { "update" } },
    })
    local name = nobody.path:match "[^/]*$"
    local expected = {
      "2: error: missing permission: watch pods in all namespaces",
      "3: error: missing permission: list and watch configmaps in namespace kube-system",
      "4: error: missing permission: get secrets in all namespaces",
      "5: error: missing permission: delete every kind in all namespaces",
      "5: error: missing permission: patch deployments.apps/status in all namespaces",
      "6: error: missing permission: watch services \"kubernetes\" in namespace default",
      "7: error: missing permission: create and update leases.coordination.k8s.io \"own\" in namespace kube-system, "
        .. "for k8s.leader",
      "7: error: missing permission: create events in namespace kube-system, for k8s.leader",
    }
    for i, line in ipairs(expected) do expected[i] = name .. ":" .. line end
    local wanted = table.concat(expected, "\n") .. "\n"
    await(function() -- the authorizer hears of roles a little later
      code, out, report = check("--context", "nobody")
      return out == wanted
    end, function() return report end)
    assert.are.equal(1, code)
    code, out = check("--as", "nobody")
    assert.are.same({ 1, wanted }, { code, out })
    -- The same from a dump of its roles, with no server around.
    local dump = nobody.server:kubectl("get roles,rolebindings,clusterroles,clusterrolebindings -A -o yaml")
    rights.with_file(dump, function(file)
      local words = {
        "check", "--kubeconfig=/dev/null", "-f", nobody.path, "--leader-elect-resource-namespace=kube-system",
        "--against", file, "--as", "nobody",
      }
      local p = cluster.kubelua(words)
      assert.are.equal(1, p:wait(30), p:report())
      assert.are.equal(wanted, shown(p))
    end)
  end)

  it("finds nothing once the user has what kubelua rbac prints", function()
    local words = { "--name", "own", "--leader-elect-resource-namespace=kube-system" }
    rights.with_file(nobody:printed(unpack(words)), function(file) nobody.server:kubectl("apply -f " .. file) end)
    for _, namespace in ipairs { "default", "kube-system" } do
      nobody.server:kubectl("create rolebinding more --role own --user nobody -n " .. namespace)
    end
    local code, _, report
    await(function()
      code, _, report = check("--context", "nobody")
      return code == 0
    end, function() return report end)
  end)
end)
