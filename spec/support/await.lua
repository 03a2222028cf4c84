-- Waits until something about a server or an engine holds: await(condition, what, seconds) checks again and again, and
-- gives what condition() gave. `what`, a text or a function that gives one, is said when it does not come within the
-- seconds (60). What a process prints is waited for by proc:wait_line and proc:wait_until.
-- To ask is to start curl or kubelua, and who does it all the time takes a core from the specs beside it: between two
-- questions lies a twentieth of the time that was waited so far.
local ffi = require "ffi"
local proc = require "spec.support.proc"

local PAUSE_MAX_MS = 100

return function(condition, what, seconds)
  local began = proc.now()
  seconds = proc.patience(seconds)
  local deadline = began + seconds
  while true do
    local found = condition()
    if found then return found end
    if proc.now() > deadline then
      error(("not within %g s: %s"):format(seconds, type(what) == "function" and what() or what), 2)
    end
    ffi.C.poll(nil, 0, math.min(PAUSE_MAX_MS, (proc.now() - began) * 1000 / 20))
  end
end
