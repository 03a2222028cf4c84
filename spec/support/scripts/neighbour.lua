-- Beside a script that misbehaves: how long after its bytes came each update of the ConfigMap `neighbour` is told. For
-- as long as its data say, from the first one on; then it prints the count, p50, p99 and the most in milliseconds, and
-- how many took more than 60 ms.
local k8s = require "k8s"

local late = {}

local function milliseconds(share)
  return math.ceil(late[math.max(1, math.ceil(#late * share))] * 1000)
end

local function report()
  table.sort(late)
  local slow = 0
  for _, seconds in ipairs(late) do
    slow = slow + (seconds > 0.06 and 1 or 0)
  end
  print("neighbour", #late, milliseconds(0.5), milliseconds(0.99), milliseconds(1), slow)
end

k8s.informer("configmaps"):add_event_handler {
  where = { ["metadata.name"] = "neighbour" },
  OnUpdate = function(_, object, ev)
    if #late == 0 then
      k8s.after(object.data.duration, report)
    end
    late[#late + 1] = k8s.now() - ev.time
  end,
}
