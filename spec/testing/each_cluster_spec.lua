-- k8s.each_cluster on k8s.test: clusters that are there, come, go and come again.
local load, pod = require("spec.testing.support").load, require("spec.testing.support").pod

describe("k8s.each_cluster", function()
  local SCRIPT = [[
    local k8s = require "k8s"
    k8s.reads { "pods:watch", "pods:get" }
    local all = {}
    k8s.each_cluster(function(cluster)
      print("cluster", cluster.name)
      all[cluster.name] = cluster
      local pods = cluster:informer "pods"
      pods:on_add(function(pod) print("add", cluster.name, pod:name()) end)
      k8s.every("10s", function() print("tick", cluster.name, pods:lister():count()) end)
    end)
    k8s.command("get", function(name)
      local found, err = all[name]:get("pods", "shop/a")
      return found and found:name() or err.reason .. " " .. err.message
    end)
    k8s.command("informer", function(name) return select(2, pcall(all[name].informer, all[name], "pods")) end)
    k8s.command("name", function(name) return k8s.cluster(name).name end)
  ]]

  it("calls the function for those that are there, and ends what it made with those that go", function()
    local env = load(SCRIPT, { clusters = { "west" }, objects = { pod "a" } })
    env:cluster("west"):add(pod "b")
    env:advance "2s"
    table.sort(env.prints)
    assert.same({ "add\thome\ta", "add\twest\tb", "cluster\thome", "cluster\twest" }, env.prints)
    env:reset()
    local east = env:add_cluster "east"
    east:add(pod "c")
    env:advance "2s"
    assert.same({ "cluster\teast", "add\teast\tc" }, env.prints)
    assert.equal("east", (env:call("name", "east")))
    env:remove_cluster "east"
    env:reset()
    env:advance "30s"
    for _, line in ipairs(env.prints) do assert.is_nil(line:find("east", 1, true), line) end
    assert.equal(6, #env.prints)
    assert.equal('ClusterGone the cluster "east" is gone', (env:call("get", "east")))
    assert.has_match('the cluster "east" is gone', (env:call("informer", "east")), 1, true)
    local ok, problem = pcall(east.add, east, pod "d")
    assert.is_false(ok)
    assert.has_match('env:cluster: the cluster "east" is gone', problem, 1, true)
  end)

  it("takes one that comes again for another one", function()
    local env = load(SCRIPT)
    env:add_cluster("west"):add(pod "a")
    env:advance "2s"
    assert.equal("a", (env:call("get", "west")))
    env:remove_cluster "west"
    env:add_cluster("west"):add(pod "b")
    env:advance "2s"
    assert.same({ "cluster\thome", "cluster\twest", "add\twest\ta", "cluster\twest", "add\twest\tb" }, env.prints)
    for _ = 1, 20 do
      env:remove_cluster "west"
      env:advance "1500ms"
      env:add_cluster "west"
      env:advance "1500ms"
    end
    assert.equal(22, select(2, table.concat(env.prints, "\n"):gsub("cluster\twest", "")))
  end)

  it("ends by stop, and informers of others that go with their handlers", function()
    local env = load([[
      local k8s = require "k8s"
      k8s.reads { "pods:watch" }
      local each = k8s.each_cluster(function(cluster) print("cluster", cluster.name) end)
      local pods
      k8s.command("watch", function(name)
        pods = k8s.cluster(name):informer "pods"
        pods:on_add(function(pod) print("add", pod:name()) end)
        return tostring(pods:wait_for_sync(1))
      end)
      k8s.command("use", function() return select(2, pcall(pods.lister, pods)) end)
      k8s.command("stop", function() each:stop() end)
      print(pcall(k8s.each_cluster))
      print(pcall(function() each.stop() end))
    ]])
    assert.has_match("k8s.each_cluster: expected a function, not nil", env.prints[1], 1, true)
    assert.has_match("each_cluster:stop: methods are called with ':'", env.prints[2], 1, true)
    local west = env:add_cluster "west"
    assert.equal("true", (env:call("watch", "west")))
    west:add(pod "a")
    env:settle()
    env:remove_cluster "west"
    assert.has_match("the informer of pods was stopped", (env:call "use"), 1, true)
    env:call "stop"
    env:add_cluster "east"
    env:advance "3s"
    assert.is_nil(table.concat(env.prints, "\n"):find("east", 1, true))
  end)

  it("is refused for a script that loads and names one that may go", function()
    local env = load [[require "k8s"]]
    env:add_cluster "west"
    local done, problem = env:reload [[require("k8s").cluster "west"]]
    assert.is_nil(done)
    assert.has_match('k8s.cluster: "west" comes and goes with a Secret; a script that loads cannot name it', problem, 1,
      true)
  end)
end)
