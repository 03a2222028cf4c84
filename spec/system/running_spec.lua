-- docs/running.md: its Deployment is one that works, and has no findings.
local api = require "spec.support.api"
local cjson = require "cjson"
local cluster = require "spec.support.cluster"
local examples = require "spec.support.examples"
local proc = require "spec.support.proc"
local temp = require "spec.support.temp"

local page = "docs/running.md"

local function block(language)
  for _, found in ipairs(examples.blocks(page)) do
    if found.language == language then return found.text end
  end
  error(page .. " has no block of " .. language)
end

local function output(command)
  local text, code = temp.run(command)
  assert(code == 0, text)
  return text
end

describe(page, function()
  after_each(cluster.stop_all)

  it("has a Deployment whose flags, socket and probes work", function()
    local sim = cluster.sim { "--pods", "3" }
    local folder = temp.folder { ["deployment.yaml"] = block("yaml"):match "^(.-)%-%-%-\n",
      ["scripts/pods.lua"] = 'require("k8s").informer "pods"' }
    local deployment = cjson.decode(output("kubectl -s " .. sim.server
      .. " create --validate=false -o json --dry-run=client -f " .. folder .. "/deployment.yaml"))
    local container = deployment.spec.template.spec.containers[1]
    local socket = container.env[1].value:gsub("^/tmp", folder)
    local words = { env = { [container.env[1].name] = socket }, cluster.binary }
    for _, word in ipairs(container.args) do
      words[#words + 1] = word:gsub("^/scripts$", folder .. "/scripts"):gsub(":8080$", "127.0.0.1:0")
    end
    for _, word in ipairs { "-s", sim.server, "--health-probe-bind-address=127.0.0.1:0" } do
      words[#words + 1] = word
    end
    local engine = proc.spawn(words)
    finally(function()
      engine:kill "KILL"
      engine:wait()
      temp.remove(folder)
    end)
    local address = engine:wait_error '"Serving health probes".*"address":"([^"]+)"'
    engine:wait_error '"Synced"'
    local http = api.new { server = "http://" .. address }
    assert.are.equal(200, (http:curl("GET", container.livenessProbe.httpGet.path)))
    assert.are.equal(200, (http:curl("GET", container.readinessProbe.httpGet.path)))
    local status = proc.spawn { env = words.env, cluster.binary, "status" }
    assert.are.equal(0, status:wait())
    assert.has_match("pods", status:out(), 1, true)
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("has what the base of a kustomization starts", function()
    assert.are.equal(block "yaml", (temp.read("deploy/deployment.yaml"):gsub("^#[^\n]*\n", "")))
  end)

  it("has a Deployment without findings of the rules that ship, but one that is accepted", function()
    local folder = temp.folder { ["manifests.yaml"] = block "yaml", ["rules/pods.lua"] = "" }
    finally(function() temp.remove(folder) end)
    local command = temp.read(page):match "`(kubectl create configmap kubelua%-scripts [^`]+)`"
    temp.write(folder .. "/scripts.yaml",
      output(command:gsub("=rules/", "=" .. folder .. "/rules") .. " --dry-run=client -o yaml"))
    local p = cluster.kubelua { "audit", "-f", "scripts/rules", "-o", "json", "--from", "deploy/rbac.yaml",
      "--param", "image-registry.registries=registry.example.com", "--from", folder .. "/manifests.yaml",
      "--from", folder .. "/scripts.yaml" }
    local code = p:wait()
    local report = cjson.decode(p:out())
    local told = {}
    for _, row in ipairs(report.results) do
      told[#told + 1] = ("%s %s %s"):format(row.rule, row.result, row.reason or row.message)
    end
    assert.are.same({ "single-replica skip accepted: only one replica acts; another one needs --leader-elect" }, told)
    assert.are.same({ 0, 0, true, 12 }, { code, report.summary.findings.warn, report.summary.complete,
      report.summary.objects })
  end)
end)
