-- k8s.retry_on_conflict: a write once more, when somebody else was quicker.
local raw = ...

local sleep = require("k8s.task").blocking(raw.time.sleep)

-- client-go's retry.DefaultRetry.
local STEPS, PAUSE, JITTER = 5, 0.010, 0.1

local function is_conflict(err)
  return type(err) == "table" and err.reason == "Conflict"
end

-- The last digits of the clock are as random as this needs to be.
local function pause()
  sleep(PAUSE * (1 + JITTER * (raw.time.now() * 1e6 % 1000 / 1000)))
end

local function attempt(step, fn, ok, first, err, ...)
  local conflict = not ok and is_conflict(first) or ok and first == nil and is_conflict(err)
  if conflict and step < STEPS then
    pause()
    return attempt(step + 1, fn, pcall(fn))
  end
  if not ok then
    error(first, 0)
  end
  return first, err, ...
end

-- k8s.retry_on_conflict(fn): calls it, and again while it returns nil, err or raises an err with the reason "Conflict",
-- five times at most. It reads the object anew, changes and writes it.
return function(fn)
  if type(fn) ~= "function" then
    raw.raise("k8s.retry_on_conflict: expected a function, not " .. type(fn))
  end
  return attempt(1, fn, pcall(fn))
end
