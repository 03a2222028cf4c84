-- The reply of an engine to `status` as tables for people.
local values = require "tool.view.values"
local audit = require "tool.view.audit"
local informers = require "tool.view.informers"
local queues = require "tool.view.queues"
local text_table = require "tool.table"
local units = require "tool.units"

local int, items, shown, text = values.int, values.items, values.shown, values.text

-- --- the engine

-- Without it the kinds are not known, and every informer waits.
local function discovery(engine, now)
  local lost = units.time(engine.unreachableSince)
  if lost ~= 0 then
    return text_table.line("server", ("unreachable for %s: %s"):format(units.duration(now - lost),
      text(engine.unreachable)))
  end
  local throttled = values.count(engine.throttledRequests, "request", "requests")
  local throttles = throttled and text_table.line("server", ("throttles %s (429) for %s"):format(throttled,
    units.duration(now - units.time(engine.throttledSince)))) or ""
  local asking, plugin = units.time(engine.discoveryAsking), units.time(engine.execPluginRunning)
  local line, before = text(engine.discoveryError), ""
  if plugin ~= 0 then -- the server has not been asked yet
    before = text_table.line("exec plugin",
      ("waiting for the exec plugin %s for %s"):format(text(engine.execPlugin), units.duration(now - plugin)))
  elseif asking ~= 0 then
    line = line .. (line ~= "" and "; retrying discovery for " or "waiting for discovery for ")
      .. units.duration(now - asking)
  end
  return throttles .. before .. text_table.line("discovery", line)
end

-- The share of a replica of a group: its shared informers, and their listers, have no more.
local function shard(own)
  if text(own.group) == "" then return "" end
  local all = int(own.allSlots)
  local share = ("%d of %d slots (%.1f %%) in %d ranges"):format(int(own.slots), all,
    all > 0 and 100 * int(own.slots) / all or 0, int(own.ranges))
  local behind = int(own.informersBehind)
  return text_table.line("shard", ("%s/%s: %d replicas; this one has %s%s; %d informers are partial, %d objects%s%s")
    :format(text(own.namespace), text(own.group), int(own.members), share,
      own.writesTable == true and ", and writes the table" or "", int(own.informers), int(own.objects),
      behind ~= 0 and (", %d of them list what was gained"):format(behind) or "",
      text(own.cause) ~= "" and "; " .. own.cause or ""))
end

-- Where objects come from instead, and how old they may be.
local function bucket(one, now)
  if type(one) ~= "table" then return "" end
  local state = text(one.error) ~= "" and "cannot be read: " .. one.error
    or text(one.publisher) == "" and "nothing is published there yet"
    or ("last sign of publisher %s %s ago"):format(one.publisher, units.duration(now - units.time(one.heard)))
  local part = int(one.parts) ~= 0 and (", partition %d/%d"):format(int(one.part), int(one.parts)) or ""
  return text_table.line("objects from", ("%s%s: %s"):format(text(one.from), part, state))
end

local function head(engine, view)
  local ready = engine.ready == true
  local state = ready and "ready" or "not ready"
  if view.colours then state = (ready and "\27[32m" or "\27[31m") .. state .. "\27[0m" end
  local served = {}
  for _, one in ipairs {
    { "metrics", "metrics %s" }, { "health", "probes %s" }, { "page", "page http://%s/" },
    { "webhook", "webhooks https://%s" },
  } do
    local address = text(engine[one[1] .. "Address"])
    if address ~= "" then served[#served + 1] = one[2]:format(address) end
  end
  return table.concat {
    ("kubelua %s  %s  pid %d  up %s  memory %s  cpu %.1fs\n"):format(text(engine.version), state, int(engine.pid),
      units.duration(view.now - units.time(engine.started)), units.bytes(int(engine.memoryBytes)),
      int(engine.cpuMilliseconds) / 1000),
    engine.server == "" and ("cluster %s\n"):format(text(engine.source))
      or ("cluster %s (%s)\n"):format(text(engine.server), text(engine.source)),
    #served > 0 and table.concat(served, "  ") .. "\n" or "",
    bucket(engine.bucket, view.now),
    discovery(engine, view.now),
    shard(items(engine.shard)),
  }
end

-- --- scripts

local function errors(script)
  local list = {}
  for call, count in values.fields(script.errorsByCall) do
    if int(count) ~= 0 then list[#list + 1] = ("%s %d"):format(call, count) end
  end
  return #list > 0 and "errors: " .. table.concat(list, ", ")
end

-- Handlers that lag: how many events each has not received yet, and how many of its calls are in flight.
local function lag(script)
  local list = {}
  for _, handler in ipairs(items(script.eventHandlers)) do
    local pending, debounced, busy = int(handler.pending), int(handler.debounced), int(handler.busy)
    if pending ~= 0 or debounced ~= 0 or busy ~= 0 then
      list[#list + 1] = ("%s %d%s%s"):format(text(handler.id), pending,
        debounced ~= 0 and (" (debounced %d)"):format(debounced) or "",
        busy ~= 0 and (" (busy %d of %d)"):format(busy, int(handler.concurrency)) or "")
    end
  end
  return #list > 0 and "pending: " .. table.concat(list, ", ")
end

-- Functions that are not called any more, since when and why.
local function quarantined(script, now)
  local list = {}
  for i, one in ipairs(items(script.quarantined)) do
    list[i] = ("quarantined: %s for %s, %d calls skipped: %s"):format(text(one.id),
      units.duration(now - units.time(one.since)), int(one.skipped), text(one.why))
  end
  return table.concat(list, "; ")
end

-- Why the file does not run, and since when.
local function reload_error(script, now)
  local what = script.returned == true and "returned" or int(script.generation) ~= 0 and "reload refused"
    or "refused, not running"
  if text(script.reloadError) == "" then return end
  return ("%s: %s (%s ago)"):format(what, script.reloadError,
    units.duration(now - units.time(script.reloadErrorTime)))
end

-- Writes or requests that wait for a rate limit, and how long the first of them has.
local function waiting(what, count, milliseconds)
  return int(count) ~= 0 and ("%s waiting for the limit: %d, for %.1fs"):format(what, count, int(milliseconds) / 1000)
end

-- State of main or its failure; how many writes failed, whatever the script did about it; in the wide form
-- also which calls failed, and which handlers lag.
local function note_of(script, view)
  local state, candidate, wide = text(script.mainState), script.candidate, view.wide
  return values.join({
    n = 16,
    (state == "failed" or state == "waiting") and "main: " .. text(script.main),
    text(script.handlersWaitFor) ~= "" and "handlers wait for " .. script.handlersWaitFor,
    text(script.notWaitedFor) ~= "" and "handlers did not wait for " .. script.notWaitedFor,
    text(script.workersWaitFor) ~= "" and "workers wait for " .. script.workersWaitFor,
    text(script.dryRun) ~= "" and script.dryRun ~= "none" and ("dry run: %s"):format(script.dryRun),
    int(script.failedWrites) ~= 0 and ("writes failed: %d"):format(script.failedWrites),
    waiting("writes", script.waitingWrites, script.waitingWritesMilliseconds),
    waiting("requests", script.waitingRequests, script.waitingRequestsMilliseconds),
    quarantined(script, view.now),
    reload_error(script, view.now),
    type(candidate) == "table"
      and ("generation %d waits for %s"):format(int(candidate.generation), text(candidate.waitsFor)),
    int(script.draining) ~= 0 and ("draining generations: %d"):format(script.draining),
    wide and ("loaded in %.1f ms"):format(int(script.loadMicroseconds) / 1000),
    wide and int(script.rules) ~= 0 and ("rules: %d"):format(script.rules),
    wide and errors(script),
    wide and lag(script),
  }, "; ")
end

local MAIN, ERRORS = 2, 8

local function scripts(list, view)
  local rows = text_table.new("SCRIPT", "MAIN", ">HANDLERS", ">PENDING", ">ADDS", ">UPDATES", ">DELETES", ">ERRORS",
    ">MEMORY")
  for _, script in ipairs(list) do
    rows:add(shown(script.name), shown(script.mainState), int(script.handlers), int(script.pending), int(script.adds),
      int(script.updates), int(script.deletes), int(script.errors), units.bytes(int(script.memoryBytes)))
    if int(script.errors) ~= 0 then rows:tint(ERRORS, "bad") end
    if script.mainState == "failed" then rows:tint(MAIN, "bad") end
    rows:note(note_of(script, view))
  end
  return rows:block(view)
end

-- Parameters with where each was set, in the wide form.
local function params(list, view)
  local rows = text_table.new("PARAMETER", "SCRIPT", "VALUE", "SOURCE")
  for _, script in ipairs(view.wide and list or {}) do
    for _, param in ipairs(items(script.params)) do
      local rule = text(param.rule)
      rows:add((rule ~= "" and rule .. "." or "") .. text(param.name), shown(script.name), shown(param.value),
        shown(param.source))
    end
  end
  return rows:block(view)
end

-- States that outlive the process, with where they are kept.
local function states(list, view)
  local rows = text_table.new("STATE", "SCRIPT", "KEPT IN", ">BYTES", ">WRITTEN")
  for _, script in ipairs(list) do
    for _, state in ipairs(items(script.states)) do
      local place = text(state.place) ~= "" and state.place or text(state.keep)
      rows:add(text(state.name), shown(script.name), place, units.bytes(int(state.bytes)),
        values.age(view.now, state.written))
      if state.read ~= true then rows:note "not read yet" end
      if state.changed == true then rows:note "changed since" end
      rows:note(text(state.error))
    end
  end
  return rows:block(view)
end

-- Events that are stored for other systems, and not delivered yet.
local function sinks(list, view)
  local rows = text_table.new("SINK", "SCRIPT", "TO", ">EVENTS", ">SPOOL", ">WAITING")
  for _, script in ipairs(list) do
    for _, sink in ipairs(items(script.sinks)) do
      rows:add(text(sink.name), shown(script.name), text(sink.scheme), int(sink.events), units.bytes(int(sink.bytes)),
        int(sink.waiting))
      if text(sink.error) ~= "" then rows:tint(4, "bad") end
      rows:note(text(sink.error))
    end
  end
  return rows:block(view)
end

-- --- clusters, leases and timers

local function state_of(cluster, now)
  local lost = units.time(cluster.unreachableSince)
  if lost ~= 0 then return ("unreachable for %s: %s"):format(units.duration(now - lost), text(cluster.unreachable)) end
  if text(cluster.discoveryError) ~= "" then return text(cluster.discoveryError) end
  return cluster.known == true and "ok" or "waiting for discovery"
end

-- Of an engine with several.
local function clusters(list, view)
  local rows = text_table.new("CLUSTER", "SERVER", "SOURCE", "STATE")
  for _, cluster in ipairs(list) do
    local state = state_of(cluster, view.now)
    rows:add(text(cluster.name) .. (cluster.home == true and " (home)" or ""), shown(cluster.server),
      shown(cluster.source), state)
    rows:tint(4, state == "ok" and "good" or "bad")
  end
  return rows:block(view)
end

local function leases(list, view)
  local rows = text_table.new("LEASE", "LEADER", "HOLDER", ">AGE", ">RENEWED")
  for _, lease in ipairs(list) do
    local leads = lease.leader == true
    rows:add(text(lease.namespace) .. "/" .. text(lease.name), leads and "this process" or "no", shown(lease.holder),
      values.age(view.now, lease.since), values.age(view.now, lease.renewed))
    rows:tint(2, leads and "good" or "waiting")
    if not leads then rows:note("this process is " .. text(lease.identity)) end
    rows:note(text(lease.cause))
  end
  return rows:block(view)
end

-- Schedules, and in the wide form the others too.
local function timers(list, view)
  local rows = view.wide and text_table.new("TIMER", ">DUE IN", ">RUNNING", ">SKIPPED", "PLACE")
    or text_table.new("SCHEDULE", ">DUE IN", ">RUNNING", ">SKIPPED")
  for _, timer in ipairs(list) do
    if view.wide or timer.kind == "cron" then
      local due = units.time(timer.due)
      rows:add(shown(timer.timer), due ~= 0 and units.duration(due - view.now) or "-", int(timer.calls),
        int(timer.skipped), shown(timer.place))
      if int(timer.skipped) ~= 0 then rows:tint(4, "waiting") end
      if timer.leader == true then rows:note "on the leader only" end
    end
  end
  return rows:block(view)
end

return function(status, view)
  local engine = items(status.engine)
  view.now = units.time(engine.now)
  view.unreachable = units.time(engine.unreachableSince) ~= 0
  return table.concat {
    head(engine, view),
    clusters(items(engine.clusters), view),
    audit(status.audit, view),
    scripts(items(status.scripts), view),
    params(items(status.scripts), view),
    states(items(status.scripts), view),
    sinks(items(status.scripts), view),
    leases(items(status.leases), view),
    informers(items(status.informers), view),
    queues.table(items(status.queues), view):block(view),
    timers(items(status.timers), view),
  }
end
