-- Bodies with mistakes for specs of validation: of each kind, what a create refuses. A row is a path, the kind's base
-- as JSON, and the mistakes: JSON that is merged over the base (null removes a key, ["@empty"] is an empty list).
local cjson = require "cjson"

local core, apps = "/api/v1/namespaces/default/", "/apis/apps/v1/namespaces/default/"
local template = [[{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}]]
local workload = [[{"spec":{"selector":{"matchLabels":{"a":"b"}},"template":]] .. template .. "}}"

-- A CustomResourceDefinition with a schema, whose objects are refused below.
local crd = [[{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
  "metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
  "names":{"kind":"Widget","plural":"widgets","singular":"widget"},"versions":[{"name":"v1","served":true,
  "storage":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas",
  "statusReplicasPath":".status.replicas","labelSelectorPath":".spec.label"}},
  "schema":{"openAPIV3Schema":{"type":"object","properties":{
  "spec":{"type":"object","required":["size"],"minProperties":1,"maxProperties":12,"properties":{
    "replicas":{"type":"integer"},"label":{"x-kubernetes-preserve-unknown-fields":true},
    "size":{"type":"integer","minimum":1,"maximum":9,"default":3},
    "ratio":{"type":"number","exclusiveMinimum":true,"minimum":0,"multipleOf":0.5},
    "colour":{"type":"string","enum":["red","blue"]},"code":{"type":"string","pattern":"^[A-Z]{2}\\d+$"},
    "word":{"type":"string","minLength":2,"maxLength":4},"when":{"type":"string","format":"date-time"},
    "small":{"type":"integer","format":"int32","minimum":-2},"big":{"type":"integer","format":"int64"},
    "float":{"type":"number","format":"float"},"half":{"type":"integer","multipleOf":0.5},
    "within":{"type":"integer","minimum":0.5,"maximum":1.5},
    "on":{"type":"boolean"},"port":{"x-kubernetes-int-or-string":true},
    "maybe":{"type":"string","nullable":true},
    "tags":{"type":"array","x-kubernetes-list-type":"set","minItems":1,"maxItems":3,"items":{"type":"string"}},
    "parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{
      "type":"object","required":["name"],"properties":{"name":{"type":"string"},"n":{"type":"integer"}}}},
    "limits":{"type":"object","additionalProperties":{"type":"integer"}},
    "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
    "one":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},
      "oneOf":[{"required":["a"]},{"required":["b"]}]},
    "any":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},
      "anyOf":[{"required":["a"]},{"required":["b"]}]},
    "none":{"type":"object","properties":{"a":{"type":"string"}},"not":{"required":["a"]}}}},
  "status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}}}]}}]]
local widgets = "/apis/example.com/v1/namespaces/default/widgets"

local function schema(text)
  return ([[{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":%s}}]}}]])
    :format(text)
end

local rows = {
  { "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "apiextensions.k8s.io/v1", "CustomResourceDefinition",
    [[{"spec":{"group":"bad.example.com","scope":"Namespaced","names":{"kind":"Bad","plural":"bads"}}}]], {
    schema [[{"properties":{"a":{"type":"string"}}}]], schema [[{"type":"string"}]],
    schema [[{"type":"object","properties":{"a":{"description":"x"}}}]],
    schema [[{"type":"object","properties":{"a":{"type":"array"}}}]],
    schema [[{"type":"object","properties":{"a":{"type":"array","items":{"description":"x"}}}}]],
    schema [[{"type":"object","properties":{"a":{"type":7}}}]],
  }, "bads.bad.example.com" },
  { widgets, "example.com/v1", "Widget", [[{"spec":{"size":1}}]], {
    [[{"spec":{"size":0}}]], [[{"spec":{"size":10}}]], [[{"spec":{"size":"x"}}]], [[{"spec":{"size":2.5}}]],
    [[{"spec":{"ratio":-1}}]], [[{"spec":{"ratio":0.3}}]], [[{"spec":{"colour":"pink"}}]],
    [[{"spec":{"colour":1}}]], [[{"spec":{"code":"a1"}}]], [[{"spec":{"word":"x"}}]], [[{"spec":{"word":"xxxxx"}}]],
    [[{"spec":{"when":"yesterday"}}]], [[{"spec":{"on":"yes"}}]], [[{"spec":{"port":true}}]],
    [[{"spec":{"port":1.5}}]], [[{"spec":{"maybe":1}}]], [[{"spec":{"tags":["@empty"]}}]],
    [[{"spec":{"tags":["a","b","a"]}}]], [[{"spec":{"tags":["a","b","c","d"]}}]], [[{"spec":{"tags":"a"}}]],
    [[{"spec":{"parts":["x"]}}]], [[{"spec":{"tags":["a","a","a"],"code":"a"}}]],
    [[{"spec":{"parts":[{"n":1}]}}]], [[{"spec":{"parts":[{"name":"a"},{"name":"a","n":2}]}}]],
    [[{"spec":{"limits":{"cpu":"1"}}}]], [[{"spec":{"one":{"a":"x","b":"x"}}}]], [[{"spec":{"one":{}}}]],
    [[{"spec":{"any":{}}}]], [[{"spec":{"none":{"a":"x"}}}]], [[{"spec":{"foo":1},"bar":{"x":1}}]],
    [[{"spec":{"parts":[{"name":"a","foo":1}]}}]], [[{"metadata":{"labels":{"a b":"c"}}}]],
    -- beyond the range of a number's type and format
    [[{"spec":{"size":0.5}}]], [[{"spec":{"small":1e12}}]], [[{"spec":{"small":2147483648}}]],
    [[{"spec":{"small":-2147483649}}]], [[{"spec":{"small":2.5}}]], [[{"spec":{"small":"x"}}]],
    [[{"spec":{"big":1e16}}]], [[{"spec":{"big":1e19}}]], [[{"spec":{"big":99999999999999999999}}]],
    [[{"spec":{"big":0.5}}]], [[{"spec":{"float":1e39}}]], [[{"spec":{"half":1}}]], [[{"spec":{"within":3}}]],
    [[{"spec":{"within":2.5}}]], [[{"spec":{"replicas":-1}}]], [[{"spec":{"replicas":3000000000}}]],
    [[{"spec":{"replicas":1e12}}]], [[{"spec":{"label":1}}]], [[{"spec":{"port":{"a":1}}}]], [[{"spec":{"code":1}}]],
  } },
  { core .. "pods", "v1", "Pod", [[{"spec":{"containers":[{"name":"c","image":"i"}]}}]], {
    -- of wrong types
    [[{"spec":{"nodeName":1}}]], [[{"spec":{"containers":"x"}}]], [[{"spec":{"containers":[1]}}]], [[{"spec":1}]],
    [[{"spec":{"hostNetwork":"yes"}}]], [[{"spec":{"terminationGracePeriodSeconds":"1"}}]],
    [[{"spec":{"priority":3000000000}}]], [[{"spec":{"priority":1.5}}]], [[{"spec":{"nodeSelector":{"a":1}}}]],
    [[{"spec":{"nodeSelector":["@empty"]}}]], [[{"metadata":{"labels":{"a":1}}}]], [[{"metadata":{"finalizers":[1]}}]],
    [[{"metadata":{"creationTimestamp":"yesterday"}}]], [[{"metadata":{"creationTimestamp":7}}]],
    [[{"metadata":{"ownerReferences":[{"apiVersion":1}]}}]], [[{"metadata":7}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":"x"}]}]}}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","env":{"a":"b"}}]}}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"much"}}}]}}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":true}}}]}}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","livenessProbe":{"httpGet":{"port":true}}}]}}]],
    [[{"spec":{"volumes":[{"name":"v","emptyDir":1}]}}]],
    -- of wrong values
    [[{"spec":{"containers":["@empty"]}}]], [[{"spec":{"containers":[{"image":"i"}]}}]],
    [[{"spec":{"containers":[{"name":"c"}]}}]], [[{"spec":{"containers":[{"name":"UPPER","image":"i"}]}}]],
    [[{"spec":{"containers":[{"name":"a","image":"x"},{"name":"a","image":"x"}]}}]],
    [[{"spec":{"restartPolicy":"Sometimes"}}]], [[{"spec":{"dnsPolicy":"Odd"}}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":70000}]}]}}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":1,"protocol":"ODD"}]}]}}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","env":[{"value":"x"}]}]}}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","imagePullPolicy":"Odd"}]}}]],
    -- of unknown fields
    [[{"spec":{"foo":1},"bar":2}]], [[{"spec":{"Containers":1}}]], [[{"metadata":{"foo":1}}]],
    [[{"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":1,"x":1}],"y":{"z":1}}]}}]],
  } },
  { core .. "configmaps", "v1", "ConfigMap", "{}", {
    [[{"data":{"a":1}}]], [[{"data":["@empty"]}]], [[{"binaryData":{"a":"%%"}}]], [[{"immutable":"x"}]], [[{"foo":1}]],
    [[{"data":{"a b":"x"}}]], [[{"data":{"..":"x"}}]], [[{"binaryData":{"a/b":"AA=="}}]],
    [[{"data":{"]] .. ("a"):rep(254) .. [[":"x"}}]],
  } },
  { core .. "secrets", "v1", "Secret", "{}", { [[{"data":{"a":"no base64"}}]], [[{"data":{"a":1}}]],
    [[{"stringData":{"a":1}}]], [[{"type":1}]], [[{"data":{"a":["x"]}}]], [[{"type":"kubernetes.io/tls"}]],
    [[{"type":"kubernetes.io/basic-auth"}]], [[{"type":"kubernetes.io/ssh-auth"}]],
    [[{"type":"kubernetes.io/dockercfg"}]] } },
  { core .. "services", "v1", "Service", [[{"spec":{"clusterIP":"None","ports":[{"port":80}]}}]], {
    [[{"spec":{"ports":[{"port":"x"}]}}]], [[{"spec":{"ports":[{"port":80,"targetPort":true}]}}]],
    [[{"spec":{"selector":"x"}}]], [[{"spec":{"ports":[{"port":0}]}}]], [[{"spec":{"type":"Odd"}}]],
    [[{"spec":{"sessionAffinity":"Odd"}}]], [[{"spec":{"ports":[{"port":80,"protocol":"ODD"}]}}]],
    [[{"spec":{"ports":[{"port":80},{"port":80}]}}]], [[{"spec":{"clusterIP":"text"}}]],
    [[{"spec":{"type":"ExternalName"}}]], [[{"spec":{"ports":[{"port":80,"targetPort":"a--b"}]}}]],
    [[{"spec":{"selector":{"a b":"c"}}}]], [[{"spec":{"externalTrafficPolicy":"Local"}}]],
    [[{"spec":{"type":"ExternalName","externalName":"a","externalTrafficPolicy":"Cluster"}}]],
    [[{"spec":{"type":"ExternalName","externalName":"."}}]], [[{"spec":{"type":"ExternalName","externalName":"A."}}]],
    [[{"spec":{"type":"ExternalName","externalName":"a.."}}]], [[{"spec":{"healthCheckNodePort":30100}}]],
    [[{"spec":{"externalTrafficPolicy":"Odd","externalIPs":["192.0.2.1"]}}]],
    [[{"spec":{"type":"LoadBalancer","clusterIP":null,"healthCheckNodePort":30100}}]],
    [[{"spec":{"trafficDistribution":"Odd"}}]], [[{"spec":{"trafficDistribution":""}}]] } },
  { apps .. "deployments", "apps/v1", "Deployment", workload, {
    [[{"spec":{"replicas":"x"}}]], [[{"spec":{"replicas":2.5}}]], [[{"spec":{"selector":1}}]],
    [[{"spec":{"template":{"spec":{"foo":1}}}}]], [[{"spec":{"strategy":{"rollingUpdate":{"maxSurge":true}}}}]],
    [[{"spec":{"template":{"spec":{"nodeName":1}}}}]], [[{"spec":{"replicas":-1}}]],
    [[{"spec":{"selector":{"matchLabels":{"a":"other"}}}}]], [[{"spec":{"selector":null}}]],
    [[{"spec":{"template":{"spec":{"containers":["@empty"]}}}}]],
    [[{"spec":{"template":{"spec":{"restartPolicy":"Never"}}}}]],
    [[{"spec":{"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":0}}}}]],
    [[{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"x","maxUnavailable":"0%"}}}}]],
    [[{"spec":{"strategy":{"rollingUpdate":{"maxSurge":-1,"maxUnavailable":"101%"}}}}]],
    [[{"spec":{"progressDeadlineSeconds":0}}]], [[{"spec":{"progressDeadlineSeconds":-1}}]],
    [[{"spec":{"progressDeadlineSeconds":5,"minReadySeconds":5}}]], [[{"spec":{"minReadySeconds":600}}]],
    [[{"spec":{"template":{"spec":{"activeDeadlineSeconds":5}}}}]] } },
  { apps .. "replicasets", "apps/v1", "ReplicaSet", workload, { [[{"spec":{"replicas":["@empty"]}}]],
    [[{"spec":["@empty"]}]], [[{"spec":{"replicas":-1}}]], [[{"spec":{"selector":null}}]],
    [[{"spec":{"template":{"spec":{"activeDeadlineSeconds":5}}}}]] } },
  { "/apis/batch/v1/namespaces/default/jobs", "batch/v1", "Job",
    [[{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}]], {
    [[{"spec":{"template":{"spec":{"restartPolicy":"Always"}}}}]], [[{"spec":{"parallelism":-1}}]],
    [[{"spec":{"completionMode":""}}]], [[{"spec":{"completionMode":"Odd"}}]] } },
  { "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", "rbac.authorization.k8s.io/v1", "Role", "{}", {
    [[{"rules":[{"verbs":["@empty"],"apiGroups":[""],"resources":["pods"]}]}]],
    [[{"rules":[{"verbs":["get"],"resources":["pods"]}]}]], [[{"rules":[{"verbs":["get"],"apiGroups":[""]}]}]] } },
  { core .. "persistentvolumeclaims", "v1", "PersistentVolumeClaim",
    [[{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]], {
    [[{"spec":{"accessModes":["@empty"]}}]], [[{"spec":{"resources":1}}]],
    [[{"spec":{"accessModes":["ReadWriteOnce","ReadOnlyMany","ReadWriteOncePod"]}}]],
    [[{"spec":{"accessModes":["Odd","ReadWriteOncePod"]}}]],
    [[{"spec":{"resources":{"requests":{"storage":"1.5e-99999999999999999999"}}}}]] } },
  { "/apis/coordination.k8s.io/v1/namespaces/default/leases", "coordination.k8s.io/v1", "Lease", "{}", {
    [[{"spec":{"leaseDurationSeconds":-1}}]], [[{"spec":{"leaseTransitions":-1}}]],
    [[{"spec":{"renewTime":"yesterday"}}]] } },
}

-- Adds a row of a kind that is not in the core group; `scope` is "" of a cluster's kind.
local function add(version, kind, scope, plural, base, mistakes)
  rows[#rows + 1] = { ("/apis/%s/%s%s"):format(version, scope, plural), version, kind, base, mistakes }
end
local inside = "namespaces/default/"

rows[#rows + 1] = { core .. "replicationcontrollers", "v1", "ReplicationController",
  [[{"spec":{"selector":{"a":"b"},"template":]] .. template .. "}}", {
  [[{"spec":{"replicas":-1}}]], [[{"spec":{"minReadySeconds":-1}}]], [[{"spec":{"selector":{"a":"other"}}}]],
  [[{"spec":{"template":null}}]], [[{"spec":{"selector":null,"template":null}}]],
  [[{"spec":{"template":{"spec":{"restartPolicy":"Never"}}}}]],
  [[{"spec":{"template":{"spec":{"activeDeadlineSeconds":5}}}}]],
} }
add("apps/v1", "StatefulSet", inside, "statefulsets", workload, {
  [[{"spec":{"podManagementPolicy":"Odd"}}]], [[{"spec":{"updateStrategy":{"type":"Odd"}}}]],
  [[{"spec":{"serviceName":"A"}}]], [[{"spec":{"selector":{"matchLabels":{"a":"other"}}}}]], [[{"spec":null}]],
})
add("apps/v1", "DaemonSet", inside, "daemonsets", workload, {
  [[{"spec":{"updateStrategy":{"type":"Odd"}}}]], [[{"spec":{"minReadySeconds":-1}}]], [[{"spec":{"selector":null}}]],
  [[{"spec":{"template":{"spec":{"activeDeadlineSeconds":5}}}}]],
  [[{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":1}}}}]],
  [[{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":0}}}}]],
  [[{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":"x","maxUnavailable":"101%"}}}}]],
  [[{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":"10%","maxUnavailable":"10%"}}}}]],
  [[{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":-1,"maxUnavailable":0}}}}]],
})
add("batch/v1", "CronJob", inside, "cronjobs", [[{"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":
  {"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}]], {
  [[{"spec":{"schedule":"never at all"}}]], [[{"spec":{"schedule":""}}]], [[{"spec":{"concurrencyPolicy":"Odd"}}]],
  [[{"spec":{"jobTemplate":{"spec":{"completionMode":"Odd"}}}}]], [[{"spec":{"failedJobsHistoryLimit":-1}}]],
})
add("networking.k8s.io/v1", "Ingress", inside, "ingresses", [[{"spec":{"rules":[{"host":"a.example.com"}]}}]], {
  [[{"spec":{"rules":null}}]], [[{"spec":{"rules":[{"host":"A_B"}]}}]], [[{"spec":{"rules":[{"host":"10.0.0.1"}]}}]],
  [[{"spec":{"rules":[{"http":{"paths":[{"path":"x","pathType":"Prefix","backend":{}}]}}]}}]],
  [[{"spec":{"rules":[{"http":{"paths":[{"path":"/","backend":{"service":{"name":"a"}}}]}}]}}]],
  [[{"spec":{"rules":[{"http":{"paths":[{"path":"/","pathType":"Exact","backend":{"service":{"port":{}}}}]}}]}}]],
  [[{"spec":{"tls":[{"hosts":["A"]}]}}]], [[{"spec":{"ingressClassName":""}}]],
})
add("networking.k8s.io/v1", "NetworkPolicy", inside, "networkpolicies", [[{"spec":{"podSelector":{}}}]], {
  [[{"spec":{"policyTypes":["Odd"]}}]], [[{"spec":{"ingress":[{"ports":[{"port":0}]}]}}]],
  [[{"spec":{"ingress":[{"from":[{}]}]}}]], [[{"spec":{"podSelector":{"matchExpressions":[{"operator":"In"}]}}}]],
  [[{"spec":{"podSelector":{"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]}}}]],
})
add("policy/v1", "PodDisruptionBudget", inside, "poddisruptionbudgets", [[{"spec":{"minAvailable":1}}]], {
  [[{"spec":{"minAvailable":"150%"}}]], [[{"spec":{"minAvailable":-1}}]], [[{"spec":{"minAvailable":"text"}}]],
  [[{"spec":{"maxUnavailable":1}}]], [[{"spec":{"unhealthyPodEvictionPolicy":"Odd"}}]],
})
add("autoscaling/v2", "HorizontalPodAutoscaler", inside, "horizontalpodautoscalers", [[{"spec":{"maxReplicas":3,
  "scaleTargetRef":{"kind":"Deployment","name":"a","apiVersion":"apps/v1"}}}]], {
  [[{"spec":{"maxReplicas":0}}]], [[{"spec":{"maxReplicas":-1}}]], [[{"spec":{"minReplicas":5}}]],
  [[{"spec":{"minReplicas":-1}}]], [[{"spec":{"scaleTargetRef":null}}]], [[{"spec":{"metrics":[{"type":"Odd"}]}}]],
  [[{"spec":{"metrics":[{"type":"Resource","resource":{}}]}}]], [[{"spec":{"metrics":[{"type":"Resource"}]}}]],
  [[{"spec":{"metrics":[{"type":"ContainerResource","containerResource":{"name":"foo","container":"c",
    "target":{"type":"Utilization","averageUtilization":50}}}]}}]],
  [[{"spec":{"behavior":{"scaleUp":{"policies":["@empty"]}}}}]],
  [[{"spec":{"behavior":{"scaleDown":{"policies":["@empty"],"selectPolicy":"Odd"}}}}]],
})
add("rbac.authorization.k8s.io/v1", "RoleBinding", inside, "rolebindings", [[{"roleRef":{"kind":"Role","name":"a",
  "apiGroup":"rbac.authorization.k8s.io"}}]], {
  [[{"roleRef":{"kind":"Odd"}}]], [[{"roleRef":{"apiGroup":"odd"}}]], [[{"roleRef":null}]],
  [[{"roleRef":{"name":"a/b"}}]], [[{"roleRef":{"name":".."}}]],
  [[{"subjects":[{"kind":"Odd","name":"x"}]}]], [[{"subjects":[{"kind":"User"}]}]],
})
add("storage.k8s.io/v1", "StorageClass", "", "storageclasses", [[{"provisioner":"example.com/disk"}]], {
  [[{"provisioner":null}]], [[{"reclaimPolicy":"Odd"}]], [[{"volumeBindingMode":"Odd"}]],
})
add("scheduling.k8s.io/v1", "PriorityClass", "", "priorityclasses", [[{"value":1}]], {
  [[{"value":2000000000}]], [[{"preemptionPolicy":"Odd"}]],
})

rows[#rows + 1] = { core .. "pods", "v1", "Pod", [[{"spec":{"containers":[{"name":"c","image":"i"}]}}]],
  require "spec.support.bad_pods" }

for _, row in ipairs(require "spec.support.bad_kinds") do rows[#rows + 1] = row end

local function merge(into, from)
  for key, value in pairs(from) do
    local both = type(value) == "table" and type(into[key]) == "table" and #value == 0 and next(value) ~= nil
    if value == cjson.null then
      into[key] = nil
    elseif both then
      merge(into[key], value)
    else
      into[key] = value
    end
  end
  return into
end

local bad_bodies = { crd = crd, widgets = widgets }

-- All of them, each with its path, kind, mistake and body, which is JSON.
function bad_bodies.all()
  local list = {}
  for _, row in ipairs(rows) do
    for _, mistake in ipairs(row[5]) do
      local body = cjson.decode(row[4])
      body.apiVersion, body.kind, body.metadata = row[2], row[3], { name = row[6] or "bad" }
      local text = cjson.encode(merge(body, cjson.decode(mistake))):gsub('%["@empty"%]', "[]")
      list[#list + 1] = { path = row[1], kind = row[3], mistake = mistake, body = text }
    end
  end
  return list
end

return bad_bodies
