-- k8s.test: what an author of specs is told who calls it wrongly, and where.
local test = require "k8s.test"
local support = require "spec.testing.support"

-- The error of a call, without the line of this file, which it must have.
local function problem(fn, ...)
  local ok, text = pcall(fn, ...)
  assert.is_false(ok)
  local rest, times = text:gsub("^spec/testing/misuse_spec%.lua:%d+: ", "")
  assert.equal(1, times, "not placed in the spec: " .. text)
  return rest
end

describe("a spec that is wrong", function()
  local env

  before_each(function() env = test.new() end)

  it("is reported for methods that are called with a dot", function()
    local told = "env:%s: called on %s, not on a test environment (methods are called with ':')"
    assert.equal(told:format("add", "table"), problem(function() env.add { kind = "Pod" } end))
    assert.equal(told:format("advance", "string"), problem(function() env.advance "5s" end))
    assert.equal(told:format("settle", "nil"), problem(function() env.settle() end))
  end)

  it("loads a script after one that names an unknown kind", function()
    env.folder = ""
    local bad = support.file 'require("k8s").informer "podz"'
    assert.has_match('"podz"', (select(2, pcall(env.load, env, bad))))
    env:load(support.file 'require("k8s").informer("pods"):on_add(function(pod) print(pod:key()) end)')
    env:add { kind = "Pod", metadata = { name = "a", namespace = "shop" } }
    assert.same({ "shop/a" }, env.prints)
  end)

  it("is reported for names that an environment does not have", function()
    assert.equal(
      'env: unknown method or list "ad", did you mean "add"?',
      problem(function() env:ad { kind = "Pod" } end)
    )
    assert.equal(
      'env: unknown method or list "write", did you mean "writes"?',
      problem(function() return env.write end)
    )
    assert.is_nil(env.main)
    assert.is_nil(env.path)
  end)

  it("is reported for fields that records do not have, where it stands", function()
    assert.equal(
      'assert.wrote: unknown field "verbs", did you mean "verb"?',
      problem(function() assert.wrote(env, { verbs = "patch" }) end)
    )
    assert.equal(
      'assert.logged: unknown field "mesage", did you mean "message"?',
      problem(function() assert.not_logged(env, { mesage = "x" }) end)
    )
    assert.equal(
      "assert.printed: the first argument must be the environment that test.load gave",
      problem(function() assert.printed("x") end)
    )
  end)

  it("is reported by an assertion of a script that failed meanwhile, where it stands", function()
    env = support.load [[
      local k8s = require "k8s"
      k8s.informer("pods"):add_event_handler { OnAdd = function(pod) error("boom") end }
    ]]
    env:add(support.pod "a")
    local told = problem(function() assert.wrote(env) end)
    assert.has_match("boom\n  in a call of the script: handler pods/1 OnAdd shop/a\n", told, 1, true)
  end)
end)

describe("a command that fails", function()
  it("is named", function()
    local env = support.load [[
      local k8s = require "k8s"
      k8s.command("teams", function() error("boom") end)
    ]]
    local _, told = pcall(env.call, env, "teams")
    assert.has_match("boom\n  in a call of the script: command teams\n", told, 1, true)
  end)
end)
