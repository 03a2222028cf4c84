-- `kubelua sim --tls`: HTTPS with an authority of its own, for clients that trust the kubeconfig.
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local scratch, config

-- A simulator with TLS, which serves as long as `cat` does; `play(step)` is one step of a scenario, at once.
local function start(...)
  local words = { cluster.binary, "sim", "--tls", "--write-kubeconfig", config }
  for _, word in ipairs { ... } do words[#words + 1] = word end
  for _, word in ipairs { "--", "sh", "-c", "echo ready; exec cat" } do words[#words + 1] = word end
  local sim = cluster.start(words)
  sim:wait_line "^ready$"
  sim.server = temp.read(config):match "server: (%S+)"
  temp.run(("sed -n 's/.*authority-data: //p' %s | base64 -d >%s/ca.pem"):format(config, scratch))
  function sim:curl(path, more)
    more = more or "--cacert " .. scratch .. "/ca.pem"
    return temp.run(("curl -sS --max-time 20 %s '%s%s'"):format(more, self.server, path))
  end
  function sim:play(step) self:curl("/sim/scenario", ("--cacert %s/ca.pem --data '[%s]'"):format(scratch, step)) end
  return sim
end

describe("kubelua sim --tls #threads", function()
  before_each(function()
    scratch = temp.folder()
    config = scratch .. "/config"
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(scratch)
  end)

  it("serves informers, whose watches survive what breaks them", function()
    local sim = start("--pods", "300")
    assert.is_truthy(sim.server:find "^https://127.0.0.1:%d+$")
    local engine = cluster.run("--kubeconfig=" .. config, cluster.script [[
local k8s = require "k8s"
local pods = k8s.informer "Pod"
pods:on_update(function(_, new) print("saw " .. (new.metadata.labels.round or "")) end)
k8s.main(function() print(pods:query():count() .. " pods") end)
]])
    engine:wait_line "^300 pods$"
    for round, what in ipairs { "cut", "reset", "half-line", "end", "close" } do
      sim:play(('{"do": "inject", "resource": "pods", "what": "%s"}'):format(what))
      sim:play(('{"do": "label", "resource": "pods", "pick": 1, "labels": {"round": "%d"}}'):format(round))
      engine:wait_line(("^saw %d$"):format(round))
    end
    assert.are.equal(0, cluster.terminate(engine))
  end)

  it("has a certificate that only its own authority makes valid, a new one at each start", function()
    local sim = start()
    local text, code = sim:curl "/version"
    assert.are.equal(0, code)
    assert.is_truthy(text:find '"major":"1"')
    local first = temp.read(scratch .. "/ca.pem")
    text, code = sim:curl("/version", "--header 'Connection: close'")
    assert.are.equal(60, code)
    assert.is_truthy(text:find "certificate")
    assert.are_not.equal(0, select(2, temp.run("curl -sS --max-time 5 " .. sim.server:gsub("https", "http"))))
    sim:close_input()
    assert.are.equal(0, sim:wait())
    start()
    assert.are_not.equal(first, temp.read(scratch .. "/ca.pem"))
    local names = temp.run("openssl s_client -connect " .. temp.read(config):match "https://(%S+)" ..
      " </dev/null 2>/dev/null | openssl x509 -noout -ext subjectAltName,basicConstraints")
    for _, name in ipairs { "DNS:localhost", "IP Address:127.0.0.1", "DNS:kubernetes.default.svc,", "CA:FALSE" } do
      assert.is_truthy(names:find(name, 1, true), names)
    end
  end)

  it("is not for the replay source", function()
    local p = cluster.start { cluster.binary, "sim", "--tls", "--replay", "--pods", "3" }
    p:wait_error "^kubelua sim: %-%-tls and %-%-replay are mutually exclusive$"
    assert.are.equal(2, p:wait())
  end)
end)
