-- Looking into a busy engine: a hundred scripts, ten of them on the kind that changes. What looks takes little of the
-- engine thread, in pieces so short that no handler waits long for them: measured by the engine itself, in CPU time of
-- that thread, which a busy machine leaves alone.
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local floor = require "spec.support.floor"
local proc = require "spec.support.proc"
local scripts_folder = require "spec.support.scripts_folder"
local temp = require "spec.support.temp"

local PODS = os.getenv "KUBELUA_LOOK_PODS" or "5000" -- all of it, and the figures, with 100000: ./dev prove look
local UPDATES = tonumber(os.getenv "KUBELUA_LOOK_UPDATES" or 1000) -- a second
local strict = os.getenv "KUBELUA_LOOK_PODS" ~= nil
local sanitizer = (os.getenv "KUBELUA_PRESET" or "release") ~= "release"

local SCRIPTS, ON_PODS = 100, 10
local OTHERS = { "configmaps", "services", "nodes", "deployments", "secrets", "namespaces", "leases", "configmaps" }

-- The most CPU time of a command, and of the longest of its pieces in most tries and in the worst one: a handler waits
-- for one piece, and has 5 ms.
local CPU_MS, PIECE_MS, WORST_MS = 50, 3, 5

-- The same of what gathers all objects of a kind: Lua's collector goes over all views of them in one step.
local GATHERED_MS = 4

-- And for each time that another process had the core during the piece, up to five, after which caches are cold.
local PREEMPTED_MS = 1

-- A shared machine makes some pieces longer, whatever their program: pieces of a fixed work between the tries are
-- printed beside them.
local FLOOR_PIECES = 20
-- Times in which changes are counted, without looks, with looks elsewhere and with looks, in turns.
local ROUNDS, SECONDS = 3, strict and 4 or 1
local COSTS = "cpuMicroseconds=(%d+) longestMicroseconds=(%d+) longestPreempted=(%d+) pieces=(%d+)"

-- One of the hundred: a handler that keeps a table, another one with a filter, a queue, a timer and a command.
local SCRIPT = scripts_folder.HEAD .. [[
  local objects, seen = k8s.informer "%s", {}
  local queue = k8s.queue { name = "work" }
  objects:add_event_handler { id = "counts",
    OnAdd = function(o) seen[o:key()] = 1 end,
    OnUpdate = function(_, o) seen[o:key()] = (seen[o:key()] or 0) + 1 end,
    OnDelete = function(o) seen[o:key()] = nil end,
  }
  objects:add_event_handler { id = "filters", filter = function(o) return o:label "nothing" ~= nil end,
    OnUpdate = function(_, o) queue:add(o:key()) end }
  queue:run(function() end)
  k8s.every("1m", function() end)
  k8s.command("seen", function() return #seen end, { help = "How many." })
]]

describe("a busy engine", function()
  local place, sim, engine, page, metrics
  local elsewhere, idle, idle_page

  setup(function()
    place = scripts_folder.new()
    for i = 1, SCRIPTS do
      local kind = i <= ON_PODS and "pods" or OTHERS[i % #OTHERS + 1]
      place:write(("script-%03d.lua"):format(i), SCRIPT:format(kind))
    end
    sim = cluster.sim { "--pods", PODS }
    engine = place:start(sim, nil, {
      "-v2", "--ui-bind-address", "127.0.0.1:0", "--history", "pods=5", "--metrics-bind-address", "127.0.0.1:0",
    })
    metrics = engine:err():match 'Serving metrics" address="([^"]+)"'
    page = engine:err():match 'Serving a page about the engine" address="([^"]+)"'
    engine:wait_until(function()
      local out = engine.ask "status"
      return not out:find("waiting", 1, true) or nil
    end, "all handlers have their initial objects", 120)
    sim:play { ["do"] = "touch", resource = "pods", pick = UPDATES / 200, every = "5ms" }
    -- Programs that look need the machine's cores, too: what they take from handlers is not what the engine takes.
    elsewhere = scripts_folder.new()
    elsewhere:write("one.lua", SCRIPT:format "pods")
    local flags = { "--ui-bind-address", "127.0.0.1:0", "--history", "pods=5" }
    idle = elsewhere:start(cluster.sim { "--pods", "1" }, nil, flags)
    idle_page = idle:err():match 'Serving a page about the engine" address="([^"]+)"'
  end)
  teardown(function()
    cluster.stop_all()
    place:remove()
    elsewhere:remove()
  end)

  local function print_load()
    local file = assert(io.open "/proc/loadavg")
    print(("%s pods, %d updates a second; load of the machine: %s"):format(PODS, UPDATES,
      file:read "*l":match "^%S+"))
    file:close()
  end

  -- Sums of what the log says of documents and sessions from this place on: CPU and the longest piece in milliseconds.
  local function costs(from)
    local sum = { cpu = 0, longest = 0, preempted = 0, pieces = 0 }
    for line in engine:err():sub(from):gmatch "[^\n]+" do
      local cpu, longest, preempted, pieces = line:match(COSTS)
      if cpu then
        sum.cpu, sum.pieces = sum.cpu + cpu / 1e3, sum.pieces + pieces
        if longest / 1e3 > sum.longest then sum.longest, sum.preempted = longest / 1e3, tonumber(preempted) end
      end
    end
    return sum
  end

  -- A session ends some time after its client.
  local function settle(from)
    engine:wait_until(function()
      local _, begun = engine:err():gsub("REPL session started", "")
      local _, ended = engine:err():gsub("REPL session ended", "")
      return begun == ended and (not from or costs(from).pieces > 0) or nil
    end, "the log tells what it took")
  end

  local function measure(run)
    settle()
    local from = #engine:err() + 1
    run()
    settle(from)
    return costs(from)
  end

  -- Interrupts and a cold cache count as CPU of the thread, too, and a busy machine has many: in CI one of five tries
  -- has to do, in a proof most of them; it prints the one in the middle and the worst, in which no piece may be as long
  -- as a handler may wait.
  local function check(name, run, most_cpu, most_piece)
    local tries, good, usual, longest = {}, 0, 0, 0
    for i = 1, 5 do
      tries[i] = measure(run)
      if tries[i].cpu < most_cpu and tries[i].longest < most_piece then good = good + 1 end
      if not strict and good > 0 then break end
      local middle, worst = floor.pieces(FLOOR_PIECES)
      usual, longest = math.max(usual, middle), math.max(longest, worst)
    end
    table.sort(tries, function(a, b) return a.longest < b.longest end)
    local middle, worst = tries[math.ceil(#tries / 2)], tries[#tries]
    local figures = ("%-80s %5.1f ms in %3d pieces, the longest %.1f ms, at worst %.1f (preempted %d times;" ..
      " fixed work: %.1f, at worst %.1f)"):format(name, middle.cpu, middle.pieces, middle.longest, worst.longest,
      worst.preempted, usual, longest)
    if strict then print(figures) end
    assert.is_true(sanitizer or good >= (strict and 3 or 1), figures)
    assert.is_true(not strict or worst.longest < WORST_MS + PREEMPTED_MS * math.min(worst.preempted, 5), figures)
  end

  -- Of the handlers on pods, the metrics of latency: how many updates they have had, and how many of these within 5 ms
  -- of their arrival; and the changes that the server has made.
  local function progress()
    local list = "/api/v1/pods?limit=1'"
    local page_of_metrics = temp.run("curl -s http://" .. metrics .. "/metrics")
    local function sum(pattern)
      local total = 0
      for value in page_of_metrics:gmatch(pattern) do total = total + tonumber(value) end
      return total
    end
    local of_counts = 'kubelua_event_latency_seconds_%s{script="[^"]*script%%-00%%d",handler="counts"%s} (%%d+)'
    return {
      handled = sum(of_counts:format("count", "")),
      soon = sum(of_counts:format("bucket", ',le="0.005"')),
      made = tonumber(cjson.decode((temp.run("curl -s '" .. sim.server .. list))).metadata.resourceVersion),
    }
  end

  -- Of the changes of some seconds, the share that the nine handlers of script-001 to script-009 are told of, and of
  -- these the share within 5 ms, while `run` is called again and again.
  local function shares(seconds, run)
    local from, till = progress(), proc.now() + seconds
    repeat run() until proc.now() > till
    local to = progress()
    local handled = to.handled - from.handled
    return handled / 9 / (to.made - from.made), (to.soon - from.soon) / handled, to.made - from.made
  end

  -- The figures of a number of such times together, as the machine is not the same from one to the next.
  local function watch(name, rounds)
    local handled, soon, made = 0, 0, 0
    for _, round in ipairs(rounds) do
      handled, soon, made = handled + round[1] / #rounds, soon + round[2] / #rounds, made + round[3]
    end
    local figures = ("%-80s %d changes, %.1f %% of them handled, %.1f %% within 5 ms"):format(name, made, 100 * handled,
      100 * soon)
    if strict then print(figures) end
    -- Other processes of a busy machine have the cores: only a proof judges how much is done.
    assert.is_true(handled > (strict and 0.95 or 0), figures)
    return soon
  end

  local function asks(most_cpu, most_piece, ...)
    local words, name = { ... }, "kubelua " .. table.concat({ ... }, " ")
    check(name, function()
      local out, code, err = engine.ask(unpack(words))
      assert.are.equal(0, code, name .. ": " .. out:sub(1, 1000) .. err)
    end, most_cpu, most_piece)
  end

  local function answers(...) asks(CPU_MS, PIECE_MS, ...) end

  -- Gathering a whole kind costs by its objects: only how long others wait for it is judged.
  local function gathers(...) asks(math.huge, GATHERED_MS, ...) end

  it("shows objects in short pieces", function()
    if strict then print_load() end
    local pod = assert(engine.ask("query", "pods:query():limit(1):rows()[1]:key()"):match "%S+")
    local namespace = pod:match "^[^/]+"
    answers("get", "pods", pod)
    answers("get", "pods", pod:match "[^/]+$")
    answers("get", "pods", "-n", namespace)
    answers("get", "pods", pod, "-ojson")
    answers("get", "pods", "-l", "app=nobody")
    answers("get", "pods", "--field-selector", "status.phase=Unknown")
    answers("query", "pods:count()")
    answers("query", 'pods:query():group("status.phase"):count()')
    answers("query", 'pods:query():where("status.phase", "~=", "Running"):count()')
    answers("query", 'pods:query():order("metadata.creationTimestamp"):limit(3):rows()')
    sim:play { ["do"] = "touch", resource = "pods", namespace = namespace, name = pod:match "[^/]+$" }
    engine:wait_until(function() return select(2, engine.ask("history", "pods/" .. pod)) == 0 or nil end, "its history")
    answers("history", "pods/" .. pod)
  end)

  it("gathers all objects of a kind in short pieces", function()
    gathers("query", "#pods:list()")
    gathers("query", "pods:list()")
    gathers("query", "pods:query():rows()")
    gathers("query", 'pods:query():order("metadata.name"):rows()')
    gathers("query", 'pods:query():group("metadata.name"):count()')
    gathers("get", "pods", "-oname")
  end)

  -- All that looks into the engine, whose page is `at`.
  local function look(of, at)
    local pod = assert(of.ask("query", "pods:query():limit(1):rows()[1]:key()"):match "%S+")
    return function()
      of.ask "status"
      of.ask("top", "--once", "--interval", "100ms")
      of.ask("history", "pods/" .. pod)
      of.ask("get", "pods", "-l", "app=nobody")
      of.ask("query", 'pods:query():group("status.phase"):count()')
      temp.run("curl -s http://" .. at .. "/state.json")
    end
  end

  it("keeps up with the changes meanwhile", function()
    local function wait() temp.run "sleep 0.1" end
    -- A backlog is handled faster than objects change.
    local deadline = proc.now() + proc.patience(120)
    local handled, steady
    repeat
      handled = shares(1, wait)
      steady = handled > (strict and 0.95 or 0) and (not strict or handled < 1.05)
    until steady or proc.now() > deadline
    assert.is_true(steady, ("the machine is too slow to judge: %.1f %% of the changes are handled without a command")
      :format(100 * handled))
    local there, here = look(idle, idle_page), look(engine, page)
    local without, others, own = {}, {}, {}
    for i = 1, strict and ROUNDS or 1 do
      without[i], others[i], own[i] = { shares(SECONDS, wait) }, { shares(SECONDS, there) }, { shares(SECONDS, here) }
    end
    watch("without a command", without)
    local before = watch("with status, top, get -l, a query, history and the page of another engine, again and again",
      others)
    local meanwhile = watch("with those of this one", own)
    assert.is_true(not strict or meanwhile > before - 0.05, "fewer are handled within 5 ms")
    assert.is_nil(engine:err():match '[^\n]*"Handler failed"[^\n]*')
  end)

  it("tells its status in short pieces", function()
    answers "status"
    answers("top", "--once", "--interval", "500ms")
    check("the page", function()
      -- Browsers share a state for half a second.
      assert.has_match('^{"status":', temp.run("sleep 0.6; curl -s http://" .. page .. "/state.json"))
    end, CPU_MS, PIECE_MS)
  end)
end)
