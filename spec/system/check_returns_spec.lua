-- `kubelua check` of what functions of webhooks return, of methods of states, of values that queries compare, and of
-- arithmetic with what may be nil.
local checks = require "spec.support.checks"

describe("kubelua check reads", function()
  local place
  before_each(function() place = checks.new() end)
  after_each(function() place:remove() end)

  -- The findings by their lines: the first of `lines` is 1.
  local function findings(lines)
    place:write("a.lua", 'local k8s = require "k8s"\nlocal pods = k8s.informer "pods"\nlocal kept = k8s.state "n"\n'
      .. table.concat(lines, "\n") .. "\n")
    local _, out = place:run("-f", place.path)
    local found = {}
    for line, text in out:gmatch "a%.lua:(%d+): %l+: ([^\n]*)" do found[tonumber(line) - 3] = text end
    return found
  end

  it("the names and types of what a webhook answers", function()
    assert.are.same({
      [2] = 'unknown option stauts of the response, did you mean "status"?',
      [4] = "status must be number, not string",
      [8] = 'unknown option boddy of the response, did you mean "body"?',
    }, findings {
      "local function first(request)",
      "  if request.method == 'PUT' then return { stauts = 405 } end",
      "  if request.body == '' then return nil, 'empty' end",
      "  return { status = 'ok', headers = { ['X-Any'] = 1 }, body = { free = 1 } }",
      "end",
      'k8s.webhook { path = "/a", public = true, fn = first }',
      'k8s.webhook { path = "/b", public = true, fn = function(request)',
      "  return { status = 200, boddy = request.body }",
      "end }",
      'k8s.webhook { path = "/c", public = true, fn = function() return "text" end }',
      'k8s.webhook { path = "/d", public = true, fn = function() return { status = 201 } end }',
    })
  end)

  it("methods of a state, whose fields have any name", function()
    assert.are.same({ [2] = 'k8s.State has no method snyc, did you mean "sync"?' }, findings {
      "k8s.main(function()",
      "  kept:snyc()",
      "  kept.snyc = 1",
      "  print(kept:sync(), kept.snyc, kept.any)",
      "end)",
    })
  end)

  it("values that a query compares fields with", function()
    local wrong = 'status.phase is never "Runing", did you mean "Running"?'
    assert.are.same({ [2] = wrong, [3] = wrong, [4] = wrong }, findings {
      "k8s.main(function()",
      '  print(pods:query():where("status.phase", "=", "Runing"):count())',
      '  print(pods:query():where("status.phase", "in", { "Failed", "Runing" }):count())',
      '  print(pods:query():group("spec.nodeName"):where("status.phase", "~=", "Runing"):rows())',
      '  print(pods:query():where("status.phase", "=", "Running"):where("status.phase", ">", "R"):count())',
      '  print(pods:query():where("spec.nodeName", "=", "any"):where("spec.nodeName", "=", k8s.null):count())',
      '  print(pods:query():where("status.phase", "matches", "Run*"):count())',
      "end)",
    })
  end)

  it("arithmetic with texts of people that may be no number or time", function()
    assert.are.same({
      [2] = "the result of tonumber may be nil: check it, or its error",
      [4] = "n, the result of tonumber, may be nil: check it, or its error",
      [5] = "the result of k8s.time.parse may be nil: check it, or its error",
    }, findings {
      "pods:on_add(function(pod)",
      '  print(tonumber((pod.metadata.annotations or {})["example.org/n"]) + 1)',
      '  local n = tonumber(pod:get "metadata.labels.n")',
      "  print(n * 2)",
      '  print(os.time() - k8s.time.parse((pod.metadata.annotations or {})["example.org/at"]))',
      "  local text = (pod.metadata.annotations or {}).text",
      '  if text and text:match "^%d+$" then print(tonumber(text) + 1) end',
      '  local m = tonumber(pod:get "metadata.labels.m")',
      "  if m then print(m + 1) end",
      '  print((tonumber(pod:get "metadata.labels.o") or 1) + 1, tonumber(pod.metadata.resourceVersion) + 1)',
      "  print(os.time() - k8s.time.parse(pod.metadata.creationTimestamp))",
      "end)",
    })
  end)
end)
