-- k8s.test: env:metric gives what this environment's script counted, whatever other environments are there.
local test = require "k8s.test"
local support = require "spec.testing.support"

local COUNTS = [[
  local k8s = require "k8s"
  local pods = k8s.metric.gauge("pods", "Pods.", { "phase", "pod_phase" })
  k8s.command("set", function(value) pods:set(tonumber(value), { phase = "Running" }) end)
]]

describe("metrics in a test", function()
  local path

  setup(function()
    path = support.file(COUNTS, ".lua")
  end)

  it("are those of the environment, though others of the same script are there", function()
    local envs = {}
    for i = 1, 3 do
      envs[i] = test.load(path)
      envs[i]:call("set", tostring(i))
    end
    for i = 1, 3 do
      assert.equal(i, envs[i]:metric("pods", { phase = "Running" }))
    end
    envs[1]:close()
    assert.equal(2, envs[2]:metric "pods")
  end)

  it("may be made differently by a script of another environment", function()
    local made = 'local k8s = require "k8s"\nk8s.metric.%s("same", "Help.")%s\n'
    local first = support.load(made:format("counter", ":inc(5)"))
    local second = support.load(made:format("gauge", ":set(7)"))
    assert.equal(5, first:metric "same")
    assert.equal(7, second:metric "same")
  end)

  it("that are not there are nil", function()
    local env = test.load(path)
    env:call("set", "1")
    assert.equal(1, select("#", env:metric "none"))
    assert.is_nil(env:metric "none")
    assert.is_nil(env:metric("pods", { phase = "Failed" }))
  end)

  it("are nil, as is the status, where there is no script", function()
    local env = test.new()
    assert.is_nil(env:metric "pods")
    assert.equal(1, select("#", env:status()))
  end)

  it("are distinguished by complete labels", function()
    local env = test.load(path)
    env:call("set", "1")
    assert.equal(1, env:metric("pods", { pod_phase = "" }))
    assert.is_nil(env:metric("pods", { phase = "" }))
    assert.is_nil(env:metric("pods", { pod_phase = "Running" }))
  end)
end)
