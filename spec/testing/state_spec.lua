-- k8s.state with `keep` on k8s.test: what is stored, what a script finds, and what a store that refuses does.
local load = require("spec.testing.support").load

local SCRIPT = [[
  local k8s = require "k8s"
  local seen = k8s.state("seen", { keep = "file", init = { n = 0 } %s })
  k8s.command("add", function() seen.n = seen.n + 1 return seen.n end)
  k8s.command("sync", function()
    local ok, err = seen:sync()
    return ok and "stored" or err.reason .. ": " .. err.message
  end)
  k8s.command("n", function() return seen.n end)
]]

local function script(more) return SCRIPT:format(more or "") end

describe("a state with keep", function()
  it("is stored by sync, when the script is quiet, and at the end", function()
    local env = load(script())
    env:call "add"
    assert.is_nil(env:stored "seen")
    assert.are.equal("stored", (env:call "sync"))
    assert.are.same({ content = { n = 1 }, version = 1 }, env:stored "seen")
    env:call "add"
    assert.are.equal(1, env:stored("seen").content.n)
    env:advance "2s"
    assert.are.equal(2, env:stored("seen").content.n)
    env:call "add"
    env:stop()
    assert.are.equal(3, env:stored("seen").content.n)
  end)

  it("is stored every 10 seconds while it changes all the time", function()
    local env = load [[
      local k8s = require "k8s"
      local ticks = k8s.state("ticks", { keep = "file", init = { n = 0 } })
      k8s.every("100ms", function() ticks.n = ticks.n + 1 end)
    ]]
    env:advance "9.5s"
    assert.is_nil(env:stored "ticks")
    env:advance "1.5s"
    assert.is_true(env:stored("ticks").content.n > 90)
  end)

  it("has what was stored before the first function is called", function()
    local env = load(script(), { stored = { seen = { content = { n = 41 } } } })
    assert.are.equal("42", (env:call "add"))
  end)

  it("is misspelt where a script does not keep it", function()
    local function problem(text, name)
      local ok, err = pcall(load, text, { stored = { [name] = { content = {} } } })
      assert.is_false(ok)
      return tostring(err)
    end
    assert.has_match('test.load: stored: unknown state "sen", did you mean "seen"?', problem(script(), "sen"), 1, true)
    assert.has_match('test.load: stored: the script keeps no states, found "seen"',
      problem("local k8s = require 'k8s' k8s.state('seen', { init = {} })", "seen"), 1, true)
  end)

  it("goes through a reload, and is stored by the next generation", function()
    local env = load(script())
    env:call "add"
    assert.is_truthy(env:reload(script() .. "print 'new'"))
    assert.are.equal("2", (env:call "add"))
    assert.are.equal("stored", (env:call "sync"))
    assert.are.equal(2, env:stored("seen").content.n)
  end)

  it("is converted by migrate, and without one moved aside", function()
    local stored = { seen = { content = { n = 2 }, version = 3 } }
    local env = load(script ", version = 4, migrate = function(old, v) return { n = old.n * 10 + v } end",
      { stored = stored })
    assert.are.equal("23", (env:call "n"))
    env:advance "1s"
    assert.are.same({ content = { n = 23 }, version = 4 }, env:stored "seen")
    env = load(script ", version = 4", { stored = stored })
    assert.are.equal("0", (env:call "n"))
    assert.logged(env, "Stored state cannot be used, it was moved aside", "warn")
  end)

  it("that is damaged is moved aside", function()
    local env = load(script(), { stored = { seen = "kubelua-state 1 le 1 4 0\nxxxx" } })
    assert.logged(env, "Stored state cannot be used, it was moved aside", "warn")
    assert.are.equal("0", (env:call "n"))
  end)

  it("says why it cannot be stored, and is stored once it can be", function()
    local env = load(script())
    env:call "add"
    env:fail_storing "disk is full"
    assert.are.equal("InternalError: disk is full", (env:call "sync"))
    assert.logged(env, "Failed to store a state", "error")
    assert.is_nil(env:stored "seen")
    env:fail_storing()
    env:advance "2s"
    assert.are.equal(1, env:stored("seen").content.n)
    assert.logged(env, "State is stored again", "info")
  end)

  it("is read and written by the leader alone", function()
    local env = load(script(), { leader_elect = true, stored = { seen = { content = { n = 7 } } } })
    env:lead(false)
    assert.are.equal("8", (env:call "add"))
    assert.are.equal("NotLeader: not stored: leadership was lost", (env:call "sync"))
    env:advance "1m"
    assert.are.equal(7, env:stored("seen").content.n)
    env:lead(true)
    env:settle()
    assert.are.equal("7", (env:call "n"))
    env:call "add"
    assert.are.equal("stored", (env:call "sync"))
    env:lead(false)
    env:call "add"
    assert.matches("^NotLeader: ", (env:call "sync"))
    assert.are.equal(8, env:stored("seen").content.n)
    env:lead(true)
    env:settle()
    assert.are.equal("8", (env:call "n"))
  end)

  it("may be in a ConfigMap as well", function()
    local env = load((script():gsub('"file"', '"configmap"')), { stored = { seen = { content = { n = 4 } } } })
    assert.are.equal("5", (env:call "add"))
    assert.are.equal("stored", (env:call "sync"))
    assert.are.equal(5, env:stored("seen").content.n)
  end)

  it("names what is wrong with its declaration", function()
    local function refused(message, text)
      local ok, problem = pcall(load, 'local k8s = require "k8s" ' .. text)
      assert.is_false(ok)
      assert.matches(message, tostring(problem), 1, true)
    end
    refused('k8s.state: keep must be "file" or "configmap", not "disk"', 'k8s.state("a", { keep = "disk" })')
    refused("k8s.state: a/b: the name of a state with keep may have letters", 'k8s.state("a/b", { keep = "file" })')
    refused("k8s.state: .a: the name of a state with keep may have", 'k8s.state(".a", { keep = "file" })')
    refused("k8s.state: a: sync is the method of a state with keep, and cannot be a key",
      'k8s.state("a", { keep = "file", init = { sync = 1 } })')
    refused("k8s.state: a: sync is the method of a state with keep, and cannot be a key",
      'local a = k8s.state("a", { keep = "file" }) a.sync = 1')
    refused("attempt to call method 'sync'", 'local a = k8s.state("a", {}) a:sync()')
    refused("state:sync may not be called in the load phase",
      'local a = k8s.state("a", { keep = "file" }) a:sync()')
    refused("sync: call it as state:sync()", 'local a = k8s.state("a", { keep = "file" }) a.sync()')
  end)
end)
