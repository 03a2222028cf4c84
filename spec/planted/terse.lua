-- Terse: short names, calls without parentheses, several statements on a line.
local K = require"k8s"; local http = require"http"

local S = K.params{
  hook = { type="url", default="https://hooks.example.com/x" },
  age = { type="duration", default="7d" },
  keep = { type="integer", default=5, min=1 },
}
K.reads{ "events:list", "pods:get" }; K.writes{ "pods:delete", "pods/eviction:create", "namespaces:patch" }

local P = K.informer("po", { fields={ "spec.nodeName", "status.phase", "metadata.labels" } })
local N = K.informer"ns"; N:add_index("phase", "status.phase")
local seen = K.state("seen", { init={ n=0 }, version=2, migrate=function(old) return old end })
local total = K.metric.counter("gone_total", "Pods that are gone.", { "namespace" })

local function send(s)
  local a, e = http.request{ url=S.hook, method="POST", body=K.json.encode{ text=s }, timeout="5s" }
  if not a then K.log.warn("not sent", { err=tostring(e) }) end
end

P:on_delete(function(p)
  seen.n = seen.n + 1; total:inc(1, { namespace=p:namespace() })
  if p.status.phase == "Failed" then send(p:key()) end
end, { id="gone", debounce="2s" })

N:on_add(function(n)
  local c = n:copy(); c.metadata.labels = c.metadata.labels or {}; c.metadata.labels.seen = "yes"
  return K.patch(n, { metadata={ labels=c.metadata.labels, annotations={ old=K.null } } })
end, { filter=function(n) return n.status.phase == "Active" end })

K.cron("0 3 * * mon-fri", function()
  if not P:wait_for_sync"1m" then return end
  for p in P:lister():list"!keep" do
    local fresh, e = K.get("pods", p:key())
    if fresh and fresh:age() > S.age then
      local ok, why = K.evict(fresh, { grace_period="30s" })
      if not ok then return nil, why end
    elseif e and e.code ~= 404 then return nil, e end
  end
end, { tz="Europe/Berlin", overlap="skip" })

K.command("few", function(n)
  local rows = {}
  for _, p in ipairs(P:query():where("status.phase", "=", "Running"):limit(tonumber(n) or S.keep):rows()) do
    rows[#rows+1] = { name=p:key(), node=p.spec.nodeName, team=p:label"example.com/team" }
  end
  return rows
end, { help="Some pods." })

K.after(60, function() local t = K.time.parse"2026-01-01T00:00:00Z"; print(t, seen.n) end)
