-- docs/first-script.md, followed literally: its commands are run one after the other, and show what the page says.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"
local examples = require "spec.support.examples"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local page = "docs/first-script.md"

-- The page's commands, each with what it says that they show.
local steps = {}
for _, block in ipairs(examples.blocks(page)) do
  if block.language == "sh" then
    steps[#steps + 1] = { text = block.text, shown = "" }
  elseif block.language == "" and #steps > 0 then
    steps[#steps].shown = steps[#steps].shown .. block.text
  end
end

local function step(words)
  for _, one in ipairs(steps) do
    if one.text:find(words, 1, true) then return one end
  end
  error(page .. " has no command with " .. words)
end

describe("the way of " .. page, function()
  local home, server, started

  setup(function()
    home, started = temp.folder(), {}
  end)
  teardown(function()
    for _, p in ipairs(started) do
      if not p.exit_code then
        p:kill "KILL"
        p:wait(20)
      end
    end
    temp.remove(home)
  end)

  -- What goes on until it is ended takes the shell's place, so that it ends with the spec.
  -- In a terminal of its own, in the project once there is one. Ports are those that are free.
  local function start(text)
    if server then text = text:gsub("http://127%.0%.0%.1:8001", server) end
    text = text:gsub("kubelua run ", "exec %0"):gsub("kubelua sim ", "exec %0")
    local here = assert(io.popen "pwd"):read "*l"
    local binary = cluster.binary:find "^/" and cluster.binary or here .. "/" .. cluster.binary
    local project = os.execute(("test -d '%s/rules'"):format(home)) == 0 and "/rules" or ""
    local p = proc.spawn {
      "bash", "-c", ("cd '%s%s'\n%s"):format(home, project, text),
      env = {
        PATH = binary:gsub("/[^/]*$", ":") .. os.getenv "PATH", KUBELUA_ADMIN_SOCKET = home .. "/socket",
        KUBELUA_METRICS_BIND_ADDRESS = "0", KUBELUA_HEALTH_PROBE_BIND_ADDRESS = "0",
      },
    }
    started[#started + 1] = p
    return p
  end

  -- Exit code, stdout and stderr of what ends by itself.
  local function run(one)
    local p = start(one.text)
    return p:wait(60), p:out(), p:err()
  end

  -- But for what differs from run to run.
  local function same(text)
    return (text:gsub("[%d.]+ seconds", "N seconds"))
  end

  it("begins with a build", function()
    assert.has_match("./dev build", steps[1].text, 1, true)
  end)

  it("makes a project, which passes its check and its specs, with no warning", function()
    local code, out, err = run(step "kubelua init rules")
    assert.are.equal(0, code, out .. err)
    local script, shown = assert(io.open(home .. "/rules/scripts/hello.lua")):read "*a", false
    for _, block in ipairs(examples.blocks(page)) do
      shown = shown or block.language == "lua" and block.text == script
    end
    assert.is_true(shown, page .. " shows another scripts/hello.lua")
    local one = step "kubelua check -f scripts\nkubelua test"
    code, out, err = run(one)
    assert.are.equal(0, code, out .. err)
    assert.are.equal(same(one.shown), same(err .. out))
  end)

  it("has a mistake found, and a spec that fails report what happened", function()
    local one = step "{ wher ="
    local code, out, err = run(one)
    assert.are.equal(1, code)
    assert.are.equal(one.shown, out .. err)
    one = step "s/wher =/where =/"
    code, out, err = run(one)
    assert.are.equal(1, code)
    local head, tail = same(one.shown):match "^(.-)%.%.%.\n(.*)$"
    assert.are.equal(head, same(err .. out):sub(1, #head))
    assert.are.equal(tail, out:sub(-#tail))
    one = step "spec/hello_spec.lua <<"
    code, out, err = run(one)
    assert.are.equal(0, code, out .. err)
    assert.are.equal(same(one.shown), same(out))
  end)

  it("runs it on a simulated cluster", function()
    local sim = start((step "kubelua sim".text:gsub("8001", "0")))
    server = sim:wait_line "^Serving on (http://.*)$"
    local engine = start(step "kubelua run -f scripts -s".text)
    engine:wait_error "^1 script, 0 errors, 0 warnings$"
    local pods = 0
    for _ in step "kubelua run -f scripts -s".shown:gmatch "\nhello team%-000/" do pods = pods + 1 end
    for _ = 1, pods do engine:wait_line "^hello team%-000/%S+ on %S+$" end
    engine:wait_error('"Synced" informer="pods" objects=' .. pods)

    assert.are.equal(0, (run(step "s/hello/welcome/")))
    engine:wait_error '"Reloaded" script="scripts/hello" generation=2'
    for _ = 1, pods do engine:wait_line "^welcome team%-000/%S+ on %S+$" end

    local one = step '"do": "create"'
    assert.are.equal(0, (run(one)))
    assert.are.equal(one.shown, engine:wait_line "^welcome default/.*$" .. "\n")

    one = step "echo '('"
    local refused = one.shown:match "\n    (reload refused: [^\n]*) %(%d+s ago%)\n"
    run(one)
    await(function()
      local _, out = run { text = "kubelua status" }
      local _, last = out:find(refused, 1, true)
      return last and out:find("^ %(%d+s ago%)\n", last + 1)
    end)
    local cause = one.shown:match 'err="(.-)"\n'
    assert.has_match(cause, engine:wait_error '"Reload refused, the previous generation keeps running" (.*)$', 1, true)
    run(step "sed -i '$d'")
    await(function() return not (select(2, run { text = "kubelua status" })):find "reload refused" end)
  end)
end)
