-- The floor of measurements of CPU time: a fixed piece of work, done again and again with a pause before each, as an
-- engine has it. Its time differs only by the machine: cold caches after the pause, interrupts, what a host does.
local ffi = require "ffi"
require "spec.support.proc" -- declares clock_gettime and poll

ffi.cdef [[int getrusage(int, long *);]]
local C = ffi.C
local CLOCK_THREAD_CPUTIME_ID, RUSAGE_THREAD, PREEMPTIONS = 3, 1, 17 -- the last: ru_nivcsw, in longs
local MEMORY, READS, PAUSE_MS = 64 * 2 ^ 20, 4000, 3

local memory = ffi.new("uint8_t[?]", MEMORY)
local time, usage = ffi.new "long[2]", ffi.new "long[18]"
local floor = {}

local function thread_ms()
  C.clock_gettime(CLOCK_THREAD_CPUTIME_ID, time)
  return tonumber(time[0]) * 1e3 + tonumber(time[1]) / 1e6
end

local function preemptions()
  C.getrusage(RUSAGE_THREAD, usage)
  return tonumber(usage[PREEMPTIONS])
end

-- Reads of places far apart, each of which the one before tells, as objects lie that refer to others.
local function work()
  local at = 0
  for _ = 1, READS do at = (at * 65793 + 12345 + memory[at]) % MEMORY end
  return at
end

-- CPU time in milliseconds of the work in the middle of so many, and of the longest; without those from which another
-- process took the core.
function floor.pieces(count)
  local all = {}
  for _ = 1, count do
    C.poll(nil, 0, PAUSE_MS)
    local before, began = preemptions(), thread_ms()
    work()
    local took = thread_ms() - began
    if preemptions() == before then all[#all + 1] = took end
  end
  table.sort(all)
  return all[math.ceil(#all / 2)] or 0, all[#all] or 0
end

-- Compiles the work, and touches the memory once.
ffi.fill(memory, MEMORY, 1)
floor.pieces(10)

return floor
