-- Lua's coroutine library for scripts. A coroutine of the script's own that waits for the engine has all
-- coroutines around it wait too, up to the one that the engine runs, and none of that shows in the script.
local raw = ...

local create, resume, status, yield = coroutine.create, coroutine.resume, coroutine.status, coroutine.yield
local running, isyieldable = coroutine.running, coroutine.isyieldable
local check_stack, refuse, raise_from = raw.check_stack, raw.task.refuse, raw.task.raise_from
local paused, unpause = raw.task.paused, raw.task.unpause
local YIELDED = raw.task.yielded
local busy = raw.task.busy -- those of the engine, and the script's own that wait for it

local own = {}

-- `...` is what resume gave. A yield to the engine is passed on to whoever resumed this coroutine. So is a pause, which
-- left `co` between two instructions, where it goes on without values.
local function pass(co, ...)
  local ok, first = ...
  if ok and first == nil and paused(co) then
    if isyieldable() then
      busy[co] = true
      yield(YIELDED)
      busy[co] = nil
    else
      unpause()
    end
    return pass(co, resume(co))
  end
  if not ok or first ~= YIELDED then
    return ...
  end
  if isyieldable() then
    busy[co] = true
    yield(YIELDED)
    busy[co] = nil
  else
    refuse()
  end
  return pass(co, resume(co, YIELDED))
end

local function check(where, value, expected)
  if type(value) ~= expected then
    raw.raise(where .. ": expected a " .. expected .. ", not " .. type(value))
  end
end

function own.resume(co, ...)
  check_stack()
  check("coroutine.resume", co, "thread")
  if busy[co] then
    return false, "cannot resume a coroutine that is waiting for the engine"
  end
  return pass(co, resume(co, ...))
end

local function unwrap(co, ok, ...)
  if ok then
    return ...
  end
  raise_from(co, (...))
end

function own.wrap(f)
  check("coroutine.wrap", f, "function")
  local co = create(f)
  return function(...)
    return unwrap(co, own.resume(co, ...))
  end
end

function own.yield(...)
  if busy[running()] then
    raw.raise "attempt to yield from outside a coroutine"
  end
  return yield(...)
end

-- The engine's own coroutines are none that a script can do anything with: nil, as in Lua's main program.
function own.running()
  local co = running()
  if not busy[co] then
    return co
  end
  return nil
end

function own.isyieldable()
  return not busy[running()] and isyieldable()
end

function own.status(co)
  check("coroutine.status", co, "thread")
  return busy[co] and "normal" or status(co)
end

return own
