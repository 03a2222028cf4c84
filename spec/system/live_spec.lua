-- Live reads in the whole binary: k8s.get, k8s.list, k8s.pages, k8s.reads, on a server that goes wrong too.
local cluster = require "spec.support.cluster"
local colours = require "spec.support.colours"
local live = require "spec.support.live"
local proc = require "spec.support.proc"

local configmaps, configmap = colours.path, colours.map

describe("live reads #threads", function()
  local sim

  before_each(function() sim = live.sim() end)
  after_each(cluster.stop_all)

  describe("of one object", function()
    it("return the object, or the server's error", function()
      local out = sim:run [[
        local map = k8s.get("cm", "default/map-2")
        print(map.data.colour, map.kind, map:key())
        local none, err = k8s.get("configmaps", "default/x")
        print(none, err.code, err.reason, err.message, tostring(err))
      ]]
      assert.are.equal("green\tConfigMap\tdefault/map-2\n" ..
        'nil\t404\tNotFound\tconfigmaps "x" not found\tconfigmaps "x" not found\n', out)
    end)

    it("wait when the server is busy and reports how long", function()
      sim:fault { verb = "get", what = "status", code = 429, reason = "TooManyRequests", retry_after = 1, times = 2 }
      local before = proc.now()
      assert.are.equal("red\n", sim:run [[print(k8s.get("configmaps", "default/map-1").data.colour)]])
      assert.is_true(proc.now() - before >= 2)
    end)

    it("give up at once when it does not, and report when to try again", function()
      local get = [[
        local _, err = k8s.get("configmaps", "default/map-1")
        print(err.code, err.reason, err.retry_after)
      ]]
      sim:fault { verb = "get", what = "status", code = 429, reason = "TooManyRequests", message = "slow down" }
      assert.are.equal("429\tTooManyRequests\tnil\n", sim:run(get))
      sim:fault { verb = "get", what = "status", code = 503, retry_after = 90 }
      assert.are.equal("503\tServiceUnavailable\t90\n", sim:run(get))
    end)

    it("refuse keys that are none", function()
      local out = sim:run [[
        for _, key in ipairs { "map-1", "a/b/c", "", "/x", "default/", "a\0b" } do
          print((select(2, pcall(k8s.get, "configmaps", key)):gsub("^.-:%d+: ", "")))
        end
        print((select(2, pcall(k8s.get, "nodes", "default/x")):gsub("^.-:%d+: ", "")))
        print(k8s.get("configmaps", "default/.."))
      ]]
      assert.has_match('"map%-1": the key of a namespaced object is "namespace/name"', out)
      assert.has_match('unexpected key format: "a/b/c"', out)
      assert.has_match('unexpected key format: "/x"', out)
      assert.has_match("k8s.get: the key must not contain a NUL byte", out, 1, true)
      assert.has_match("nodes are not namespaced", out)
      assert.has_match("nil\t[^\n]+%.%.", out)
    end)
  end)

  describe("of lists", function()
    it("return all objects in pages, and the version of the list", function()
      local out = sim:run [[
        local list, version = k8s.list("configmaps", { namespace = "default", chunk_size = 2 })
        print(names(list), version == k8s.list("configmaps", { chunk_size = 1 }) or #version > 3)
      ]]
      assert.are.equal("map-1 map-2 map-3\ttrue\n", out)
      assert.are.equal(2 + 3, sim:requests().lists)
    end)

    it("take selectors, a limit for everything, and a namespace", function()
      local out = sim:run [[
        print(names(k8s.list("cm", { selector = "even=no" })))
        print(names(k8s.list("cm", { field_selector = "metadata.name!=map-2" })))
        print(names(k8s.list("cm", { limit = 2 })))
        print(names(k8s.list("cm", { limit = 2, chunk_size = 1 })))
        print(#k8s.list("cm", { namespace = "kube-system" }))
        print(k8s.list("cm", { field_selector = "data.colour=red" }))
      ]]
      assert.has_match("^map%-1 map%-3\nmap%-1 map%-3\nmap%-1 map%-2\nmap%-1 map%-2\n0\nnil\t", out)
    end)

    it("are not older than the version that is requested", function()
      local out = sim:run [[
        local _, version = k8s.list("cm")
        for _, match in ipairs { "NotOlderThan", "Exact" } do
          print(names(k8s.list("cm", { resource_version = version, resource_version_match = match })))
        end
        print(names(k8s.list("cm", { resource_version = "0" })))
        print(names(k8s.list("cm", { resource_version = version, chunk_size = 2 })))
        local _, err = k8s.list("cm", { resource_version = "9999999999999999999" })
        print(err.code, err.reason, err.retry_after)
        _, err = k8s.list("cm", { resource_version = "x" })
        print(err.code)
      ]]
      local all = "map-1 map-2 map-3\n"
      assert.are.equal(all:rep(4) .. "504\tTimeout\t1\n400\n", out)
    end)

    it("are complete although their pages expired (P-3)", function()
      sim:fault { verb = "list", what = "status", code = 410, reason = "Expired", skip = 1 }
      assert.are.equal("map-1 map-2 map-3\n", sim:run [[print(names(k8s.list("cm", { chunk_size = 2 })))]])
      assert.are.equal(2, sim:requests().lists) -- besides the one that failed
    end)

    it("wait for a busy server in the middle (H-3), and go on with the same page", function()
      sim:fault { verb = "list", what = "status", code = 429, retry_after = 1, skip = 1 }
      assert.are.equal("map-1 map-2 map-3\n", sim:run [[print(names(k8s.list("cm", { chunk_size = 2 })))]])
    end)

    it("are an error when they break off, are forbidden, or make no sense", function()
      local list = [[
        local list, err = k8s.list("cm")
        print(list, err.code, err.reason, #k8s.list "cm")
      ]]
      local reasons = { cut = "ConnectionClosed", reset = "ConnectionReset", ["invalid-json"] = "BadAnswer" }
      for what, reason in pairs(reasons) do
        sim:fault { verb = "list", what = what, after = 1 }
        assert.are.equal("nil\tnil\t" .. reason .. "\t3\n", sim:run(list))
      end
      sim:fault { verb = "list", what = "status", code = 403, reason = "Forbidden", message = "no" }
      assert.are.equal("nil\t403\tForbidden\t3\n", sim:run(list))
    end)

    it("leave out an object that cannot be taken, and exec reports it", function()
      sim:fault { verb = "list", what = "oversize", after = 1 }
      local engine = sim:start [[print(names(k8s.list "cm"))]]
      assert.are.equal(3, engine:wait(30))
      assert.are.equal("map-1 map-2 map-3\n", engine:out())
      assert.has_match("Object refused.*exceed %-%-max%-object%-size", engine:err())
      assert.has_match("incomplete: 1 object was refused\n", engine:err())
    end)

    it("come page by page when the script requests them", function()
      local engine = sim:start [[
        for page, version in k8s.pages("cm", { chunk_size = 1 }) do
          print(names(page), #version > 3)
          k8s.sleep "50ms"
        end
        print "end"
      ]]
      assert.are.equal(0, engine:wait(30))
      assert.are.equal("map-1\ttrue\nmap-2\ttrue\nmap-3\ttrue\nend\n", engine:out())
      assert.are.equal(3, sim:requests().lists)
    end)

    it("raise in pages what went wrong, as a table", function()
      local engine = sim:start [[
        local seen, maps = {}, watch()
        local ok, err = pcall(function()
          for page in k8s.pages("cm", { chunk_size = 1 }) do
            seen[#seen + 1] = names(page)
            if #seen == 1 then
              print "first"
              maps()
              maps()
            end
          end
        end)
        print(table.concat(seen, " "), ok, err.code, err.reason)
      ]]
      engine:wait_line "^first$"
      sim.api:create(configmaps, configmap("new-1", "white"))
      sim:play { ["do"] = "compact" }
      sim.api:create(configmaps, configmap("new-2", "white"))
      assert.are.equal(0, engine:wait(30), engine:err())
      assert.has_match("map%-1\tfalse\t410\tExpired\n$", engine:out())
    end)
  end)

  it("are made by handlers too, each for itself", function()
    local engine = cluster.run(sim.server, cluster.script(live.prelude .. [[
      local maps = k8s.informer("configmaps", { namespace = "default" })
      maps:on_add(function(map) print("got", k8s.get("cm", map:key()).data.colour) end, { id = "get" })
      maps:on_add(function(map) print("of", #k8s.list("cm", { chunk_size = 1 })) end, { id = "list" })
    ]]))
    local wanted = { "got\tred\n", "got\tgreen\n", "got\tblue\n", "of\t3\nof\t3\nof\t3\n" }
    local function all_there()
      local of = engine:out():gsub("got[^\n]*\n", "")
      for i, text in ipairs(wanted) do
        if not (i == 4 and of or engine:out()):find(text, 1, true) then return false end
      end
      return true
    end
    engine:wait_until(all_there, "what all reads gave")
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("of a kind that the server does not have name the one that was meant", function()
    local out = sim:run [[
      local list, err = k8s.list("nodez")
      print(list, err.code, err.message)
    ]]
    assert.are.equal('nil\t404\tthe server doesn\'t have a resource type "nodez", did you mean "nodes"?\n', out)
  end)

  it("of a kind that comes with a CRD find it soon, and learn that it went", function()
    local engine = sim:start [[
      local list, err = k8s.list "trees.wood.example"
      print(list, err.code)
      repeat
        k8s.sleep "100ms"
        list, err = k8s.list "trees.wood.example"
      until list
      print("found", #list)
      repeat
        k8s.sleep "100ms"
        list, err = k8s.list "trees.wood.example"
      until not list
      print("gone", err.code)
    ]]
    local crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    engine:wait_line "^nil\t404$"
    sim.api:create(crds, {
      apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
      metadata = { name = "trees.wood.example" },
      spec = {
        group = "wood.example", scope = "Namespaced", names = { plural = "trees", singular = "tree", kind = "Tree" },
        versions = { {
          name = "v1", served = true, storage = true, schema = cluster.any_schema,
        } },
      },
    })
    engine:wait_line("^found\t0$", 30)
    sim.api:delete(crds .. "/trees.wood.example")
    engine:wait_line("^gone\t404$", 30)
    assert.are.equal(0, engine:wait(30), engine:err())
  end)

  it("report when the server cannot be reached", function()
    local engine = cluster.kubelua { "exec", "--server=http://127.0.0.1:1", cluster.script(live.prelude .. [[
      k8s.main(function()
        local list, err = k8s.list("cm")
        print(list, err.code, err.reason, err.message)
      end)
    ]]) }
    assert.are.equal(0, engine:wait(30))
    assert.has_match("^nil\tnil\tConnectionRefused\tGET /api: .*refused\n$", engine:out())
  end)

  describe("that are not declared", function()
    it("raise before any request, with file and line", function()
      local script = cluster.script [[
        local k8s = require "k8s"
        k8s.main(function()
          for _, verb in ipairs { "get", "list", "pages", "watch" } do print(pcall(k8s[verb], "secrets", "a/b")) end
        end)
      ]]
      local engine = cluster.kubelua { "exec", "--server=http://127.0.0.1:1", script }
      assert.are.equal(0, engine:wait(30))
      local out = engine:out()
      assert.has_match('%.lua:3: k8s%.get: "secrets:get" is not declared with k8s%.reads\n', out)
      assert.has_match('%.lua:3: k8s%.pages: options must be a table', out)
    end)

    it("are distinguished by verb, whatever the kind is called", function()
      local engine = cluster.kubelua { "exec", "--server=" .. sim.server, cluster.script [[
        local k8s = require "k8s"
        k8s.reads { "ConfigMap:get", "configmaps:get", "*:watch", "deployments.apps:list" }
        k8s.main(function()
          print(k8s.get("cm", "default/map-1"))
          print(k8s.get("v1/ConfigMap", "default/map-1"))
          print(#k8s.list "deploy")
          print(pcall(k8s.list, "cm"))
          print(pcall(k8s.get, "deployments", "a/b"))
          k8s.watch("secrets", { resource_version = "5" }):close()
        end)
      ]] }
      assert.are.equal(0, engine:wait(30), engine:err())
      local out = engine:out()
      assert.has_match("^ConfigMap default/map%-1\nConfigMap default/map%-1\n0\n", out)
      assert.has_match('%.lua:7: k8s%.list: "cm:list" is not declared', out)
      assert.has_match('%.lua:8: k8s%.get: "deployments:get" is not declared', out)
    end)

    it("are refused when the declaration is none, or comes late", function()
      local out = sim:run [[
        local function refused(...) print((select(2, pcall(...)):gsub("^.-:%d+: ", ""))) end
        refused(k8s.reads, { "pods:list" })
      ]]
      assert.are.equal("k8s.reads may only be called while the script is loading\n", out)
      local says = {
        ['{ "pods" }'] = '"pods" must have the form "kind:verb", such as "pods:list"',
        ['{ ":get" }'] = '":get" must have the form "kind:verb"',
        ['{ "pods:delete" }'] = '"pods:delete": the verb must be get, list, watch or %*',
        ['{ "my pods:get" }'] = "kind must not contain blanks",
        ["{ 5 }"] = "each entry must be a string, not number",
        ['{ pods = "get" }'] = "expected an array of strings, found key pods",
        ['"pods:get"'] = "expected a table, not string",
      }
      for argument, text in pairs(says) do
        local script = cluster.script("local k8s = require 'k8s'\nk8s.reads(" .. argument .. ")\n")
        local engine = cluster.run(sim.server, script)
        assert.are.equal(2, engine:wait(20))
        assert.has_match("%.lua:2: k8s%.reads: .*" .. text, engine:err())
      end
    end)

    it("do not wait while the script loads", function()
      local script = cluster.script "local k8s = require 'k8s'\nk8s.reads { 'pods:*' }\nk8s.list 'pods'\n"
      local engine = cluster.run(sim.server, script)
      assert.are.equal(2, engine:wait(20))
      assert.has_match("%.lua:3: k8s%.list may not be called in the load phase", engine:err())
    end)
  end)

  it("let others run while a loop requests what is missing", function()
    local script = cluster.script [[
      local k8s = require "k8s"
      k8s.reads { "gadgets.example.com:get" }
      local over = false
      k8s.after("200ms", function() over = true end)
      k8s.main(function()
        local start = k8s.now()
        while not over do
          assert(not k8s.get("gadgets.example.com", "a"))
        end
        print("soon", k8s.now() - start < 2)
      end)
    ]]
    local engine = cluster.kubelua { "exec", "-s", sim.server, script }
    assert.are.equal(0, engine:wait(10))
    assert.are.equal("soon\ttrue\n", engine:out())
  end)

  it("refuse options that are none", function()
    local out = sim:run [[
      local function refused(...) print((select(2, pcall(...)):gsub("^.-:%d+: ", ""))) end
      refused(k8s.list, "cm", { limt = 5 })
      refused(k8s.list, "cm", { limit = 0 })
      refused(k8s.list, "cm", { chunk_size = 1.5 })
      refused(k8s.list, "cm", { chunk_size = 0 / 0 })
      refused(k8s.list, "cm", { selector = "a==b==c" })
      refused(k8s.list, "cm", { namespace = "team-*" })
      refused(k8s.watch, "cm", { resource_version = "5", namespace = "a/b" })
      refused(k8s.list, "cm", { resource_version = "5", resource_version_match = "exact" })
      refused(k8s.watch, "cm", { resource_version = "5", timeout = "soon" })
      refused(k8s.watch, "cm", { resource_version = "5", timeout = {} })
      refused(k8s.get)
      refused(k8s.get, "cm")
      refused(k8s.watch("cm", { resource_version = "5" }).close)
    ]]
    local says = {
      'k8s.list: unknown option "limt", did you mean "limit"?',
      "k8s.list: limit must be a whole number of at least 1",
      "k8s.list: chunk_size must be a whole number of at least 1",
      "k8s.list: chunk_size must be a whole number of at least 1",
      "k8s.list: selector: ",
      'k8s.list: namespace: "team-*" is not a valid namespace name: ',
      'k8s.watch: namespace: "a/b" is not a valid namespace name: ',
      'k8s.list: resource_version_match must be "Exact" or "NotOlderThan", not "exact"',
      "k8s.watch: timeout must be a number of seconds, or a string such as",
      "k8s.watch: timeout must be a duration, not table",
      "k8s.get: the kind must be a string, not nil",
      "k8s.get: the key must be a string, not nil",
      "watch:close: called on nil, not on a watch (methods are called with ':')",
    }
    local at = 1
    for line in out:gmatch "[^\n]+" do
      assert.are.equal(says[at], line:sub(1, #says[at]))
      at = at + 1
    end
    assert.are.equal(#says + 1, at)
  end)
end)
