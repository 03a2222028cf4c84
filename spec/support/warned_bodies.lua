-- Specs of pods that a kube-apiserver warns of, and other objects: for spec/real/sim_warnings_spec.lua. A map of Go
-- has no order, so that none has two warnings of one map.
local bodies = {}

-- Specs of pods; `containers` are those of ONE unless the text has some.
local ONE = [=["containers":[{"name":"c","image":"i"}]]=]

local specs = {
  [=["nodeSelector":{"beta.kubernetes.io/arch":"a"},"terminationGracePeriodSeconds":-1]=],
  [=["affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
    {"matchExpressions":[{"key":"a","operator":"Exists"},{"key":"beta.kubernetes.io/os","operator":"Exists"}]}]},
    "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":[
    {"key":"node-role.kubernetes.io/master","operator":"In","values":["a","b c"]}]}}]}}]=],
  [=["topologySpreadConstraints":[{"maxSkew":1,"whenUnsatisfiable":"DoNotSchedule","topologyKey":"a"},
    {"maxSkew":1,"whenUnsatisfiable":"DoNotSchedule","topologyKey":"failure-domain.beta.kubernetes.io/zone",
    "labelSelector":{}}]]=],
  [=["volumes":[{"name":"a","gitRepo":{"repository":"r"}},{"name":"b","rbd":{"monitors":["m"],"image":"i"}},
    {"name":"c","cephfs":{"monitors":["m"]}},{"name":"d","glusterfs":{"endpoints":"e","path":"p"}},
    {"name":"e","scaleIO":{"gateway":"g","system":"s","volumeName":"v","secretRef":{"name":"n"}}},
    {"name":"f","flocker":{"datasetName":"d"}},{"name":"g","storageos":{"volumeName":"v"}},
    {"name":"h","quobyte":{"registry":"a:1","volume":"v"}},{"name":"i","photonPersistentDisk":{"pdID":"p"}}]]=],
  [=["volumes":[{"name":"a","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],
    "resources":{"requests":{"storage":"1500m"},"limits":{"storage":"2500m"}}}}}}]]=],
  [=["volumes":[{"name":"a","configMap":{"name":"m","items":[{"key":"k","path":"p"},{"key":"l","path":"p"},
    {"key":"m","path":"p/q/"},{"key":"n","path":"pq"}]}},{"name":"b","secret":{"secretName":"s","items":[
    {"key":"k","path":"a/b"},{"key":"l","path":"a"}]}},{"name":"c","downwardAPI":{"items":[
    {"path":"a","fieldRef":{"fieldPath":"metadata.name"}},{"path":"a/b","fieldRef":{"fieldPath":"metadata.uid"}}]}}]]=],
  [=["serviceAccountName":"s","volumes":[{"name":"a","projected":{"sources":[{},{"configMap":{"name":"m","items":[
    {"key":"k","path":"a/b"}]}},{"serviceAccountToken":{"path":"a"}},{"downwardAPI":{"items":[{"path":"a/b/c",
    "fieldRef":{"fieldPath":"metadata.name"}}]}},{"secret":{"name":"s","items":[{"key":"k","path":"a/"}]}}]}},
    {"name":"b","projected":{"sources":[{"clusterTrustBundle":{"name":"b","path":"z/y"}},{}]}}]]=],
  [=["hostAliases":[{"ip":"1.2.3.4"},{"ip":"1.2.3.4"},{"ip":"1.2.3.4"}],"imagePullSecrets":[{"name":"a"},{},
    {"name":"a"}]]=],
  [=["hostAliases":[{"ip":"2001:DB8::1"},{"ip":"0:0:0:0:0:0:0:1"},{"ip":"1:0:0:2:0:0:0:3"},
    {"ip":"::"},{"ip":"1:2:3:4:5:6:7:0"},{"ip":"::1.2.3.4"},{"ip":"1::0:2"},{"ip":"1:0:2:3:4:5:6:7"}],
    "dnsConfig":{"nameservers":["fe80::0001"]}]=],
  [=["containers":[{"name":"c","image":"i","resources":{"requests":{"memory":"1500m","ephemeral-storage":"1.5"},
    "limits":{"memory":"2500m","ephemeral-storage":"10.5"}}}]]=],
  [=["containers":[{"name":"c","image":"i","env":[{"name":"A","value":"a"},{"name":"A","value":"b"},
    {"name":"A","value":"$(A)"},{"name":"A","value":"$(A)b"},
    {"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}],
    "initContainers":[{"name":"d","image":"i","env":[{"name":"B","value":"a"},{"name":"B","value":"b"}]}]]=],
  [=["containers":[{"name":"c","image":"i","ports":[{"containerPort":1},{"containerPort":1},
    {"containerPort":1,"protocol":"UDP"},{"containerPort":1,"hostPort":2},{"containerPort":3,"hostIP":"1.2.3.4"}]},
    {"name":"d","image":"i","ports":[{"containerPort":1,"hostPort":4},{"containerPort":1,"hostPort":4,
    "hostIP":"1.2.3.4"},{"containerPort":9,"name":"a"}]}],
    "initContainers":[{"name":"e","image":"i","ports":[{"containerPort":8,"name":"a"}]}]]=],
  [=["affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a"}],
    "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"a",
    "labelSelector":{}}},{"weight":1,"podAffinityTerm":{"topologyKey":"a"}}]},"podAntiAffinity":{
    "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a"}]}}]=],
}

local KEYS = { seccomp = "seccomp.security.alpha.kubernetes.io/pod",
  of_c = "container.seccomp.security.alpha.kubernetes.io/c",
  armor = "container.apparmor.security.beta.kubernetes.io/c" }

-- Annotations with a spec.
local annotated = {
  { [=["scheduler.alpha.kubernetes.io/critical-pod":"","security.alpha.kubernetes.io/sysctls":"",
    "security.alpha.kubernetes.io/unsafe-sysctls":""]=], "" },
  { ([["%s":"runtime/default","%s":"unconfined"]]):format(KEYS.seccomp, KEYS.of_c), "" },
  { ([["%s":"runtime/default"]]):format(KEYS.seccomp), [["securityContext":{"seccompProfile":{"type":
    "RuntimeDefault"}}]] },
  { ([["%s":"runtime/default"]]):format(KEYS.armor), "" },
  { ([["%s":"unconfined"]]):format(KEYS.armor), [["securityContext":{"appArmorProfile":{"type":"Unconfined"}}]] },
  { ([["%s":"localhost/a"]]):format(KEYS.armor), [["securityContext":{"appArmorProfile":{"type":"Unconfined"}}]] },
  { ([["%s":"localhost/"]]):format(KEYS.armor), "" },
  { ([["%s":"localhost/a "]]):format(KEYS.armor), "" },
  { ([["%s":"unconfined"]]):format(KEYS.armor), [=["containers":[{"name":"c","image":"i","securityContext":
    {"appArmorProfile":{"type":"Unconfined"}}}]]=] },
  { ([["%s":"unconfined"]]):format(KEYS.armor), [["os":{"name":"windows"}]] },
}

local function spec_of(members)
  local all = members:find '"containers"' and members or ONE .. (members ~= "" and "," or "") .. members
  return ('{"restartPolicy":"Always",%s}'):format(all)
end

-- Calls the function with the metadata (a name apart) and the spec of each.
local function each(fn)
  for _, members in ipairs(specs) do fn("{}", spec_of(members)) end
  for _, pair in ipairs(annotated) do fn(('{"annotations":{%s}}'):format(pair[1]), spec_of(pair[2])) end
end

local function body(path, version, kind, members, name)
  bodies[#bodies + 1] = { path = path, body = ('{"apiVersion":"%s","kind":"%s","metadata":{"name":"%s"},%s}')
    :format(version, kind, name or "a", members) }
end

local apps, core, batch = "/apis/apps/v1/namespaces/default/", "/api/v1/namespaces/default/",
  "/apis/batch/v1/namespaces/default/"

each(function(metadata, spec)
  bodies[#bodies + 1] = { path = core .. "pods", body = ('{"apiVersion":"v1","kind":"Pod","metadata":%s,"spec":%s}')
    :format(metadata == "{}" and '{"name":"a"}' or metadata:gsub("^{", '{"name":"a",'), spec) }
  local labelled = metadata == "{}" and '{"labels":{"a":"b"}}' or metadata:gsub("^{", '{"labels":{"a":"b"},')
  body(apps .. "deployments", "apps/v1", "Deployment",
    ('"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":%s,"spec":%s}}'):format(labelled, spec))
end)

body(core .. "podtemplates", "v1", "PodTemplate", ('"template":{"metadata":{},"spec":%s}'):format(
  spec_of [["overhead":{"memory":"1500m","ephemeral-storage":"1500m"}]]))

local OLD = [=["metadata":{"labels":{"a":"b"}},"spec":{"terminationGracePeriodSeconds":-1,
  "restartPolicy":"%s","containers":[{"name":"c","image":"i"}]}]=]
local template, failing = OLD:format "Always", OLD:format "Never"
local selector = [["selector":{"matchLabels":{"a":"b"}},"template":{%s}]]
local claim = [=["accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1500m"}}]=]

for _, name in ipairs { "a", "a.b" } do
  for kind, plural in pairs { Deployment = "deployments", ReplicaSet = "replicasets", DaemonSet = "daemonsets" } do
    body(apps .. plural, "apps/v1", kind, ('"spec":{%s}'):format(selector:format(template)), name)
  end
  body(core .. "replicationcontrollers", "v1", "ReplicationController", ('"spec":{"template":{%s}}'):format(template),
    name)
  body(batch .. "jobs", "batch/v1", "Job", ('"spec":{"completionMode":"Indexed","completions":100001,'
    .. '"parallelism":10001,"template":{%s}}'):format(failing), name)
  body(batch .. "cronjobs", "batch/v1", "CronJob", ('"spec":{"schedule":"* * * * *","jobTemplate":{"spec":'
    .. '{"template":{%s}}}}'):format(failing), name)
end
body(core .. "podtemplates", "v1", "PodTemplate", ('"template":{%s}'):format(template))
body(apps .. "statefulsets", "apps/v1", "StatefulSet", ([=["spec":{"serviceName":"s","revisionHistoryLimit":-1,%s,
  "volumeClaimTemplates":[{"metadata":{"name":"v"},"spec":{%s}}]}]=]):format(selector:format(template), claim))
body(core .. "persistentvolumeclaims", "v1", "PersistentVolumeClaim", ('"spec":{%s}'):format(claim))
body("/api/v1/persistentvolumes", "v1", "PersistentVolume", [=["spec":{"accessModes":["ReadWriteOnce"],
  "capacity":{"storage":"1Gi"},"hostPath":{"path":"/a"},"nodeAffinity":{"required":{"nodeSelectorTerms":[
  {"matchExpressions":[{"key":"beta.kubernetes.io/arch","operator":"Exists"}]}]}}}]=])

-- Deprecated fields of other kinds.
local networking, discovery = "/apis/networking.k8s.io/v1/namespaces/default/", "/apis/discovery.k8s.io/v1/"
body("/api/v1/nodes", "v1", "Node", [=["spec":{"externalID":"x"}]=])
body(discovery .. "namespaces/default/endpointslices", "discovery.k8s.io/v1", "EndpointSlice",
  [=["addressType":"FQDN","endpoints":[]]=])
body("/apis/resource.k8s.io/v1/resourceslices", "resource.k8s.io/v1", "ResourceSlice",
  [=["spec":{"driver":"A.b","nodeName":"n","pool":{"name":"p","resourceSliceCount":1}}]=])
bodies[#bodies + 1] = { path = networking .. "ingresses", body = [=[{"apiVersion":"networking.k8s.io/v1",
  "kind":"Ingress","metadata":{"name":"a","annotations":{"kubernetes.io/ingress.class":"x"}},
  "spec":{"defaultBackend":{"service":{"name":"s","port":{"number":80}}}}}]=] }

return bodies
