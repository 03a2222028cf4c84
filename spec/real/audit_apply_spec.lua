-- `kubelua audit --apply` on the real API server: strategic merge patches of what makes pods become there what the
-- rules meant, server-side apply has its owners, and what has changed, or is forbidden, is told in the server's words.
local apiserver = require "spec.support.apiserver"
local checks = require "spec.support.checks"
local cluster = require "spec.support.cluster"

local deployments = "/apis/apps/v1/namespaces/default/deployments"
local configmaps = "/api/v1/namespaces/default/configmaps"

local env = { { name = "PASSWORD", value = "hunter2" }, { name = "HOME", value = "/" } }

local function deployment(name, containers, more)
  local labels = { app = name }
  local spec = { containers = containers }
  for field, value in pairs(more or {}) do spec[field] = value end
  return {
    apiVersion = "apps/v1", kind = "Deployment", metadata = { name = name, namespace = "default" },
    spec = { selector = { matchLabels = labels }, template = { metadata = { labels = labels }, spec = spec } },
  }
end

describe("kubelua audit --apply on the real API server", function()
  local server, admin, place

  setup(function()
    server = apiserver.start()
    admin = server:api()
  end)
  before_each(function() place = checks.new "audit" end)
  after_each(function()
    place:remove()
    for _, path in ipairs { deployments, configmaps } do
      for _, object in ipairs(admin:get(path).items) do
        if object.metadata.name ~= "kube-root-ca.crt" then admin:delete(path .. "/" .. object.metadata.name) end
      end
    end
  end)
  teardown(function()
    if server then server:stop() end
  end)

  local function started(...)
    return cluster.kubelua { "audit", "--kubeconfig", server.kubeconfig, "-n", "default", "--apply", ... }
  end

  -- The exit code, stdout and stderr.
  local function audit(...)
    local p = started(...)
    local code = p:wait()
    return code, p.streams.out.text, p.streams.err.text
  end

  local function with_rules(...) return audit("-f", place.path .. "/rules.lua", ...) end

  -- What the template has by now.
  local function pod_spec(name) return admin:get(deployments .. "/" .. name).spec.template.spec end

  it("changes one container of two by a rule that ships, and leaves the environment alone", function()
    admin:create(deployments, deployment("web", {
      { name = "db", image = "db:1", env = env, securityContext = { allowPrivilegeEscalation = false } },
      { name = "web", image = "web:1", env = env },
    }))
    local code, out, err = audit("-f", "scripts/rules/security.lua")
    assert.are.equal("deployment.apps/web patched # default: privilege-escalation\n", out, err)
    assert.are.equal(1, code)
    local containers = pod_spec("web").containers
    assert.are.same({ "db", "web" }, { containers[1].name, containers[2].name })
    assert.are.same({ allowPrivilegeEscalation = false }, containers[2].securityContext)
    assert.are.same({ env, env }, { containers[1].env, containers[2].env })
    local _, again = audit("-f", "scripts/rules/security.lua")
    assert.are.equal("", again)
  end)

  it("makes of lists with keys what the fix makes of them", function()
    admin:create(deployments, deployment("lists", {
      { name = "a", image = "a:1", env = env, ports = { { containerPort = 80 }, { containerPort = 81 } } },
      { name = "b", image = "b:1", args = { "x", "y" } },
      { name = "c", image = "c:1", volumeMounts = { { name = "v", mountPath = "/v" } } },
    }, { volumes = { { name = "v", emptyDir = { medium = "Memory" } } }, tolerations = { { key = "old" } } }))
    place:write("rules.lua", [[
local k8s = require "k8s"
k8s.rule { id = "lists", kinds = { "deployments.apps" },
  check = function(obj, r) if not obj:label "done" then r:fail "not done" end end,
  fix = function(obj)
    local spec = k8s.object.copy(obj.spec.template.spec)
    local a, c = spec.containers[1], spec.containers[3]
    a.env = { { name = "FIRST", value = "1" }, a.env[2], { name = "LAST", value = "3" } }
    a.ports = { { containerPort = 81, name = "http" } }
    spec.containers = { c, { name = "new", image = "new:1" }, a }
    spec.volumes = { { name = "v", configMap = { name = "settings" } } }
    spec.tolerations = { { key = "new" } }
    return { metadata = { labels = { done = "yes" } }, spec = { template = { spec = spec } } }
  end }
]])
    local _, out, err = with_rules()
    assert.are.equal("deployment.apps/lists patched # default: lists\n", out, err)
    local spec = pod_spec "lists"
    local names, variables = {}, {}
    for i, container in ipairs(spec.containers) do names[i] = container.name end
    assert.are.same({ "c", "new", "a" }, names)
    for i, variable in ipairs(spec.containers[3].env) do variables[i] = variable.name .. "=" .. variable.value end
    assert.are.same({ "FIRST=1", "HOME=/", "LAST=3" }, variables)
    assert.are.same({ 1, 81, "http" }, { #spec.containers[3].ports, spec.containers[3].ports[1].containerPort,
      spec.containers[3].ports[1].name })
    assert.are.same({ 1, "settings" }, { #spec.volumes, spec.volumes[1].configMap.name })
    assert.is_nil(spec.volumes[1].emptyDir)
    assert.are.same({ 1, "new" }, { #spec.tolerations, spec.tolerations[1].key })
  end)

  it("does not overwrite what has changed since it was audited", function()
    for _, name in ipairs { "a", "b" } do
      admin:create(deployments, deployment(name, { { name = "web", image = "web:1", env = env } }))
    end
    local p = started("-f", "scripts/rules/security.lua", "--kube-api-qps", "1", "--kube-api-burst", "1")
    p:wait_line("deployment.apps/a patched", 60)
    admin:patch(deployments .. "/b", { metadata = { labels = { changed = "yes" } } })
    assert.are.equal(3, p:wait(30))
    assert.are.equal("deployment.apps/a patched # default: privilege-escalation\n", p.streams.out.text)
    assert.has_match("\nkubelua audit: deployment.apps/b in default: privilege%-escalation: not patched: the object "
      .. "has changed since the audit: Operation cannot be fulfilled on deployments.apps \"b\": the object has "
      .. "been modified",
      "\n" .. p.streams.err.text)
    assert.is_nil(pod_spec("b").containers[1].securityContext)
  end)

  local manifest = [[
require("k8s").rule { id = "settings", kinds = { "namespaces" },
  check = function(obj, r) if obj:name() == "default" then r:fail "no settings" end end,
  fix = function() return { apiVersion = "v1", kind = "ConfigMap", data = { a = "%s", b = "b" },
    metadata = { name = "settings", namespace = "default" } } end }
]]

  local function data(a) return admin:get(configmaps .. "/settings").data[a or "a"] end

  it("applies a manifest as its manager, again when it is that one's, and never over another's", function()
    place:write("rules.lua", manifest:format "1")
    local words = "configmap/settings serverside-applied%s # default: settings\n"
    local code, out = with_rules("--dry-run=server")
    assert.are.same({ 1, words:format " (server dry run)" }, { code, out })
    admin:request("GET", configmaps .. "/settings", nil, nil, 404)
    code, out = with_rules()
    assert.are.same({ 1, words:format "", "1" }, { code, out, data() })
    local fields = admin:get(configmaps .. "/settings").metadata.managedFields
    assert.are.same({ 1, "kubelua", "Apply" }, { #fields, fields[1].manager, fields[1].operation })
    place:write("rules.lua", manifest:format "2")
    code, out = with_rules()
    assert.are.same({ 1, words:format "", "2" }, { code, out, data() })
    local err
    code, out, err = with_rules("--field-manager", "other")
    assert.are.same({ 3, "" }, { code, out })
    assert.has_match("not applied: the object already exists and was not applied by field manager other", err)
    -- What somebody else has taken over stays.
    admin:patch(configmaps .. "/settings", { data = { a = "3" } })
    code, out, err = with_rules()
    assert.are.same({ 3, "", "3" }, { code, out, data() })
    assert.has_match('not applied: Apply failed with 1 conflict: conflict with "[^"]+"[^\n]*: .data.a', err)
  end)

  it("reports in the server's words what it may not write", function()
    admin:create(configmaps, { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "settings" } })
    local function role(kind, name, more)
      more.apiVersion, more.kind, more.metadata = "rbac.authorization.k8s.io/v1", kind, { name = name }
      server:apply(more)
    end
    role("ClusterRole", "reads", { rules = { { apiGroups = { "" }, resources = { "configmaps" },
      verbs = { "list", "watch" } } } })
    role("ClusterRoleBinding", "reads", { subjects = { { kind = "User", name = "nobody",
      apiGroup = "rbac.authorization.k8s.io" } }, roleRef = { apiGroup = "rbac.authorization.k8s.io",
      kind = "ClusterRole", name = "reads" } })
    place:write("rules.lua", [[
require("k8s").rule { id = "label", kinds = { "configmaps" },
  check = function(obj, r) if obj:name() == "settings" then r:fail "no label" end end,
  fix = function() return { metadata = { labels = { a = "b" } } } end }
]])
    local code, out, err = with_rules("--context", "nobody")
    assert.are.same({ 3, "" }, { code, out })
    assert.has_match('configmap/settings in default: label: not patched: configmaps "settings" is forbidden: '
      .. 'User "nobody" cannot patch resource "configmaps"', err)
  end)
end)
