-- Beside a script that misbehaves: how long after its bytes came each update of the ConfigMap `neighbour` is told, and
-- how late a timer of 10 ms ticks. For as long as its data say, from the first one on; then it prints the count, p50,
-- p99 and the most in milliseconds, how many took more than 60 ms, and the most of the timer and of the updates in
-- CPU time of the engine thread, which a busy machine leaves alone.
local k8s = require "k8s"

local PERIOD = 0.01
local late, of_timer, of_updates = {}, 0, 0
local ticks = { { k8s.now(), os.clock() } } -- when, by the clock on the wall and by that of the thread; the last 100

local function milliseconds(seconds)
  return math.ceil(seconds * 1000)
end

local function share(part)
  return milliseconds(late[math.max(1, math.ceil(#late * part))])
end

local function report()
  table.sort(late)
  local slow = 0
  for _, seconds in ipairs(late) do
    slow = slow + (seconds > 0.06 and 1 or 0)
  end
  print("neighbour", #late, share(0.5), share(0.99), share(1), slow, milliseconds(of_timer), milliseconds(of_updates))
end

local ticking
k8s.every("10ms", function()
  local cpu = os.clock()
  if ticking then
    of_timer = math.max(of_timer, cpu - ticks[#ticks][2] - PERIOD)
  end
  ticking = true
  ticks[#ticks + 1] = { k8s.now(), cpu }
  if #ticks > 100 then
    table.remove(ticks, 1)
  end
end)

-- CPU time since an instant, at most: what the thread had used by the last tick before that.
local function cpu_since(time)
  local at = #ticks
  while at > 1 and ticks[at][1] > time do
    at = at - 1
  end
  return os.clock() - ticks[at][2]
end

k8s.informer("configmaps"):add_event_handler {
  where = { ["metadata.name"] = "neighbour" },
  OnUpdate = function(_, object, ev)
    if #late == 0 then
      k8s.after(object.data.duration, report)
    end
    late[#late + 1] = k8s.now() - ev.time
    of_updates = math.max(of_updates, math.min(late[#late], cpu_since(ev.time)))
  end,
}
