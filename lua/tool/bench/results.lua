-- Results of measurements: for each subject and set of data the figures of every run; and gaps, with reasons.
local figures = require "tool.bench.figures"

local results = {}
results.__index = results

-- `stopped` is why not everything was tried that was planned; nil: it was.
function results.new() return setmetatable({ items = {}, gaps = {}, stopped = nil }, results) end

function results.same_data(a, b) return a.pods == b.pods and a.replicas == b.replicas end

function results:find(subject, data)
  for _, result in ipairs(self.items) do
    if result.subject == subject and results.same_data(result, data) then return result end
  end
end

-- Makes the result when there is none yet. `runs` of it were done to the end, of so many as are `wanted`.
function results:of(subject, data)
  local result = self:find(subject, data)
  if result then return result end
  result = { subject = subject, pods = data.pods, replicas = data.replicas, runs = 0, wanted = 0, series = {} }
  self.items[#self.items + 1] = result
  return result
end

-- NaN and nil are no figures.
function results.add(result, name, value)
  if not value or value ~= value then return end
  result.series[name] = result.series[name] or {}
  table.insert(result.series[name], value)
end

-- The lowest and the highest run, and the median of all; without a figure only the count of 0.
function results.span(result, name)
  local series = result and result.series[name]
  if not series then return { count = 0 } end
  local sorted = { unpack(series) }
  table.sort(sorted)
  local n = #sorted
  local median = (sorted[math.floor((n + 1) / 2)] + sorted[math.floor(n / 2) + 1]) / 2
  return { lowest = sorted[1], median = median, highest = sorted[n], count = n }
end

function results.median(result, name) return results.span(result, name).median end

-- `what` is not there, or has failed; the same words are kept once.
function results:lack(what, failed, why)
  for _, gap in ipairs(self.gaps) do
    if gap.what == what and gap.why == why then return end
  end
  self.gaps[#self.gaps + 1] = { what = what, failed = failed, why = why }
end

-- The first of this name.
function results:gap(what)
  for _, gap in ipairs(self.gaps) do
    if gap.what == what then return gap end
  end
end

-- Whether there is a figure of one of these measurements. An idle process is measured on the way to others: by itself
-- it is no response to who asked for those.
function results:any(measurements)
  for _, result in ipairs(self.items) do
    for name in pairs(result.series) do
      if measurements[figures.by_name[name].of] then return true end
    end
  end
  return false
end

return results
