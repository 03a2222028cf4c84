-- Tells a webhook of containers that restart again and again: once for each container and `quiet`, with retries, and
-- with the reason of the last end.
--   kubelua run -f scripts/restart_alerts.lua --allow-http hooks.example.com \
--     --param webhook=https://hooks.example.com/alerts
local k8s = require "k8s"
local http = require "http"

local settings = k8s.params {
  webhook = { type = "url", default = "https://hooks.example.com/alerts", help = "where alerts are posted" },
  token = { type = "secret", help = "sent as a bearer token" },
  restarts = { type = "integer", default = 3, min = 1, help = "restarts within `window` that are an alert" },
  window = { type = "duration", default = "15m", min = 60 },
  quiet = { type = "duration", default = "1h", help = "no second alert for a container within this time" },
}

local pods = k8s.informer "pods"
local queue = k8s.queue { name = "alerts", max_retries = 10 }
-- By "namespace/pod/container": times of its restarts, and of its last alert.
local seen = k8s.state("seen", { init = {} })

local function note(old, new)
  local before = {}
  for _, status in ipairs(old:get "status.containerStatuses" or {}) do before[status.name] = status.restartCount end
  for _, status in ipairs(new:get "status.containerStatuses" or {}) do
    if status.restartCount > (before[status.name] or 0) then
      local id = new:key() .. "/" .. status.name
      local one = seen[id] or { times = {}, alerted = 0 }
      local times = { k8s.now() }
      for _, time in ipairs(one.times) do
        if k8s.now() - time < settings.window then times[#times + 1] = time end
      end
      seen[id] = { times = times, alerted = one.alerted }
      if #times >= settings.restarts and k8s.now() - one.alerted >= settings.quiet then queue:add(id) end
    end
  end
end

pods:add_event_handler {
  OnUpdate = note,
  OnDelete = function(pod)
    for _, status in ipairs(pod:get "status.containerStatuses" or {}) do seen[pod:key() .. "/" .. status.name] = nil end
  end,
}

queue:run(function(id)
  local key, container = id:match "^(.*)/([^/]+)$"
  local pod, one = key and pods:lister():get(key), seen[id]
  if not pod or not one then return end
  local why = pod:get(("status.containerStatuses[?name=='%s'].lastState.terminated"):format(container))
  why = why and why[1] or {}
  local text = ("%s: container %s restarted %d times: %s (exit code %s)"):format(key, container, #one.times,
    why.reason or "unknown", tostring(why.exitCode or "unknown"))
  local headers = { ["Content-Type"] = "application/json" }
  if settings.token then headers.Authorization = "Bearer " .. settings.token end
  local answer, err = http.request { url = settings.webhook, method = "POST", headers = headers, timeout = "10s",
    body = k8s.json.encode { text = text, pod = key, container = container } }
  if not answer then return nil, err end
  if answer.status >= 500 or answer.status == 429 then return nil, "the webhook answered " .. answer.status end
  if answer.status >= 300 then k8s.log.error("The webhook refused", { status = answer.status }) end
  seen[id] = { times = one.times, alerted = k8s.now() }
  print(text)
end)
