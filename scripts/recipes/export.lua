-- Turns watch streams into events of a topic: a CloudEvent for each object of some kinds that is added, changed or
-- deleted, to NATS JetStream, Kafka, HTTP or a file, in the order of each object. What was stored is delivered in any
-- case; while the target takes nothing and the spool is full, changes in between are left out, the last one is not.
-- After a restart each object that is there comes once more, as added, with the id that it had: its uid and version.
-- Nothing is told of deletions while no engine ran.
--   kubelua run -f scripts/export.lua --state-dir /var/lib/kubelua --allow-sink nats://nats:4222 \
--     --param to=nats://nats:4222/kubernetes --param kinds=pods,deployments
local k8s = require "k8s"

local settings = k8s.params {
  to = { type = "string", default = "file:///var/lib/kubelua/export.jsonl", help = "target, as k8s.sink has it" },
  kinds = { type = "list", default = { "pods", "deployments" }, help = "kinds whose objects are exported" },
  source = { type = "string", default = "kubernetes", help = "the source of all events" },
  spool = { type = "string", default = "64Mi", help = "events that may wait on disk; then handlers wait" },
  user = { type = "string", default = "", help = "who logs in, with password" },
  password = { type = "secret" },
  token = { type = "secret", help = "of NATS, or by HTTP" },
  mechanism = { type = "string", default = "", help = "of Kafka: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512" },
  credentials = { type = "secret", help = "of NATS: the content of a creds file" },
  ca = { type = "string", default = "", help = "of https://, tls:// and kafka+ssl://: PEM, or a path" },
}

local sink = k8s.sink {
  name = "export", to = settings.to, source = settings.source, spool = settings.spool, user = settings.user,
  password = settings.password, token = settings.token, mechanism = settings.mechanism,
  credentials = settings.credentials, ca = settings.ca,
}
local waited = k8s.metric.counter("export_waits_total", "Events that were not stored in time, and were tried again.")

local function export(kind, change, object)
  local event = {
    type = "io.k8s." .. kind:match "^[^.]+" .. "." .. change,
    subject = object:key(),
    data = change == "deleted" and { apiVersion = object.apiVersion, kind = object.kind, metadata = object.metadata }
      or object,
  }
  local id = object:uid() .. "/" .. object.metadata.resourceVersion
  local how = { key = object:uid(), id = change == "deleted" and id .. "/deleted" or id }
  while true do
    local stored, err = sink:publish(event, how)
    if stored then return end
    if err.reason ~= "Timeout" then
      return k8s.log.error("An object is not exported", { kind = kind, object = object:key(), err = err.message })
    end
    waited:inc() -- the target takes nothing and the spool is full: so does the handler, and events queue up behind it
  end
end

for _, kind in ipairs(settings.kinds) do
  k8s.informer(kind, { prune = { "metadata.managedFields" } }):add_event_handler {
    id = "export/" .. kind,
    OnAdd = function(object) export(kind, "added", object) end,
    OnUpdate = function(old, object)
      if old.metadata.resourceVersion ~= object.metadata.resourceVersion then export(kind, "changed", object) end
    end,
    OnDelete = function(object) export(kind, "deleted", object) end,
  }
end
