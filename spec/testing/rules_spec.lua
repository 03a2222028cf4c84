-- k8s.test: what rules say of the cluster, by env:audit.
local support = require "spec.testing.support"

local load, pod = support.load, support.pod

local RULES = [[
  local k8s = require "k8s"
  k8s.rule {
    id = "owner", severity = "critical", category = "Labels", kinds = { "pods" },
    params = { label = "owner", least = 1 },
    check = function(obj, r, _, params)
      if not obj:label(params.label) then
        r:fail("no " .. params.label, { path = "metadata.labels", value = params.least })
      end
    end,
    fix = function(obj, params) return { metadata = { labels = { [params.label] = "nobody" } } } end,
  }
  k8s.rule { id = "broken", severity = "low", kinds = { "configmaps" }, check = function() error "no" end }
  k8s.rule {
    id = "twice", severity = "info", kinds = { "pods", "configmaps" }, check = function(_, r) r:warn "seen" end,
  }
]]

local objects = { pod("a"), pod("b", { owner = "me" }), { kind = "ConfigMap", metadata = { name = "c" } } }

-- "owner fail a", one a line.
local function lines(rows)
  local texts = {}
  for i, row in ipairs(rows) do
    texts[i] = ("%s %s %s"):format(row.rule, row.result, row.name)
  end
  return table.concat(texts, "\n")
end

local function raised(fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  return tostring(err)
end

describe("env:audit", function()
  it("has the result of each rule for each object, by severity, rule and object", function()
    local env = load(RULES, { objects = objects })
    assert.equal("owner fail a\nbroken error c\ntwice warn c\ntwice warn a\ntwice warn b", lines(env:audit()))
    assert.equal("owner fail a\nowner pass b", lines(env:audit { rule = "owner", passes = true }))
    assert.same({}, env.failures)
  end)

  it("reports where, what and how to fix it", function()
    local env = load(RULES, { objects = objects })
    assert.same({
      rule = "owner", severity = "critical", category = "Labels", result = "fail", apiVersion = "v1", kind = "Pod",
      namespace = "shop", name = "a", message = "no owner", path = "metadata.labels", value = 1,
      fix = { metadata = { labels = { owner = "nobody" } } },
    }, env:audit { rule = "owner" }[1])
    assert.is_nil(env:audit { rule = "twice" }[1].path)
  end)

  it("sees what the cluster has now, each time again", function()
    local env = load(RULES, { objects = objects })
    assert.equal(1, #env:audit { rule = "owner" })
    env:patch("pods", "shop/a", { metadata = { labels = { owner = "me" } } })
    assert.same({}, env:audit { rule = "owner" })
    env:add(pod "d")
    assert.equal("d", env:audit { rule = "owner" }[1].name)
  end)

  it("evaluates with the parameters that are given", function()
    local env = load(RULES, { objects = objects, params = { label = "team", ["owner.least"] = 5 } })
    local rows = env:audit { rule = "owner" }
    assert.equal("owner fail a\nowner fail b", lines(rows))
    assert.equal("no team", rows[1].message)
    assert.equal(5, rows[1].value)
  end)

  it("refuses parameters that no rule takes", function()
    local function refused(params)
      local ok, problem = pcall(load, RULES, { objects = objects, params = params })
      assert.is_false(ok)
      return tostring(problem)
    end
    assert.matches('no script or rule has a parameter "lable", did you mean "label"?', refused { lable = "team" }, 1,
      true)
    assert.matches('the rule owner has no parameter "lest", did you mean "least"?', refused { ["owner.lest"] = 5 }, 1,
      true)
    assert.matches('no rule with the id "ownr" has parameters, did you mean "owner"?', refused { ["ownr.least"] = 5 },
      1, true)
  end)

  it("knows what was accepted, by its own clock", function()
    local accepted = pod "a"
    accepted.metadata.annotations = { ["kubelua/ignore.owner"] = "until=2026-01-02 a reason" }
    local env = load(RULES, { objects = { accepted }, now = "2026-01-02T12:00:00Z" })
    assert.equal("owner skip a", lines(env:audit { rule = "owner" }))
    env:advance "24h"
    assert.equal("owner fail a", lines(env:audit { rule = "owner" }))
  end)

  it("uses other objects of the cluster", function()
    local env = load([[
      require("k8s").rule {
        id = "alone", kinds = { "pods" }, uses = { maps = { kind = "configmaps", index = "namespace" } },
        check = function(obj, r, use) r:warn(#use.maps(obj:namespace()) .. " maps") end,
      }
    ]], { objects = { pod "a" } })
    assert.equal("0 maps", env:audit()[1].message)
    env:add { kind = "ConfigMap", metadata = { namespace = "shop", name = "c" } }
    env:add { kind = "ConfigMap", metadata = { namespace = "other", name = "c" } }
    assert.equal("1 maps", env:audit()[1].message)
  end)

  it("evaluates those of a generation that took over", function()
    local env = load(RULES, { objects = objects })
    env:reload(RULES:gsub('r:warn "seen"', 'r:warn "seen again"'))
    assert.equal("seen again", env:audit { rule = "twice" }[1].message)
  end)

  it("reports what is wrong with a request", function()
    local env = load(RULES)
    assert.has_match('env:audit: rule "ownr" not found, did you mean "owner"?',
      raised(env.audit, env, { rule = "ownr" }), 1, true)
    assert.has_match('env:audit: unknown option "pases", did you mean "passes"?',
      raised(env.audit, env, { pases = true }), 1, true)
    assert.has_match("env:audit: the script has no rule (k8s.rule)",
      raised(function() load("local x"):audit() end), 1, true)
    assert.has_match('no script or rule has a parameter "labl", did you mean "label"?',
      raised(function() load(RULES, { params = { labl = "x" } }):audit() end), 1, true)
    assert.has_match('"x" is not a number, as rule owner', raised(load, RULES, { params = { least = "x" } }), 1, true)
    assert.has_match("test.load: params must be { name = value }", raised(load, RULES, { params = { 5 } }), 1, true)
  end)
end)
