-- `kubelua sim --authorization rbac` decides as a kube-apiserver does: random roles, bindings and requests.
local cjson = require "cjson"
local api = require "spec.support.api"
local apiserver = require "spec.support.apiserver"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local GROUP = "rbac.authorization.k8s.io/v1"
local REQUESTS = 150

local function pick(list) return list[math.random(#list)] end

-- One to three of a list.
local function some(list)
  local chosen = {}
  for i = 1, math.random(3) do chosen[i] = pick(list) end
  return chosen
end

local verbs = { "get", "list", "watch", "create", "patch", "delete", "*" }
local groups = { "", "apps", "*" }
local resources = { "pods", "pods/log", "deployments", "*/scale", "deployments/scale", "*", "pods/*" }
local names = { "a", "b" }
local namespaces = { "default", "kube-system" }

local function rule(in_namespace)
  if not in_namespace and math.random(4) == 1 then
    return { verbs = some { "get", "post", "*" }, nonResourceURLs = some { "/metrics", "/logs/*", "/x", "*" } }
  end
  return { verbs = some(verbs), apiGroups = some(groups), resources = some(resources),
    resourceNames = math.random(3) == 1 and some(names) or nil }
end

local function subject()
  local kind = pick { "User", "Group", "ServiceAccount" }
  if kind == "ServiceAccount" then return { kind = kind, name = pick(names), namespace = pick(namespaces) } end
  local who = kind == "User" and { "u1", "u2" } or { "g1", "system:serviceaccounts:default" }
  return { kind = kind, name = pick(who), apiGroup = "rbac.authorization.k8s.io" }
end

local function object(kind, name, namespace, more)
  more.kind, more.apiVersion = kind, GROUP
  more.metadata = { name = name, namespace = namespace }
  return more
end

local function random_policy()
  local items = {}
  for i = 1, 6 do
    local ns = pick(namespaces)
    items[#items + 1] = object("ClusterRole", "c" .. i, nil, { rules = { rule(), rule() } })
    items[#items + 1] = object("Role", "r:" .. i, ns, { rules = { rule(true) } })
    items[#items + 1] = object("ClusterRoleBinding", "cb" .. i, nil, { subjects = { subject() },
      roleRef = { apiGroup = "rbac.authorization.k8s.io", kind = "ClusterRole", name = "c" .. math.random(8) } })
    items[#items + 1] = object("RoleBinding", "rb" .. i, pick(namespaces), { subjects = { subject(), subject() },
      roleRef = { apiGroup = "rbac.authorization.k8s.io", kind = pick { "Role", "ClusterRole" },
        name = pick { "r:" .. math.random(6), "c" .. math.random(6) } } })
  end
  return items
end

local function random_request()
  local spec = pick {
    { user = "u1" }, { user = "u2", groups = { "g1" } },
    { user = "system:serviceaccount:default:a", groups = { "system:serviceaccounts:default" } },
    { user = "system:serviceaccount:kube-system:b" },
  }
  spec = { user = spec.user, groups = spec.groups }
  if math.random(5) == 1 then
    spec.nonResourceAttributes = { verb = pick { "get", "post" }, path = pick { "/metrics", "/logs/a", "/logs", "/y" } }
    return spec
  end
  local resource, group = pick { "pods", "deployments", "nodes" }, pick { "", "apps" }
  spec.resourceAttributes = { verb = pick(verbs), group = group, resource = resource, namespace = pick {
    "default", "kube-system", "other", "" }, name = pick { "", "a", "b", "c" },
    subresource = pick { "", "", "log", "scale", "status" } }
  return spec
end

describe("RBAC of the simulator", function()
  local server
  setup(function() server = apiserver.start() end)
  teardown(function()
    cluster.stop_all()
    if server then server:stop() end
  end)

  it("decides as kube-apiserver does", function()
    local seed = tonumber(os.getenv "KUBELUA_SEED") or os.time()
    print(("seed %d (KUBELUA_SEED)"):format(seed))
    math.randomseed(seed)
    local policy = { kind = "List", apiVersion = "v1", items = random_policy() }
    local file, config = temp.name() .. ".json", temp.name()
    temp.write(file, cjson.encode(policy))
    server:kubectl("apply -f " .. file)
    local sim = cluster.start { cluster.binary, "sim", "--authorization", "rbac", "--load", file, "--write-kubeconfig",
      config, "--", "sh", "-c", "echo ready; exec cat" }
    sim:wait_line "^ready$"
    local text, ca = temp.read(config), temp.name()
    temp.run(("sed -n 's/.*authority-data: //p' %s | base64 -d >%s"):format(config, ca))
    local simulated = api.new { server = text:match "server: (%S+)", token = text:match 'token: "(%x+)"', ca = ca }
    local real = server:api()
    local function decides(client, spec)
      return client:create("/apis/authorization.k8s.io/v1/subjectaccessreviews",
        { kind = "SubjectAccessReview", apiVersion = "authorization.k8s.io/v1", spec = spec }).status.allowed
    end
    -- The authorizer reads roles by watches, which may be late.
    local last = policy.items[#policy.items]
    local probe = { user = "probe", resourceAttributes = { verb = "get", resource = "pods" } }
    real:create("/apis/" .. GROUP .. "/clusterroles", object("ClusterRole", "probe", nil, { rules = { {
      verbs = { "get" }, apiGroups = { "" }, resources = { "pods" } } } }))
    real:create("/apis/" .. GROUP .. "/clusterrolebindings", object("ClusterRoleBinding", "probe", nil, {
      subjects = { { kind = "User", name = "probe" } }, roleRef = { kind = "ClusterRole", name = "probe" } }))
    await(function() return decides(real, probe) end, "the last binding " .. last.metadata.name)
    local allowed = 0
    for _ = 1, REQUESTS do
      local spec = random_request()
      local wanted, got = decides(real, spec), decides(simulated, spec)
      assert.are.equal(wanted, got, ("seed %d: %s"):format(seed, cjson.encode(spec)))
      allowed = allowed + (wanted and 1 or 0)
    end
    assert.is_true(allowed > 5 and allowed < REQUESTS - 5, allowed .. " allowed: the requests decide nothing")
  end)
end)
