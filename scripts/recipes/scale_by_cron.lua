-- Scales Deployments and StatefulSets down to zero, or to any number, and back by schedules in their annotations:
--   recipes/down: "0 20 * * mon-fri"      recipes/up: "0 7 * * mon-fri"
--   recipes/down-replicas: "0"            recipes/tz: "Europe/Berlin"
-- The replicas before are kept in an annotation. A missed time is made up for: the one that came last counts.
--   kubelua run -f scripts/scale_by_cron.lua
local k8s = require "k8s"

k8s.writes { "deployments:patch", "statefulsets:patch" }

local DOWN, UP, LEFT, TZ = "recipes/down", "recipes/up", "recipes/down-replicas", "recipes/tz"
local BEFORE = "recipes/replicas-before"

-- Whether it should be down now, and when that changes next. Raises for what is no schedule.
local function plan(workload)
  local options = { tz = workload:annotation(TZ) or "UTC" }
  local down = k8s.schedule(workload:annotation(DOWN), options)
  local up = k8s.schedule(workload:annotation(UP), options)
  local is_down = (down:last() or 0) > (up:last() or 0)
  return is_down, math.min(down:next() or math.huge, up:next() or math.huge)
end

-- Both or neither: a count that is remembered is one that was left.
local function set(workload, replicas, before)
  local patch = { metadata = { annotations = { [BEFORE] = before } }, spec = { replicas = replicas } }
  return k8s.patch(workload, patch, { lock = true })
end

local function reconcile(workload, job)
  if not workload:annotation(DOWN) or not workload:annotation(UP) then return end
  local ok, is_down, next_change = pcall(plan, workload)
  if not ok then
    k8s.log.warn("Not a schedule", { object = workload:key(), err = is_down })
    return
  end
  local before, replicas = workload:annotation(BEFORE), workload.spec.replicas or 1
  local done, err
  if is_down and not before then
    local left = tonumber(workload:annotation(LEFT) or 0) or 0
    done, err = set(workload, left, tostring(replicas))
    if done then print(("%s: %d -> %d"):format(workload:key(), replicas, left)) end
  elseif not is_down and before then
    done, err = set(workload, tonumber(before) or 1, k8s.null)
    if done then print(("%s: back to %s"):format(workload:key(), before)) end
  end
  if err then
    job:retry(err)
    return
  end
  job:after(math.max(1, next_change - k8s.now()))
end

for _, kind in ipairs { "deployments", "statefulsets" } do
  local workloads = k8s.informer(kind)
  local queue = k8s.queue { name = kind }
  workloads:add_event_handler { OnAdd = queue:enqueuer(), OnUpdate = queue:enqueuer() }
  queue:run(function(key, job)
    local workload = workloads:lister():get(key)
    if workload then reconcile(workload, job) end
  end)
end
