-- Notifies a webhook of nodes that are no longer ready. The operator allows its server and sets its address:
--   kubelua run -f scripts/notify.lua --allow-http hooks.example.com
local k8s = require "k8s"
local http = require "http"

local HOOK = "https://hooks.example.com/nodes"

local function is_ready(node)
  local status = node:get "status.conditions[?type=='Ready'].status"
  return status and status[1] == "True"
end

k8s.informer("nodes"):on_update(function(old, new)
  if is_ready(new) or not is_ready(old) then return end
  local answer, err = http.request {
    url = HOOK,
    method = "POST",
    headers = { ["Content-Type"] = "application/json" },
    body = k8s.json.encode { text = new:name() .. " is not ready" },
    timeout = "5s",
  }
  if not answer then
    k8s.log.warn("The hook was not told", { node = new:name(), err = tostring(err) })
  elseif answer.status >= 300 then
    k8s.log.warn("The hook refused", { node = new:name(), status = answer.status })
  end
end)
