-- Scripts that misbehave, spec/support/attacks/*.lua, each in an engine of its own beside a neighbour that is told 100
-- updates a second: what the script's error says, how late the neighbour is, and whether probes are answered and the
-- lease is kept.
local api = require "spec.support.api"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local attacks = {}

local folder, neighbour = "spec/support/attacks/", "spec/support/scripts/neighbour.lua"
-- What the engine runs until a script of the kind `reload` takes its place.
local harmless = "spec/support/scripts/before_attack.lua"

-- Of a script: its name, what it does, flags for the engine, whether it comes by a reload, and a pattern of its error,
-- from its first lines.
function attacks.list()
  local list = {}
  local pipe = assert(io.popen("ls " .. folder))
  for file in pipe:lines() do
    local script = { path = folder .. file, name = file:gsub("%.lua$", ""), flags = {} }
    for line in io.lines(script.path) do
      script.what = script.what or assert(line:match "^%-%- (.+)$", file)
      script.reload = script.reload or line == "-- by a reload"
      for word in (line:match "^%-%- flags: (.+)$" or ""):gmatch "%S+" do script.flags[#script.flags + 1] = word end
      script.expect = line:match "^%-%- expect: (.+)$"
      if script.expect then break end
    end
    assert(script.expect, file)
    list[#list + 1] = script
  end
  pipe:close()
  return list
end

-- One of the patterns, which | parts; `nothing`: any.
local function matches(line, patterns)
  if patterns == "nothing" then return true end
  for pattern in patterns:gmatch "[^|]+" do
    if line:find(pattern) then return true end
  end
end

-- A line of the log that names the script, a line of it, and what is wrong. What ended in a function of C has its
-- place at the head.
local function error_line(script, path, text)
  path = path:gsub("%p", "%%%0")
  local place, head = path .. ":%d+", "%s" .. script.name .. "%.lua:%d+%]"
  for line in text:gmatch "[^\n]+" do
    local placed = line:find(place) or line:find(head) and line:find(path:gsub("%%%.lua$", ""))
    if placed and matches(line, script.expect) then return line end
  end
end

local function copy(from, to)
  local file = assert(io.open(from))
  temp.write(to, file:read "*a")
  file:close()
end

local function start_cluster(seconds)
  local sim = cluster.sim { "--pods", "1000" }
  sim.api:create("/api/v1/namespaces/default/configmaps", {
    apiVersion = "v1", kind = "ConfigMap", metadata = { name = "neighbour", namespace = "default" },
    data = { duration = seconds .. "s" },
  })
  sim:play {
    ["do"] = "touch", resource = "configmaps", namespace = "default", name = "neighbour", every = "10ms",
    count = (seconds + 60) * 100,
  }
  return sim
end

local function start_engine(sim, script, path)
  local args = {
    "run", "--server=" .. sim.server, "-f", path, "-f", neighbour, "--health-probe-bind-address", "127.0.0.1:0",
    "--leader-elect", "--leader-elect-retry-period", "500ms", "--leader-elect-resource-name",
    (script.name:gsub("_", "-")),
  }
  for _, flag in ipairs(script.flags) do args[#args + 1] = flag end
  return cluster.kubelua(args)
end

-- Milliseconds that the engine's thread was ready to run and other processes had the cores.
local function waited_ms(engine)
  local file = io.open(("/proc/%d/schedstat"):format(engine.pid))
  if not file then return 0 end
  local waited = file:read "*a":match "^%d+ (%d+)"
  file:close()
  return tonumber(waited or 0) / 1e6
end

local function lease_of(sim, script)
  return sim.api:get("/apis/coordination.k8s.io/v1/namespaces/default/leases/" .. script.name:gsub("_", "-")).spec
end

local function start(sim, script)
  local run = { script = script, path = script.path, unhealthy = 0 }
  if script.reload then
    run.folder = temp.folder()
    run.path = run.folder .. "/" .. script.name .. ".lua"
    copy(harmless, run.path)
  end
  run.engine = start_engine(sim, script, run.path)
  return run
end

-- The attack of a script that comes by a reload begins here; others have begun.
local function begin(sim, run)
  run.http = api.new { server = "http://" .. run.engine:wait_error 'Serving health probes" address="([^"]+)"' }
  run.engine:wait_error "Became leader"
  run.lease, run.waited = lease_of(sim, run.script), waited_ms(run.engine)
  if not run.script.reload then return end
  run.engine:wait_line "^runs$"
  copy(run.script.path, run.path)
end

-- One look: /healthz is asked until the neighbour has told.
local function look(run)
  if run.http:curl("GET", "/healthz") ~= 200 then run.unhealthy = run.unhealthy + 1 end
  run.engine:pump(proc.now() + 0.02)
  local told = { run.engine:out():match("neighbour" .. ("\t(%d+)"):rep(7) .. "\n") }
  if told[1] then run.told = told end
end

local function watch_over(runs, seconds)
  local deadline, left = proc.now() + seconds + 30, #runs
  while left > 0 and proc.now() < deadline do
    left = 0
    for _, run in ipairs(runs) do
      if not run.told then look(run) end
      if not run.told then left = left + 1 end
    end
  end
end

-- Whether the generation before a reload that was refused is told of updates after that.
local function runs_on(run)
  run.engine:wait_error "Reload refused"
  run.engine.streams.out.seen = #run.engine:out() + 1
  return run.engine:wait_line "^runs$" ~= nil
end

-- A busy machine gives a script the CPU time of its limit after the neighbour has told.
local function await_error(run)
  if run.script.expect == "nothing" then return end
  local function has_come() return error_line(run.script, run.path, run.engine:err()) end
  pcall(run.engine.wait_until, run.engine, has_come, "the error", 20)
end

local function finish(sim, run)
  local after, engine, told = lease_of(sim, run.script), run.engine, run.told or {}
  local result = {
    updates = tonumber(told[1] or 0), p50 = tonumber(told[2] or 0), p99 = tonumber(told[3] or 0),
    max = tonumber(told[4] or math.huge), slow = tonumber(told[5] or 0), unhealthy = run.unhealthy,
    timer_cpu = tonumber(told[6] or math.huge), updates_cpu = tonumber(told[7] or math.huge),
    renewed = run.lease.renewTime ~= after.renewTime,
    kept = run.lease.holderIdentity == after.holderIdentity and run.lease.leaseTransitions == after.leaseTransitions,
    waited = waited_ms(engine) - run.waited,
  }
  result.runs_on = not run.script.reload or run.script.expect == "nothing" or runs_on(run)
  await_error(run)
  result.code = cluster.terminate(engine, 30)
  result.error = error_line(run.script, run.path, engine:err())
  result.report = engine:report()
  if run.folder then temp.remove(run.folder) end
  return result
end

-- Scripts at the same time, each in an engine of its own, for so many seconds: for each, by its name, the line of its
-- error, what the neighbour told, and what became of the engine; or the text of what went wrong.
function attacks.run(scripts, seconds)
  local sim, runs, results = start_cluster(seconds), {}, {}
  for i, script in ipairs(scripts) do runs[i] = start(sim, script) end
  local good = {}
  for _, run in ipairs(runs) do
    local ok, err = pcall(begin, sim, run)
    results[run.script.name] = tostring(err)
    if ok then good[#good + 1] = run end
  end
  watch_over(good, seconds)
  for _, run in ipairs(good) do
    local _, result = pcall(finish, sim, run)
    results[run.script.name] = result
  end
  cluster.stop_all()
  return results
end

-- A script that does not load: the engine does not start. Gives its exit code, its error, and the seconds.
function attacks.load(script)
  local sim = cluster.sim()
  local engine = start_engine(sim, script, script.path)
  local begun = proc.now()
  local code = engine:wait(30)
  local took = proc.now() - begun
  local line = error_line(script, script.path, engine:err())
  return { code = code, error = line, seconds = took, report = engine:report() }
end

return attacks
