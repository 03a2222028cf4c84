-- Calls the function given to k8s.command, with the words of the command line.
local raw = ...

local result = raw.command.result

return function(fn, ...)
  return result(fn(...))
end
