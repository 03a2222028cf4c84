---@meta k8s.metric
-- luacheck: ignore 241
-- Counters, gauges and histograms of a script on /metrics.

---Values of labels: a string, number or boolean for each; missing labels are "".
---@alias k8s.Labels table<string, string|number|boolean>

---@class k8s.Counter
local Counter = {}

---@param n? number at least 0, 1 by default
---@param labels? k8s.Labels
function Counter:inc(n, labels) end

---Removes a series.
---@param labels? k8s.Labels
---@return boolean # whether it existed
function Counter:remove(labels) end

---@class k8s.Gauge
local Gauge = {}

---@param value number
---@param labels? k8s.Labels
function Gauge:set(value, labels) end

---@param n? number 1 by default
---@param labels? k8s.Labels
function Gauge:inc(n, labels) end

---@param n? number 1 by default
---@param labels? k8s.Labels
function Gauge:dec(n, labels) end

---@param labels? k8s.Labels
---@return boolean # whether it existed
function Gauge:remove(labels) end

---@class k8s.Histogram
local Histogram = {}

---@param value number
---@param labels? k8s.Labels
function Histogram:observe(value, labels) end

---@param labels? k8s.Labels
---@return boolean # whether it existed
function Histogram:remove(labels) end

---@class k8s.metric
local metric = {}

---Only while the script loads, like the other two. Each series also has the label `script`.
---@param name string
---@param help string
---@param labels? string[] names
---@return k8s.Counter
function metric.counter(name, help, labels) end

---@param name string
---@param help string
---@param labels? string[]
---@return k8s.Gauge
function metric.gauge(name, help, labels) end

---@class k8s.HistogramOptions
---@field buckets? number[] upper bounds, increasing; .005 to 10 by default

---@param name string
---@param help string
---@param labels? string[]
---@param options? k8s.HistogramOptions
---@return k8s.Histogram
function metric.histogram(name, help, labels, options) end

return metric
