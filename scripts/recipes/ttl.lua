-- Deletes namespaces with the annotation `recipes/ttl` ("36h", "7d") when they are older than that, and Jobs that ended
-- longer ago than `job_ttl`, except those that have a ttlSecondsAfterFinished of their own.
--   kubelua run -f scripts/ttl.lua --param job_ttl=2d
local k8s = require "k8s"

k8s.writes { "namespaces:delete", "jobs.batch:delete" }

local settings = k8s.params {
  job_ttl = { type = "duration", default = "1d", help = "how long ended jobs are kept" },
}

local TTL = "recipes/ttl"

-- A queue whose keys come back when their time has come.
local function expire(informer, name, seconds_left)
  local queue = k8s.queue { name = name }
  informer:add_event_handler { OnAdd = queue:enqueuer(), OnUpdate = queue:enqueuer() }
  queue:run(function(key, job)
    local object = informer:lister():get(key)
    local left = object and not object.metadata.deletionTimestamp and seconds_left(object)
    if not left then return end
    if left > 0 then
      job:after(math.min(left, 86400))
      return
    end
    local this = { uid = object.metadata.uid }
    local deleted, err = k8s.delete(object, { propagation = "Background", precondition = this })
    if not deleted and err.reason ~= "NotFound" then return nil, err end
    print(("%s %s has expired"):format(name, key))
  end)
end

expire(k8s.informer "namespaces", "namespace", function(namespace)
  local text = namespace:annotation(TTL)
  if not text then return nil end
  local ok, ttl = pcall(k8s.time.duration, text)
  if not ok then
    k8s.log.warn("Not a duration", { namespace = namespace:name(), annotation = TTL, value = text })
    return nil
  end
  return ttl - namespace:age()
end)

expire(k8s.informer "jobs.batch", "job", function(job)
  if job.spec.ttlSecondsAfterFinished then return nil end
  local ended = job:condition "Complete" or job:condition "Failed"
  if not ended or ended.status ~= "True" then return nil end
  return settings.job_ttl - (k8s.now() - k8s.time.parse(ended.lastTransitionTime))
end)
