-- Addresses and ports of services, which only one may have, and what a server sets of their policies: the same requests
-- to the simulator and to the real server give the same codes and bodies.
local both_servers = require "spec.support.both_servers"

local SERVICES, MERGE = "/api/v1/namespaces/default/services", "application/merge-patch+json"

local function port(number, node_port, name, protocol)
  return { port = number, nodePort = node_port, name = name or "p" .. number, protocol = protocol }
end

describe("the simulator as a real server", function()
  local both, ask = both_servers.begin(setup, teardown)

  -- The code of the answer to a service, which both give.
  local function create(name, ip, spec, query)
    spec = spec or {}
    spec.selector, spec.clusterIP, spec.ports = { a = "b" }, ip, spec.ports or { port(80) }
    return ask("POST", SERVICES .. (query or ""), { kind = "Service", apiVersion = "v1", metadata = { name = name },
      spec = spec }).code or 201
  end

  it("gives an address to one service", function()
    assert.equal(201, create("a", "10.0.7.7"))
    for _, ip in ipairs { "10.0.7.7", "10.1.0.1", "192.168.1.1", "10.0.0.0", "10.0.255.255", "10.0.0.1" } do
      assert.equal(422, create("b", ip))
    end
    assert.equal(201, create("b", "10.0.7.7", nil, "?dryRun=All"))
    ask("DELETE", SERVICES .. "/a")
    assert.equal(201, create("b", "10.0.7.7"))
  end)

  it("gives a port of the nodes to one service", function()
    local function node_ports(name, ip, ...) return create(name, ip, { type = "NodePort", ports = { ... } }) end
    assert.equal(201, node_ports("c", "10.0.7.8", port(80, 30100)))
    for _, number in ipairs { 30100, 100, 40000 } do
      assert.equal(422, node_ports("d", "10.0.7.9", port(80, number)))
    end
    assert.equal(422, node_ports("d", "10.0.7.9", port(80, 30101), port(81, 30101)))
    assert.equal(201, node_ports("d", "10.0.7.9", port(53, 30102, "t"), port(53, 30102, "u", "UDP")))
    assert.equal(422, node_ports("e", "10.0.7.10", port(80, 30103), port(81, 30100)))
    assert.equal(201, node_ports("e", "10.0.7.10", port(80, 30103)))
    for number, code in pairs { [30100] = 422, [1] = 422, [30110] = 200 } do
      assert.equal(code, ask("PATCH", SERVICES .. "/e", { spec = { ports = { port(80, number) } } }, MERGE).code or 200)
    end
  end)

  it("shares a port of the nodes between protocols", function()
    local function found(name, change, ...)
      local service = { kind = "Service", apiVersion = "v1", metadata = { name = name }, spec = { type = "NodePort",
        ports = { ... } } }
      local numbers = {}
      for i, api in ipairs { both.real:api(), both.sim.api } do
        api:create(SERVICES, service)
        local answer = api:request("PATCH", SERVICES .. "/" .. name, { spec = { ports = change } }, MERGE)
        numbers[i] = {}
        for n, one in ipairs(answer.spec.ports) do numbers[i][n] = one.nodePort end
      end
      local same = {}
      for i = 1, 2 do
        same[i] = {}
        for n, number in ipairs(numbers[i]) do -- which of them are one
          for m = n, 1, -1 do
            if numbers[i][m] == number then same[i][n] = m end
          end
        end
      end
      assert.same(same[1], same[2])
      return same[2]
    end
    local tcp, udp, more = port(53, nil, "t"), port(53, nil, "u", "UDP"), port(54, nil, "m")
    assert.same({ 1, 1, 3 }, found("dns", { tcp, udp, more }, tcp, udp, more))
    assert.same({ 1, 2, 3 }, found("dnt", { port(53, nil, "v"), port(53, nil, "w", "UDP"), more }, tcp, udp, more))
    assert.same({ 1, 1 }, found("dnu", { tcp, udp }, tcp, port(53, 30111, "u", "UDP")))
    assert.same({ 1, 2 }, found("dnv", { tcp, port(53, 30114, "u", "UDP") }, port(53, 30112, "t"),
      port(53, 30113, "u", "UDP")))
  end)

  it("sets the policies of what others reach", function()
    local function balanced(name, ip, spec)
      spec.type, spec.ports = "LoadBalancer", spec.ports or { port(80, 30200) }
      return create(name, ip, spec)
    end
    assert.equal(201, balanced("f", "10.0.7.11", {}))
    assert.equal(true, ask("GET", SERVICES .. "/f").spec.allocateLoadBalancerNodePorts)
    assert.equal(201, balanced("g", "10.0.7.12", { externalTrafficPolicy = "Local", healthCheckNodePort = 30204,
      ports = { port(80, 30205) } }))
    for _, number in ipairs { 30204, 5, 30205 } do
      assert.equal(500, balanced("h", "10.0.7.13", { externalTrafficPolicy = "Local", healthCheckNodePort = number,
        ports = { port(80, 30206) } }))
    end
    assert.equal(201, balanced("h", "10.0.7.13", { allocateLoadBalancerNodePorts = false, ports = { port(80) } }))
    assert.equal(201, create("i", "10.0.7.14", { externalIPs = { "1.2.3.4" } }))
    assert.equal("Cluster", ask("GET", SERVICES .. "/i").spec.externalTrafficPolicy)
    ask("PATCH", SERVICES .. "/g", { spec = { externalTrafficPolicy = "Cluster" } }, MERGE)
    assert.is_nil(ask("GET", SERVICES .. "/g").spec.healthCheckNodePort)
    assert.equal(201, create("j", "10.0.7.15", { type = "NodePort", ports = { port(80, 30204) } }))
  end)

  it("finds a port for checks of health", function()
    local service = { kind = "Service", apiVersion = "v1", metadata = { name = "k" }, spec = {
      type = "LoadBalancer", externalTrafficPolicy = "Local", ports = { port(80) }, selector = { a = "b" } } }
    local found = both.sim.api:create(SERVICES, service).spec
    assert.is_true(found.healthCheckNodePort >= 30000 and found.healthCheckNodePort < 32768)
    assert.not_equal(found.ports[1].nodePort, found.healthCheckNodePort)
  end)
end)
