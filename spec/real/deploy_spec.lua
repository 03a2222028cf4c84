-- The manifests of deploy/: what the chart renders (spec/prove/deploy) and the base of the kustomization are accepted
-- by a real API server, and the rules that ship find nothing in them that is not accepted with a reason.
local apiserver = require "spec.support.apiserver"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local CHART = "spec/support/chart/"
-- Where the images of the manifests are: the rule of registries checks nothing until it is told of some.
local REGISTRY = "registry.example.com"

-- What the manifests refer to, and the user brings.
local function bring(kind, name, rest)
  return ("apiVersion: v1\nkind: %s\nmetadata: {name: %s, namespace: kubelua}\n%s"):format(kind, name, rest or "")
end
local OTHERS = {
  ["full.yaml"] = table.concat({
    bring("ConfigMap", "others"), bring("Secret", "hooks-tls"),
    bring("PersistentVolumeClaim", "states",
      "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"),
  }, "---\n"),
  ["mounted.yaml"] = bring("ConfigMap", "scripts"),
  ["streams.yaml"] = bring("ConfigMap", "others") .. "---\n" .. bring("Secret", "nats"),
  ["kustomization.yaml"] = bring("ConfigMap", "kubelua-scripts"),
}

-- Those of the Prometheus Operator need its CRDs.
local function without_operator(text)
  local kept = {}
  for document in (text .. "---\n"):gmatch "(.-)%-%-%-\n" do
    if document:find "kind:" and not document:find "apiVersion: monitoring" then kept[#kept + 1] = document end
  end
  return table.concat(kept, "---\n")
end

-- The results of all rules that ship for these manifests, but those that are accepted with a reason, and the exit code.
local function judged(files, registry)
  local folder = temp.folder(files)
  finally(function() temp.remove(folder) end)
  local p = cluster.kubelua {
    "audit", "-f", "builtin:", "-o", "json", "--param", "image-registry.registries=" .. registry, "--from", folder,
  }
  local code, told = p:wait(), {}
  for _, row in ipairs(cjson.decode(p:out()).results) do
    if row.result ~= "skip" or not (row.reason or ""):find "^accepted" then
      told[#told + 1] = table.concat({ row.rule, row.result, row.message or row.reason }, " ")
    end
  end
  return told, code
end

local function kustomized()
  local text, code = temp.run "kubectl kustomize deploy"
  assert(code == 0, text)
  return text
end

describe("the manifests of deploy/", function()
  local server
  setup(function() server = apiserver.start() end)
  teardown(function()
    if server then server:stop() end
  end)
  after_each(cluster.stop_all)

  local all = {
    ["small.yaml"] = function() return temp.read(CHART .. "small.yaml") end,
    ["mounted.yaml"] = function() return temp.read(CHART .. "mounted.yaml") end,
    ["full.yaml"] = function() return without_operator(temp.read(CHART .. "full.yaml")) end,
    ["streams.yaml"] = function() return without_operator(temp.read(CHART .. "streams.yaml")) end,
    ["kustomization.yaml"] = kustomized,
  }
  for name, manifests in pairs(all) do
    it("are accepted by the API server: " .. name, function()
      local folder = temp.folder { ["all.yaml"] = manifests() }
      finally(function() temp.remove(folder) end)
      temp.run("kubectl --kubeconfig " .. server.kubeconfig .. " create namespace kubelua 2>&1")
      local apply = "kubectl --kubeconfig %s apply --dry-run=server -f %s/all.yaml 2>&1"
      local out, code = temp.run(apply:format(server.kubeconfig, folder))
      assert.are.equal(0, code, out)
    end)

    it("have no findings of any rule but accepted ones: " .. name, function()
      local told, code = judged({ ["all.yaml"] = manifests(), ["more.yaml"] = OTHERS[name] }, REGISTRY)
      assert.are.same({}, told)
      assert.are.equal(0, code)
    end)

    it("have findings where the image is of another registry: " .. name, function()
      local text = manifests()
      local told = judged({ ["all.yaml"] = text, ["more.yaml"] = OTHERS[name] }, "other.example.com")
      assert.are.equal(select(2, text:gsub("kind: Deployment", "")), #told)
      for _, finding in ipairs(told) do assert.has_match("^image%-registry fail ", finding) end
    end)
  end
end)
