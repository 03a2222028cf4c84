-- Cost of single steps in Lua, on one pod that the script retains.
local k8s = require "k8s"
local subject = require "subject"

local ROUNDS, CALLS = 101, 10000

-- Nanoseconds of one call of the loop's body: the median of many short loops, in CPU time.
local function median(loop)
  local times = {}
  for i = 1, ROUNDS do
    local start = os.clock()
    loop(CALLS)
    times[i] = (os.clock() - start) / CALLS * 1e9
    k8s.sleep "1ms"
  end
  table.sort(times)
  return times[(ROUNDS + 1) / 2]
end

local function handler(_, new)
  local meta, spec, status = new.metadata, new.spec, new.status
  return meta.namespace, meta.name, meta.uid, meta.resourceVersion, spec.nodeName, spec.serviceAccountName,
    status.phase, status.podIP
end

subject.start({}, function(pods)
  local obj = pods:lister():list()()
  local meta = obj.metadata
  return {
    step_ns = median(function(n)
      local name
      for _ = 1, n do name = meta.name end
      return name
    end),
    name_ns = median(function(n)
      local name
      for _ = 1, n do name = obj.metadata.name end
      return name
    end),
    handler_ns = median(function(n)
      for _ = 1, n do handler(obj, obj) end
    end),
  }
end)
