-- Measurements of `kubelua bench`: those that --only names, the figures of each, and the tables that
-- show them.
local figures = {}

figures.measurements = {
  "sync", "relist", "storm", "latency", "select", "idle", "start", "lua", "projected", "floor", "audit-engine",
}

-- Names in the JSON output, units are in the names; the measurement that gives the figure; what is better, nil:
-- neither. `projected` and `floor` give the figures of `sync` for their subjects. Times of a subject's CPU are those
-- of the whole process, its start included.
figures.list = {
  { name = "sync_cpu_us_per_object", of = "sync", better = "lower" },
  { name = "sync_wall_s", of = "sync", better = "lower" },
  { name = "sync_source_cpu_us_per_object", of = "sync" },
  { name = "sync_peak_bytes", of = "sync", better = "lower" },
  { name = "steady_bytes", of = "sync", better = "lower" },
  { name = "trimmed_bytes", of = "sync", better = "lower" },
  { name = "steady_bytes_per_object", of = "sync", better = "lower" },
  { name = "trimmed_bytes_per_object", of = "sync", better = "lower" },
  { name = "sync_peak_over_steady", of = "sync", better = "lower" },
  { name = "relist_cpu_us_per_object", of = "relist", better = "lower" },
  { name = "relist_wall_s", of = "relist", better = "lower" },
  { name = "relist_growth_percent", of = "relist", better = "lower" },
  { name = "relist_peak_over_steady", of = "relist", better = "lower" },
  { name = "storm_events_per_s", of = "storm", better = "higher" },
  { name = "storm_cpu_us_per_event", of = "storm", better = "lower" },
  { name = "storm_source_cpu_us_per_event", of = "storm" },
  { name = "storm_handled_percent", of = "storm", better = "higher" },
  { name = "latency_1000_p50_us", of = "latency", better = "lower" },
  { name = "latency_1000_p99_us", of = "latency", better = "lower" },
  { name = "latency_1000_p999_us", of = "latency", better = "lower" },
  { name = "latency_1000_max_us", of = "latency", better = "lower" },
  { name = "latency_1000_sent_late_us", of = "latency", better = "lower" },
  { name = "latency_1000_cpu_us_per_event", of = "latency", better = "lower" },
  { name = "latency_10000_p50_us", of = "latency", better = "lower" },
  { name = "latency_10000_p99_us", of = "latency", better = "lower" },
  { name = "latency_10000_p999_us", of = "latency", better = "lower" },
  { name = "latency_10000_max_us", of = "latency", better = "lower" },
  { name = "latency_10000_sent_late_us", of = "latency", better = "lower" },
  { name = "latency_10000_cpu_us_per_event", of = "latency", better = "lower" },
  { name = "select_label_us", of = "select", better = "lower" },
  { name = "select_hits", of = "select" },
  { name = "select_two_us", of = "select", better = "lower" },
  { name = "select_two_hits", of = "select" },
  { name = "select_scan_us", of = "select", better = "lower" },
  { name = "select_scan_hits", of = "select" },
  { name = "select_namespace_us", of = "select", better = "lower" },
  { name = "idle_bytes", of = "idle", better = "lower" },
  { name = "idle_private_bytes", of = "idle", better = "lower" },
  { name = "idle_cpu_percent", of = "idle", better = "lower" },
  { name = "idle_informer_bytes", of = "idle", better = "lower" },
  { name = "start_ms", of = "start", better = "lower" },
  { name = "step_ns", of = "lua", better = "lower" },
  { name = "name_ns", of = "lua", better = "lower" },
  { name = "handler_ns", of = "lua", better = "lower" },
  { name = "audit_engine_wall_s", of = "audit-engine", better = "lower" },
  { name = "audit_engine_pause_ms", of = "audit-engine", better = "lower" },
  { name = "audit_engine_cpu_us_per_object", of = "audit-engine", better = "lower" },
  { name = "audit_engine_children", of = "audit-engine" },
}

figures.by_name = {}
for _, figure in ipairs(figures.list) do figures.by_name[figure.name] = figure end

local KIB, MIB = 1024, 1048576

-- A table for each theme: its title, the legend below it, and columns of a heading, a figure, and what the figure is
-- divided by; without that it is a count.
figures.sections = {
  {
    title = "First sync, from the start of the process to a complete cache",
    legend = "SOURCE: CPU of the server that feeds all subjects.",
    { "CPU us/pod", "sync_cpu_us_per_object", 1 },
    { "WALL s", "sync_wall_s", 1 },
    { "SOURCE CPU us/pod", "sync_source_cpu_us_per_object", 1 },
  },
  {
    title = "Memory with all pods in the cache, resident",
    legend = "PEAK: during the sync. TRIMMED: after releasing free memory. B/pod: beyond the idle process.",
    { "PEAK MiB", "sync_peak_bytes", MIB },
    { "STEADY MiB", "steady_bytes", MIB },
    { "TRIMMED MiB", "trimmed_bytes", MIB },
    { "STEADY B/pod", "steady_bytes_per_object", 1 },
    { "TRIMMED B/pod", "trimmed_bytes_per_object", 1 },
    { "PEAK/STEADY", "sync_peak_over_steady", 1 },
  },
  {
    title = "Relist of the unchanged pods",
    legend = "GROWTH: of steady memory after the relist. WALL: includes the back-off before the relist.",
    { "CPU us/pod", "relist_cpu_us_per_object", 1 },
    { "WALL s", "relist_wall_s", 1 },
    { "GROWTH %", "relist_growth_percent", 1 },
    { "PEAK/STEADY", "relist_peak_over_steady", 1 },
  },
  {
    title = "Storm of updates, as fast as they are taken",
    legend = "HANDLED: updates that reached the handler; coalesced updates are not counted.",
    { "EVENTS/s", "storm_events_per_s", 1 },
    { "CPU us/event", "storm_cpu_us_per_event", 1 },
    { "HANDLED %", "storm_handled_percent", 1 },
    { "SOURCE CPU us/event", "storm_source_cpu_us_per_event", 1 },
  },
  {
    title = "Latency in us at 1,000 updates a second, from the write to the handler",
    legend = "SENT LATE: worst delay of the source behind its schedule. A large value means that the subject "
      .. "slowed down\nthe source, and that its real latencies are higher.",
    { "P50", "latency_1000_p50_us", 1 },
    { "P99", "latency_1000_p99_us", 1 },
    { "P99.9", "latency_1000_p999_us", 1 },
    { "MAX", "latency_1000_max_us", 1 },
    { "SENT LATE", "latency_1000_sent_late_us", 1 },
    { "CPU us/event", "latency_1000_cpu_us_per_event", 1 },
  },
  {
    title = "Latency in us at 10,000 updates a second",
    { "P50", "latency_10000_p50_us", 1 },
    { "P99", "latency_10000_p99_us", 1 },
    { "P99.9", "latency_10000_p999_us", 1 },
    { "MAX", "latency_10000_max_us", 1 },
    { "SENT LATE", "latency_10000_sent_late_us", 1 },
    { "CPU us/event", "latency_10000_cpu_us_per_event", 1 },
  },
  {
    title = "Lister, us a call",
    legend = "SCAN: by two labels, without the label index that kubelua builds on demand.",
    { "LABEL us", "select_label_us", 1 },
    { "ITS PODS", "select_hits" },
    { "NAMESPACE us", "select_namespace_us", 1 },
    { "TWO LABELS us", "select_two_us", 1 },
    { "SCAN us", "select_scan_us", 1 },
    { "THEIR PODS", "select_scan_hits" },
  },
  {
    title = "Idle process, and the start",
    legend = "PRIVATE: without the pages of files. CPU: of one core, while nothing happens. FIRST REQUEST: after the "
      .. "start\nof the process, the median of five.",
    { "RESIDENT MiB", "idle_bytes", MIB },
    { "PRIVATE MiB", "idle_private_bytes", MIB },
    { "CPU %", "idle_cpu_percent", 1 },
    { "ONE MORE INFORMER KiB", "idle_informer_bytes", KIB },
    { "FIRST REQUEST ms", "start_ms", 1 },
  },
  {
    title = "Lua, ns of CPU",
    legend = "ONE STEP: from a view to a field. HANDLER: a call that reads eight fields.",
    { "ONE STEP", "step_ns", 1 },
    { "obj.metadata.name", "name_ns", 1 },
    { "HANDLER", "handler_ns", 1 },
  },
  {
    title = "Audit of a running engine's cache by ten rules",
    legend = "PAUSE: engine pause during the fork. WALL: from the request to the last result.",
    { "WALL s", "audit_engine_wall_s", 1 },
    { "PAUSE ms", "audit_engine_pause_ms", 1 },
    { "CPU us/pod", "audit_engine_cpu_us_per_object", 1 },
    { "CHILDREN", "audit_engine_children" },
  },
}

return figures
