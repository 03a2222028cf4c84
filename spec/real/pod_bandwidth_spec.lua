-- scripts/pod_bandwidth.lua at work: 500 pods, a second writer that makes conflicts, and leaders that are frozen and
-- killed in the middle. Who wrote what is read from the API server's audit log and from metadata.managedFields.
local apiserver = require "spec.support.apiserver"
local await = require "spec.support.await"
local cluster = require "spec.support.cluster"

local COUNT = 500
-- More than the 600 a minute that a script has by default.
local WRITES = "--limit=writes=1000000"
local pods = "/api/v1/namespaces/default/pods"
local rates = { gold = "1G", silver = "100M", bronze = "10M" }

-- Every fifth pod is nobody's to manage.
local create = ([[
  local k8s = require "k8s"
  local classes = { "gold", "silver", "bronze", "gold" }
  k8s.writes { "pods:create" }
  k8s.main(function()
    for i = 1, %d * 5 / 4 do
      assert(k8s.create {
        apiVersion = "v1", kind = "Pod",
        metadata = { name = "p" .. i, namespace = "default", labels = { bandwidth = classes[i %% 5] } },
        spec = { containers = { { name = "main", image = "web" } } },
      })
    end
  end)
]]):format(COUNT)

-- Changes whatever pod still lacks its annotation, all the time and sixteen at once: what the controller has read is
-- often old. A pod is changed 25 times at most. Few are left towards the end, and while each of them is written more
-- often than a request waits for --kube-api-qps, no optimistic lock succeeds.
local rival = [[
  local k8s = require "k8s"
  k8s.writes { "pods:patch" }
  local lister = k8s.informer("pods", { selector = "bandwidth" }):lister()
  local changes = {}
  local function disturb(pod)
    local n = (changes[pod:key()] or 0) + 1
    if n > 25 then return end
    changes[pod:key()] = n
    k8s.patch(pod, { metadata = { annotations = { ["example.com/noise"] = tostring(n) } } })
  end
  for worker = 1, 16 do
    k8s.every("10ms", function()
      for i, pod in ipairs(lister:list_all()) do
        if i % 16 == worker % 16 and not pod:annotation "kubernetes.io/ingress-bandwidth" then disturb(pod) end
      end
    end)
  end
]]

-- As if each pod had become another class: all is to be written again.
local reset = [[
  local k8s = require "k8s"
  k8s.writes { "pods:patch" }
  local lister = k8s.informer("pods", { selector = "bandwidth" }):lister()
  local none = { ["kubernetes.io/ingress-bandwidth"] = k8s.null, ["kubernetes.io/egress-bandwidth"] = k8s.null }
  k8s.main(function()
    for _, pod in ipairs(lister:list_all()) do assert(k8s.patch(pod, { metadata = { annotations = none } })) end
  end)
]]

describe("scripts/pod_bandwidth.lua on the real API server", function()
  local server, api, where

  setup(function()
    server = apiserver.start()
    api = server:api()
    where = "--kubeconfig=" .. server.kubeconfig
    local made = cluster.kubelua { "exec", cluster.script(create), where, WRITES }
    assert.are.equal(0, made:wait(60), made:err())
  end)

  after_each(cluster.stop_all)

  teardown(function()
    if server then server:stop() end
  end)

  -- A hundred writes a second, so that there is a middle.
  local function start(name)
    local engine = cluster.run(where, "scripts/pod_bandwidth.lua", {
      "--field-manager", name, "--kube-api-qps", "100", "--kube-api-burst", "10",
      "--leader-elect-lease-duration", "3s", "--leader-elect-renew-deadline", "2s",
      "--leader-elect-retry-period", "500ms", WRITES,
    })
    engine.name = name
    return engine
  end

  local function written(engine) return select(2, engine:out():gsub("\n", "")) end

  local function wait_written(engine, count)
    engine:wait_until(function() return written(engine) >= count end, count .. " pods written", 60)
  end

  local function leads(engine, seconds) engine:wait_error("Became leader", seconds or 30) end

  local function lacking()
    local names = {}
    for _, pod in ipairs(api:get(pods .. "?limit=0").items) do
      local class, annotations = (pod.metadata.labels or {}).bandwidth, pod.metadata.annotations or {}
      local right = annotations["kubernetes.io/ingress-bandwidth"] == rates[class]
        and annotations["kubernetes.io/egress-bandwidth"] == rates[class]
      if not right then names[#names + 1] = pod.metadata.name end
    end
    return names
  end

  local function wait_all_right()
    local function who() return "still lacking: " .. table.concat(lacking(), " ") end
    await(function() return #lacking() == 0 end, who, 60)
  end

  -- The patches that an engine sent, in order: pod, code, time (texts that sort).
  local function patches(name)
    local list = {}
    for _, event in ipairs(server:requests { verb = "patch", resource = "pods" }) do
      if event.requestURI:match "fieldManager=(%w+)" == name then
        list[#list + 1] = {
          pod = event.objectRef.name, code = event.responseStatus.code, time = event.requestReceivedTimestamp,
        }
      end
    end
    table.sort(list, function(a, b) return a.time < b.time end)
    return list
  end

  -- Whoever met a conflict wrote the pod in the end. (One that comes after that is met by a key that came again before
  -- the cache had the write; by the next try it has.)
  local function assert_retried(list)
    local done, conflicts, again = {}, 0, 0
    for _, patch in ipairs(list) do
      if patch.code == 200 then done[patch.pod] = patch.time end
    end
    for _, patch in ipairs(list) do
      if patch.code == 409 then
        assert.is_truthy(done[patch.pod], patch.pod .. " was not tried again after a conflict")
        conflicts = conflicts + 1
        if patch.time < done[patch.pod] then again = again + 1 end
      end
    end
    return conflicts, again
  end

  it("annotates every managed pod, whatever a second writer does", function()
    local engine = start "alone"
    local other = cluster.run(where, cluster.script(rival), { WRITES })
    wait_written(engine, COUNT)
    wait_all_right()
    local conflicts, again = assert_retried(patches "alone")
    assert.is_true(again >= COUNT / 20, again .. " conflicts: the second writer was hardly there")
    print(("    %d pods, %d conflicts, %d of them retried with success"):format(COUNT, conflicts, again))
    assert.are.equal(0, cluster.terminate(other))
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("leaves no pod wrong when leaders are frozen and killed, and no annotation that a loser wrote", function()
    local wiped = cluster.kubelua { "exec", cluster.script(reset), where, WRITES }
    assert.are.equal(0, wiped:wait(60), wiped:err())
    local first = start "first"
    leads(first)
    local second = start "second"
    wait_written(first, COUNT / 10)
    first:kill "STOP" -- its queue is full and its lease runs out
    leads(second)
    local taken = api:get "/apis/coordination.k8s.io/v1/namespaces/default/leases/pod-bandwidth".spec.acquireTime
    wait_written(second, COUNT / 10)
    first:kill "CONT"
    first:wait_error("Stopped leading", 30)
    second:kill "KILL"
    second:wait()
    local before = #patches "first"
    assert.is_true(patches "first"[before].time < taken, "the loser wrote after another led")
    wait_all_right() -- by the first one, which leads again
    assert.is_true(#patches "first" > before)
    assert.is_true(written(second) < COUNT)
    for _, patch in ipairs(patches "second") do assert.is_true(patch.time > taken) end
    assert.are.equal(0, cluster.terminate(first))
  end)
end)
