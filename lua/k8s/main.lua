-- Calls the function given to k8s.main; the engine starts it once everything is synced.
local raw = ...

local result = raw.main_result

return function(main)
  result(main())
end
