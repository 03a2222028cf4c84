-- Targets of kubelua: rows of a figure, or of a ratio of two, and a bound; and how they are read off the results.
local figures = require "tool.bench.figures"
local number = require "tool.bench.number"
local results = require "tool.bench.results"

local targets = {}

local OURS, GO, RUST = "kubelua", "client-go ", "kube-rs typed glibc|kube-rs typed jemalloc"
local LARGE, MILLION = 100000, 1000000

-- The suffix for people, the word in JSON, and what figures are divided by for people.
targets.units = {
  times = { suffix = "x", name = "ratio", divisor = 1 },
  percent = { suffix = " %", name = "percent", divisor = 1 },
  bytes = { suffix = " B", name = "bytes", divisor = 1 },
  kibibytes = { suffix = " KiB", name = "bytes", divisor = 1024 },
  mebibytes = { suffix = " MiB", name = "bytes", divisor = 1048576 },
  gigabytes = { suffix = " GB", name = "bytes", divisor = 1e9 },
  us = { suffix = " us", name = "us", divisor = 1 },
  ns = { suffix = " ns", name = "ns", divisor = 1 },
  milliseconds = { suffix = " ms", name = "ms", divisor = 1 },
}

-- The figure of the other one over ours: so many times less.
local function less(what, whose, name, bound)
  return { what = what, figure = { whose, name }, by = { OURS, name }, unit = "times", at_least = true, bound = bound }
end

local function metadata(what, name)
  return {
    what = what, figure = { GO .. "metadata", name }, by = { OURS .. " metadata", name }, unit = "times",
    at_least = true, bound = 1,
  }
end

local function at_most(what, name, unit, bound)
  return { what = what, figure = { OURS, name }, unit = unit, bound = bound }
end

local function at_size(what, whose, name, unit, bound, pods, replicas)
  return {
    what = what, figure = { whose, name }, unit = unit, bound = bound, data = { pods = pods, replicas = replicas },
  }
end

-- A figure names subjects, parted by "|": the best one counts. It is divided by `by`; `data` are those of the run
-- unless the target names others.
targets.list = {
  less("sync CPU: client-go typed JSON / kubelua", GO .. "json", "sync_cpu_us_per_object", 18),
  less("sync CPU: client-go typed protobuf / kubelua", GO .. "protobuf", "sync_cpu_us_per_object", 3.2),
  less("sync CPU: client-go dynamic / kubelua", GO .. "dynamic", "sync_cpu_us_per_object", 25),
  less("sync CPU: kube-rs typed, better allocator / kubelua", RUST, "sync_cpu_us_per_object", 4),
  {
    what = "sync CPU: kubelua / receive loop with simdjson DOM",
    figure = { OURS, "sync_cpu_us_per_object" }, by = { "floor dom", "sync_cpu_us_per_object" },
    unit = "times", bound = 4,
  },
  {
    what = "CPU: first sync / relist",
    figure = { OURS, "sync_cpu_us_per_object" }, by = { OURS, "relist_cpu_us_per_object" },
    unit = "times", at_least = true, bound = 3,
  },
  at_most("relist: growth of resident memory", "relist_growth_percent", "percent", 5),
  less("storm CPU: client-go typed JSON / kubelua", GO .. "json", "storm_cpu_us_per_event", 35),
  less("storm CPU: client-go typed protobuf / kubelua", GO .. "protobuf", "storm_cpu_us_per_event", 5),
  less("storm CPU: client-go dynamic / kubelua", GO .. "dynamic", "storm_cpu_us_per_event", 45),
  less("storm CPU: kube-rs typed, better allocator / kubelua", RUST, "storm_cpu_us_per_event", 7),
  less("p50 at 1,000/s: client-go typed JSON / kubelua", GO .. "json", "latency_1000_p50_us", 8),
  less("p99 at 1,000/s: client-go typed JSON / kubelua", GO .. "json", "latency_1000_p99_us", 10),
  less("p50 at 1,000/s: client-go typed protobuf / kubelua", GO .. "protobuf", "latency_1000_p50_us", 1),
  less("p99 at 1,000/s: client-go typed protobuf / kubelua", GO .. "protobuf", "latency_1000_p99_us", 1),
  at_most("p50 at 1,000/s", "latency_1000_p50_us", "us", 45),
  at_most("p99 at 1,000/s", "latency_1000_p99_us", "us", 200),
  at_most("CPU of an update at 1,000/s", "latency_1000_cpu_us_per_event", "us", 35),
  metadata("metadata only, sync CPU: client-go / kubelua", "sync_cpu_us_per_object"),
  metadata("metadata only, storm CPU: client-go / kubelua", "storm_cpu_us_per_event"),
  at_size("memory of a pod: 100,000 pods, 3 of a workload", OURS, "steady_bytes_per_object", "bytes", 2300, LARGE, 3),
  at_size("memory of a pod: 100,000 pods, all distinct", OURS, "steady_bytes_per_object", "bytes", 4200, LARGE, 1),
  at_size("memory of a pod: 100,000 pods, ten fields", OURS .. " projected", "steady_bytes_per_object", "bytes", 300,
    LARGE, 3),
  at_most("first sync, memory: peak / steady", "sync_peak_over_steady", "times", 1.2),
  at_most("relist, memory: peak / steady", "relist_peak_over_steady", "times", 1.2),
  at_most("Lua: one step on a held view", "step_ns", "ns", 60),
  at_most("Lua: obj.metadata.name", "name_ns", "ns", 130),
  at_most("Lua: a handler that reads eight fields", "handler_ns", "ns", 1000),
  at_size("some 100 of 100,000 pods by labels: index", OURS, "select_two_us", "us", 20, LARGE, 3),
  at_size("some 100 of 100,000 pods by labels: scan", OURS, "select_scan_us", "us", 3000, LARGE, 3),
  at_most("idle process: resident", "idle_bytes", "mebibytes", 18 * 1048576),
  at_most("idle process: private", "idle_private_bytes", "mebibytes", 5 * 1048576),
  at_most("idle process: CPU of a core", "idle_cpu_percent", "percent", 0.1),
  at_most("one more idle informer", "idle_informer_bytes", "kibibytes", 64 * 1024),
  at_most("start to first request", "start_ms", "milliseconds", 30),
  at_size("1,000,000 pods synced and queried: resident", OURS, "steady_bytes", "gigabytes", 2.6e9, MILLION, 3),
}

-- Of several subjects the one with the smallest figure.
local function figure(of, all, data)
  local best
  for subject in of[1]:gmatch "[^|]+" do
    local value = results.median(all:find(subject, data), of[2])
    if value and (not best or value < best) then best = value end
  end
  return best
end

-- Nil when a figure is missing. `scope` has the pods and replicas of the run, its measurements, and whether it is
-- `full`.
function targets.value(target, all, scope)
  local value = figure(target.figure, all, target.data or scope)
  if not target.by or not value then return value end
  local by = figure(target.by, all, target.data or scope)
  return by and value / by
end

-- Why there is no value, in a few words: "needs --full", "--only excludes storm", "needs client-go json".
function targets.why_not(target, all, scope)
  if target.data and not results.same_data(target.data, scope) and not scope.full then return "needs --full" end
  local of = figure(target.figure, all, target.data or scope) and target.by or target.figure
  local subject, measurement = of[1]:match "^[^|]+", figures.by_name[of[2]].of
  local gap = all:gap(subject)
  if gap and gap.failed then return subject .. " failed" end
  if not scope.measurements[measurement] then return "--only excludes " .. measurement end
  if not gap and all.stopped then return "the benchmark ended early" end
  return "needs " .. subject
end

function targets.is_met(target, value)
  if target.at_least then return value >= target.bound end
  return value <= target.bound
end

-- A value or a bound with its unit.
function targets.text(target, value, format)
  local unit = targets.units[target.unit]
  return value and format(value / unit.divisor) .. unit.suffix or number.short(nil)
end

return targets
