-- k8s.test: limits of scripts under test, and of specs, which have none.
local k8s = require "k8s"
local support = require "spec.testing.support"

local load, pod = support.load, support.pod

local MAPS = [[
  local k8s = require "k8s"
  k8s.writes { "configmaps:create" }
  k8s.command("write", function(name)
    k8s.after(0, function()
      return k8s.create { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" } }
    end)
  end)
]]

describe("limits", function()
  it("are those of production", function()
    local env = load [[
      require("k8s").informer("pods"):on_add(function() while true do end end)
    ]]
    env:add(pod "a")
    local ok, raised = pcall(env.settle, env)
    assert.is_false(ok)
    assert.has_match("over the limit handler-cpu (50ms)", raised, 1, true)
  end)

  it("are set by the spec", function()
    local text = [[
      require("k8s").informer("pods"):on_add(function() while true do end end)
    ]]
    local env = load(text, { limits = { ["handler-cpu"] = "20ms" } })
    env:add(pod "a")
    local ok, raised = pcall(env.settle, env)
    assert.is_false(ok)
    assert.has_match("over the limit handler-cpu (20ms)", raised, 1, true)
    ok, raised = pcall(load, text, { limits = { ["handlr-cpu"] = "20ms" } })
    assert.is_false(ok)
    assert.has_match("handler-cpu", raised, 1, true)
  end)

  it("of writes let them wait for their turns, on the clock of the test", function()
    local env = load(MAPS, { limits = { writes = "6" } })
    for i = 1, 5 do env:call("write", "m" .. i) end
    assert.equal(3, #env.writes)
    env:advance "9s"
    assert.equal(3, #env.writes)
    env:advance "1s"
    assert.equal(4, #env.writes)
    env:advance "10s"
    assert.equal(5, #env.writes)
  end)

  for how, failed in pairs { ["job:retry(err)"] = 0, ["return nil, err"] = 4 } do
    it("of writes that were waited for in vain are kept by workers: " .. how, function()
      local env = load(([[
        local k8s = require "k8s"
        k8s.writes { "configmaps:create" }
        local queue = k8s.queue { name = "maps", workers = 10 }
        queue:run(function(key, job)
          local ok, err = k8s.create {
            apiVersion = "v1", kind = "ConfigMap", metadata = { name = key, namespace = "default" },
          }
          if not ok then %s end
        end)
        k8s.command("fill", function() for i = 1, 10 do queue:add("m" .. i) end end)
      ]]):format(how), { limits = { writes = "6" } })
      local function go_on(time) return pcall(env.advance, env, time) end
      env:call "fill"
      go_on "0s"
      assert.equal(3, #env.writes)
      go_on "39s"
      assert.equal(6, #env.writes)
      assert.equal(failed, #env.failures)
      go_on "41s"
      assert.equal(10, #env.writes)
      assert.equal(failed, #env.failures)
    end)
  end

  it("of writes do not count an apply that changes nothing", function()
    local env = load([[
      local k8s = require "k8s"
      k8s.writes { "configmaps:apply" }
      k8s.command("apply", function(value)
        for i = 1, 20 do
          local map = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "m", namespace = "default" } }
          map.data = { a = value }
          assert(k8s.apply(map, map))
        end
      end)
    ]], { limits = { writes = "6" } })
    env:call("apply", "1")
    env:call("apply", "2")
    assert.equal(40, #env.writes)
    assert.equal(0, env.writes[40].at)
  end)

  it("of http.request let it wait for its turn, or fail with a time", function()
    local env = load([[
      local k8s, http = require "k8s", require "http"
      k8s.command("send", function()
        for _ = 1, 7 do
          k8s.after(0, function()
            local answer, err = http.request { url = "https://hooks.example.com/" }
            print(answer and answer.status or err.reason, err and err.retry_after, err and err.message)
          end)
        end
      end)
    ]], { limits = { ["http-requests"] = "6" } })
    env:http { url = "https://hooks.example.com/*" }
    env:call "send"
    assert.same({
      "LimitExceeded\t40\thttp.request: over the limit http-requests (6 per minute); the wait would exceed 30s",
      "200\tnil\tnil", "200\tnil\tnil", "200\tnil\tnil",
    }, env.prints)
    env:advance "30s"
    assert.equal(7, #env.prints)
    assert.equal(6, #env.requests)
  end)

  it("do not bind a spec", function()
    assert.is_true(#k8s.json.encode { text = ("x"):rep(20 * 2 ^ 20) } > 20 * 2 ^ 20)
  end)
end)
