-- lua/tool/bench/: medians, ratios of subjects, whether a bound is kept, and why there is nothing to keep it; how
-- figures are shown and compared.
package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
local compare = require "tool.bench.compare"
local figures = require "tool.bench.figures"
local number = require "tool.bench.number"
local plan = require "tool.bench.plan"
local proc = require "tool.bench.proc"
local results = require "tool.bench.results"
local targets = require "tool.bench.targets"

local function everything(scope)
  scope = scope or {}
  return {
    pods = 10, replicas = 3, full = scope.full,
    measurements = scope.measurements or plan.set(unpack(figures.measurements)),
  }
end

local function add(all, subject, name, value, pods)
  results.add(all:of(subject, { pods = pods or 10, replicas = 3 }), name, value)
end

describe("figures of the benchmark", function()
  local all
  before_each(function() all = results.new() end)

  local function span(subject, name) return results.span(all:find(subject, { pods = 10, replicas = 3 }), name) end

  it("are the median of the runs, with the lowest and the highest", function()
    local medians = {}
    for i, value in ipairs { 5, 1, 100, 0 / 0 } do
      add(all, "a", "sync_wall_s", value)
      medians[i] = span("a", "sync_wall_s").median
    end
    assert.same({ 5, 3, 5, 5 }, medians)
    assert.same({ lowest = 1, median = 5, highest = 100, count = 3 }, span("a", "sync_wall_s"))
    assert.same({ count = 0 }, span("a", "storm_events_per_s"))
    assert.same({ count = 0 }, span("b", "sync_wall_s"))
    assert.is_nil(all:find("a", { pods = 11, replicas = 3 }))
  end)

  it("are something only when they were requested", function()
    assert.is_false(all:any(everything().measurements))
    add(all, "a", "idle_bytes", 5) -- an idle process is measured on the way to all else
    assert.is_false(all:any { sync = true })
    assert.is_true(all:any { idle = true })
    add(all, "a", "sync_wall_s", 5)
    assert.is_true(all:any { sync = true })
  end)

  it("have three digits that count", function()
    for _, case in ipairs {
      { nil, "-", "-" }, { 1.2, "1.20", "1.2" }, { 9.996, "10.0", "9.996" }, { -0.5, "-0.50", "-0.5" },
      { 99.96, "100", "99.96" }, { 9999, "9999", "9999" }, { 10000, "10,000", "10,000" },
      { -1234567.4, "-1,234,567", "-1,234,567" }, { 123456, "123,456", "123,456" },
    } do
      assert.equal(case[2], number.short(case[1]))
      assert.equal(case[3], number.exact(case[1]))
    end
  end)
end)

describe("targets of the benchmark", function()
  local all
  before_each(function() all = results.new() end)

  local function value_of(figure, by, pods)
    return targets.value({ figure = figure, by = by, data = pods and { pods = pods, replicas = 3 } }, all, everything())
  end

  it("take the best of several subjects", function()
    local both, ours = { "slow one|quick one", "sync_wall_s" }, { "kubelua", "sync_wall_s" }
    add(all, "kubelua", "sync_wall_s", 20)
    assert.is_nil(value_of(both, ours))
    add(all, "slow one", "sync_wall_s", 160)
    assert.equal(8, value_of(both, ours))
    add(all, "quick one", "sync_wall_s", 80)
    assert.equal(4, value_of(both, ours))
  end)

  it("are read off their own data", function()
    local ours = { "kubelua", "steady_bytes" }
    add(all, "kubelua", "steady_bytes", 1)
    assert.equal(1, value_of(ours))
    assert.is_nil(value_of(ours, nil, 1000))
    add(all, "kubelua", "steady_bytes", 2, 1000)
    assert.equal(2, value_of(ours, nil, 1000))
  end)

  it("are kept on their own side", function()
    assert.is_true(targets.is_met({ at_least = true, bound = 4 }, 4))
    assert.is_false(targets.is_met({ at_least = true, bound = 4 }, 3.99))
    assert.is_true(targets.is_met({ bound = 4 }, 4))
    assert.is_false(targets.is_met({ bound = 4 }, 4.01))
  end)

  -- Names are how rows and subjects find each other: each is one that ./dev bench gives, or ours.
  it("name subjects and figures that there are", function()
    local known = plan.set("kubelua", "kubelua metadata", "kubelua projected", "client-go json", "client-go protobuf",
      "client-go dynamic", "client-go metadata", "floor dom", "kube-rs typed glibc", "kube-rs typed jemalloc")
    for _, target in ipairs(targets.list) do
      for _, figure in ipairs { target.figure, target.by } do
        for subject in figure[1]:gmatch "[^|]+" do assert.is_true(known[subject], subject) end
        assert.is_truthy(figures.by_name[figure[2]], figure[2])
      end
      assert.is_truthy(targets.units[target.unit], target.unit)
    end
    for _, section in ipairs(figures.sections) do
      for _, column in ipairs(section) do assert.is_truthy(figures.by_name[column[2]], column[2]) end
    end
  end)

  local function why(subject, scope, pods)
    local target = {
      figure = { subject, "storm_cpu_us_per_event" }, by = { "kubelua", "sync_wall_s" },
      data = pods and { pods = pods, replicas = 3 },
    }
    return targets.why_not(target, all, scope)
  end

  it("report what they lack", function()
    local go = "client-go json|other"
    local full, sync = everything { full = true }, everything { measurements = { sync = true } }
    assert.equal("needs client-go json", why(go, everything()))
    assert.equal("needs --full", why(go, everything(), 1000))
    assert.equal("needs client-go json", why(go, full, 1000))
    assert.equal("--only excludes storm", why(go, sync))
    all:lack("client-go json", false, "there is no Go")
    assert.equal("needs client-go json", why(go, everything()))
    all:lack("kubelua", true, "it died")
    add(all, "client-go json", "storm_cpu_us_per_event", 20)
    assert.equal("kubelua failed", why(go, everything()))
  end)

  it("report when the benchmark was ended", function()
    all.stopped = "interrupted"
    assert.equal("the benchmark ended early", why("client-go json", everything()))
  end)
end)

describe("a comparison of runs", function()
  local function verdict(name, before, now, spread)
    local function of(median)
      return { lowest = median - spread, median = median, highest = median + spread, count = 3 }
    end
    return compare.verdict(name, of(before), of(now))
  end

  it("judges a change by the spread", function()
    assert.equal("worse", verdict("sync_wall_s", 20, 25, 1))
    assert.equal("better", verdict("sync_wall_s", 20, 15, 1))
    assert.equal("better", verdict("storm_events_per_s", 20, 25, 1))
    assert.equal("worse", verdict("storm_events_per_s", 20, 15, 1))
    assert.equal("within the spread", verdict("sync_wall_s", 20, 25, 3))
    assert.equal("within 1 %", verdict("sync_wall_s", 20, 20.1, 0.01))
    assert.equal("", verdict("select_hits", 20, 40, 1))
    local one = { lowest = 20, median = 20, highest = 20, count = 1 }
    local three = { lowest = 30, median = 30, highest = 30, count = 3 }
    assert.equal("", compare.verdict("sync_wall_s", one, three))
  end)
end)

describe("the memory of a benchmark", function()
  it("is printed for the pods", function()
    local need = plan.memory_need { pods = 1000000, replicas = 3 }
    assert.is_true(need > 11 * 2 ^ 30 and need < 15 * 2 ^ 30)
    assert.is_true(plan.memory_need { pods = 1000000, replicas = 1 } > need)
    assert.is_true(plan.memory_need { pods = 1000, replicas = 3 } < 200 * 2 ^ 20)
    assert.is_true(proc.memory "MemAvailable" > 0 and proc.memory "MemAvailable" < proc.memory "MemTotal")
  end)
end)
