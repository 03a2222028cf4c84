-- Errors of wrong arguments name the function, the argument and what was expected.
local support = require "spec.testing.support"

-- The error that each of these expressions raises, without its place.
local function raised(expressions, while_loading)
  local lines = {}
  for i, one in ipairs(expressions) do
    local call = ("pcall(function() return %s end)"):format(one)
    lines[i] = ("print(tostring(select(2, %s)):gsub('^[^ ]+:%%d+: ', ''), nil)"):format(call)
  end
  local text = table.concat(lines, "\n")
  local env = support.load(([[
    local k8s = require "k8s"
    k8s.reads { "pods/log:get" }
    k8s.writes { "deployments.apps/scale:patch" }
    local ref = { kind = "deployments.apps", namespace = "shop", name = "web" }
    k8s.informer "pods"
    %s
  ]]):format(while_loading and text or "k8s.main(function() " .. text .. " end)"))
  env:settle()
  local found = {}
  for i, line in ipairs(env.prints) do found[i] = line:match "^[^\t]*" end
  return found
end

describe("errors of arguments", function()
  it("name the option of k8s.logs, whichever function reads it", function()
    assert.same({
      'k8s.logs: since must be a duration, such as "30s", not "x"',
      'k8s.logs: timeout must be a number of seconds, or a string such as "90s", "500ms" or "1h30m", not "x"',
    }, raised { 'k8s.logs("shop/web", { since = "x" })', 'k8s.logs("shop/web", { timeout = "x" })' })
  end)

  it("name the time of a schedule, and its type", function()
    assert.same({
      "schedule:next: after must be a number of seconds or a time of RFC 3339, not table",
      "schedule:last: upto must be a number of seconds or a time of RFC 3339, not boolean",
      'schedule:between: to: "x" is not a time of RFC 3339',
      "k8s.time.format: the time must be a number of seconds or a time of RFC 3339, not table",
    }, raised {
      'k8s.schedule("0 3 * * *"):next {}', 'k8s.schedule("0 3 * * *"):last(true)',
      'k8s.schedule("0 3 * * *"):between(0, "x")', "k8s.time.format {}",
    })
  end)

  it("quote a text where a number or a known text was expected", function()
    assert.same({
      'k8s.scale: replicas must be a whole number from 0 to 2147483647, not "3"',
      "k8s.scale: replicas must be a whole number from 0 to 2147483647, not 1.5",
      'k8s.conditions.set: status must be "True", "False" or "Unknown", not "Yes"',
    }, raised {
      'k8s.scale(ref, "3")', "k8s.scale(ref, 1.5)",
      'k8s.conditions.set({}, { type = "Ready", status = "Yes", reason = "A" })',
    })
  end)

  it("say that there are no names, and which values a default has", function()
    assert.same({
      'k8s.template: a: unknown value "x", there are none',
      "k8s.params: a: default must be a boolean, a number, a string or a table, not function",
      "k8s.params: a: values must not be empty: no value would fit",
    }, raised({
      'k8s.template("a: ${x}", {})', "k8s.params { a = { default = print } }",
      'k8s.params { a = { type = "string", values = {} } }',
    }, true))
  end)
end)
