-- Every example of scripts/ is run against the simulated server and says what it promises.
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"

local pods = "/api/v1/namespaces/default/pods"
local configmaps = "/api/v1/namespaces/default/configmaps"
local deployments = "/apis/apps/v1/namespaces/default/deployments"
local crontabs = "/apis/stable.example.com/v1/namespaces/default/crontabs"

local function pod(name, status, labels)
  return {
    apiVersion = "v1", kind = "Pod",
    metadata = { name = name, namespace = "default", labels = labels or { app = name } },
    spec = {
      nodeName = "node-1",
      containers = { {
        name = "main", image = "registry:5000/web",
        resources = { requests = { cpu = "100m", memory = "64Mi" } },
      } },
    },
    status = status,
  }
end

local function deployment(name)
  return {
    apiVersion = "apps/v1", kind = "Deployment", metadata = { name = name, namespace = "default" },
    spec = {
      replicas = 1, selector = { matchLabels = { app = name } },
      template = {
        metadata = { labels = { app = name } }, spec = { containers = { { name = "main", image = "web" } } },
      },
    },
  }
end

-- A pod whose status is set as a kubelet sets it, after the create.
local function create_pod(api, name, status, labels)
  api:create(pods, pod(name, nil, labels))
  api:patch(pods .. "/" .. name .. "/status", { status = status })
end

local function started(restarts)
  return {
    phase = "Running",
    containerStatuses = { {
      name = "main", image = "web", imageID = "", ready = true, restartCount = restarts,
      lastState = { terminated = { reason = "OOMKilled", exitCode = 137 } },
    } },
  }
end

local function waiting(reason)
  local container = { name = "main", image = "web", imageID = "", ready = false, restartCount = 0 }
  container.state = { waiting = { reason = reason } }
  return { containerStatuses = { container } }
end

local function set_ready(api, status)
  api:patch("/api/v1/nodes/node-1/status", { status = { conditions = { { type = "Ready", status = status } } } })
end

-- For each example: verb, what to do before it, then steps: an action on the server, a line to wait for.
local examples = {
  ["by_label.lua"] = {
    verb = "exec",
    lines = { "^SELECTOR", "^tier=api +2 ", "^tier in %(web, worker%) +1 ", "^tier!=db +4 ", "^!tier +1 " },
    before = function(api)
      for name, tier in pairs { a = "api", b = "api", c = "web", d = "db" } do
        create_pod(api, name, started(0), { tier = tier })
      end
      create_pod(api, "e", started(0), { app = "e" })
    end,
  },
  ["cache_size.lua"] = {
    verb = "exec",
    lines = { "^pods +synced +2 ", "^  default +synced +2 ", "^  kube%-system +synced +0 ", "^nodes +synced +0 " },
    before = function(api)
      create_pod(api, "a", started(0))
      create_pod(api, "b", started(0))
    end,
  },
  ["rollouts.lua"] = {
    verb = "run",
    before = function(api)
      create_pod(api, "a", { phase = "Running", conditions = { { type = "Ready", status = "True" } } }, { app = "web" })
      create_pod(api, "b", { phase = "Pending" }, { app = "web" })
      create_pod(api, "c", { phase = "Pending" })
      api:create(deployments, deployment "web")
    end,
    steps = {
      { function(api)
        for replicas = 2, 3 do api:patch(deployments .. "/web", { spec = { replicas = replicas } }) end
      end, "^default/web: 1 of 2 ready b$" },
    },
  },
  ["count_by_node.lua"] = {
    verb = "exec", lines = { "^NODE", "^node%-1 +2 +200m +128Mi$" },
    before = function(api)
      create_pod(api, "a", started(0))
      create_pod(api, "b", started(0))
    end,
  },
  ["image_report.lua"] = {
    verb = "exec", lines = { "^ COUNT", "^ +1  no +registry:5000/web$" },
    before = function(api) create_pod(api, "a", started(0)) end,
  },
  ["busiest_nodes.lua"] = {
    verb = "exec", lines = { "^NODE", "^node%-1 +2  200m$" },
    before = function(api)
      create_pod(api, "a", started(0))
      create_pod(api, "b", started(0))
    end,
  },
  ["orphan_services.lua"] = {
    verb = "exec", lines = { "^no pods for default/lost$" },
    before = function(api)
      create_pod(api, "a", started(0))
      for name, app in pairs { found = "a", lost = "b" } do
        api:create("/api/v1/namespaces/default/services", {
          apiVersion = "v1", kind = "Service", metadata = { name = name, namespace = "default" },
          spec = { selector = { app = app }, ports = { { port = 80 } } },
        })
      end
    end,
  },
  ["pods_by_image.lua"] = {
    verb = "exec", lines = { "^ +2  registry:5000/web  %(default/a%)$" },
    before = function(api)
      create_pod(api, "a", started(0))
      create_pod(api, "b", started(0))
    end,
  },
  ["configmap_sizes.lua"] = {
    verb = "exec", lines = { "^ +BYTES", "^ +%d+  default/large$", "^ +%d+  default/small%-%d+$" },
    before = function(api)
      for i = 1, 120 do
        local name, text = i == 60 and "large" or "small-" .. i, ("x"):rep(i == 60 and 5000 or 10)
        local map = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = name }, data = { k = text } }
        api:create(configmaps, map)
      end
    end,
  },
  ["wait_ready.lua"] = {
    verb = "exec",
    before = function(api) create_pod(api, "web", { phase = "Pending" }) end,
    steps = {
      { function(api) api:patch(pods .. "/web/status", { status = started(1) }) end, "^modified default/web$" },
      { function(api)
        api:patch(pods .. "/web/status", { status = { conditions = { { type = "Ready", status = "True" } } } })
      end, "^modified default/web$" },
    },
  },
  ["pending_since.lua"] = {
    verb = "run",
    before = function(api) create_pod(api, "web", { phase = "Pending" }) end,
    steps = {
      { function(api) api:patch(pods .. "/web/status", { status = started(0) }) end,
        "^default/web was pending for %d+ s, 1 pod so far$" },
    },
  },
  ["new_pods.lua"] = {
    verb = "run",
    before = function(api) create_pod(api, "old") end,
    steps = {
      { function(api) create_pod(api, "web") end, "^new: default/web runs registry:5000/web %(1 so far%)$" },
    },
  },
  ["image_errors.lua"] = {
    verb = "run",
    before = function(api) create_pod(api, "web", { phase = "Pending" }) end,
    steps = {
      { function(api)
        api:patch(pods .. "/web/status", { status = waiting "ErrImagePull" })
      end, "^no image default/web: ErrImagePull$" },
      { function(api)
        api:patch(pods .. "/web/status", { status = waiting "ImagePullBackOff" })
      end, "^no image default/web: ImagePullBackOff$" },
      { function(api) api:patch(pods .. "/web/status", { status = started(0) }) end, "^resolved default/web$" },
    },
  },
  ["image_events.lua"] = {
    verb = "run",
    before = function(api) create_pod(api, "web", { phase = "Pending" }) end,
    steps = {
      { function(api)
        api:patch(pods .. "/web/status", { status = waiting "ErrImagePull" })
      end, "^told of default/web$" },
    },
  },
  ["phase_report.lua"] = {
    verb = "run",
    before = function(api)
      create_pod(api, "a", started(0))
      create_pod(api, "b", { phase = "Pending" })
    end,
    steps = {
      { function() end, "^Pending 1, Running 1$" },
      { function(api) api:patch(pods .. "/b/status", { status = started(0) }) end, "^Running 2$" },
    },
  },
  ["namespace_team.lua"] = {
    verb = "run",
    before = function(api)
      api:patch("/api/v1/namespaces/default", { metadata = { labels = { team = "blue" } } })
    end,
    steps = {
      { function(api)
        local metadata = { name = "c", namespace = "default" }
        api:create(configmaps, { apiVersion = "v1", kind = "ConfigMap", metadata = metadata })
      end, "^default/c is blue's$" },
      { function(api)
        api:patch(configmaps .. "/c", { metadata = { labels = { team = "red" } } })
      end, "^default/c is blue's$" },
    },
  },
  ["pod_bandwidth.lua"] = {
    verb = "run",
    before = function(api) create_pod(api, "p", started(0), { bandwidth = "gold" }) end,
    steps = {
      { function() end, "^default/p gets gold$" },
      { function(api)
        local annotations = api:get(pods .. "/p").metadata.annotations
        assert.are.equal("1G", annotations["kubernetes.io/ingress-bandwidth"])
        assert.are.equal("1G", annotations["kubernetes.io/egress-bandwidth"])
        api:patch(pods .. "/p", { metadata = { annotations = { ["kubernetes.io/egress-bandwidth"] = "5G" } } })
      end, "^default/p gets gold$" },
      { function(api)
        create_pod(api, "other", started(0), { app = "other" })
        create_pod(api, "q", started(0), { bandwidth = "bronze" })
      end, "^default/q gets bronze$" },
    },
  },
  ["configmap_changes.lua"] = {
    verb = "run",
    steps = {
      { function(api)
        local metadata = { name = "c", namespace = "default" }
        api:create(configmaps, { apiVersion = "v1", kind = "ConfigMap", metadata = metadata, data = { k = "1" } })
      end, "^added   default/c$" },
      { function(api) api:patch(configmaps .. "/c", { data = { k = "2" } }) end, "^  data.k: 1 %-> 2$" },
      { function(api) api:delete(configmaps .. "/c") end, "^deleted default/c$" },
    },
  },
  ["leader.lua"] = {
    verb = "run",
    before = function(api) create_pod(api, "p", started(0)) end,
    steps = {
      { function() end, "^this process leads$" },
      { function() end, "^there is default/p$" },
      { function(api) api:create(pods, pod("q")) end, "^new: default/q$" },
    },
  },
  ["custom_resources.lua"] = {
    verb = "run",
    before = function(api)
      api:create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        apiVersion = "apiextensions.k8s.io/v1", kind = "CustomResourceDefinition",
        metadata = { name = "crontabs.stable.example.com" },
        spec = {
          group = "stable.example.com", scope = "Namespaced",
          names = { plural = "crontabs", singular = "crontab", kind = "CronTab", listKind = "CronTabList" },
          versions = { {
            name = "v1", served = true, storage = true, schema = cluster.any_schema,
          } },
        },
      })
    end,
    steps = {
      { function(api)
        api:create(crontabs, {
          apiVersion = "stable.example.com/v1", kind = "CronTab",
          metadata = { name = "nightly", namespace = "default" },
          spec = { cronSpec = "0 3 * * *" },
        })
      end, "^CronTab default/nightly: runs 0 3 %* %* %*$" },
      { function(api)
        api:patch(crontabs .. "/nightly", { spec = { cronSpec = "0 4 * * *" } })
      end, "ran 0 3 .*, now runs 0 4 " },
      { function(api) api:delete(crontabs .. "/nightly") end, ": gone$" },
    },
  },
  ["morning_report.lua"] = {
    verb = "run",
    before = function(api)
      create_pod(api, "a", started(0))
      create_pod(api, "b", { phase = "Pending" })
    end,
    steps = {
      { function() end, "^Pending\tdefault/b$" },
      { function() end, "^1 of 2 pods are not running$" },
    },
  },
  ["nodes.lua"] = {
    verb = "run", stream = "err",
    before = function(api)
      api:create("/api/v1/nodes", { apiVersion = "v1", kind = "Node", metadata = { name = "node-1" } })
      set_ready(api, "True")
    end,
    steps = {
      { function(api) set_ready(api, "False") end, '"Node is not ready".*node="node%-1"' },
      { function(api) set_ready(api, "True") end, '"Node is ready".*node="node%-1"' },
      { function(api) api:delete("/api/v1/nodes/node-1") end, '"Node is gone".*node="node%-1"' },
    },
  },
  ["missing_configmaps.lua"] = {
    verb = "run",
    before = function(api)
      local mounting = pod "a"
      mounting.spec.volumes = {
        { name = "one", configMap = { name = "settings" } },
        { name = "two", configMap = { name = "x", optional = true } },
      }
      api:create(pods, mounting)
      api:create(pods, pod "b")
    end,
    steps = { { function() end, "^default/a mounts configmap default/settings, which does not exist$" } },
  },
  ["orphans.lua"] = {
    verb = "exec", lines = { "^nobody owns default/a$", "^ReplicaSet +owns 2 pods$" },
    before = function(api)
      create_pod(api, "a", started(0))
      for _, name in ipairs { "b", "c" } do
        local owned = pod(name)
        owned.metadata.ownerReferences = {
          { apiVersion = "apps/v1", kind = "ReplicaSet", name = "web", uid = "u", controller = true },
        }
        api:create(pods, owned)
      end
    end,
  },
  ["pending_pods.lua"] = {
    verb = "run",
    steps = {
      { function(api) api:create(pods, pod("p")) end, "^pending  default/p: no reason given yet$" },
      { function(api)
        api:patch(pods .. "/p/status", { status = {
          phase = "Pending",
          containerStatuses = { { name = "main", state = { waiting = { reason = "ImagePullBackOff" } } } },
        } })
      end, "^pending  default/p: ImagePullBackOff$" },
      { function(api) api:patch(pods .. "/p/status", { status = started(0) }) end, "^resolved default/p: Running$" },
    },
  },
  ["restarted.lua"] = {
    verb = "exec", lines = { "^ +7  default/b main$", "^ +1  default/c main$" },
    before = function(api)
      create_pod(api, "a", started(0))
      create_pod(api, "b", started(7))
      create_pod(api, "c", started(1))
    end,
  },
  ["restarts.lua"] = {
    verb = "run",
    before = function(api) create_pod(api, "p", started(0)) end,
    steps = {
      { function(api) api:patch(pods .. "/p/status", { status = started(1) }) end,
        "^default/p: container main restarted, 1 times by now %(OOMKilled, exit code 137%)$" },
    },
  },
  ["service_backends.lua"] = {
    verb = "run",
    before = function(api)
      create_pod(api, "p", started(0))
      api:create("/api/v1/namespaces/default/services", {
        apiVersion = "v1", kind = "Service", metadata = { name = "web", namespace = "default" },
        spec = { selector = { app = "p" }, ports = { { port = 80 } } },
      })
    end,
    steps = {
      { function() end, "^default/web: 1 running$" },
      { function(api) create_pod(api, "q", started(0), { app = "p" }) end, "^default/web: 2 running$" },
      { function(api) api:patch(pods .. "/p", { metadata = { labels = { app = "x" } } }) end,
        "^default/web: 1 running$" },
      { function(api) api:request("DELETE", "/api/v1/namespaces/default/services/web") end, "^default/web: gone$" },
    },
  },
  ["watch_pods.lua"] = {
    verb = "run",
    before = function(api) create_pod(api, "p", started(0)) end,
    steps = {
      { function() end, "^found   default/p  Running" },
      { function(api) api:create(pods, pod("q")) end, "^added   default/q  Pending" },
      { function(api) api:patch(pods .. "/q/status", { status = started(0) }) end,
        "^updated default/q  Pending %-> Running$" },
      { function(api) api:request("DELETE", pods .. "/q?gracePeriodSeconds=0") end,
        "^deleted default/q  it was Running" },
    },
  },
}

-- Until the engine watches: what comes then is no part of its first list.
local function wait_for_watches(api)
  await(function() return api:get("/sim/stats").open_watches > 0 end, "a watch")
end

-- Those that are run elsewhere.
local others = {
  ["alerts.lua"] = "spec/system/webhook_spec.lua",
  ["idle_services.lua"] = "spec/system/rules_spec.lua",
  ["notify.lua"] = "spec/system/http_spec.lua",
  ["pods_on.lua"] = "spec/system/call_spec.lua",
  ["phase_metrics.lua"] = "spec/system/metrics_spec.lua",
}

describe("the example", function()
  after_each(cluster.stop_all)

  for name, example in pairs(examples) do
    it(name .. " does what it says", function()
      local sim = cluster.sim()
      if example.before then example.before(sim.api) end
      local words = { example.verb, "-s", sim.server, "-f", "scripts/" .. name }
      if example.verb == "exec" then table.remove(words, 4) end
      local p = cluster.kubelua(words)
      for _, line in ipairs(example.lines or {}) do p:wait_line(line) end
      if example.steps then
        wait_for_watches(sim.api)
        for _, step in ipairs(example.steps) do
          step[1](sim.api)
          p:wait_on(p.streams[example.stream or "out"], step[2])
        end
        if example.verb == "run" then p:kill "TERM" end
      end
      assert.are.equal(0, p:wait())
    end)
  end

  it("list is complete", function()
    for path in io.popen "ls scripts/*.lua":lines() do
      local name = path:match "[^/]+$"
      assert.is_truthy(examples[name] or others[name], path .. " is run by no spec")
    end
  end)
end)
