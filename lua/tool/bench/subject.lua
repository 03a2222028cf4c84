-- The measurements of one subject. What fails is raised; what was measured before stays in the result.
local plan_of = require "tool.bench.plan"
local proc = require "tool.bench.proc"
local results = require "tool.bench.results"
local session = require "tool.bench.session"

local subject = {}

-- Shares are of the updates of a storm.
local LATENCIES = { { rate = 1000, fifths = 1 }, { rate = 10000, fifths = 2 } }
local PERCENTILES = { "p50", "p99", "p999", "max" }
local MORE_INFORMERS, STARTS = 50, 5 -- bench/scripts/informers.lua has so many
local SLOWEST_AUDIT_MS = 2 -- an object
local IDLE_MS = 3000 -- in which the CPU of an idle process is counted

-- All that begins with the first list; what the memory of the idle process is needed for.
local with_list = plan_of.set("relist", "storm", "latency", "sync", "projected", "floor")
local with_idle = plan_of.set("idle", "sync", "projected")

local function settle(run)
  run.plan.host.sleep(run.plan.settle_ms)
end

local function put(run, name, value) results.add(run.result, name, value) end

local function wants(run, measurements) return run.plan:wants(run.subject, measurements) end

local function set_version(run, event) run.result.version = run.result.version or event.version end

local function memory(run, child)
  local usage = proc.usage(child:pid())
  if usage then return usage end
  child:alive()
  error(run.subject.name .. ": cannot read its memory usage", 0)
end

-- Calls the function, then `stop`, whether it failed or not.
local function then_stop(stop, fn, ...)
  local ok, why = pcall(fn, ...)
  stop()
  if not ok then error(why, 0) end
end

-- CPU of subject and source, and the time, in seconds.
local function moment(run)
  local host = run.plan.host
  return { cpu = host.cpu(run.session.child:pid()), source = host.cpu(run.source.child:pid()), at = host.now() }
end

-- --- from the first list on

-- The first list, from the start of the process to its "synced".
local function measure_sync(run)
  local pods, idle = run.plan.data.pods, results.median(run.result, "idle_bytes")
  local before = run.plan.host.cpu(run.source.child:pid())
  run.session = session.new(run.plan, run.subject, run.source, pods)
  local after = moment(run)
  set_version(run, run.session.event)
  put(run, "sync_cpu_us_per_object", after.cpu * 1e6 / pods)
  put(run, "sync_source_cpu_us_per_object", (after.source - before) * 1e6 / pods)
  put(run, "sync_wall_s", after.at - run.session.child:started())
  settle(run)
  local usage = memory(run, run.session.child)
  run.steady = usage.resident
  put(run, "sync_peak_bytes", usage.peak)
  put(run, "steady_bytes", run.steady)
  put(run, "sync_peak_over_steady", usage.peak / run.steady)
  put(run, "steady_bytes_per_object", idle and (run.steady - idle) / pods)
end

local function measure_trimmed(run)
  local idle = results.median(run.result, "idle_bytes")
  run.session:mark(true, 0)
  local usage = memory(run, run.session.child)
  put(run, "trimmed_bytes", usage.resident)
  put(run, "trimmed_bytes_per_object", idle and (usage.resident - idle) / run.plan.data.pods)
end

-- All pods again, unchanged. The first marker may come among them, the second one comes behind them. It is compared
-- with the memory before the trim.
local function measure_relist(run)
  local pods, one = run.plan.data.pods, run.session
  proc.forget_peak(one.child:pid())
  local before = moment(run)
  run.source:post(run.plan.silence_ms, "/sim/replay/expire")
  one:mark(false, pods)
  one:mark(false, pods)
  local after = moment(run)
  settle(run)
  local usage = memory(run, one.child)
  put(run, "relist_cpu_us_per_object", (after.cpu - before.cpu) * 1e6 / pods)
  put(run, "relist_wall_s", after.at - before.at)
  put(run, "relist_growth_percent", (usage.resident / run.steady - 1) * 100)
  put(run, "relist_peak_over_steady", usage.peak / run.steady)
end

-- As many updates as the watch takes. What a subject made one of many is not handled by itself.
local function measure_storm(run)
  local count, one = run.plan.updates, run.session
  local before = moment(run)
  run.source:post(one:timeout_ms(count), ("/sim/replay/storm?count=%d"):format(count))
  local event = one:mark(false, count)
  local after = moment(run)
  put(run, "storm_events_per_s", count / (after.at - before.at))
  put(run, "storm_cpu_us_per_event", (after.cpu - before.cpu) * 1e6 / count)
  put(run, "storm_source_cpu_us_per_event", (after.source - before.source) * 1e6 / count)
  put(run, "storm_handled_percent", event.updates / count * 100)
end

local function measure_latency(run, count, rate)
  local one, host = run.session, run.plan.host
  local timeout_ms = one:timeout_ms(count) + math.floor(count * 1000 / rate)
  local before = moment(run)
  local response = host.json(run.source:post(timeout_ms, ("/sim/replay/storm?count=%d&rate=%d"):format(count, rate)))
  local event = one:mark(false, count)
  local after = moment(run)
  if not event.latency then
    error(("%s measured no latency of %d updates"):format(run.subject.name, count), 0)
  end
  for i, name in ipairs(PERCENTILES) do put(run, ("latency_%d_%s_us"):format(rate, name), event.latency[i]) end
  put(run, ("latency_%d_cpu_us_per_event"):format(rate), (after.cpu - before.cpu) * 1e6 / count)
  put(run, ("latency_%d_sent_late_us"):format(rate), type(response) == "table" and tonumber(response.late_us))
end

local function measure_latencies(run)
  local fifth = math.floor((run.plan.updates + 4) / 5)
  for _, one in ipairs(LATENCIES) do measure_latency(run, one.fifths * fifth, one.rate) end
end

-- Who can do none of the three last answers no marker.
local function with_the_list(run)
  measure_sync(run)
  local able = run.session.event.measurements
  local function does(name) return able[name] and wants(run, { [name] = true }) end
  if able.relist or able.storm or able.latency then measure_trimmed(run) end
  if does "relist" then measure_relist(run) end
  if does "storm" then measure_storm(run) end
  if does "latency" then measure_latencies(run) end
end

-- Measurements that a subject makes itself, once it has synced.
local function by_itself(run, script, select)
  local one = session.new(run.plan, run.subject, run.source, run.plan.data.pods, script, select)
  set_version(run, one.event)
  for name, value in pairs(one.event.figures) do put(run, name, value) end
  one:stop()
end

-- --- what a subject costs before it has anything to do, on a server of its own

-- Percent of a core that a process takes in that time. The first second belongs to its start.
local function cpu_share(run, child)
  local host = run.plan.host
  local cpu, begun = host.cpu(child:pid()), host.now()
  host.sleep(IDLE_MS)
  return (host.cpu(child:pid()) - cpu) / (host.now() - begun) * 100
end

-- The memory of the subject, synced on a server with nothing in it, and its CPU.
local function memory_on(run, source, script)
  local one = session.new(run.plan, run.subject, source, 0, script)
  set_version(run, one.event)
  settle(run)
  one.child:alive()
  local usage = memory(run, one.child)
  if not script and wants(run, plan_of.set "idle") then usage.cpu = cpu_share(run, one.child) end
  one:stop()
  return usage
end

-- Its memory, and that of one informer more.
local function measure_idle(run)
  local source = session.source.empty(run.plan.host)
  local alone = memory_on(run, source)
  put(run, "idle_bytes", alone.resident)
  put(run, "idle_private_bytes", alone.private)
  put(run, "idle_cpu_percent", alone.cpu)
  if wants(run, plan_of.set "idle") and run.subject.script then
    local many = memory_on(run, source, "informers")
    put(run, "idle_informer_bytes", (many.resident - alone.resident) / MORE_INFORMERS)
  end
  source:stop()
end

-- From its start to its first request; nobody is answered.
local function start_once(run)
  local listener = run.plan.host.listen()
  local child = session.start_subject(run.plan, run.subject, listener:url())
  listener:wait_request(child, run.plan.silence_ms)
  local took = run.plan.host.now() - child:started()
  child:stop()
  listener:close()
  return took * 1000
end

-- The run's figure is the median of several.
local function measure_start(run)
  local starts = { series = {} }
  for _ = 1, STARTS do results.add(starts, "start_ms", start_once(run)) end
  put(run, "start_ms", results.median(starts, "start_ms"))
end

-- --- ten rules, evaluated over the caches of an engine of its own

local function audit_of(run, engine, socket)
  local plan, host = run.plan, run.plan.host
  engine:needs(run.source.child)
  engine:line(plan.silence_ms + plan.data.pods * SLOWEST_AUDIT_MS)
  settle(run)
  local cpu, begun = proc.children_cpu_s(engine:pid()), host.now()
  local audit = host.audit(socket, plan.silence_ms * 10)
  local took = host.now() - begun
  if audit.objects < plan.data.pods then
    error(("the audit covered only %d of %d pods"):format(audit.objects, plan.data.pods), 0)
  end
  put(run, "audit_engine_wall_s", took)
  put(run, "audit_engine_pause_ms", audit.pause_s * 1000)
  put(run, "audit_engine_cpu_us_per_object", (proc.children_cpu_s(engine:pid()) - cpu) * 1e6 / audit.objects)
  put(run, "audit_engine_children", audit.children)
end

local function measure_audit(run)
  local plan = run.plan
  local socket = plan.scripts .. "/audit.sock"
  local engine = plan.host.start("kubelua run", {
    "/proc/self/exe", "run", "--server", run.source.url, "-f", "audit_engine.lua", "--metrics-bind-address=0",
    "--health-probe-bind-address=0", "--admin-socket", socket,
  }, plan.scripts)
  then_stop(function() engine:stop() end, audit_of, run, engine, socket)
end

-- --- all of it

local function stop_session(run)
  if run.session then run.session:stop() end
end

local function beside_the_list(run)
  if wants(run, plan_of.set "select") then session.within("select", by_itself, run, "select", true) end
  if wants(run, plan_of.set "lua") then session.within("lua", by_itself, run, "micro", false) end
  if wants(run, plan_of.set "audit-engine") then session.within("audit-engine", measure_audit, run) end
end

-- Measures a subject once. Markers become pods of the source, so that who makes them is last; a program that has no
-- lister may do all else.
function subject.measure(plan, one, source, result)
  local run = { plan = plan, subject = one, source = source, result = result }
  if wants(run, with_idle) then measure_idle(run) end
  if wants(run, plan_of.set "start") then measure_start(run) end
  local ok, why = pcall(beside_the_list, run)
  if wants(run, with_list) then
    local listed, second = pcall(then_stop, function() stop_session(run) end, with_the_list, run)
    if ok then ok, why = listed, second end
  end
  if not ok then error(why, 0) end
end

return subject
