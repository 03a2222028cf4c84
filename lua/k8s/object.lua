-- k8s.object: the methods of whole objects as functions that take any view.
local raw = ...

local object = { is_view = raw.view.is }
for name, verb in pairs(raw.object) do
  object[name] = verb
end

return object
