-- Verbs that wait: their C function yields the coroutine to the engine, which wakes it when there are results.
local raw = ...

local YIELDED, results = raw.task.yielded, raw.task.results

-- task.made(thing, ending): set by k8s.each_kind, and called with what a function makes and the method that ends it.
local task = {}

-- The name of the cluster that the function under way is about; none: the home cluster. Set by k8s.cluster.
function task.cluster()
  return nil
end

-- Results of a verb that had them at once are as they are.
local function finish(...)
  local first = ...
  if first == YIELDED then
    return results()
  end
  return ...
end

-- Returns the function for scripts from the C function of one that may wait.
function task.blocking(verb)
  return function(...)
    return finish(verb(...))
  end
end

return task
