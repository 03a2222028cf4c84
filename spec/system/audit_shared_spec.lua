-- core/app/audit/audit_workers.c: a large file is audited by several processes, and the report is that of one.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local sanitized = (os.getenv "KUBELUA_PRESET" or "release") ~= "release"

local RULES = [[
local k8s = require "k8s"
k8s.rule { id = "odd", severity = "high", kinds = { "pods", "configmaps" }, check = function(obj, r)
  local n = tonumber(obj.metadata.name:match "%d+")
  if n % 997 == 0 then print("seen " .. obj.metadata.name) end
  if n % 101 == 0 then r:fail("odd", { path = "metadata.name", value = obj.metadata.name }) end
  if n % 1009 == 0 then error("no opinion of " .. obj.metadata.name) end
  if n % 3 == 0 then r:skip("a third") end
end }
k8s.rule { id = "late", kinds = { "pods" }, check = function(pod, r)
  if tonumber(pod.metadata.name:match "%d+") > 9000 and pod.spec.hidden then r:warn("hidden: " .. pod.spec.hidden) end
end }
]]
local LOGS = [[
local k8s = require "k8s"
k8s.rule { id = "logs", kinds = { "pods" }, check = function(pod, r)
  if pod.metadata.name == "p7001" then k8s.log.warn "seen" end
  if pod.metadata.name:find "9$" then r:fail "nine" end
end }
]]
local COUNT, FILLER = 10000, ("x"):rep(900)

local function pod(i)
  local kind = i % 7 == 0 and i % 5 == 0 and "Nothing" or i % 7 == 0 and "ConfigMap" or "Pod"
  local head = '{"apiVersion":"v1","kind":"%s","metadata":{"name":"p%d","namespace":"ns-%d"},'
  return (head .. '"spec":{"hidden":%s,"f":"%s"}}'):format(kind, i, i % 3, i % 1000 == 0 and '"h"' or "null", FILLER)
end

local function text(before, between, after, change)
  local all = {}
  for i = 1, COUNT do all[i] = change and change(pod(i), i) or pod(i) end
  return before .. table.concat(all, between) .. after
end

local function spread(one) return (one:gsub(",", ",\n      "):gsub("^{", "{\n      ")) end

local LIST = '{\n  "apiVersion": "v1",\n  "items": [\n    '

describe("a large file that several processes audit", function()
  local folder
  lazy_setup(function() folder = temp.folder { ["rules.lua"] = RULES, ["logs.lua"] = LOGS } end)
  lazy_teardown(function() temp.remove(folder) end)

  -- stdout, then stderr, then the exit code: without what differs from run to run.
  local function audit(children, arguments, rules, before)
    local command = ("{ %s %s audit -f %s/%s --children %d %s; echo $?; } 2>%s/err; cat %s/err"):format(
      before or "", cluster.binary, folder, rules or "rules.lua", children, arguments, folder, folder)
    local said = temp.run((command:gsub("@", folder .. "/")))
    return (said:gsub('"milliseconds":%d+', ""):gsub('"time":"[^"]*"', ""):gsub(", [%d.]+ s\n", "")
      :gsub("\nW%d+ [%d:.]+%s+%d+ ", "\nW "):gsub('timestamp="[^"]*"', ""):gsub(' time="[%d.]+"', ""))
  end

  local function compare(arguments, rules)
    local alone, shared = audit(1, arguments, rules), audit(3, arguments, rules)
    if alone ~= shared then
      local at = 1
      while alone:byte(at) == shared:byte(at) do at = at + 1 end
      error(("alone: %s\nshared: %s"):format(alone:sub(at - 100, at + 300), shared:sub(at - 100, at + 300)))
    end
    return alone
  end

  local function processes(arguments)
    local log = folder .. "/trace"
    temp.run(("strace -f -qq -e trace=clone,clone3 -o %s %s audit -f %s/rules.lua --children 3 %s 2>&1"):format(log,
      cluster.binary, folder, arguments:gsub("@", folder .. "/")))
    return select(2, temp.read(log):gsub("clone%d*%(", ""))
  end

  it("has the same report in each form", function()
    temp.write(folder .. "/list.json", text(LIST, ",\n    ", '\n  ],\n  "kind": "List"\n}\n', spread))
    temp.write(folder .. "/lines.json", text("", "\n", "\n"))
    for _, name in ipairs { "list", "lines" } do
      local said = compare(("--from @%s.json -o json"):format(name))
      assert.has_match('"objects":9715', said, 1, true)
      assert.has_match("seen p9970", said, 1, true)
      if name == "lines" then assert.has_match(":35: no rule matches it", said, 1, true) end
      for _, more in ipairs { "-o wide", "-o junit", "-n ns-1", "-l app=none --allow-empty" } do
        compare(("--from @%s.json %s"):format(name, more))
      end
    end
    assert.are.equal(compare "--from - -o json < @lines.json", audit(3, "--from - -o json", nil,
      "cat @lines.json |"))
    if not sanitized and os.execute "command -v strace >/dev/null" == 0 then -- sanitizers have a process of their own
      assert.are.equal(3, processes "--from @list.json")
      assert.are.equal(3, processes "--from @lines.json")
      assert.are.equal(0, processes "--from @lines.json --max-input-size 1Gi")
    end
  end)

  it("tells of damage with file and line, and audits the rest", function()
    temp.write(folder .. "/damaged.json", text("", "\n", "\n", function(one, i)
      if i == 4000 then return (one:gsub('"spec"', '"spec')) end
      if i == 8000 then return (one:gsub('"kind":"%w+",', "")) end
      return one
    end))
    local said = compare "--from @damaged.json -o json"
    assert.has_match("damaged.json:4000: invalid JSON", said, 1, true)
    assert.has_match("damaged.json:8000: ", said, 1, true)
    assert.has_match('"complete":false', said, 1, true)
    local whole = text(LIST, ",\n    ", "")
    temp.write(folder .. "/torn.json", whole:sub(1, #whole - 5000))
    assert.has_match("unexpected end of input in the object that starts here",
      compare "--from @torn.json -o json", 1, true)
  end)

  it("writes log lines of rules itself", function()
    local said = compare("--from @lines.json -o json", "logs.lua"):gsub("%d%d:%d%d:%d%d[.%d]*", "")
    assert.has_match("nine", said, 1, true)
  end)
end)
