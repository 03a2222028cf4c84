-- `kubelua audit --apply`: fixes that are written to a cluster, and what is never overwritten.
local cjson = require "cjson"
local checks = require "spec.support.checks"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"

local configmaps = "/api/v1/namespaces/shop/configmaps"
local place, sim

local function started(...)
  return cluster.kubelua { "audit", "-s", sim.server, "-f", place.path .. "/rules.lua", ... }
end

-- The exit code, stdout and stderr.
local function audit(...)
  local p = started(...)
  local code = p:wait()
  return code, p.streams.out.text, p.streams.err.text
end

local function create(name, data)
  return sim.api:create(configmaps, { apiVersion = "v1", kind = "ConfigMap",
    metadata = { name = name, namespace = "shop" }, data = data or { a = "1" } })
end

local function labels(name) return sim.api:get(configmaps .. "/" .. name).metadata.labels or {} end

-- Two rules that both mend an object, and one that mends nothing.
local rules = [[
local k8s = require "k8s"
local function rule(id)
  k8s.rule { id = id, kinds = { "configmaps" },
    check = function(obj, r) if not obj:label(id) then r:fail "no label" end end,
    fix = function() return { metadata = { labels = { [id] = "yes" } } } end }
end
rule "team" rule "tier"
]]

local function sums(found, objects, written)
  return ("kubelua audit: %d findings have a fix, 0 have none; %d object%s\nkubelua audit: %s\n")
    :format(found, objects, objects == 1 and "" or "s", written)
end

describe("kubelua audit --apply", function()
  before_each(function()
    place = checks.new "audit"
    place:write("rules.lua", rules)
    sim = cluster.sim()
    sim.api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = "shop" } })
  end)
  after_each(function() place:remove() end)

  it("writes one patch for an object, and reports it as kubectl does", function()
    create "a"
    local code, out, err = audit "--apply"
    assert.are.same({ 1, "configmap/a patched # shop: team, tier\n", sums(2, 1, "1 fix written, 0 failed") },
      { code, out, err })
    assert.are.same({ team = "yes", tier = "yes" }, labels "a")
    assert.are.equal("1", sim.api:get(configmaps .. "/a").data.a)
    code, out, err = audit "--apply"
    assert.are.same({ 0, "", sums(0, 0, "0 fixes written, 0 failed") }, { code, out, err })
  end)

  it("changes a container of two, by a rule that ships, and leaves the environment alone", function()
    place:write("rules.lua", "")
    local env = { { name = "PASSWORD", value = "hunter2" } }
    local deployments = "/apis/apps/v1/namespaces/shop/deployments"
    local labels_of = { app = "web" }
    local containers = {
      { name = "db", image = "db:1", env = env, securityContext = { allowPrivilegeEscalation = false } },
      { name = "web", image = "web:1", env = env },
    }
    sim.api:create(deployments, {
      apiVersion = "apps/v1", kind = "Deployment", metadata = { name = "web", namespace = "shop" },
      spec = { selector = { matchLabels = labels_of },
        template = { metadata = { labels = labels_of }, spec = { containers = containers } } },
    })
    local p = cluster.kubelua { "audit", "-s", sim.server, "-f", "scripts/rules/security.lua", "--apply" }
    p:wait()
    assert.are.equal("deployment.apps/web patched # shop: privilege-escalation\n", p.streams.out.text)
    containers = sim.api:get(deployments .. "/web").spec.template.spec.containers
    assert.are.same({ "db", "web" }, { containers[1].name, containers[2].name })
    assert.are.same({ allowPrivilegeEscalation = false }, containers[2].securityContext)
    assert.are.same(env, containers[2].env)
  end)

  it("has the server check and keep nothing, or sends nothing, in a dry run", function()
    create "a"
    local version = sim.api:get(configmaps .. "/a").metadata.resourceVersion
    local code, out, err = audit("--apply", "--dry-run=server")
    assert.are.same({ 1, "configmap/a patched (server dry run) # shop: team, tier\n",
      sums(2, 1, "1 fix applied (server dry run), 0 failed") }, { code, out, err })
    sim:play { ["do"] = "fault", verb = "patch", resource = "configmaps", what = "status", code = 403,
      reason = "Forbidden", message = "nobody may", times = 0 }
    code, out = audit("--apply", "--dry-run=server")
    assert.are.same({ 3, "" }, { code, out })
    code, out, err = audit("--apply", "--dry-run=client")
    assert.are.same({ 1, "configmap/a patched (dry run) # shop: team, tier\n",
      sums(2, 1, "1 fix would be applied (dry run), 0 failed") }, { code, out, err })
    assert.are.equal(version, sim.api:get(configmaps .. "/a").metadata.resourceVersion)
  end)

  it("does not overwrite what has changed since it was audited, and goes on with the others", function()
    for _, name in ipairs { "a", "b", "c" } do create(name) end
    sim:play { ["do"] = "fault", verb = "patch", resource = "configmaps", what = "status", code = 429,
      reason = "TooManyRequests", retry_after = 1, skip = 1, times = 1 }
    local p = started "--apply"
    p:wait_line "configmap/a patched"
    local b = sim.api:get(configmaps .. "/b")
    b.data.a = "2"
    sim.api:update(configmaps .. "/b", b)
    assert.are.equal(3, p:wait())
    assert.are.equal("configmap/a patched # shop: team, tier\nconfigmap/c patched # shop: team, tier\n",
      p.streams.out.text)
    assert.matches("kubelua audit: configmap/b in shop: team, tier: not patched: the object has changed since the "
      .. "audit: "
      .. 'Operation cannot be fulfilled on configmaps "b": the object has been modified', p.streams.err.text, 1, true)
    assert.matches("2 fixes written, 1 failed\n", p.streams.err.text, 1, true)
    assert.are.same({}, labels "b")
    assert.are.equal("2", sim.api:get(configmaps .. "/b").data.a)
  end)

  it("reports that an object is gone by then", function()
    create "a"
    create "b"
    sim:play { ["do"] = "fault", verb = "patch", resource = "configmaps", what = "status", code = 429,
      reason = "TooManyRequests", retry_after = 1, skip = 1, times = 1 }
    local p = started "--apply"
    p:wait_line "configmap/a patched"
    sim.api:delete(configmaps .. "/b")
    assert.are.equal(3, p:wait())
    assert.matches('kubelua audit: configmap/b in shop: team, tier: not patched: configmaps "b" not found',
      p.streams.err.text, 1, true)
  end)

  it("names object, rules and the server's words where it may not write, and ends with 3", function()
    create "a"
    sim:play { ["do"] = "fault", verb = "patch", resource = "configmaps", what = "status", code = 403,
      reason = "Forbidden", message = 'configmaps "a" is forbidden: no \27[2J rights', times = 0 }
    local code, out, err = audit "--apply"
    assert.are.same({ 3, "" }, { code, out })
    assert.matches('kubelua audit: configmap/a in shop: team, tier: not patched: configmaps "a" is forbidden: no '
      .. "?[2J rights\n", err, 1, true)
    assert.matches("0 fixes written, 1 failed\n", err, 1, true)
  end)

  it("does not report that nothing was written where no response came", function()
    for _, name in ipairs { "a", "b", "c" } do create(name) end
    sim:play { ["do"] = "fault", verb = "patch", resource = "configmaps", what = "close", times = 1 }
    sim:play { ["do"] = "fault", verb = "patch", resource = "configmaps", what = "silence", times = 1, skip = 1 }
    local code, out, err = audit("--apply", "--request-timeout", "1s")
    assert.are.same({ 3, "configmap/c patched # shop: team, tier\n" }, { code, out })
    assert.matches("configmap/a in shop: team, tier: not known to be patched: ", err, 1, true)
    assert.matches("configmap/b in shop: team, tier: not known to be patched: no response within 1 s "
      .. "(--request-timeout)"
      .. "\n", err, 1, true)
    assert.matches("1 fix written, 2 failed\n", err, 1, true)
  end)

  it("leaves alone what is accepted or known", function()
    create "a"
    sim.api:patch(configmaps .. "/a", { metadata = { annotations = { ["kubelua/ignore.tier"] = "soon" } } })
    local code, out = audit "--apply"
    assert.are.same({ 1, "configmap/a patched # shop: team\n" }, { code, out })
    assert.are.same({ team = "yes" }, labels "a")
    create "b"
    local _, known = audit("-o", "json")
    place:write("known.json", known)
    code, out = audit("--apply", "--baseline", place.path .. "/known.json")
    assert.are.same({ 0, "" }, { code, out })
    assert.are.same({}, labels "b")
  end)

  it("leaves stdout to the report where one is requested", function()
    create "a"
    local code, out, err = audit("--apply", "-o", "json")
    local fixes = {}
    for _, row in ipairs(cjson.decode(out).results) do fixes[row.rule] = row.fix or false end
    assert.are.equal(1, code)
    assert.are.same({ team = { metadata = { labels = { team = "yes", tier = "yes" } } }, tier = false }, fixes)
    assert.are.equal("configmap/a patched # shop: team, tier\n" .. sums(2, 1, "1 fix written, 0 failed"), err)
  end)

  it("sends no more requests in a second than --kube-api-qps allows", function()
    for i = 1, 6 do create("a" .. i) end
    local begun = proc.now()
    assert.are.equal(1, (audit("--apply", "--kube-api-qps", "4", "--kube-api-burst", "1")))
    assert.is_true(proc.now() - begun >= 6 / 4)
  end)

  describe("of a manifest", function()
    local manifest = [[
require("k8s").rule { id = "defaults", kinds = { "namespaces" },
  check = function(obj, r) if obj:name() == "shop" then r:fail "no defaults" end end,
  fix = function(obj)
    return { apiVersion = "v1", kind = "ConfigMap", data = { a = "2" },
      metadata = { name = %s, namespace = %s } }
  end }
]]

    it("does not change what is there already, by whomever", function()
      place:write("rules.lua", manifest:format('"defaults"', "obj:name()"))
      create "defaults"
      local code, out, err = audit "--apply"
      assert.are.same({ 3, "" }, { code, out })
      assert.matches("kubelua audit: configmap/defaults in shop: defaults: not applied: the object already exists and "
        .. "was not applied by field manager kubelua", err, 1, true)
      assert.are.equal("1", sim.api:get(configmaps .. "/defaults").data.a)
    end)

    it("is applied by the server, whose words are reported where it does not", function()
      place:write("rules.lua", manifest:format('"defaults"', "obj:name()"))
      sim:play { ["do"] = "fault", verb = "patch", resource = "configmaps", what = "status", code = 403,
        reason = "Forbidden", message = "not today" }
      local code, out, err = audit "--apply"
      assert.are.same({ 3, "" }, { code, out })
      assert.matches("configmap/defaults in shop: defaults: not applied: not today", err, 1, true)
      code, out = audit("--apply", "--dry-run=client")
      assert.are.same({ 1, "configmap/defaults serverside-applied (dry run) # shop: defaults\n" }, { code, out })
      code, out = audit "--apply"
      assert.are.same({ 1, "configmap/defaults serverside-applied # shop: defaults\n" }, { code, out })
      assert.are.equal("kubelua", sim.api:get(configmaps .. "/defaults").metadata.managedFields[1].manager)
    end)

    it("is not sent where a patch of its object is", function()
      place:write("rules.lua", rules .. manifest:format('"a"', "obj:name()"))
      create "a"
      local code, out, err = audit "--apply"
      assert.are.same({ 3, "configmap/a patched # shop: team, tier\n" }, { code, out })
      assert.matches("configmap/a in shop: defaults: not applied: the object already exists, and another fix patches "
        .. "it\n", err, 1, true)
      assert.are.equal("1", sim.api:get(configmaps .. "/a").data.a)
    end)

    it("is not sent without a name, a namespace or a kind that the server has", function()
      place:write("rules.lua", manifest:format("nil", "obj:name()"))
      local code, _, err = audit "--apply"
      assert.are.equal(3, code)
      assert.matches("not applied: the manifest has no metadata.name\n", err, 1, true)
      place:write("rules.lua", manifest:format('"defaults"', "nil"))
      code, _, err = audit "--apply"
      assert.are.equal(3, code)
      assert.matches("not applied: the manifest has no metadata.namespace\n", err, 1, true)
      place:write("rules.lua", (manifest:format('"a"', '"shop"'):gsub('"v1", kind = "ConfigMap"',
        '"example.com/v1", kind = "Widget"')))
      code, _, err = audit "--apply"
      assert.are.equal(3, code)
      assert.matches("kubelua audit: widget.example.com/a in shop: defaults: not applied: the server has no Widget of "
        .. "example.com/v1\n", err, 1, true)
    end)
  end)

  it("is of a cluster alone", function()
    local words = "; use --fix to print the fixes\n"
    for _, flag in ipairs { "--from", "--engine" } do
      local code, out, err = audit("--apply", flag, flag == "--from" and place.path or nil)
      assert.are.same({ 2, "",
        "kubelua audit: --apply requires a cluster and cannot be combined with " .. flag .. words }, { code, out, err })
    end
    local code, _, err = audit("--apply", "-o", "html")
    assert.are.equal(2, code)
    assert.matches("--fix does not support -o html", err, 1, true)
    code, _, err = audit("--apply", "--field-manager", ("x"):rep(129))
    assert.are.same({ 2, "kubelua audit: --field-manager must have 1 to 128 bytes\n" }, { code, err })
  end)

  it("is what its flags are for", function()
    local words = " requires --apply\n"
    for _, flag in ipairs { "--dry-run", "--field-manager" } do
      for _, more in ipairs { "--fix", "--allow-empty" } do
        local code, out, err = audit(flag .. "=server", more)
        assert.are.same({ 2, "", "kubelua audit: " .. flag .. words }, { code, out, err })
      end
    end
  end)

  it("is without --apply a list of commands for the cluster, and writes nothing", function()
    create "a"
    local code, out, err = audit "--fix"
    assert.are.same({ 1, [[
# shop/a ConfigMap: team: no label
# shop/a ConfigMap: tier: no label
kubectl patch configmaps a -n shop --type merge -p '{"metadata":{"labels":{"team":"yes","tier":"yes"}}}'
]], "kubelua audit: 2 findings have a fix, 0 have none; 1 object\n" }, { code, out, err })
    assert.are.same({}, labels "a")
  end)
end)
