-- A state that is kept, and engines that are killed at random moments: what the next one reads is a state that was
-- written, never older than the last that sync has acknowledged, never half (issue K). KUBELUA_STATE_KILLS is the
-- number of kills, SEED that of their moments.
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local KILLS = tonumber(os.getenv "KUBELUA_STATE_KILLS" or 6)
-- Seconds after the start of an engine: while it reads, writes, or has the disk write.
local LATEST = 0.6

-- Every part of the state follows from `n`. What is between two calls of sync need not be stored, and mostly is not.
local SCRIPT = [[
  local k8s = require "k8s"
  local function fill(kept, n)
    kept.n = n
    kept.text = ("%%d "):format(n):rep(n %% 500)
    kept.list = {}
    for i = 1, n %% 70 do kept.list[i] = { n * i } end
    kept.last = n
  end
  local function is_whole(kept)
    local n = kept.n
    if kept.last ~= n or #kept.list ~= n %% 70 or kept.text ~= ("%%d "):format(n):rep(n %% 500) then return false end
    for i, one in ipairs(kept.list) do
      if one[1] ~= n * i then return false end
    end
    return true
  end
  local init = {}
  fill(init, 0)
  local kept = k8s.state("kept", { keep = %q, init = init })
  k8s.main(function()
    print(("read %%d %%s"):format(kept.n, is_whole(kept) and "whole" or "half"))
    while true do
      for _ = 1, 3 do fill(kept, kept.n + 1) end
      local n = kept.n
      local ok, err = kept:sync()
      print(ok and "stored " .. n or "failed " .. err.message)
    end
  end)
]]

local function random_wait(engine)
  local deadline = proc.now() + math.random() * LATEST
  while proc.now() < deadline do engine:pump(deadline) end
end

describe("a state that is kept #threads", function()
  local sim, folder
  before_each(function() sim, folder = cluster.sim(), temp.folder() end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  -- Kills engines; returns how many were killed while they wrote.
  local function kill_all(keep, ...)
    local seed = tonumber(os.getenv "SEED" or os.time())
    math.randomseed(seed)
    local script = cluster.script(SCRIPT:format(keep))
    local stored, busy = 0, 0
    for i = 1, KILLS + 1 do
      local engine = cluster.run(sim.server, script, { ... })
      if i <= KILLS then random_wait(engine) else engine:wait_line "^stored" end
      engine:kill "KILL"
      engine:wait()
      local out = engine:out()
      local n, how = out:match "read (%d+) (%a+)\n"
      local about = ("SEED=%d, kill %d of %s: "):format(seed, i, keep) .. engine:report()
      assert.is_nil(out:find "failed", about)
      assert.is_nil(engine:err():find "moved aside", about)
      if n then
        assert.are.equal("whole", how, about)
        assert.is_true(tonumber(n) >= stored, ("read %s, and %d was stored: "):format(n, stored) .. about)
        stored = tonumber(n)
      end
      for acknowledged in out:gmatch "stored (%d+)\n" do
        assert.is_true(tonumber(acknowledged) > stored, about)
        stored = tonumber(acknowledged)
      end
      busy = busy + (out:find "stored" and 1 or 0)
    end
    print(("# %s: %d kills, %d of engines that wrote; %d changes"):format(keep, KILLS, busy - 1, stored))
    assert.is_true(stored > 0)
  end

  it("in a ConfigMap is what was written after kill -9", function() kill_all "configmap" end)

  it("in a file is what was written after kill -9", function() kill_all("file", "--state-dir", folder .. "/states") end)
end)
