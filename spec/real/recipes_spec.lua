-- Each recipe on a real API server, as a user who has the roles that `kubelua rbac` prints for it and no others: it
-- does what it is for, and nothing is forbidden to it.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local rights = require "spec.support.rights"
local temp = require "spec.support.temp"

local WORKLOAD = {
  apiVersion = "apps/v1", kind = "Deployment", metadata = { namespace = "default", name = "web" },
  spec = { replicas = 2, selector = { matchLabels = { app = "web" } }, template = {
    metadata = { labels = { app = "web" } },
    spec = { containers = { { name = "c", image = "i", envFrom = { { configMapRef = { name = "app" } } } } } },
  } },
}

local function with(object, metadata)
  local copy = cjson.decode(cjson.encode(object))
  for key, value in pairs(metadata) do copy.metadata[key] = value end
  return copy
end

local function map(name, metadata, data)
  return with({ apiVersion = "v1", kind = "ConfigMap", metadata = { namespace = "default", name = name },
    data = data or { a = "1" } }, metadata or {})
end

local function namespace(name, metadata)
  return with({ apiVersion = "v1", kind = "Namespace", metadata = { name = name } }, metadata or {})
end

local DOCKER = { [".dockerconfigjson"] = "eyJhdXRocyI6e319" }

local POD = { apiVersion = "v1", kind = "Pod", metadata = { namespace = "default", name = "restarts" },
  spec = { containers = { { name = "c", image = "i" } } } }

local EVENT = { apiVersion = "v1", kind = "Event", metadata = { namespace = "default", name = "told" },
  reason = "Told", type = "Normal", message = "m", involvedObject = { kind = "Node", name = "n1" } }

-- The data of a TLS Secret whose certificate ends in so many days.
local function tls_data(days)
  local folder = temp.folder()
  local function base64(name) return (temp.run(("base64 -w0 < %s/%s"):format(folder, name))) end
  temp.run(("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -days %d -keyout %s/key -out %s/crt 2>&1"):format(
    days, folder, folder))
  local data = { ["tls.crt"] = base64 "crt", ["tls.key"] = base64 "key" }
  os.execute("rm -r " .. folder)
  return data
end

-- Flags for a recipe that posts to somebody: a simulator, which takes whatever is posted to this path. `run` fills in
-- its address.
local function to_receiver(param, ...)
  return { "--param", param .. "=http://RECEIVER/sim/compact", "--allow-http", "RECEIVER", ... }
end

-- Flags of a recipe that publishes into a file.
local function to_file()
  local states = temp.name()
  local to = "file://" .. states .. "/out"
  return { "--state-dir", states, "--allow-sink", to, "--param", "to=" .. to }
end

-- Of each recipe: flags, objects, then objects and commands of kubectl once it runs, and the signs that it has worked:
-- what kubectl prints, a line of its metrics, a line that it prints.
local CASES = {
  replicate = { objects = { namespace "copies", map("ca", { annotations = { ["recipes/replicate-to"] = "copies" } }) },
    shows = "get configmap ca -n copies -o jsonpath={.data.a}", text = "1" },
  restart_on_config = {
    objects = { map "app", with(WORKLOAD, { annotations = { ["recipes/restart-on-config"] = "true" } }) },
    shows = "get deployment web -o jsonpath={.spec.template.metadata.annotations.recipes/config-hash}",
    text = "^%x+$" },
  ttl = { objects = { namespace("short", { annotations = { ["recipes/ttl"] = "1s" } }) },
    shows = "get namespace short -o jsonpath={.status.phase}", text = "Terminating" },
  namespace_defaults = { objects = { namespace("team", { labels = { team = "web" } }) },
    flags = { "--param", "role=kubelua", "--param", "pods=7" },
    shows = "get resourcequota,rolebinding,networkpolicy -n team -o name", text = "team.*team%-only" },
  scale_by_cron = { objects = { with(WORKLOAD, { name = "cron",
    annotations = { ["recipes/down"] = "* * * * *", ["recipes/up"] = "0 0 1 1 *" } }) },
    shows = "get deployment cron -o jsonpath={.spec.replicas}", text = "^0$" },
  pull_secrets = { flags = { "--param", "from=default" }, objects = { namespace "pulls",
    { apiVersion = "v1", kind = "Secret", type = "kubernetes.io/dockerconfigjson", data = DOCKER,
      metadata = { namespace = "default", name = "pull" } },
    { apiVersion = "v1", kind = "ServiceAccount", metadata = { namespace = "pulls", name = "default" } } },
    shows = "get serviceaccount default -n pulls -o jsonpath={.imagePullSecrets[0].name}", text = "^pull$" },
  label_propagation = { objects = { namespace("labels", { labels = { team = "web" } }),
    with(map "one", { namespace = "labels" }) },
    shows = "get configmap one -n labels -o jsonpath={.metadata.labels.team}", text = "^web$" },
  orphans = { flags = { "--param", "after=0s", "--param", "delete=true", "--param", "every=1s" },
    objects = { map "unused" }, shows = "get configmap unused", text = "not found" },
  drain = { objects = { { apiVersion = "v1", kind = "Node",
    metadata = { name = "n1", annotations = { ["recipes/drain"] = "true" } } } },
    shows = "get node n1 -o jsonpath={.spec.unschedulable}{.metadata.annotations.recipes/drained}", text = "^true%d" },
  website = { objects = { { apiVersion = "example.com/v1", kind = "Website",
    metadata = { namespace = "default", name = "site" }, spec = { image = "nginx" } } },
    shows = "get websites,deployment,service site -o name", text = "deployment.*service/site" },
  certificate_expiry = { objects = { { apiVersion = "v1", kind = "Secret", type = "kubernetes.io/tls",
    metadata = { namespace = "default", name = "cert" }, data = tls_data(5) } },
    shows = "get events -o jsonpath={.items[*].message}", text = "The certificate ends in [45] days",
    metric = 'certificate_end_seconds{.-name="cert"' },
  custom_metrics = { objects = { with(WORKLOAD, { name = "measured" }) },
    metric = 'custom_resource_condition{.-name="measured",condition="Available"} 0' },
  export = { flags = to_file(), objects = { with(WORKLOAD, { name = "exported" }) },
    metric = 'kubelua_sink_events_total{[^}]*result="delivered"} [1-9]' },
  event_export = { flags = to_receiver "to", metric = "exported_events_total{[^}]*} 1\n", after = { EVENT } },
  restart_alerts = { flags = to_receiver("webhook", "--param", "restarts=1"), objects = { POD },
    after = { [[patch pod restarts --subresource=status --type=merge -p '{"status":{"containerStatuses":[{"name":"c",]]
      .. [["image":"i","imageID":"i","ready":false,"restartCount":1,"lastState":{"terminated":]]
      .. [[{"reason":"OOMKilled","exitCode":137}}}]}}']] },
    prints = "default/restarts: container c restarted 1 times: OOMKilled %(exit code 137%)" },
}

describe("a recipe, with the rights that kubelua rbac prints", function()
  local nobody

  setup(function()
    nobody = rights.start ""
    nobody.server:kubectl "apply -f scripts/recipes/website.yaml"
    nobody.server:kubectl "wait --for=condition=Established crd/websites.example.com"
  end)
  after_each(cluster.stop_all)
  teardown(function()
    if nobody then nobody:stop() end
  end)

  -- The server's authorizer hears of a role a moment later.
  local function await_right(rule, where)
    local resource, subresource = rule.resources[1]:match "^([^/]*)/?(.*)$"
    local group = rule.apiGroups[1] ~= "" and "." .. rule.apiGroups[1] or ""
    local name = rule.resourceNames and "/" .. rule.resourceNames[1] or ""
    local ask = ("auth can-i %s %s%s%s %s --as nobody %s"):format(rule.verbs[1], resource, group, name,
      subresource ~= "" and "--subresource " .. subresource or "", where and "-n " .. where or "-A")
    await(function() return nobody.server:try_kubectl(ask):find "^yes" ~= nil end)
  end

  -- Gives nobody the roles of the script.
  local function grant(path)
    local own = setmetatable({ server = nobody.server, path = path }, { __index = rights })
    local json = rights.with_file(own:printed(), function(file)
      return nobody.server:kubectl("create --dry-run=client -o json -f " .. file)
    end)
    for document in json:gmatch "%b{}" do
      local role = cjson.decode(document)
      own:put(role, role.rules)
      own:bind(role)
      for _, rule in ipairs(role.rules) do await_right(rule, role.metadata.namespace) end
    end
  end

  local function start_receiver() return (cluster.sim().server:gsub("^http://", "")) end

  local function run(path, flags)
    local all = { "run", "--kubeconfig", nobody.server.kubeconfig, "--context", "nobody", "-f", path,
      "--metrics-bind-address", "127.0.0.1:0", "--health-probe-bind-address", "0", "--admin-socket", "0" }
    local receiver
    for _, flag in ipairs(flags or {}) do
      if flag:find "RECEIVER" then receiver = receiver or start_receiver() end
      all[#all + 1] = flag:gsub("RECEIVER", receiver or "")
    end
    return cluster.kubelua(all)
  end

  local function await_sign(engine, name, text, look)
    local shown
    local ok = pcall(await, function()
      shown = look()
      return shown:find(text) ~= nil
    end)
    assert.is_true(ok, ("%s: %s\n%s"):format(name, shown, engine:report()))
  end

  local function await_signs(engine, case)
    local metrics = engine:err():match 'Serving metrics" address="([^"]+)"'
    if case.shows then
      await_sign(engine, case.shows, case.text, function() return nobody.server:try_kubectl(case.shows) end)
    end
    if case.metric then
      await_sign(engine, "metrics", case.metric, function() return temp.run(("curl -s %s/metrics"):format(metrics)) end)
    end
    if case.prints then await_sign(engine, case.prints, case.prints, function() return engine:out() end) end
  end

  for path in io.popen("ls scripts/recipes/*.lua"):lines() do
    local name = path:match "([%w_]+)%.lua$"
    it("works: " .. name, function()
      local case = assert(CASES[name], name)
      grant(path)
      for _, object in ipairs(case.objects or {}) do nobody.server:apply(object) end
      local engine = run(path, case.flags)
      engine:wait_error('"Synced" informer=', 30)
      for _, step in ipairs(case.after or {}) do
        if type(step) == "table" then nobody.server:apply(step) else nobody.server:kubectl(step) end
      end
      await_signs(engine, case)
      engine:kill "TERM"
      assert.are.equal(0, engine:wait(30), engine:report())
      assert.is_nil(engine:err():lower():find "forbidden", engine:report())
    end)
  end
end)
