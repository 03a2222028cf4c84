-- Waits until something about a server or an engine holds: await(condition, what, seconds) asks again and again, and
-- gives what condition() gave. `what`, a text or a function that gives one, is said when it does not come within the
-- seconds (30). What a process prints is waited for by proc:wait_line and proc:wait_until.
local proc = require "spec.support.proc"

return function(condition, what, seconds)
  local deadline = proc.now() + (seconds or 30)
  while true do
    local found = condition()
    if found then return found end
    if proc.now() > deadline then
      error(("not within %g s: %s"):format(seconds or 30, type(what) == "function" and what() or what), 2)
    end
  end
end
