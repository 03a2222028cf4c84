-- k8s.log: structured log lines, with the script's name and line.
local raw = ...

local log = {}
for number, level in ipairs { "debug", "info", "warn", "error" } do
  log[level] = function(message, fields)
    return raw.log(number - 1, message, fields)
  end
end

return log
