-- `kubelua repl`: the prompt over a cluster and over a dump, on a terminal and without one.
local cluster = require "spec.support.cluster"
local keys = require "spec.support.keys"
local temp = require "spec.support.temp"

local DUMP = [[
apiVersion: v1
kind: PodList
items:
- metadata: {name: web, namespace: shop, labels: {app: web}}
  spec: {nodeName: n1, containers: [{name: main, image: "registry:5000/web"}]}
  status: {phase: Running}
- metadata: {name: db, namespace: shop, labels: {app: db}}
  status: {phase: Pending}
---
apiVersion: example.com/v1
kind: Policy
metadata: {name: p1, namespace: shop}
spec: {long: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], text: "a\tb: \e[31m", none: null}
]]

describe("kubelua repl", function()
  local folder

  before_each(function() folder = temp.folder { ["dump.yaml"] = DUMP } end)
  after_each(function()
    cluster.stop_all()
    keys.stop_all()
    temp.remove(folder)
  end)

  -- Lines without a terminal: stdout, stderr, exit code.
  local function lines(text, ...)
    local args = { "repl", ... }
    if #args == 1 then args[2], args[3] = "--from", folder .. "/dump.yaml" end
    local p = cluster.kubelua(args)
    p:write(text)
    p:close_input()
    local code = p:wait()
    return p:out(), p:err(), code
  end

  local function gives(expected, text)
    local out, err, code = lines(text)
    assert.equal("", err)
    assert.equal(expected, out)
    assert.equal(0, code)
  end

  it("shows kinds, selections and objects of a dump", function()
    gives([[
NAMESPACE  NAME  STATUS   AGE
shop       db    Pending  -
shop       web   Running  -
NAMESPACE  NAME  STATUS   AGE
shop       web   Running  -
n1
2
- count: 1
  key: Pending
- count: 1
  key: Running
# no deployments.apps
]], [[
pods
po "app=web"
pods["shop/web"].spec.nodeName
pods:count()
pods:query():group("status.phase"):count()
deploy
]])
  end)

  it("shows values like YAML, folds long lists, and lets no control character through", function()
    local out = lines 'policies["shop/p1"].spec\n{ 1, { a = true }, "12" }\n"two words", nil\nprint(1)\n'
    assert.equal([[
long:
- 1
- 2
- 3
- 4
- 5
- 6
- 7
- 8
- 9
- 10
# and 2 more
text: "a\tb: \x1b[31m"
none: null
- 1
- a: true
- "12"
two words
nil
1
]], out)
  end)

  it("keeps what lines leave, and lets a statement go on over several", function()
    gives("7\n1\n2\n", "x = 3\nlocal y = 4 x = x + y\nx\nfor i = 1, 2 do\nprint(i)\nend\n")
  end)

  it("waits where a line waits, and reads from the server too", function()
    gives("db\nslept\n", 'k8s.get("pods", "shop/db").metadata.name\nk8s.sleep "10ms" print "slept"\n')
  end)

  it("reports each failure in a line with its place, goes on, and ends with 3", function()
    local out, err, code = lines(table.concat({
      "nothing.there", "1 +* 2", 'error "mine"', 'kind "pds"', "pods:all()", 'require "io"', "k8s.delete(1)",
      "k8s.x = 1", 'k8s.get("pods", "shop/none")', "1 + 1", "podz", "polices:count()",
      "exit", "quit()", 'pods:where("a", "=", 1)', "pods:cuont()",
      'k8s.patch("pods")', "k8s.informer 'pods'", "k8s.rule {}", "k8s.lst 'pods'",
    }, "\n") .. "\nfor i = 1, 2 do\nprint(i)\n")
    assert.equal('nil, NotFound: pods "none" not found\n2\n', out)
    assert.equal([[
repl:1: attempt to index global 'nothing' (a nil value)
repl:1: unexpected symbol near '*'
repl:1: mine
repl:1: the server doesn't have a resource type "pds", did you mean "pods"?
repl:1: pods: unknown method all; for one object, use pods["namespace/name"]
repl:1: require: only k8s is available in the REPL
repl:1: attempt to call field 'delete' (a nil value); HAS NO k8s.delete; type help for a list
repl:1: k8s is read-only: x cannot be set
repl:1: not a global or kind: the server doesn't have a resource type "podz", did you mean "pods"?
repl:1: attempt to index global 'polices' (a nil value), did you mean "policies.example.com"?
repl:1: press Ctrl-D to exit
repl:1: press Ctrl-D to exit
repl:1: pods: unknown method where, which a query has: pods:query():where(...)
repl:1: pods: unknown method cuont, did you mean count? For one object, use pods["namespace/name"]
repl:1: attempt to call field 'patch' (a nil value); HAS NO k8s.patch; type help for a list
repl:1: attempt to call field 'informer' (a nil value); HAS NO k8s.informer: ]]
      .. [[kinds are globals: pods, or kind "deployments.apps"
repl:1: attempt to call field 'rule' (a nil value); HAS NO k8s.rule: use kubelua audit for rules
repl:1: attempt to call field 'lst' (a nil value); HAS NO k8s.lst, did you mean k8s.list?
repl:2: unexpected end of input
]], (err:gsub("if this is a field of k8s: the REPL is read%-only and has no", "HAS NO")))
    assert.equal(3, code)
  end)

  it("has no way to write, to files or to the cluster", function()
    local out = lines "io, os.remove, os.execute, debug, loadstring\nk8s.patch, k8s.writes, k8s.event\n"
    assert.equal(("nil\n"):rep(8), out)
  end)

  it("reports what is wrong with a dump", function()
    temp.write(folder .. "/bad.yaml", "kind: Pod\nmetadata: {name: x}\n")
    local _, err, code = lines("", "--from", folder .. "/bad.yaml")
    assert.equal("kubelua repl: " .. folder .. "/bad.yaml:1: object has no kind, apiVersion or name\n", err)
    assert.equal(2, code)
    temp.write(folder .. "/bad.yaml", "a: [\n")
    _, err, code = lines("", "--from", folder .. "/bad.yaml")
    assert.has_match("^kubelua repl: .*/bad.yaml:%d+: ", err)
    assert.equal(2, code)
    _, err, code = lines("", "--from", "-")
    assert.equal("kubelua repl: --from: stdin is the prompt's; write the objects to a file\n", err)
    assert.equal(2, code)
    _, err, code = lines("", "--from", folder .. "/none")
    assert.has_match("No such file", err, 1, true)
    assert.equal(2, code)
    _, err, code = lines("", "pods")
    assert.equal('kubelua repl: unexpected argument "pods"; use --from for files\n', err)
    assert.equal(2, code)
  end)

  it("reads JSON of kubectl, several files of it", function()
    local list = '{"apiVersion":"v1","kind":"List","items":['
      .. '{"apiVersion":"v1","kind":"%s","metadata":{"name":"%s"%s}}]}'
    temp.write(folder .. "/a.json", list:format("ConfigMap", "a", ',"namespace":"x"'))
    temp.write(folder .. "/b.json", list:format("Node", "b", ""))
    local out = lines("configmaps\nnodes.b.kind\n", "--from", folder .. "/a.json", "--from", folder .. "/b.json")
    assert.equal("NAMESPACE  NAME  STATUS  AGE\nx          a     -       -\nNode\n", out)
  end)

  it("reads objects of JSON one behind another, whatever the file is called", function()
    local one = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s","namespace":"x"},"data":{"k":"%s"}}'
    local many = { one:format("a", "1"), one:format("b", "} {\\\" { [ # : - ---"), one:format("a", "2") }
    local out = 'a\nb\n"2"\n"} {\\\" { [ # : - ---"\n'
    local asks = "for _, m in ipairs(configmaps()) do print(m:name()) end\n"
      .. 'configmaps["x/a"].data.k\nconfigmaps["x/b"].data.k\n'
    for name, between in pairs { ["a.json"] = "\n", ["a.ndjson"] = "\n", ["b.json"] = "", a = "\r\n\r\n  " } do
      temp.write(folder .. "/" .. name, table.concat(many, between) .. "\n")
      assert.same({ out, "", 0 }, { lines(asks, "--from", folder .. "/" .. name) })
    end
    -- As kubectl get -o json --watch prints them.
    local pretty = '{\n    "apiVersion": "v1",\n    "kind": "Node",\n    "metadata": {\n\t"name": "n%d"\n    }\n}\n'
    temp.write(folder .. "/watched", pretty:format(1) .. pretty:format(2))
    assert.equal("2\n", (lines("nodes:count()\n", "--from", folder .. "/watched")))
    -- As jq .items does.
    temp.write(folder .. "/array.json", "[" .. many[1] .. ",\n" .. many[2] .. "]\n[" .. many[3] .. "]")
    assert.same({ out, "", 0 }, { lines(asks, "--from", folder .. "/array.json") })
    temp.write(folder .. "/cut", many[1] .. "\n" .. many[2]:sub(1, -2))
    local _, err, code = lines("", "--from", folder .. "/cut")
    assert.has_match("^kubelua repl: .*/cut:2: unexpected end of input in the object that starts here\n", err)
    assert.equal(2, code)
  end)

  it("reads Lists and objects of YAML in any number of documents", function()
    temp.write(folder .. "/many.yaml", [[
# a comment
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1}}
- {apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}}
---
---
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2"}} # JSON, which is YAML
--- {apiVersion: v1, kind: Node, metadata: {name: n3}}
...
]])
    assert.same({ "3\nweb\n", "", 0 },
      { lines('nodes:count()\npods["shop/web"]:name()\n', "--from", folder .. "/many.yaml") })
    temp.write(folder .. "/flow.yaml", "{apiVersion: v1, kind: Node, metadata: {name: one, labels: {a: '}}} {{{'}}}\n")
    assert.same({ '"}}} {{{"\n', "", 0 },
      { lines("nodes.one.metadata.labels.a\n", "--from", folder .. "/flow.yaml") })
  end)

  it("fills caches of a cluster as they are requested, and follows it", function()
    local sim = cluster.sim { "--pods", "30" }
    local p = cluster.kubelua { "repl", "-s", sim.server }
    p:write "pods:count()\n"
    p:wait_line "^30$"
    local name = sim.api:get("/api/v1/pods").items[1].metadata
    sim.api:delete(("/api/v1/namespaces/%s/pods/%s?gracePeriodSeconds=0"):format(name.namespace, name.name))
    p:write "while pods:count() == 30 do k8s.sleep '5ms' end print 'one less'\n"
    p:wait_line "^one less$"
    p:close_input()
    assert.equal(0, p:wait())
    assert.equal("", p:err())
  end)

  it("names a cluster that cannot be reached", function()
    local _, err, code = lines("", "-s", "http://127.0.0.1:1")
    assert.has_match("^kubelua repl: .*127.0.0.1:1", err)
    assert.equal(2, code)
  end)

  describe("on a terminal", function()
    local function terminal(env)
      local all = { XDG_STATE_HOME = folder, NO_COLOR = "1" }
      for name, value in pairs(env or {}) do all[name] = value end
      local p = keys.open(("%s repl --from %s/dump.yaml"):format(cluster.binary, folder), all)
      p.sees "Type help"
      p.sees "kubelua> "
      return p
    end

    it("completes kinds, fields, methods and globals", function()
      local p = terminal()
      p:write "pods\r"
      p.sees "Running"
      p.sees "kubelua> "
      p:write 'pods["shop/web"].st\t.ph\t\r'
      p.sees "Running"
      p:write 'pods["shop/web"].metadata.\t'
      p.sees "labels +name +namespace"
      p:write "\21polic\t\r" -- ^U first
      p.sees "p1"
      p:write "pods:qu\t\21k8s.sle\t '1ms'\r"
      p.sees "ep '1ms'"
      p.sees "kubelua> "
      p:write 'print "end"\r'
      p.sees "\nend"
      p.sees "kubelua> "
      p:write "\4"
      assert.equal(0, p:wait())
    end)

    it("is interrupted by ^C while it computes, waits or reads, and goes on", function()
      local p = terminal()
      p:write 'print "begin" while true do pcall(function() while true do end end) end\r'
      p.sees "\nbegin"
      p:write "\3"
      p.sees "interrupted"
      keys.interrupt(p)
      assert.equal(0, keys.leave(p))
    end)

    -- After so and so many bytes of what the terminal shows: while a line is echoed, is run or has just ended,
    -- while the terminal changes, while the next line is read.
    it("lets no ^C end it, at whatever moment that comes", function()
      local p = terminal()
      local function text() return p.streams.out.text end
      local function prompt_behind(from) return text():find("kubelua> ", from, true) end
      for i = 1, 300 do
        local from = #text() + 1
        p:write(({ 'k8s.sleep "1ms"\r', "for i = 1, 1e4 do end\r", "print(1)\r" })[i % 3 + 1])
        p:wait_until(function() return #text() >= from + i % 40 or prompt_behind(from) end, "an echo")
        p:write "\3"
        local behind = #text() + 1
        p:wait_until(function() return prompt_behind(behind) end, "a prompt")
      end
      -- What is typed before the last ^C has come goes with it, so it is asked until it answers.
      for i = 1, 20 do
        p:write("print(" .. i .. " + 1000)\r")
        if pcall(p.wait_until, p, function() return text():find("\n" .. i + 1000 .. "\r", 1, true) end, "", 1) then
          break
        end
      end
      p.looked = #text() + 1
      assert.equal(0, keys.leave(p))
    end)

    it("remembers lines in a file that is its owner's alone", function()
      local p = terminal()
      p:write "17 + 4\r"
      p.sees "\n21"
      p.sees "kubelua> "
      p:write "\4"
      assert.equal(0, p:wait())
      assert.equal("600", (temp.run("stat -c %a " .. folder .. "/kubelua/history"):gsub("%s", "")))
      p = terminal()
      p:write "\27[A\r" -- the line before
      p.sees "\n21"
      p.sees "kubelua> "
      p:write "\4"
      p:wait()
    end)

    it("has colours, but for those who want none", function()
      local p = terminal { NO_COLOR = "" }
      p:write "{ a = 1 }\r"
      p.sees "\27%[36ma\27%[0m: \27%[33m1\27%[0m"
      p = terminal()
      p:write "{ a = 1 }\r"
      p.sees "\na: 1"
    end)
  end)
end)
