-- Each recipe on a real API server, as a user who has the roles that `kubelua rbac` prints for it and no others: it
-- does what it is for, and nothing is forbidden to it.
local await = require "spec.support.await"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local rights = require "spec.support.rights"

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

-- Of each recipe: flags, objects, and what kubectl prints once it has worked.
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
  certificate_expiry = {}, custom_metrics = {}, event_export = {}, restart_alerts = {},
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
    local ask = ("auth can-i %s %s%s %s --as nobody %s"):format(rule.verbs[1], resource, group,
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

  local function run(path, flags)
    local all = { "run", "--kubeconfig", nobody.server.kubeconfig, "--context", "nobody", "-f", path,
      "--metrics-bind-address", "0", "--health-probe-bind-address", "0", "--admin-socket", "0" }
    for _, flag in ipairs(flags or {}) do all[#all + 1] = flag end
    return cluster.kubelua(all)
  end

  for path in io.popen("ls scripts/recipes/*.lua"):lines() do
    local name = path:match "([%w_]+)%.lua$"
    it("works: " .. name, function()
      local case = assert(CASES[name], name)
      grant(path)
      for _, object in ipairs(case.objects or {}) do nobody.server:apply(object) end
      local engine = run(path, case.flags)
      engine:wait_error('"Synced" informer=', 30)
      if case.shows then
        local shown
        local ok = pcall(await, function()
          shown = nobody.server:try_kubectl(case.shows)
          return shown:find(case.text) ~= nil
        end)
        assert.is_true(ok, ("%s: %s\n%s"):format(case.shows, shown, engine:report()))
      end
      engine:kill "TERM"
      assert.are.equal(0, engine:wait(30), engine:report())
      assert.is_nil(engine:err():lower():find "forbidden", engine:report())
    end)
  end
end)
