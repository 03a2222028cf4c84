-- `kubelua check` places what loading found at the line of the option, not where its call begins.
local checks = require "spec.support.checks"

-- Each has its mistake in the line that ends with "--".
local SCRIPTS = {
  [[k8s.params {
  a = 1,
  b = {
    type = "duration",
    default = "5 days", --
  },
}]],
  [[k8s.params {
  b = {
    type = "url",
    default = "foo", --
  },
}]],
  [[k8s.params {
  a = 1,
  b = {
    type = "string",
    default = "foo",
    values = { 1 }, --
  },
}]],
  [[k8s.params {
  a = 1,
  b = {
    type = "integer",
    default = 3,
    min = "x", --
  },
}]],
  [[k8s.params {
  b = {
    type = "secret",
    from = "secr:x", --
  },
}]],
  [[k8s.webhook {
  public = true,
  path = "/x",
  methods = { "FOO" }, --
  fn = print,
}]],
  [[k8s.webhook {
  public = true,
  path = "/x",
  methods = {
    "POST",
    "FOO", --
  },
  fn = print,
}]],
  [[k8s.webhook {
  public = true,
  path = "x", --
  fn = print,
}]],
  [[k8s.webhook {
  public = true,
  path = "/x",
  max_body = "1Gi", --
  fn = print,
}]],
  [[k8s.webhook {
  public = true,
  path = "/x",
  max_body = "much", --
  fn = print,
}]],
  [[k8s.cron("* * * * *", print, {
  name = "x",
  tz = "Europe/Berln", --
})]],
  [[k8s.cron("* * * * *", print, {
  tz = "UTC",
  name = "x y", --
})]],
  [[k8s.informer("pods", {
  resync = "10m",
  namespaces = {
    selector = "a in", --
  },
})]],
  [[k8s.reads {
  "pods:list",
  "pods:lst", --
}]],
  [[k8s.state(
  "x/y", --
  { keep = "file" }
)]],
  [[k8s.state("x", {
  keep = "file",
  init = 5, --
})]],
  [[k8s.leader {
  lease = "x",
  renew = "x", --
}]],
  [[k8s.reads { "*.example.com:watch" }
k8s.each_kind({
  verb = "watch",
  group = "foo*", --
}, print)]],
  [[k8s.metric.counter("x_total", "Help.", {
  "a",
  "b-c", --
})]],
  [[k8s.rule {
  id = "x",
  title = "x",
  severity = "low",
  kinds = { "pods" },
  params = {
    b = {
      type = "integer",
      default = "x", --
    },
  },
  check = function(pod) print(pod) end,
}]],
  [[k8s.informer("pods", {
  namespaces = { selector = "a" },
  resyncs = "10m", --
})]],
  -- What is not there has the line of the call.
  [[k8s.webhook { --
  path = "/x",
  public = true,
}]],
}

local function marked(text)
  local number = 1
  for line in text:gmatch "[^\n]*" do
    if line:find "%-%-$" then return number + 1 end
    if line ~= "" then number = number + 1 end
  end
end

describe("kubelua check places errors of calls at the option", function()
  it("in tables of several lines, and tells each once", function()
    local place = checks.new()
    for _, text in ipairs(SCRIPTS) do
      place:write("a.lua", 'local k8s = require "k8s"\n' .. text .. "\n")
      local _, out = place:run("-f", place.path)
      local lines = {}
      for line in out:gmatch "a%.lua:(%d+): error: " do lines[#lines + 1] = tonumber(line) end
      assert.are.same({ marked(text) }, lines, text .. "\n" .. out)
    end
    place:remove()
  end)
end)
