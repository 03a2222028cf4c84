-- Prints how long pods were pending, and continues to count when this file changes.
--   kubelua run -f scripts/pending_since.lua
local k8s = require "k8s"

-- What is in here survives a reload; version 1 had a time for each pod in the table itself.
local pending = k8s.state("pending", {
  version = 2,
  init = { since = {}, ended = 0 },
  migrate = function(old) return { since = old, ended = 0 } end,
})

local function look(pod)
  local key = pod:key()
  local since = pending.since[key]
  if pod:get "status.phase" == "Pending" then
    pending.since[key] = since or k8s.now()
  elseif since then
    pending.since[key] = nil
    pending.ended = pending.ended + 1
    local pods = pending.ended == 1 and "pod" or "pods"
    print(("%s was pending for %.0f s, %d %s so far"):format(key, k8s.now() - since, pending.ended, pods))
  end
end

k8s.informer("pods"):add_event_handler {
  OnAdd = look,
  OnUpdate = function(_, new) look(new) end,
  OnDelete = function(last) pending.since[last:key()] = nil end,
}
