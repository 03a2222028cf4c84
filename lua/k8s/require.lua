-- `require`. The chunk of a module is called from here: unlike one that C calls, it can pause and wait.
local raw = ...

local find, keep = raw.require, raw.keep_module

return function(name)
  local value, chunk = find(name)
  if chunk then
    return keep(name, chunk(name))
  end
  return value
end
