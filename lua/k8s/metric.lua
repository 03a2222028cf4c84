-- k8s.metric: counters, gauges and histograms of a script, on the page of /metrics.
local raw = ...

local options = require "k8s.options"
local plan = require "k8s.plan"

local metric = {}

local OPTIONS = { buckets = "table" }

local function make(kind, name, help, labels, buckets)
  local where = "k8s.metric." .. kind
  if labels ~= nil then
    options.each_text(where .. ": labels", labels, function() end)
  end
  local made = raw.metric.new(kind, name, help, labels, buckets)
  if labels and #labels == 0 then
    labels = nil -- the same metric has the same text in the plan
  end
  plan.add("metric", name, plan.text { kind = kind, help = help, labels = labels, buckets = buckets })
  return made
end

-- k8s.metric.counter("orphans_total", "Orphans found.", { "kind" }): while the script loads only.
function metric.counter(name, help, labels)
  return make("counter", name, help, labels)
end

function metric.gauge(name, help, labels)
  return make("gauge", name, help, labels)
end

-- k8s.metric.histogram("wait_seconds", "Time.", { "node" }, { buckets = { 1, 10, 60 } })
function metric.histogram(name, help, labels, given)
  return make("histogram", name, help, labels, options.check("k8s.metric.histogram", given, OPTIONS).buckets)
end

return metric
