-- `kubelua top`: what takes an engine's time, as the difference between two replies to `status`.
local text_table = require "tool.table"
local units = require "tool.units"
local values = require "tool.view.values"

local int, items, text = values.int, values.items, values.text

local INTERVAL_MIN_MS = 100

-- --- differences

-- Fields of `now` that count, less what they were in `before`.
local FIELDS = { "cpuMilliseconds", "calls", "callMicroseconds", "timedCalls", "latencyMicroseconds", "errors" }

-- `before` may be nil, of what was not there.
local function since(now, before)
  local change = {}
  for _, field in ipairs(FIELDS) do
    -- A counter that began again, as after a reload, counts from its start.
    local was = before and int(before[field]) or 0
    change[field] = was <= int(now[field]) and int(now[field]) - was or int(now[field])
  end
  return change
end

local function by(list, key)
  local found = {}
  for _, one in ipairs(items(list)) do found[text(one[key])] = one end
  return found
end

local function per_second(n, ms) return ms > 0 and n * 1000 / ms or 0 end

-- Figures of a row, by which rows are sorted.
local function row_of(name, change, ms, more)
  return {
    name = name,
    cpu = ms > 0 and change.cpuMilliseconds * 100 / ms or 0,
    events = per_second(change.calls, ms),
    latency = change.timedCalls > 0 and change.latencyMicroseconds / change.timedCalls or nil,
    call = change.calls > 0 and change.callMicroseconds / change.calls or nil,
    errors = per_second(change.errors, ms),
    pending = int(more.pending),
    memory = more.memoryBytes and int(more.memoryBytes) or nil,
  }
end

local function handlers_of(script, before, ms)
  local rows, known = {}, by(before and before.eventHandlers, "id")
  local sum = { calls = 0, callMicroseconds = 0, timedCalls = 0, latencyMicroseconds = 0 }
  for i, handler in ipairs(items(script.eventHandlers)) do
    local change = since(handler, known[text(handler.id)])
    for field in pairs(sum) do sum[field] = sum[field] + change[field] end
    rows[i] = row_of("  " .. text(handler.id), change, ms, handler)
  end
  return rows, sum
end

local function scripts_of(now, before, ms)
  local rows, known = {}, by(before.scripts, "name")
  for i, script in ipairs(items(now.scripts)) do
    local was = known[text(script.name)]
    local change, handlers, sum = since(script, was), handlers_of(script, was, ms)
    for field, n in pairs(sum) do change[field] = n end
    rows[i] = row_of(text(script.name), change, ms, script)
    rows[i].handlers = handlers
  end
  return rows
end

local function caches_of(now, before, ms)
  local rows, known = {}, by(before.informers, "name")
  for i, informer in ipairs(items(now.informers)) do
    local was = known[text(informer.name)]
    local events = math.max(int(informer.events) - int(was and was.events), 0)
    rows[i] = {
      name = text(informer.name), objects = int(informer.objects), memory = int(informer.bytes),
      events = per_second(events, ms),
    }
  end
  table.sort(rows, function(a, b) return a.memory > b.memory or a.memory == b.memory and a.name < b.name end)
  return rows
end

-- --- tables

-- The most first; names in their order.
local function sort(rows, key)
  table.sort(rows, function(a, b)
    local x, y = a[key] or -1, b[key] or -1
    if key == "name" or x == y then return a.name < b.name end
    return x > y
  end)
end

local function rate(n) return n >= 100 and ("%.0f"):format(n) or n > 0 and ("%.1f"):format(n) or "0" end

-- A mean of microseconds.
local function span(us)
  if not us then return "-" end
  if us < 1000 then return ("%.0fus"):format(us) end
  if us < 1e6 then return ("%.1fms"):format(us / 1e3) end
  return ("%.1fs"):format(us / 1e6)
end

local function add(rows, row)
  rows:add(row.name, ("%.1f%%"):format(row.cpu), rate(row.events), span(row.latency), span(row.call), row.pending,
    rate(row.errors), row.memory and units.bytes(row.memory) or "-")
  if row.pending > 0 then rows:tint(6, "waiting") end
  if row.errors > 0 then rows:tint(7, "bad") end
end

local function scripts_table(rows, view)
  local out = text_table.new("SCRIPT", ">CPU", ">EVENTS/S", ">LATENCY", ">CALL", ">PENDING", ">ERRORS/S", ">MEMORY")
  for _, row in ipairs(rows) do
    add(out, row)
    -- A single one has the numbers of its script.
    for _, handler in ipairs(#row.handlers > 1 and row.handlers or {}) do add(out, handler) end
  end
  out.keeps_ends = true -- scripts of one folder, each on one line
  return out:block(view)
end

local function caches_table(rows, view)
  local out = text_table.new("CACHE", ">OBJECTS", ">MEMORY", ">EVENTS/S")
  for _, row in ipairs(rows) do out:add(row.name, row.objects, units.bytes(row.memory), rate(row.events)) end
  return out:block(view)
end

local function head(now, before, ms)
  local engine, cpu = now.engine, 0
  if ms > 0 then cpu = (int(engine.cpuMilliseconds) - int(before.engine.cpuMilliseconds)) * 100 / ms end
  return ("kubelua %s  up %s  cpu %.1f%%  memory %s  %s\n"):format(text(engine.version),
    units.duration(math.floor(int(engine.uptimeMilliseconds) / 1000)), cpu, units.bytes(int(engine.memoryBytes)),
    text(engine.server))
end

-- --- the screen

-- Two thirds of the lines are for scripts; what is cut off is counted.
local function cut(block, lines)
  local all = {}
  for line in block:gmatch "[^\n]*\n" do all[#all + 1] = line end
  if #all <= lines then return block end
  return table.concat(all, "", 1, lines - 1) .. ("... and %d more lines\n"):format(#all - lines + 1)
end

local function screen(command, now, before)
  local view, ms = command.view, int(now.engine.uptimeMilliseconds) - int(before.engine.uptimeMilliseconds)
  local key = command.flags["sort-by"]
  local scripts = scripts_of(now, before, ms)
  sort(scripts, key)
  for _, row in ipairs(scripts) do sort(row.handlers, key) end
  local top, bottom = scripts_table(scripts, view), caches_table(caches_of(now, before, ms), view)
  if view.height > 0 and not command.flags.once then
    local lines = view.height - 2
    local few = math.min(select(2, bottom:gsub("\n", "")), math.max(math.floor(lines / 3), 3))
    bottom = cut(bottom, few)
    top = cut(top, lines - few)
  end
  return head(now, before, ms) .. top .. bottom
end

return function(command)
  local flags = command.flags
  if flags.interval < INTERVAL_MIN_MS then
    command.fail(command.USAGE, ("--interval must be at least %d ms"):format(INTERVAL_MIN_MS))
  end
  local before = command.request("status"):value()
  local once = flags.once or command.view.width == 0
  repeat
    command.host.sleep(flags.interval)
    local now = command.request("status"):value()
    local page = screen(command, now, before)
    -- From the top left on; what was longer before is cleared.
    if not once then page = "\27[H" .. page:gsub("\n", "\27[K\n") .. "\27[J" end
    if not command.write(page) then command.fail(command.USAGE, "cannot write to stdout") end
    before = now
  until once
  return command.OK
end
