-- k8s.sleep, k8s.every, k8s.after, k8s.now, k8s.ago.
local raw = ...

local blocking = require("k8s.task").blocking

return {
  every = raw.time.every,
  after = raw.time.after,
  sleep = blocking(raw.time.sleep),
  now = raw.time.now,
  ago = raw.time.ago,
}
