-- Calls the function given to q:run, for one key.
local raw = ...

local result = raw.job.result

return function(work, key, job)
  result(job, work(key, job))
end
