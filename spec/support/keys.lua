-- A command on a terminal, for specs that press keys. Everything that was opened here is ended by keys.stop_all, which
-- belongs into an after_each.
local proc = require "spec.support.proc"

local keys = {}

local running = {}

-- `words` as a shell takes them; env: more environment. p:write presses keys, p.sees(pattern) waits until the terminal
-- shows it, behind what was seen before.
function keys.open(words, env)
  local all = { TERM = "xterm" }
  for name, value in pairs(env or {}) do all[name] = value end
  -- exec: in place of the shell, which ^C ends too when it has run its command: by 130, whatever that gave.
  local p = proc.spawn { "script", "-qec", "exec " .. words, "/dev/null", env = all }
  running[#running + 1] = p
  function p.sees(pattern, seconds)
    local from = p.looked or 1
    p:wait_until(function()
      local _, stop = p.streams.out.text:find(pattern, from)
      p.looked = stop and stop + 1 or from
      return stop
    end, pattern, seconds)
  end
  return p
end

-- At `kubelua repl` ^C ends a line that waits, and drops one that is not complete.
function keys.interrupt(p)
  p:write 'print "waits" k8s.sleep "1h"\r'
  p.sees "\nwaits"
  p:write "\3"
  p.sees "interrupted"
  p:write "for i = 1, 2 do\r"
  p.sees "%.%.%. "
  p:write "\3"
  p.sees "kubelua> "
end

-- `kubelua repl` still answers, and ends at ^D; its exit code.
function keys.leave(p)
  p:write "40 + 2\r"
  p.sees "\n42"
  p.sees "kubelua> "
  p:write "\4"
  return p:wait()
end

function keys.stop_all()
  for i = #running, 1, -1 do
    running[i]:kill "KILL"
    running[i]:wait()
    running[i] = nil
  end
end

return keys
