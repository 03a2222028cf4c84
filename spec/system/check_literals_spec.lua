-- `kubelua check` reads texts with a grammar of their own in calls that are made later, which loading does not reach.
local checks = require "spec.support.checks"

describe("kubelua check reads the texts of calls made later", function()
  local place
  before_each(function() place = checks.new() end)
  after_each(function() place:remove() end)

  -- The findings of a command's function, each without its place, by its line: the first is 1.
  local function findings(...)
    local head = [[
local k8s = require "k8s"
local pods = k8s.informer "pods"
k8s.reads { "pods:list" }
k8s.writes { "pods:create" }
k8s.command("go", function(args)
]]
    place:write("a.lua", head .. table.concat({ ... }, "\n") .. "\nend)\n")
    local _, out = place:run("-f", place.path)
    local found = {}
    for line, text in out:gmatch "a%.lua:(%d+): %l+: ([^\n]*)" do found[tonumber(line) - 5] = text end
    return found
  end

  it("as selectors", function()
    local found = findings(
      'print(k8s.list("pods", { selector = "a b" }))',
      'print(pods:lister():list("a in"))',
      'print(k8s.selects("a in", args))',
      'print(k8s.selects("a in (b)", args), pods:lister():list("a!=b,!c"))'
    )
    assert.has_match('selector "a b": character 3', found[1], 1, true)
    assert.has_match('selector "a in": character 5', found[2], 1, true)
    assert.has_match('selector "a in": character 5', found[3], 1, true)
    assert.is_nil(found[4])
  end)

  it("as field selectors", function()
    local wrong = { "spec.nodeName", "=x", "a=b=c", "a=b,c", [[a=b\\x]] }
    local right = {
      "spec.nodeName=", "spec.nodeName==b", "spec.nodeName!=b,status.phase=d", [[status.podIP=b\\,c]], "",
    }
    local calls = {}
    for _, list in ipairs { wrong, right } do
      for _, text in ipairs(list) do
        calls[#calls + 1] = ('print(k8s.list("pods", { field_selector = "%s" }))'):format(text)
      end
    end
    local found = findings(unpack(calls))
    for i in ipairs(wrong) do
      assert.has_match('is not a requirement, such as metadata.name=x or spec.nodeName!=y', found[i], 1, true)
    end
    for i in ipairs(right) do assert.is_nil(found[#wrong + i]) end
  end)

  it("as schedules and quantities, also those of objects", function()
    local found = findings(
      'k8s.cron("61 * * * *", print)',
      'print(k8s.schedule("0 3 * * mom"):next())',
      'print(k8s.quantity "1O0m")',
      "local limits = { cpu = '100 m', memory = '1Gi' }",
      "local pod = { apiVersion = 'v1', kind = 'Pod', metadata = { name = 'a', namespace = 'b' }, spec = {",
      "  containers = { { name = 'a', resources = { limits = { memory = '1GB' }, requests = { cpu = '100m' } } } } } }",
      "local made, err = k8s.create(pod)",
      "print(made, err, limits)",
      'print(k8s.schedule("@daily"):next(), k8s.quantity "1.5Gi", k8s.quantity(args.size))'
    )
    assert.has_match('schedule "61 * * * *": minute "61": must be', found[1], 1, true)
    assert.has_match('schedule "0 3 * * mom": day of week "mom": must be', found[2], 1, true)
    assert.has_match('quantity "1O0m": not a number with a suffix', found[3], 1, true)
    assert.has_match('limits.memory: quantity "1GB": ', found[6], 1, true)
    found[1], found[2], found[3], found[6] = nil, nil, nil, nil
    assert.are.same({}, found)
  end)

  it("as templates, and other YAML", function()
    local found = findings(
      'print(k8s.template("a: ${b", { b = 1 }))',
      'print(k8s.template("a: ${size}", { sizes = 1 }))',
      'print(k8s.template("${b-c}: 1", args))',
      'print(k8s.template("a: [", args))',
      'print(k8s.template("a: ${b}"))',
      'print(k8s.yaml.decode "a: [")',
      'print(k8s.template("a: ${b} x$${c} # ${d", { b = 1 }), k8s.template("a: ${b}", args))',
      'local values = {} for name in pairs(args) do values[name] = 1 end print(k8s.template("a: ${b}", values))',
      'local known = { b = 1 } known.c = 2 print(k8s.template("a: ${b}${c}", known), k8s.yaml.decode "a: 1")'
    )
    assert.are.equal('k8s.template: "${b" is not ${name}', found[1])
    assert.are.equal('k8s.template: the values have no size, did you mean "sizes"?', found[2])
    assert.are.equal('k8s.template: "${b-c}" is not ${name}', found[3])
    assert.has_match("yaml: line ", found[4], 1, true)
    assert.are.equal("k8s.template: the values have no b", found[5])
    assert.has_match("yaml: line ", found[6], 1, true)
    for i = 7, 9 do assert.is_nil(found[i]) end
  end)

  it("as tokens and secrets that are empty", function()
    place:write("a.lua", [[
local k8s = require "k8s"
k8s.webhook { path = "/a", token = "", fn = print }
k8s.webhook { path = "/b", fn = print,
  signature = { header = "X-Sign", secret = "" } }
k8s.webhook { path = "/c", token = os.time() > 0 and "x" or "y", fn = print, max_body = "64Ki" }
]])
    local code, out = place:run("-f", place.path)
    assert.are.equal(
      "a.lua:2: error: token must not be empty\na.lua:4: error: secret must not be empty\n", out)
    assert.are.equal(1, code)
  end)
end)

describe("kubelua check reports what loading and the source find", function()
  local place
  before_each(function() place = checks.new() end)
  after_each(function() place:remove() end)

  local function out_of(...)
    place:write("a.lua", 'local k8s = require "k8s"\n' .. table.concat({ ... }, "\n") .. "\n")
    local _, out = place:run("-f", place.path)
    return out
  end

  it("once, with the line of the option", function()
    local cases = {
      { "k8s.every('5s', print, {", "  leader = 'yes',", "})" },
      { "k8s.cron(", "  '61 * * * *',", "  print", ")" },
      { "k8s.informer('pods', {", "  selector = 'a in',", "})" },
      { "k8s.rule { id = 'a',", "  severty = 'high', kinds = { 'pods' }, check = function() end,", "}" },
      { "k8s.informer('pods', {", "  resync = '5q',", "})" },
    }
    for _, lines in ipairs(cases) do
      local out = out_of(unpack(lines))
      assert.truthy(out:match "^a%.lua:3: error: k8s%.[^\n]*\n$", out)
    end
  end)

  it("twice, where there are two mistakes", function()
    assert.are.equal("a.lua:2: error: k8s.every: leader must be a boolean, not string\n"
      .. "a.lua:5: error: leader must be boolean, not string\n", out_of("k8s.every('5s', print, { leader = 'yes' })",
      "", "k8s.every('5s', print, {", "  leader = 'yes',", "})"))
    local out = out_of("k8s.every('5s', function()", "  k8s.after('1s', print, {", "    leader = 'no',", "  })",
      "end, { leader = 'yes' })")
    assert.are.equal("a.lua:4: error: leader must be boolean, not string\n"
      .. "a.lua:6: error: k8s.every: leader must be a boolean, not string\n", out)
  end)
end)
