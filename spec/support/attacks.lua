-- Scripts that misbehave, spec/support/attacks/*.lua, each beside a neighbour that is told 100 updates a second: what
-- the script's error says, how late the neighbour is, and whether probes are answered and the lease is kept.
local api = require "spec.support.api"
local cluster = require "spec.support.cluster"
local proc = require "spec.support.proc"

local attacks = {}

local folder, neighbour = "spec/support/attacks/", "spec/support/scripts/neighbour.lua"

-- Of a script: its name, what it does, flags for the engine, and a pattern of its error, from its first lines.
function attacks.list()
  local list = {}
  local pipe = assert(io.popen("ls " .. folder))
  for file in pipe:lines() do
    local what, expect
    local flags = {}
    for line in io.lines(folder .. file) do
      what = what or assert(line:match "^%-%- (.+)$", file)
      for word in (line:match "^%-%- flags: (.+)$" or ""):gmatch "%S+" do flags[#flags + 1] = word end
      expect = line:match "^%-%- expect: (.+)$"
      if expect then break end
    end
    local name = file:gsub("%.lua$", "")
    assert(expect, file)
    list[#list + 1] = { path = folder .. file, name = name, what = what, flags = flags, expect = expect }
  end
  pipe:close()
  return list
end

local lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/kubelua"

-- One of the patterns, which | parts.
local function matches(line, patterns)
  for pattern in patterns:gmatch "[^|]+" do
    if line:find(pattern) then return true end
  end
end

-- A line of the log that names the script, a line of it, and what is wrong. What ended in a function of C has its
-- place at the head.
local function error_line(script, text)
  local path = script.path:gsub("%p", "%%%0")
  local place, head = path .. ":%d+", "%s" .. script.name .. "%.lua:%d+%]"
  for line in text:gmatch "[^\n]+" do
    local placed = line:find(place) or line:find(head) and line:find(path:gsub("%%%.lua$", ""))
    if placed and matches(line, script.expect) then return line end
  end
end

local function start_cluster(seconds)
  local sim = cluster.sim { "--pods", "1000" }
  sim.api:create("/api/v1/namespaces/default/configmaps", {
    apiVersion = "v1", kind = "ConfigMap", metadata = { name = "neighbour", namespace = "default" },
    data = { duration = seconds .. "s" },
  })
  return sim
end

local flags = { "--health-probe-bind-address", "127.0.0.1:0", "--leader-elect", "--leader-elect-retry-period", "500ms" }

local function start_engine(sim, script)
  local args = { "run", "--server=" .. sim.server, "-f", script.path, "-f", neighbour }
  for _, list in ipairs { flags, script.flags } do
    for _, flag in ipairs(list) do args[#args + 1] = flag end
  end
  return cluster.kubelua(args)
end

-- Asks /healthz until the neighbour has told; gives what it told, and how often the probe was not answered.
local function watch_over(engine, http, seconds)
  local deadline, told, unhealthy = proc.now() + seconds + 30, nil, 0
  while not told do
    if http:curl("GET", "/healthz") ~= 200 then unhealthy = unhealthy + 1 end
    told = { engine:out():match "neighbour\t(%d+)\t(%d+)\t(%d+)\t(%d+)\t(%d+)\n" }
    if not told[1] then told = nil end
    if proc.now() > deadline then error("the neighbour tells nothing" .. engine:report()) end
    engine:pump(proc.now() + 0.05)
  end
  return {
    updates = tonumber(told[1]), p50 = tonumber(told[2]), p99 = tonumber(told[3]), max = tonumber(told[4]),
    slow = tonumber(told[5]), unhealthy = unhealthy,
  }
end

-- One script for so many seconds: the line of its error, what the neighbour told, and what became of the engine.
function attacks.run(script, seconds)
  local sim = start_cluster(seconds)
  local engine = start_engine(sim, script)
  local http = api.new { server = "http://" .. engine:wait_error 'Serving health probes" address="([^"]+)"' }
  engine:wait_error "Became leader"
  sim:play {
    ["do"] = "touch", resource = "configmaps", namespace = "default", name = "neighbour", every = "10ms",
    count = (seconds + 5) * 100,
  }
  local before = sim.api:get(lease).spec
  local result = watch_over(engine, http, seconds)
  local after = sim.api:get(lease).spec
  result.renewed = before.renewTime ~= after.renewTime
  result.kept = before.holderIdentity == after.holderIdentity and before.leaseTransitions == after.leaseTransitions
  result.code = cluster.terminate(engine, 30)
  result.error = error_line(script, engine:err())
  result.report = engine:report()
  return result
end

-- A script that does not load: the engine does not start. Gives its exit code, its error, and the seconds.
function attacks.load(script)
  local sim = cluster.sim()
  local engine = start_engine(sim, script)
  local begun = proc.now()
  local code = engine:wait(30)
  local took = proc.now() - begun
  return { code = code, error = error_line(script, engine:err()), seconds = took, report = engine:report() }
end

return attacks
