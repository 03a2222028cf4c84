-- env:reload: what a changed script takes over from the generation before.
local support = require "spec.testing.support"

local load, pod = support.load, support.pod

local COUNTS = [[
  local k8s = require "k8s"
  local kept = k8s.state("kept", { version = 1, init = { seen = 0 } })
  k8s.informer("pods"):add_event_handler {
    id = "count",
    OnAdd = function(pod)
      kept.seen = kept.seen + 1
      print("one", pod:name(), kept.seen)
    end,
  }
]]

describe("env:reload", function()
  it("has handlers that did not change go on, with the state", function()
    local env = load(COUNTS, { objects = { pod "a" } })
    local done = assert(env:reload(COUNTS .. "-- a comment"))
    assert.same({
      handlers_kept = 1, handlers_added = 0, handlers_removed = 0, events_dropped = 0, keys_dropped = 0,
      timers_cancelled = 0,
    }, done)
    env:add(pod "b")
    assert.same({ "one\ta\t1", "one\tb\t2" }, env.prints)
  end)

  it("shows changed handlers the cache, and takes a function of the text that runs", function()
    local env = load(COUNTS, { objects = { pod "a" } })
    local done = env:reload(function(text) return (text:gsub('"one"', '"two"')) end)
    assert.equal(1, done.handlers_added)
    assert.same({ "one\ta\t1", "two\ta\t2" }, env.prints)
    done = env:reload(function(text) return (text:gsub('"two"', '"three"')) .. 'k8s.on_reload { replay = "none" }' end)
    assert.equal(1, done.handlers_kept)
    env:add(pod "b")
    assert.same({ "one\ta\t1", "two\ta\t2", "three\tb\t3" }, env.prints)
  end)

  it("refuses what does not load, and the script runs on", function()
    local env = load(COUNTS)
    local done, problem = env:reload "if then"
    assert.is_nil(done)
    assert.matches(":1: unexpected symbol", problem)
    done, problem = env:reload(COUNTS .. 'k8s.informer "wodgets"')
    assert.is_nil(done)
    assert.matches("%.lua:%d+: the server [^\n]*wodgets", problem)
    done, problem = env:reload(function(text)
      return (text:gsub("version = 1", 'version = 2, migrate = function() error "no way" end'))
    end)
    assert.is_nil(done)
    assert.matches("no way", problem)
    env:add(pod "a")
    assert.same({ "one\ta\t1" }, env.prints)
    assert.has_error(function() env:reload(7) end)
  end)

  it("lets calls of the old generation end, or cancels them after ten seconds", function()
    local function waiting(mark, seconds)
      return ([[
        local k8s = require "k8s"
        k8s.informer("pods"):on_add(function(pod)
          print("%s begins", pod:name())
          k8s.sleep(%d)
          print("%s ends", pod:name())
        end, { id = "it" })
        k8s.on_reload { replay = "none" }
      ]]):format(mark, seconds, mark)
    end
    local env = load(waiting("one", 5), { objects = { pod "a" } })
    assert(env:reload(waiting("two", 100)))
    env:add(pod "b")
    assert.same({ "one begins\ta" }, env.prints)
    env:advance "5s"
    assert.same({ "one begins\ta", "one ends\ta", "two begins\tb" }, env.prints)
    assert(env:reload(waiting("three", 1)))
    env:add(pod "c")
    env:advance "9s"
    assert.equal(3, #env.prints)
    env:advance "1s"
    assert.equal("three begins\tc", env.prints[4])
  end)

  it("keeps timers, keys of queues, commands and the lease", function()
    local function working(mark, more)
      return ([[
        local k8s = require "k8s"
        k8s.leader { lease = "mine" }
        k8s.on_leader(function() print "%s leads" end, function() print "%s stops" end)
        k8s.every("10s", function() print "%s tick" end)
        local queue = k8s.queue { name = "work" }
        queue:run(function(key) print("%s works", key) end)
        k8s.command("later", function() queue:add_after("key", "30s") k8s.after("20s", print) return "ok" end)
      ]]):format(mark, mark, mark, mark) .. (more or "")
    end
    local env = load(working "one")
    assert.equal("ok", env:call "later")
    env:advance "8s"
    local done = assert(env:reload(working "two"))
    assert.equal(1, done.timers_cancelled)
    env:advance "23s"
    assert.same({ "one leads", "one stops", "two leads", "two tick", "two tick", "two tick", "two works\tkey" },
      env.prints)
    env:reset()
    env:lead(false)
    assert.same({ "two stops" }, env.prints)
    assert(env:reload(working("three")))
    assert.same({ "two stops" }, env.prints) -- nobody gave the lease back
    env:lead(true)
    assert.same({ "two stops", "three leads" }, env.prints)
    assert(env:reload((working("four"):gsub('"mine"', '"other"'))))
    assert.same({ "two stops", "three leads", "three stops", "four leads" }, env.prints)
  end)

  it("refuses a text whose rules leave a parameter to nobody", function()
    local RULE = 'require("k8s").rule { id = "one", kinds = { "pods" }, params = { %s = 1 }, check = function() end }'
    local env = load(RULE:format "least", { params = { least = 2 } })
    local done, problem = env:reload(RULE:format "most")
    assert.is_nil(done)
    assert.matches('%.lua: .*no script or rule has a parameter "least"', problem)
    assert.equal(1, assert(env:reload(RULE:format "least" .. 'k8s = require "k8s" k8s.informer("pods"):on_add(print)'))
      .handlers_added)
  end)

  it("takes a rule about a kind that the cluster does not have, and refuses an informer of one", function()
    local RULE = 'require("k8s").rule { id = "one", kinds = { "%s" }, check = function(_, r) r:warn "seen" end }'
    local env = load(RULE:format "pods", { objects = { pod "a" } })
    assert(env:reload(RULE:format "crontabs.stable.example.com"))
    assert.same({}, env:audit())
    local done, problem = env:reload(RULE:format "podz")
    assert.is_nil(done)
    assert.matches('"podz", did you mean "pods"?', problem, 1, true)
    done, problem = env:reload 'require("k8s").informer "crontabs.stable.example.com"'
    assert.is_nil(done)
    assert.matches("a reload does not wait for missing kinds", problem)
    assert(env:reload(RULE:format "pods"))
    assert.equal(1, #env:audit())
  end)

  it("takes the present text of the file, without a text", function()
    local path = support.file('print "first"', ".lua")
    local function write(text)
      local file = assert(io.open(path, "w"))
      file:write(text)
      file:close()
    end
    local env = require("k8s.test").load(path)
    write 'print "second"'
    assert(env:reload())
    assert.same({ "first", "second" }, env.prints)
    assert.has_error(function() require("k8s.test").new():reload() end)
  end)
end)
