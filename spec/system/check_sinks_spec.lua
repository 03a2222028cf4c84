-- `kubelua check` reads all sinks of a script, also those that a setting decides on, and the events that they publish.
local checks = require "spec.support.checks"

describe("kubelua check reads sinks", function()
  local place
  before_each(function() place = checks.new() end)
  after_each(function() place:remove() end)

  -- The findings by their line: the first of `...` is 1.
  local function findings(...)
    local head = 'local k8s = require "k8s"\nlocal settings = k8s.params { on = false, pw = { type = "secret" } }\n'
    place:write("a.lua", head .. table.concat({ ... }, "\n") .. "\n")
    local _, out = place:run("-f", place.path)
    local found = {}
    for line, text in out:gmatch "a%.lua:(%d+): %l+: ([^\n]*)" do found[tonumber(line) - 2] = text end
    return found
  end

  -- Sinks that this run does not declare, one a line.
  local function of_sinks(...)
    local list = { "if settings.on then" }
    for _, options in ipairs { ... } do list[#list + 1] = "k8s.sink { type = 't', " .. options .. " }" end
    list[#list + 1] = "end"
    local found, moved = findings(unpack(list)), {}
    for line, text in pairs(found) do moved[line - 1] = text end
    return moved
  end

  it("with the targets, sizes and names that they cannot have", function()
    local found = of_sinks('name = "a", to = "ftp://x/y"', 'name = "b", to = "nats://host"',
      'name = "c", to = "file:///x", batch = 0', 'name = "d", to = "file:///x", spool = "1Mi"',
      'name = "e", to = "file:///x", retries = 1', 'name = "e", to = "file:///x"', 'name = "f"',
      'name = "g", to = "file:///x", timeout = "10 parsecs"', 'name = "h", to = "file:///x", spool = "64Mi", batch = 1')
    assert.has_match("k8s.sink: to: must begin with file://", found[1], 1, true)
    assert.has_match("k8s.sink: to: the subject is missing", found[2], 1, true)
    assert.has_match("k8s.sink: batch must be an integer from 1 to 1000", found[3], 1, true)
    assert.has_match("k8s.sink: spool must be between 8Mi and 64Gi", found[4], 1, true)
    assert.has_match("unknown option retries", found[5], 1, true)
    assert.has_match('k8s.sink: the name "e" is already used', found[6], 1, true)
    assert.has_match("lacks to", found[7], 1, true)
    assert.has_match("timeout", found[8], 1, true)
    assert.is_nil(found[9])
  end)

  it("with texts that their target has no use for", function()
    local found = of_sinks('name = "a", to = "kafka://x/y", token = settings.pw',
      'name = "b", to = "nats://x/y", headers = { A = "b" }', 'name = "c", to = "kafka://x/y", ca = "/ca"',
      'name = "d", to = "kafka://x/y", user = "me", password = settings.pw, mechanism = "MD5"',
      'name = "e", to = "tls://x/y", user = "me"',
      'name = "f", to = "kafka+ssl://x/y", user = "me", password = settings.pw, mechanism = "PLAIN", ca = "/ca"')
    assert.has_match("k8s.sink: token is for http://, https://, nats:// and tls:// only", found[1], 1, true)
    assert.has_match("k8s.sink: headers are for http:// and https:// only", found[2], 1, true)
    assert.has_match("k8s.sink: ca is for https://, tls:// and kafka+ssl:// only", found[3], 1, true)
    assert.has_match("mechanism", found[4], 1, true)
    assert.has_match("k8s.sink: user needs password", found[5], 1, true)
    assert.is_nil(found[6])
  end)

  it("with logins that follow a Secret, read while the file loads", function()
    local found = findings('local own = k8s.params { pw = { type = "secret", from = "secret:a/b/c" } }',
      'k8s.sink { name = "a", to = "nats://x/y", type = "t", token = own.pw }',
      'k8s.sink { name = "b", to = "nats://x/y", type = "t", token = function() return own.pw end }',
      'k8s.sink { name = "c", to = "nats://x/y", type = "t", token = settings.pw }',
      'k8s.sink { name = "d", to = "kafka://x/y", type = "t", token = function() return own.pw end }',
      'k8s.sink { name = "e", to = "nats://x/y", type = "t", token = function() return 1 end }',
      'k8s.sink { name = "f", to = "nats://x/y", type = "t", token = 1 }')
    assert.has_match("setting pw follows a Secret, which is not read yet while the file loads: read it in a function",
      found[2], 1, true)
    assert.is_nil(found[3])
    assert.is_nil(found[4])
    assert.has_match("token is for http://, https://, nats:// and tls:// only", found[5], 1, true)
    assert.has_match("token", found[7], 1, true)
  end)

  it("and the events that are published later", function()
    local found = findings('local plain = k8s.sink { name = "a", to = "file:///x" }',
      'local typed = k8s.sink { name = "b", to = "file:///x", type = "t" }', "k8s.main(function()",
      "print(plain:publish { subject = 'x' })", "print(typed:publish { Subject = 'x' })",
      "print(typed:publish { specversion = '2' })", "print(typed:publish { count = 1.5 })",
      "print(typed:publish { list = {} })", "print(typed:publish({ data = {} }, { keys = 'x' }))",
      "print(typed:publish { data = { any = { 1.5 } }, count = 2 }, plain:publish { type = 't' })",
      "local made = {}", "for _, name in ipairs { 'type' } do made[name] = 't' end", "print(plain:publish(made))",
      "end)")
    assert.has_match("sink:publish: type is missing", found[4], 1, true)
    assert.has_match('the attribute "Subject" must have at most 20 lower-case letters and digits', found[5], 1, true)
    assert.has_match("the attribute specversion cannot be set", found[6], 1, true)
    assert.has_match("the attribute count must be an integer, not 1.5", found[7], 1, true)
    assert.has_match("the attribute list must be a string, an integer or a boolean, not a table", found[8], 1, true)
    assert.has_match("unknown option keys", found[9], 1, true)
    for line = 4, 9 do found[line] = nil end
    assert.are.same({}, found)
  end)
end)
