-- `kubelua check` of variables that have several types, of which a reading of the file from its beginning sees the
-- first alone.
local checks = require "spec.support.checks"

describe("kubelua check reads variables", function()
  local place
  before_each(function() place = checks.new() end)
  after_each(function() place:remove() end)

  -- Findings in a script, of which the first line of `text` is the third.
  local function findings(text)
    place:write("a.lua", 'local k8s = require "k8s"\nlocal pods = k8s.informer "pods"\n' .. text)
    local _, out = place:run("-f", place.path)
    return out
  end

  it("that a loop assigns behind the place that reads them", function()
    assert.are.equal("", findings [[
pods:on_add(function()
  local best, newest, at = false, 0, "none"
  for _, p in ipairs(pods:lister():list_all()) do
    if best and best.metadata.name < p.metadata.name then print(best.spec.nodeName) end
    if newest ~= 0 and newest.metadata.name < p.metadata.name then print(newest) end
    if at ~= "none" then print(pods:lister():get(at), at.metadata) end
    best, newest, at = p, p, p
  end
end)
]])
  end)

  it("that a function below assigns, also a parameter", function()
    assert.are.equal("", findings [[
local current = false
local function name_of() return current and current.metadata.name end
local function longest(best, list)
  for _, p in ipairs(list) do
    if not best or #best.metadata.name < #p.metadata.name then best = p end
  end
  return best
end
pods:on_add(function(pod)
  current = pod
  print(name_of(), longest(false, pods:lister():list_all()))
end)
]])
  end)

  it("that are read in a function before all that the file assigns", function()
    assert.are.equal("", findings [[
local names = false
local function first() return names and names.metadata end
names = { metadata = "a" }
print(first())
]])
  end)

  it("and knows an iterator from a table", function()
    assert.are.equal([[
a.lua:5: error: ipairs of an iterator: write for ... in without it
a.lua:6: error: pairs of an iterator: write for ... in without it
a.lua:7: error: an iterator has no length: count what it returns, or use a table
a.lua:8: error: unpack of an iterator: write for ... in without it
]], findings [[
k8s.main(function()
  local listed, all = pods:lister():list(), pods:lister():list_all()
  for _, p in ipairs(listed) do print(p) end
  for p in pairs(pods:lister():list()) do print(p) end
  print(#listed, #all)
  print(unpack(pods:lister():list("app=web")))
  for p in pods:lister():list() do print(p, #p.metadata.name) end
  for _, p in ipairs(all) do print(p) end
end)
]])
  end)

  it("and finds what is wrong before a variable gets another value", function()
    assert.has_match("^a.lua:4: error: pods have no field spec.nodName[^\n]*\na.lua:6: error: a number has no fields",
      findings [[
pods:on_add(function(pod)
  print(pod.spec.nodName)
  local count = 0
  print(count.total)
  count, pod = count + 1, pod:copy()
  print(count, pod)
end)
]])
  end)

  it("and finds fields of what is never anything else", function()
    assert.are.equal("a.lua:5: error: a boolean has no fields: .name\na.lua:5: error: a number has no fields: .name\n",
      findings [[
local is_first, count = false, 0
local function names()
  return is_first.name, count.name
end
pods:on_add(function()
  is_first, count = true, 1
  print(names())
end)
]])
  end)
end)
