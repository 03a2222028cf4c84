-- The results for people, and for programs; docs/dev/bench.md names the keys of the JSON.
local compare = require "tool.bench.compare"
local figures = require "tool.bench.figures"
local json = require "tool.json"
local number = require "tool.bench.number"
local proc = require "tool.bench.proc"
local results = require "tool.bench.results"
local targets = require "tool.bench.targets"
local text_table = require "tool.table"

local report = {}

-- --- what is to be known of a report

local function machine_of(host)
  return {
    cpu = (proc.read "/proc/cpuinfo" or ""):match "model name%s*:%s*([^\n]-)%s*\n" or host.arch,
    cpus = host.cpus,
    memory = proc.memory "MemTotal",
    system = (proc.read "/proc/sys/kernel/ostype" or ""):match "%S*",
    release = (proc.read "/proc/sys/kernel/osrelease" or ""):match "%S*",
  }
end

-- Notes of peers, each once.
local function versions(all)
  local seen, list = {}, {}
  for _, result in ipairs(all.items) do
    if result.version and not seen[result.version] then
      seen[result.version] = true
      list[#list + 1] = result.version
    end
  end
  return #list > 0 and "Peers: " .. table.concat(list, "; ") .. "\n" or ""
end

local function head(host, plan, all, machine)
  local commit = host.commit ~= "" and "commit " .. host.commit or "no commit known"
  return table.concat {
    ("kubelua %s (%s), %s\n"):format(host.version, commit, os.date("!%Y-%m-%d %H:%M UTC", plan.begun)),
    ("%s, %d CPU%s, %.1f GiB, %s %s\n"):format(machine.cpu, machine.cpus, machine.cpus == 1 and "" or "s",
      machine.memory / 2 ^ 30, machine.system, machine.release),
    "Flags: ", plan.flags, "\n",
    versions(all),
    plan.runs > 1
      and ("Medians of %d runs; in the line below each, the lowest and the highest of them\n"):format(plan.runs)
      or "One run\n",
    all.stopped and ("PARTIAL: the benchmark ended early: %s\n"):format(all.stopped) or "",
  }
end

-- --- tables of medians, with the lowest and the highest run below

local function shown(column, value)
  if not column[3] then return number.exact(value) end
  return number.short(value and value / column[3])
end

-- Adds the rows of a subject, unless nothing of the section is known of it.
local function add_subject(rows, section, result)
  local medians, spreads, most = {}, {}, 0
  for i, column in ipairs(section) do
    local span = results.span(result, column[2])
    most = math.max(most, span.count)
    medians[i] = shown(column, span.median)
    spreads[i] = span.count > 1 and shown(column, span.lowest) .. ".." .. shown(column, span.highest) or ""
  end
  if most == 0 then return end
  local subject = result.subject
  if most < result.wanted then subject = ("%s (%d of %d runs)"):format(subject, most, result.wanted) end
  rows:add(subject, unpack(medians))
  if most > 1 then rows:add("  lowest..highest", unpack(spreads)) end
end

local function section_text(section, all, data, view)
  local headings = {}
  for i, column in ipairs(section) do headings[i] = ">" .. column[1] end
  local rows = text_table.new("SUBJECT", unpack(headings))
  for _, result in ipairs(all.items) do
    if results.same_data(result, data) then add_subject(rows, section, result) end
  end
  if #rows.rows == 0 then return "" end
  return ("\n%s\n%s%s"):format(section.title, rows:text(view), section.legend and section.legend .. "\n" or "")
end

local function sections(all, data, view)
  local out = { ("\n=== %s pods, %d of a workload\n"):format(number.exact(data.pods), data.replicas) }
  for _, section in ipairs(figures.sections) do out[#out + 1] = section_text(section, all, data, view) end
  return table.concat(out)
end

local function all_sections(all, view)
  local out, seen = {}, {}
  for _, result in ipairs(all.items) do
    local data = result.pods .. "/" .. result.replicas
    if not seen[data] then out[#out + 1] = sections(all, result, view) end
    seen[data] = true
  end
  return table.concat(out)
end

-- --- targets, and what was not measured

local function verdict_of(target, all, scope)
  local value = targets.value(target, all, scope)
  if not value then return nil, "not run" end
  return value, targets.is_met(target, value) and "met" or "missed"
end

local function targets_text(all, scope, view)
  local rows = text_table.new("TARGET", ">MEASURED", "BOUND", "VERDICT")
  for _, target in ipairs(targets.list) do
    local value, verdict = verdict_of(target, all, scope)
    rows:add(target.what, targets.text(target, value, number.short),
      (target.at_least and "at least " or "at most ") .. targets.text(target, target.bound, number.exact),
      value and verdict or "not run: " .. targets.why_not(target, all, scope))
    rows:tint(4, value == nil and "waiting" or verdict == "met" and "good" or "bad")
  end
  return "\n=== Targets for kubelua, with complete pods unless noted otherwise\n" .. rows:text(view)
    .. "x: ratio of the first figure to the second. A missed target does not fail the run.\n"
end

local function gaps_text(all, view)
  local rows = text_table.new("NOT MEASURED", "WHY")
  for _, gap in ipairs(all.gaps) do rows:add(gap.what, gap.why) end
  return #all.gaps > 0 and "\n" .. rows:text(view) or ""
end

-- --- all of it

local function text(host, plan, all, earlier)
  local machine, view = machine_of(host), { colours = host.terminal }
  return table.concat {
    head(host, plan, all, machine), all_sections(all, view), targets_text(all, plan:scope(), view),
    earlier and compare.text(earlier, plan, all, machine.cpu, view) or "", gaps_text(all, view),
  }
end

local function result_json(result)
  local list = {}
  for _, figure in ipairs(figures.list) do
    local span = results.span(result, figure.name)
    if span.count > 0 then
      list[#list + 1] = figure.name
      list[#list + 1] = json.object("median", json.number(span.median), "lowest", json.number(span.lowest),
        "highest", json.number(span.highest), "runs", json.list(result.series[figure.name], json.number))
    end
  end
  return json.object("subject", json.text(result.subject), "version", result.version and json.text(result.version),
    "pods", json.integer(result.pods), "replicas", json.integer(result.replicas), "runs", json.integer(result.runs),
    "runs_wanted", json.integer(result.wanted), "figures", json.object(unpack(list)))
end

local function target_json(target, all, scope)
  local value, verdict = verdict_of(target, all, scope)
  return json.object("what", json.text(target.what), "unit", json.text(targets.units[target.unit].name),
    "measured", json.number(value), target.at_least and "at_least" or "at_most", json.number(target.bound),
    "verdict", json.text(verdict), "why", not value and json.text(targets.why_not(target, all, scope)))
end

local function gap_json(gap)
  return json.object("what", json.text(gap.what), "why", json.text(gap.why), "failed", tostring(gap.failed))
end

local function measured(plan)
  local names = {}
  for _, name in ipairs(figures.measurements) do
    if plan.measurements[name] then names[#names + 1] = name end
  end
  return names
end

local function as_json(host, plan, all, earlier)
  local machine, scope = machine_of(host), plan:scope()
  return json.object("version", json.text(host.version), "commit", json.text(host.commit),
    "date", json.text(os.date("!%Y-%m-%dT%H:%M:%SZ", plan.begun)),
    "machine", json.object("cpu", json.text(machine.cpu), "cpus", json.integer(machine.cpus),
      "memory_bytes", json.integer(machine.memory), "kernel", json.text(machine.system .. " " .. machine.release)),
    "flags", json.text(plan.flags), "pods", json.integer(plan.data.pods), "replicas", json.integer(plan.data.replicas),
    "runs", json.integer(plan.runs), "updates", json.integer(plan.updates),
    "measurements", json.list(measured(plan), json.text), "complete", tostring(not all.stopped),
    "stopped", all.stopped and json.text(all.stopped),
    "results", json.list(all.items, result_json),
    "targets", json.list(targets.list, function(target) return target_json(target, all, scope) end),
    "not_measured", json.list(all.gaps, gap_json),
    "compared", earlier and compare.json(earlier, all)) .. "\n"
end

-- Returns nil and the reason when it cannot be written.
function report.print(host, plan, all, earlier)
  local make = plan.output == "json" and as_json or text
  local ok, why = io.stdout:write(make(host, plan, all, earlier))
  if ok then ok, why = io.stdout:flush() end
  return ok, why
end

return report
