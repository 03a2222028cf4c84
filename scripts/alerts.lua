-- Restarts the Deployment that a firing alert of Alertmanager names by its labels, once in ten minutes.
--   kubelua run -f scripts/alerts.lua --webhook-tls-cert-file FILE --webhook-tls-private-key-file FILE
-- with the token in the Secret kubelua/alerts, or in KUBELUA_PARAM_TOKEN; in Alertmanager:
--   webhook_configs: [{ url: "https://kubelua:9443/hooks/alerts", http_config: { authorization: { credentials: T } } }]
local k8s = require "k8s"

local settings = k8s.params {
  token = { type = "secret", from = "secret:kubelua/alerts/token", help = "sent by Alertmanager" },
}

k8s.writes { "deployments:patch" }

local restarted = k8s.state("restarted", { init = {} }) -- times, by key

local function restart(alert)
  local labels = alert.labels or {}
  local key = tostring(labels.namespace) .. "/" .. tostring(labels.deployment)
  if alert.status ~= "firing" or not labels.deployment or k8s.now() - (restarted[key] or 0) < 600 then
    return
  end
  restarted[key] = k8s.now()
  local done, err = k8s.restart { kind = "deployments", namespace = labels.namespace, name = labels.deployment }
  print(key, done and "restarted" or err)
end

k8s.webhook {
  path = "/hooks/alerts",
  token = function() return settings.token end,
  leader = true,
  fn = function(request)
    local group, err = k8s.json.decode(request.body)
    if type(group) ~= "table" or type(group.alerts) ~= "table" then
      return { status = 400, body = "no group of alerts: " .. tostring(err) }
    end
    for _, alert in ipairs(group.alerts) do
      restart(alert)
    end
  end,
}
