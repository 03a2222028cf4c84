-- Sends the cluster's Events to an HTTP endpoint as CloudEvents 1.0, in batches: those that are new since the start,
-- with the Event's uid and version as id. A batch that fails is sent again; what waits is bounded.
--   kubelua run -f scripts/event_export.lua --allow-http events.example.com \
--     --param to=https://events.example.com/
local k8s = require "k8s"
local http = require "http"

local settings = k8s.params {
  to = { type = "url", default = "https://events.example.com/", help = "endpoint that takes batches of CloudEvents" },
  source = { type = "string", default = "kubernetes", help = "the source of all events" },
  batch = { type = "integer", default = 100, min = 1, max = 1000 },
  keep = { type = "integer", default = 10000, min = 100, help = "events that may wait; the oldest are dropped first" },
}

local sent = k8s.metric.counter("exported_events_total", "Events that the endpoint took.")
local lost = k8s.metric.counter("exported_events_lost_total", "Events that were dropped as too many waited.")

local waiting = k8s.state("waiting", { init = { list = {}, batch = {} } }) -- the batch is on its way

local function cloud_event(event)
  local object = event.involvedObject or {}
  return {
    specversion = "1.0",
    id = event.metadata.uid .. "/" .. event.metadata.resourceVersion,
    source = settings.source,
    type = "io.k8s.event." .. (event.type or "Normal"):lower(),
    subject = ("%s/%s/%s"):format(object.kind or "", object.namespace or "", object.name or ""),
    time = event.lastTimestamp or event.eventTime or event.metadata.creationTimestamp,
    datacontenttype = "application/json",
    data = { reason = event.reason, message = event.message, count = event.count, object = object },
  }
end

local function take(event)
  local list = waiting.list
  if #list >= settings.keep then
    table.remove(list, 1)
    lost:inc()
  end
  list[#list + 1] = k8s.json.encode(cloud_event(event))
end

k8s.informer("events"):add_event_handler {
  OnAdd = function(event, ev)
    if not ev.initial then take(event) end
  end,
  OnUpdate = function(_, event) take(event) end,
}

k8s.every("2s", function()
  while #waiting.batch > 0 or #waiting.list > 0 do
    while #waiting.batch < settings.batch and #waiting.list > 0 do
      waiting.batch[#waiting.batch + 1] = table.remove(waiting.list, 1)
    end
    local body = "[" .. table.concat(waiting.batch, ",") .. "]"
    local answer, err = http.request { url = settings.to, method = "POST", timeout = "30s", body = body,
      headers = { ["Content-Type"] = "application/cloudevents-batch+json" } }
    if not answer or answer.status >= 300 then
      k8s.log.warn("Events wait", { waiting = #waiting.batch + #waiting.list, err = tostring(err or answer.status) })
      return
    end
    sent:inc(#waiting.batch)
    waiting.batch = {}
  end
end)
