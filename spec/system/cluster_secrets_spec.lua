-- run --clusters-from: clusters that come, change and go with Secrets of the home cluster.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

describe("run --clusters-from #threads", function()
  local home, folder
  local SECRETS = "/api/v1/namespaces/ops/secrets"

  before_each(function()
    folder = temp.folder()
    home = cluster.sim()
    home.api:create("/api/v1/namespaces", { apiVersion = "v1", kind = "Namespace", metadata = { name = "ops" } })
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(folder)
  end)

  local function kubeconfig(server, user, more)
    return cjson.encode {
      apiVersion = "v1", kind = "Config", ["current-context"] = "it",
      clusters = { { name = "it", cluster = more or { server = server } } },
      contexts = { { name = "it", context = { cluster = "it", user = "me" } } },
      users = { { name = "me", user = user or { token = "SECRET" } } },
    }
  end

  local function secret(name, text, labels, key)
    return {
      apiVersion = "v1", kind = "Secret", metadata = {
        name = name, namespace = "ops", labels = labels or { ["kubelua.dev/cluster"] = "true" },
      },
      stringData = { [key or "kubeconfig"] = text },
    }
  end

  local function add(name, text, ...) home.api:request("POST", SECRETS, secret(name, text, ...)) end
  local function remove(name) home.api:request("DELETE", SECRETS .. "/" .. name) end

  local SCRIPT = [[
    local k8s = require "k8s"
    k8s.reads { "configmaps:watch" }
    k8s.each_cluster(function(cluster)
      local maps = cluster:informer("configmaps", { namespace = "default" })
      maps:on_add(function(map) print("MARK " .. cluster.name .. " " .. map:name()) end)
      print("MARK cluster " .. cluster.name)
    end)
  ]]

  local function start(from, ...)
    temp.write(folder .. "/a.lua", SCRIPT)
    return cluster.run(home.server, folder .. "/a.lua", { "--clusters-from", from or "ops", "-v", "1", ... })
  end

  local function put(sim, name)
    sim.api:request("POST", "/api/v1/namespaces/default/configmaps",
      { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name, namespace = "default" } })
  end

  it("adds those that are there and that come, and ends those that go", function()
    local west, east = cluster.sim(), cluster.sim()
    put(west, "one")
    put(east, "two")
    add("west", kubeconfig(west.server))
    local engine = start()
    engine:wait_line "^MARK west one$"
    assert.has_match("MARK cluster home", engine:out(), 1, true)
    add("east-kubeconfig", kubeconfig(east.server),
      { ["kubelua.dev/cluster"] = "", ["cluster.x-k8s.io/cluster-name"] = "east" }, "value")
    engine:wait_line "^MARK east two$"
    remove "west"
    engine:wait_error 'Cluster ended" cluster="west"'
    put(east, "three")
    engine:wait_line "^MARK east three$"
    add("west", kubeconfig(west.server))
    await(function() return select(2, engine:out():gsub("MARK west one", "")) == 2 end, "the cluster again", 30)
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match(" errors=0 ", engine:err(), 1, true)
    assert.is_nil(engine:err():find("SECRET", 1, true))
  end)

  it("takes a kubeconfig that changed, and is not disturbed by what else changes of its Secret", function()
    local west, east = cluster.sim(), cluster.sim()
    put(west, "one")
    put(east, "two")
    add("it", kubeconfig(west.server))
    local engine = start()
    engine:wait_line "^MARK it one$"
    local labelled = secret("it", kubeconfig(west.server), { ["kubelua.dev/cluster"] = "other" })
    home.api:request("PUT", SECRETS .. "/it", labelled)
    put(west, "three")
    engine:wait_line "^MARK it three$"
    home.api:request("PUT", SECRETS .. "/it", secret("it", kubeconfig(east.server)))
    engine:wait_line "^MARK it two$"
    engine:wait_error 'Cluster ended" cluster="it"'
    assert.are.equal(2, select(2, engine:out():gsub("MARK cluster it", "")))
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("has one Secret for a name, and takes another one once that has gone", function()
    local west, east = cluster.sim(), cluster.sim()
    put(west, "one")
    put(east, "two")
    local labels = { ["kubelua.dev/cluster"] = "", ["cluster.x-k8s.io/cluster-name"] = "prod" }
    add("first", kubeconfig(west.server), labels)
    local engine = start()
    engine:wait_line "^MARK prod one$"
    add("second", kubeconfig(east.server), labels)
    engine:wait_error 'secret="ops/second" err="another cluster is called \\"prod\\""'
    remove "first"
    engine:wait_line "^MARK prod two$"
    assert.are.equal(0, cluster.terminate(engine))
    assert.has_match(" errors=0 ", engine:err(), 1, true)
  end)

  it("refuses what would run programs or read files, with the name of the Secret", function()
    local west = cluster.sim()
    local users = {
      exec = {
        exec = { apiVersion = "client.authentication.k8s.io/v1", command = "/bin/false", interactiveMode = "Never" },
      },
      bare = { exec = { apiVersion = "client.authentication.k8s.io/v1", command = "/bin/false" } },
      partial = { exec = { args = { "SECRET" } } },
      provider = { ["auth-provider"] = { name = "oidc" } },
      token = { tokenFile = "/etc/passwd" },
      cert = { ["client-certificate"] = "/etc/passwd", ["client-key"] = "/etc/passwd" },
    }
    for name, user in pairs(users) do add(name, kubeconfig(west.server, user)) end
    add("ca", kubeconfig(nil, nil, { server = "https://127.0.0.1:1", ["certificate-authority"] = "/etc/passwd" }))
    add("none", kubeconfig(nil, nil, { ["insecure-skip-tls-verify"] = true }))
    add("broken", "{ SECRET: [")
    add("empty", "", nil, "other")
    put(west, "one")
    local engine = start()
    engine:wait_line "^MARK cluster home$"
    add("good", kubeconfig(west.server))
    engine:wait_line "^MARK good one$"
    local function refused(name, text)
      local line = engine:err():match('[^\n]*secret="ops/' .. name .. '"[^\n]*')
      assert.has_match(text, line or engine:err(), 1, true)
      assert.has_match("Secret is not used as a cluster", line, 1, true)
    end
    for _, name in ipairs { "exec", "bare", "partial" } do
      refused(name, "Secret ops/" .. name .. ": users[me].exec: programs and files are not used")
    end
    refused("provider", "users[me].auth-provider")
    refused("token", "users[me].tokenFile")
    refused("cert", "users[me].client-certificate")
    refused("ca", "clusters[it].certificate-authority")
    refused("none", "contexts[it]: no server")
    refused("broken", "Secret ops/broken")
    refused("empty", "no kubeconfig in data.kubeconfig or data.value")
    assert.is_nil(engine:err():find("SECRET", 1, true))
    assert.is_nil(engine:out():find("MARK cluster [^gh]"))
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("logs a refusal once, until the Secret itself has changed", function()
    local west = cluster.sim()
    put(west, "one")
    local engine = start()
    local function count(name)
      return select(2, engine:err():gsub('Secret is not used as a cluster" secret="ops/' .. name .. '"', ""))
    end
    add("bad", "{}")
    add("home", kubeconfig(west.server))
    engine:wait_error 'secret="ops/home" err="another cluster is called \\"home\\""'
    local function change_others()
      add("good", kubeconfig(west.server))
      engine:wait_line "^MARK good one$"
      for _, token in ipairs { "A", "B", "C" } do
        home.api:request("PUT", SECRETS .. "/good", secret("good", kubeconfig(west.server, { token = token })))
        engine:wait_line "^MARK good one$"
      end
      remove "good"
      add("last", kubeconfig(west.server))
      engine:wait_line "^MARK last one$"
      remove "last"
    end
    change_others()
    assert.are.equal(1, count "bad")
    assert.are.equal(1, count "home")
    home.api:request("PUT", SECRETS .. "/bad", secret("bad", "{}", { ["kubelua.dev/cluster"] = "other" }))
    home.api:request("PUT", SECRETS .. "/bad", secret("bad", "{ }"))
    await(function() return count "bad" == 2 end, "the refusal of the other content", 20)
    change_others()
    assert.are.equal(2, count "bad")
    assert.are.equal(1, count "home")
    remove "bad"
    add("bad", "{ }")
    await(function() return count "bad" == 3 end, "the refusal of the other Secret", 20)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("takes the selector that is given, and refuses one that is none", function()
    local west = cluster.sim()
    put(west, "one")
    add("a", kubeconfig(west.server), { team = "a" })
    add("b", kubeconfig(west.server), { team = "b" })
    local engine = start "ops/team=b"
    engine:wait_line "^MARK b one$"
    assert.is_nil(engine:out():find("MARK cluster a", 1, true))
    assert.are.equal(0, cluster.terminate(engine))
    for _, wrong in ipairs { "", "Ops", "ops/a in" } do
      local p = start(wrong)
      assert.are.equal(2, p:wait(20), p:report())
      assert.has_match("--clusters-from", p:err(), 1, true)
    end
  end)
end)
