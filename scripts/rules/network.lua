-- Network access to pods and Services.
--   kubelua audit -f scripts/rules/network.lua --from pods.json
local k8s = require "k8s"
local shapes = require "_shapes"
local uses = require "_uses"
local values = require "_values"

local text = values.text

local OWN = { ["kube-system"] = true, ["kube-public"] = true, ["kube-node-lease"] = true }

k8s.rule {
  id = "no-network-policy",
  title = "Namespaces with pods have a network policy",
  severity = "low",
  category = "Network",
  why = "Without a policy, every pod in the cluster can connect to every pod in the namespace, and these can connect "
    .. "to everything.",
  how = "Start with a NetworkPolicy that selects all pods and allows nothing, then allow the traffic that is needed.",
  kinds = { "namespaces" },
  uses = uses.makers_by_namespace { policies = uses.by_namespace "networkpolicies.networking.k8s.io" },
  skip = function(obj)
    return OWN[obj:name()] and "the namespace belongs to the cluster"
  end,
  check = function(obj, r, use)
    if not use.policies(obj:name())[1] and uses.each(use, obj:name())() then
      r:fail "the namespace has pods but no network policy"
    end
  end,
}

k8s.rule {
  id = "policy-selects-nothing",
  title = "Network policies select pods",
  severity = "info",
  category = "Network",
  why = "A policy whose selector matches no pod protects nothing. Often a label was changed on one side only.",
  how = "Change spec.podSelector to match the labels of the pods, or delete the policy.",
  kinds = { "networkpolicies.networking.k8s.io" },
  uses = uses.makers_by_namespace(),
  check = function(obj, r, use)
    local selector = values.label_selector(shapes.map(shapes.spec(obj), "podSelector", "spec"))
    if selector ~= "" and not uses.selected(use, values.namespace(obj), selector) then
      r:fail("the policy selects no pod", { path = "spec.podSelector" })
    end
  end,
}

-- Annotations of clouds for an internal load balancer, and their values.
local INTERNAL = {
  ["service.beta.kubernetes.io/aws-load-balancer-internal"] = { ["true"] = true, ["0.0.0.0/0"] = true },
  ["service.beta.kubernetes.io/aws-load-balancer-scheme"] = { internal = true },
  ["service.beta.kubernetes.io/azure-load-balancer-internal"] = { ["true"] = true },
  ["networking.gke.io/load-balancer-type"] = { Internal = true },
  ["cloud.google.com/load-balancer-type"] = { Internal = true },
  ["service.beta.kubernetes.io/openstack-internal-load-balancer"] = { ["true"] = true },
}

local function is_internal(obj)
  for key, allowed in pairs(INTERNAL) do
    local value = obj:annotation(key)
    if value and allowed[value] then
      return true
    end
  end
  return false
end

k8s.rule {
  id = "load-balancer-open",
  title = "Load balancers are not open to everybody",
  severity = "medium",
  category = "Network",
  why = "A Service of type LoadBalancer gets an address. In most clouds the whole internet can reach it.",
  how = "Set spec.loadBalancerSourceRanges, or the annotation of your cloud for an internal load balancer.",
  kinds = { "services" },
  check = function(obj, r)
    local spec = shapes.spec(obj)
    if shapes.text(spec, "type", "spec") ~= "LoadBalancer" or is_internal(obj) then
      return
    end
    local count = 0
    for i, range in ipairs(shapes.list(spec, "loadBalancerSourceRanges", "spec")) do
      count = i
      if range == "0.0.0.0/0" or range == "::/0" then
        r:fail("the load balancer is open to everybody", {
          path = ("spec.loadBalancerSourceRanges[%d]"):format(i - 1),
          value = range,
        })
      end
    end
    if count == 0 then
      r:fail("the load balancer is open to everybody", { path = "spec.loadBalancerSourceRanges" })
    end
  end,
}

k8s.rule {
  id = "node-port",
  title = "Services use no port of the nodes",
  severity = "low",
  category = "Network",
  why = "A NodePort is open on every node. Requests to it bypass the Ingress and its checks.",
  how = "Use the type ClusterIP with an Ingress or a Gateway, or the type LoadBalancer.",
  kinds = { "services" },
  check = function(obj, r)
    if shapes.text(shapes.spec(obj), "type", "spec") == "NodePort" then
      r:fail("the Service uses a port of each node", { path = "spec.type", value = "NodePort" })
    end
  end,
}

-- Returns true if spec.tls covers the host; *.example.com covers all names directly under example.com.
local function is_covered(spec, host)
  for i, tls in shapes.maps(spec, "tls", "spec") do
    local hosts = shapes.expect("list", tls.hosts, "spec", "tls[%d].hosts", i)
    if not hosts then
      return true -- the certificate itself lists its hosts
    end
    for _, covered in ipairs(hosts) do
      if covered == host or text(covered) and covered == host:gsub("^[^.]*", "*") then
        return true
      end
    end
  end
  return false
end

k8s.rule {
  id = "ingress-without-tls",
  title = "Ingresses use TLS",
  severity = "medium",
  category = "Network",
  why = "Without TLS, everybody on the network path can read and change requests and responses, including passwords "
    .. "and cookies.",
  how = "Add the host to spec.tls, with a Secret that contains its certificate.",
  kinds = { "ingresses.networking.k8s.io" },
  check = function(obj, r)
    local spec = shapes.spec(obj)
    if not shapes.list(spec, "tls", "spec")[1] then
      r:fail("the Ingress has no TLS", { path = "spec.tls" })
      return
    end
    for i, rule in shapes.maps(spec, "rules", "spec") do
      local host = text(rule.host)
      if host and not is_covered(spec, host) then
        r:fail("spec.tls has no certificate for the host " .. host, {
          path = ("spec.rules[%d].host"):format(i),
          value = host,
        })
      end
    end
  end,
}

k8s.rule {
  id = "ingress-wildcard",
  title = "Ingresses name their hosts",
  severity = "low",
  category = "Network",
  why = "A rule without a host, or for *.example.com, also receives requests for host names that other teams may use "
    .. "later.",
  how = "Name each host.",
  kinds = { "ingresses.networking.k8s.io" },
  check = function(obj, r)
    for i, rule in shapes.maps(shapes.spec(obj), "rules", "spec") do
      local host = text(rule.host)
      if not host or host:find("*", 1, true) then
        r:fail(host and "the rule matches all hosts of " .. host or "the rule matches any host", {
          path = ("spec.rules[%d].host"):format(i),
          value = host,
        })
      end
    end
  end,
}
