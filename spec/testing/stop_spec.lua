-- k8s.on_stop on k8s.test: who is called, when, with what reason, and what a mistake says.
local load = require("spec.testing.support").load

local SCRIPT = [[
  local k8s = require "k8s"
  k8s.writes { "configmaps:apply" }
  local kept = k8s.state("kept", { init = { reasons = "" } })
  k8s.command("reasons", function() return kept.reasons end)
  k8s.on_stop(function(reason)
    kept.reasons = kept.reasons .. reason .. ";"
    print("first", reason)
  end)
  k8s.on_stop(function(reason)
    print("second", reason, pcall(k8s.sleep, "1s"))
    if reason ~= "reload" then
      k8s.apply({ kind = "configmaps", namespace = "default", name = "last" }, { data = { reason = reason } })
      print "written"
    end
  end)
]]

describe("k8s.on_stop", function()
  it("is called in order at the end, and may wait", function()
    local env = load(SCRIPT)
    env:stop()
    env:advance "1s"
    assert.printed(env, "first\tshutdown")
    assert.printed(env, "second\tshutdown\ttrue")
    assert.printed(env, "written")
    assert.are.equal("shutdown", env:get("configmaps", "default/last").data.reason)
  end)

  it("ends the script, so that nothing else can be asked of it", function()
    local env = load(SCRIPT)
    env:stop()
    for _, name in ipairs { "call", "call_webhook", "lead", "load", "reload", "stop" } do
      local ok, err = pcall(env[name], env, "reasons")
      assert.is_false(ok, name)
      assert.has_match(("env:%s: the script has ended by env:stop"):format(name), tostring(err), 1, true)
    end
    env:advance "1s"
    assert.printed(env, "written")
  end)

  it("is called before the state is handed over at a reload, and may not wait", function()
    local env = load(SCRIPT)
    assert.is_truthy(env:reload(SCRIPT .. "print 'new'"))
    assert.printed(env, "first\treload")
    assert.printed(env, "^second\treload\tfalse\t.*k8s.sleep may not be called in a function of k8s.on_stop", true)
    assert.are.equal("reload;", (env:call "reasons"))
  end)

  it("lets others go on when one fails", function()
    local env = load [[
      local k8s = require "k8s"
      k8s.on_stop(function() error "no" end)
      k8s.on_stop(function() return nil, "refused" end)
      k8s.on_stop(function(reason) print(reason) end)
    ]]
    pcall(env.stop, env)
    assert.printed(env, "shutdown")
  end)

  it("says what is wrong with a call", function()
    local function problem(lua)
      local ok, err = pcall(load, 'local k8s = require "k8s"\n' .. lua)
      assert.is_false(ok)
      return tostring(err)
    end
    assert.has_match("k8s.on_stop: the argument must be a function, not nil", problem "k8s.on_stop()", 1, true)
    local many = problem "for _ = 1, 101 do k8s.on_stop(print) end"
    assert.has_match("k8s.on_stop may be called at most 100 times", many, 1, true)
  end)
end)
