-- Figures beside those of an earlier run, read from the JSON that `kubelua bench -o json` wrote.
local figures = require "tool.bench.figures"
local json = require "tool.json"
local number = require "tool.bench.number"
local results = require "tool.bench.results"
local text_table = require "tool.table"

local compare = {}

-- A change that nobody cares about, however sure it is.
local SMALL = 0.01

-- "better", "worse", "within the spread" of the runs, "within 1 %", or "" where single runs tell nothing.
function compare.verdict(name, before, now)
  local better = figures.by_name[name].better
  if not better or before.count < 2 or now.count < 2 then return "" end
  if now.lowest <= before.highest and before.lowest <= now.highest then return "within the spread" end
  if math.abs(now.median - before.median) <= SMALL * math.abs(before.median) then return "within 1 %" end
  return (now.median < before.median) == (better == "lower") and "better" or "worse"
end

-- The figures that both runs have; `percent` is nil when there was nothing to compare with.
local function pairs_of(earlier, all)
  local found = {}
  for _, result in ipairs(all.items) do
    local then_ = earlier.results:find(result.subject, result)
    for _, figure in ipairs(figures.list) do
      local before, now = results.span(then_, figure.name), results.span(result, figure.name)
      if before.count > 0 and now.count > 0 then
        local was = before.median
        found[#found + 1] = {
          result = result, figure = figure.name, before = was, now = now.median,
          percent = was ~= 0 and (now.median - was) / math.abs(was) * 100 or nil,
          verdict = compare.verdict(figure.name, before, now),
        }
      end
    end
  end
  return found
end

local function head(earlier, plan, cpu)
  local lines = {
    ("\n=== Compared with %s: kubelua %s%s%s, %s\n"):format(earlier.path, earlier.version,
      earlier.commit ~= "" and " commit " or "", earlier.commit, earlier.date),
  }
  if cpu ~= earlier.cpu then
    lines[2] = ("The earlier report is from another machine: %s\n")
      :format(earlier.cpu ~= "" and earlier.cpu or "unknown")
  end
  if earlier.updates ~= plan.updates then
    lines[#lines + 1] = ("The earlier report used --updates %d, which affects storm and latency\n")
      :format(earlier.updates)
  end
  return table.concat(lines)
end

local TINTS = { better = "good", worse = "bad" }

-- Before, now, and the change of each figure that both have.
function compare.text(earlier, plan, all, cpu, view)
  local out, shown, last = { head(earlier, plan, cpu) }, nil, nil
  local function flush()
    if last then out[#out + 1] = shown:text(view) end
  end
  for _, pair in ipairs(pairs_of(earlier, all)) do
    if pair.result ~= last then
      flush()
      last, shown = pair.result, text_table.new("FIGURE", ">BEFORE", ">NOW", ">CHANGE", "VERDICT")
      out[#out + 1] = ("\n%s, %s pods, %d of a workload\n"):format(last.subject, number.exact(last.pods), last.replicas)
    end
    shown:add(pair.figure, number.short(pair.before), number.short(pair.now),
      pair.percent and ("%+.1f %%"):format(pair.percent) or "-", pair.verdict)
    shown:tint(5, TINTS[pair.verdict])
  end
  flush()
  out[#out + 1] = "Medians. A verdict needs several runs on both sides; \"within the spread\" means that the ranges "
    .. "overlap.\n"
  return table.concat(out)
end

function compare.json(earlier, all)
  return json.object("file", json.text(earlier.path), "version", json.text(earlier.version),
    "commit", json.text(earlier.commit), "date", json.text(earlier.date),
    "changes", json.list(pairs_of(earlier, all), function(pair)
      return json.object("subject", json.text(pair.result.subject), "pods", json.integer(pair.result.pods),
        "replicas", json.integer(pair.result.replicas), "figure", json.text(pair.figure),
        "before", json.number(pair.before), "now", json.number(pair.now), "change_percent", json.number(pair.percent),
        "verdict", json.text(pair.verdict))
    end))
end

local function text_of(value) return type(value) == "string" and value or "" end
local function count_of(value) return type(value) == "number" and value or 0 end

-- A figure that this version does not know is left out.
local function read_figures(read, result)
  for name, figure in pairs(read) do
    local runs = type(figure) == "table" and figure.runs
    if figures.by_name[name] and type(runs) == "table" then
      for _, value in ipairs(runs) do results.add(result, name, count_of(value)) end
    end
  end
end

local function read_report(path, report)
  if type(report) ~= "table" or type(report.results) ~= "table" then return nil end
  local machine = type(report.machine) == "table" and report.machine or {}
  local earlier = {
    path = path, version = text_of(report.version), commit = text_of(report.commit), date = text_of(report.date),
    updates = count_of(report.updates), cpu = text_of(machine.cpu), results = results.new(),
  }
  for _, result in ipairs(report.results) do
    if type(result) ~= "table" or type(result.figures) ~= "table" then return nil end
    local data = { pods = count_of(result.pods), replicas = count_of(result.replicas) }
    read_figures(result.figures, earlier.results:of(text_of(result.subject), data))
  end
  return earlier
end

-- `parse` reads JSON. Raises what is wrong with the file.
function compare.read(path, parse)
  local file, why = io.open(path)
  local text = file and file:read "*a"
  if file then file:close() end
  if not text then
    error(("--compare: cannot read %s: %s"):format(path, (why or "Is a directory"):gsub("^.*: ", "")), 0)
  end
  local earlier = read_report(path, (parse(text)))
  if not earlier then error(("--compare: %s is not a report of kubelua bench -o json"):format(path), 0) end
  return earlier
end

-- Raises what the report has instead, unless it has a subject and data of the plan.
function compare.check_fits(earlier, plan)
  for _, subject in ipairs(plan.subjects) do
    if plan:wants(subject) and earlier.results:find(subject.name, plan.data) then return end
  end
  local first = earlier.results.items[1]
  if not first then error(("--compare: %s has no figures"):format(earlier.path), 0) end
  error(("--compare: %s has none of the current measurements; it has \"%s\" with --pods %d --replicas %d")
    :format(earlier.path, first.subject, first.pods, first.replicas), 0)
end

return compare
