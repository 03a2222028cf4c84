-- `kubelua bench`: what informers cost, kubelua's and others', on the same generated pods: all runs, subject by
-- subject.
local plan_of = require "tool.bench.plan"
local report = require "tool.bench.report"
local results = require "tool.bench.results"
local session = require "tool.bench.session"
local subject = require "tool.bench.subject"

local OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

local measured_larger = plan_of.set("sync", "relist", "select", "projected", "audit-engine")

-- A new temporary directory with the scripts of kubelua's own subjects, so that `kubelua run` can read them.
local function write_scripts(host)
  local folder = host.temporary_folder()
  for name, source in pairs(host.scripts) do
    local file = assert(io.open(folder .. "/" .. name .. ".lua", "w"))
    assert(file:write(source))
    assert(file:close())
  end
  return folder
end

local function remove_scripts(host, folder)
  for name in pairs(host.scripts) do os.remove(folder .. "/" .. name .. ".lua") end
  os.remove(folder)
end

-- Keeps the children that are started, so that all can be stopped whatever went wrong.
local function keep_children(host)
  local start, children = host.start, {}
  function host.start(...)
    children[#children + 1] = start(...)
    return children[#children]
  end
  function host.stop_children()
    for i = #children, 1, -1 do
      children[i]:stop()
      children[i] = nil
    end
  end
end

-- In which of several runs, and with which of several data.
local function put_down(campaign, data, name, run, why)
  local where, own = "", campaign.plan.data
  if not results.same_data(data, own) then
    where = ("with %d pods, %d of a workload: "):format(data.pods, data.replicas)
  end
  if campaign.runs > 1 then where = ("%sin run %d of %d: "):format(where, run, campaign.runs) end
  campaign.host.report(why)
  campaign.all:lack(name, true, where .. why)
  campaign.any_failed = true
end

-- On a source of its own: what one subject did to the pods, or to the source, is nothing to the next. Raises an error
-- when there is no source, or somebody wants the end.
local function measure(campaign, plan, one, run)
  local source = session.source.new(campaign.host, plan.data)
  local result = campaign.all:of(one.name, plan.data)
  result.wanted = plan.runs
  local ok, why = pcall(subject.measure, plan, one, source, result)
  campaign.host.stop_children()
  if campaign.host.interrupted() then error(why or "interrupted", 0) end
  if ok then
    result.runs = result.runs + 1
  else
    put_down(campaign, plan.data, one.name, run, why)
  end
  return ok
end

-- All runs with one set of data.
local function measure_data(campaign, plan)
  local failed = {}
  campaign.runs = plan.runs
  for run = 1, plan.runs do
    for _, one in ipairs(plan.subjects) do
      if not failed[one] and plan:wants(one) then
        campaign.host.report(("%d pods, run %d of %d: %s"):format(plan.data.pods, run, plan.runs, one.name))
        failed[one] = not measure(campaign, plan, one, run)
      end
    end
  end
end

-- Of ours, those that the larger data are for, once each.
local function measure_larger(campaign)
  local plan = campaign.plan
  local larger = setmetatable({ runs = 1, subjects = {}, measurements = {} }, { __index = plan })
  for _, one in ipairs(plan.subjects) do
    if one.larger then table.insert(larger.subjects, one) end
  end
  for name in pairs(plan.measurements) do larger.measurements[name] = measured_larger[name] end
  for _, data in ipairs(plan_of.larger) do
    larger.data = data
    measure_data(campaign, larger)
  end
end

local function measure_all(campaign)
  local plan = campaign.plan
  plan.scripts = write_scripts(campaign.host)
  local ok, why = pcall(function()
    measure_data(campaign, plan)
    if plan.full then measure_larger(campaign) end
  end)
  remove_scripts(campaign.host, plan.scripts)
  if not ok then error(why, 0) end
end

-- Results are reported first, so that the reason for the exit code stands last.
local function conclude(campaign, complete, why)
  local host, all = campaign.host, campaign.all
  local interrupted = host.interrupted()
  local function finish(code, text)
    if text then host.report(text) end
    return code
  end
  if not complete then all.stopped = interrupted and "interrupted" or why end
  if not all:any(campaign.plan.measurements) then
    if interrupted then return finish(INTERRUPTED, "interrupted before the first measurement") end
    return finish(USAGE, "nothing was measured: " .. (complete and "every subject failed" or why))
  end
  local written, problem = report.print(host, campaign.plan, all, campaign.plan.earlier)
  if not written then
    return finish(interrupted and INTERRUPTED or FAILED, "the report was not written: " .. problem)
  end
  if interrupted then return finish(INTERRUPTED, "interrupted; the report is partial") end
  if not complete then return finish(FAILED, "ended early, the report is partial: " .. why) end
  return campaign.any_failed and FAILED or OK
end

local function print_plan(plan, all)
  print(("Flags: %s\nSubjects:"):format(plan.flags))
  for _, one in ipairs(plan.subjects) do
    if plan:wants(one) then print("  " .. one.name) end
  end
  if #all.gaps > 0 then print "Not run:" end
  for _, gap in ipairs(all.gaps) do print(("  %s: %s"):format(gap.what, gap.why)) end
  return OK
end

-- All that can be wrong is found before anything is started. Returns the exit code.
return function(host, flags)
  function host.report(text) io.stderr:write("kubelua bench: ", text, "\n") end
  local campaign = { host = host, all = results.new(), any_failed = false }
  local ok, plan = pcall(plan_of.new, host, flags, campaign.all)
  if not ok then
    host.report(plan)
    return USAGE
  end
  if flags["dry-run"] then return print_plan(plan, campaign.all) end
  campaign.plan = plan
  keep_children(host)
  host.guard_children()
  return conclude(campaign, pcall(measure_all, campaign))
end
