-- k8s.cron with a name: its runs by hand, beside those that are due.
local support = require "spec.testing.support"

-- A cron every minute whose runs take 90 seconds; `options` is Lua.
local function load(options, load_options)
  return support.load(([[
    local k8s = require "k8s"
    local runs = 0
    local function run()
      runs = runs + 1
      local own = runs
      print("begin " .. own)
      k8s.sleep "90s"
      print("end " .. own)
      return { run = own }
    end
    timer = k8s.cron("* * * * *", run, { name = "tidy", tz = "UTC", %s })
    k8s.command("stop", function() timer:cancel() return "done" end)
    k8s.command("late", function() k8s.cron("@daily", print, { name = "late" }) end)
  ]]):format(options), load_options)
end

describe("k8s.cron by hand", function()
  it("runs now, returns what the function returns, and has runs that are due skipped", function()
    local env = load ""
    assert.same({ run = 1 }, env:call "tidy")
    assert.same({ "begin 1", "end 1" }, env.prints) -- the one of 00:01 was skipped
    env:advance "30s" -- 00:02
    assert.same({ "begin 1", "end 1", "begin 2" }, env.prints)
    local none, why = env:call "tidy"
    assert.is_nil(none)
    assert.equal("a run is in progress", why)
    none, why = env:call("tidy", "now")
    assert.is_nil(none)
    assert.equal("a run takes no arguments", why)
  end)

  it("has a run wait that is due meanwhile, with overlap = queue", function()
    local env = load 'overlap = "queue"'
    assert.same({ run = 1 }, env:call "tidy")
    assert.same({ "begin 1", "end 1", "begin 2" }, env.prints)
    assert.equal("a run is in progress", select(2, env:call "tidy"))
  end)

  it("runs beside others with overlap = allow", function()
    local env = load 'overlap = "allow"'
    env:advance "60s"
    assert.same({ run = 2 }, env:call "tidy")
    assert.same({ "begin 1", "begin 2", "begin 3", "end 1", "end 2" }, env.prints)
  end)

  it("takes the place of others with overlap = replace, and is replaced", function()
    local env = load 'overlap = "replace"'
    env:advance "60s"
    local none, why = env:call "tidy" -- until the one of 00:02 comes
    assert.is_nil(none)
    assert.equal("the call was cancelled", why)
    env:advance "30s"
    assert.same({ "begin 1", "begin 2", "begin 3" }, env.prints)
  end)

  it("is refused where the script does not lead, and when the timer is cancelled", function()
    local env = load("leader = true", { leader_elect = true })
    env:lead(false)
    assert.equal("this engine does not lead", select(2, env:call "tidy"))
    env:lead(true)
    env:settle()
    assert.same({ run = 1 }, env:call "tidy")
    env:call "stop"
    assert.equal("the timer was cancelled", select(2, env:call "tidy"))
  end)

  it("needs a name that is one, and free, while the script loads", function()
    local env = load("", { failures = "collect" })
    local _, why = env:call "late"
    assert.has_match("k8s.cron: name may only be given while the script is loading", why, 1, true)
    local function refused(text)
      return select(2, pcall(support.load, 'local k8s = require "k8s"\n' .. text))
    end
    assert.has_match('k8s.cron: "a b" is not a valid name: ',
      refused 'k8s.cron("@daily", print, { name = "a b" })', 1, true)
    assert.has_match("k8s.cron: the command a is already registered",
      refused 'k8s.command("a", print) k8s.cron("@daily", print, { name = "a" })', 1, true)
  end)
end)
