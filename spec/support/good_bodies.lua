-- Bodies that a kube-apiserver takes, near to those that it refuses: what a check could refuse by mistake.
local core, apps = "/api/v1/namespaces/default/", "/apis/apps/v1/namespaces/default/"

local function pod(spec)
  return { path = core .. "pods", body = [[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"good"},"spec":]]
    .. spec .. "}" }
end

local function body(path, version, kind, members)
  return { path = path, body = ([[{"apiVersion":"%s","kind":"%s","metadata":{"name":"good"},%s}]])
    :format(version, kind, members) }
end

local function cron(members)
  return body("/apis/batch/v1/namespaces/default/cronjobs", "batch/v1", "CronJob", ([["spec":{%s,"jobTemplate":{"spec":
    {"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}]]):format(members))
end

local function service(spec) return body(core .. "services", "v1", "Service", ([["spec":{%s}]]):format(spec)) end

local function rolling(kind, members)
  return body(apps .. kind:lower() .. "s", "apps/v1", kind, ([["spec":{"selector":{"matchLabels":{"a":"b"}},"template":{
    "metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}},%s}]]):format(members))
end

local function ingress(spec)
  return body("/apis/networking.k8s.io/v1/namespaces/default/ingresses", "networking.k8s.io/v1", "Ingress",
    ([["spec":{%s}]]):format(spec))
end

local function slice(members)
  return body("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", "discovery.k8s.io/v1", "EndpointSlice",
    members)
end

local REQUEST = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIR01HNENBUUF3RERFS01BZ0dBMVVFQXd3QllUQlpNQk1"
  .. "HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCTTVXdEVNN0xCMzRoUFF3dXJyK2FPY25wZ25adGZiaFVjYWFTQWx5VG"
  .. "Vlb01HN1RTY2Fta0JkWFBmdGV0dXNxCkJML0FrVTdFT2xWK3duRkhXa1lsNXRDZ0FEQUtCZ2dxaGtqT1BRUURBZ05JQURCR"
  .. "kFpRUFnY1VEQVZtMGlqcVYKenBCanpWTStIMVRpK0xNdVIyZTRGRzdGQWJOd3Q3VUNJRHZ1VFFPN0o5anBHOVNBU29GWnda"
  .. "K1pxM1BCQzVCMApVNEtkbUdGbGdmMWYKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=="

return {
  body("/apis/certificates.k8s.io/v1/certificatesigningrequests", "certificates.k8s.io/v1",
    "CertificateSigningRequest", ([=["spec":{"request":"%s","signerName":"example.com/a",
    "usages":["client auth"]}]=]):format(REQUEST)),
  body("/api/v1/persistentvolumes", "v1", "PersistentVolume", [=["spec":{"accessModes":["ReadWriteOncePod"],
    "capacity":{"storage":"1Gi"},"persistentVolumeReclaimPolicy":"Recycle","hostPath":{"path":"/a"}}]=]),
  body("/api/v1/persistentvolumes", "v1", "PersistentVolume", [=["spec":{"accessModes":["ReadWriteOncePod",
    "ReadWriteOncePod"],"capacity":{"storage":"1Gi"},"hostPath":{"path":"/a"}}]=]),
  body("/api/v1/namespaces/default/persistentvolumeclaims", "v1", "PersistentVolumeClaim", [=["spec":{"accessModes":
    ["ReadWriteOncePod","ReadWriteOncePod","ReadWriteOncePod"],"resources":{"requests":{"storage":"1Gi"}}}]=]),
  { path = "/apis/apiregistration.k8s.io/v1/apiservices", body = [=[{"apiVersion":"apiregistration.k8s.io/v1",
    "kind":"APIService","metadata":{"name":"v1.local.example.com"},"spec":{"group":"local.example.com",
    "version":"v1","groupPriorityMinimum":100,"versionPriority":100,"caBundle":""}}]=] },
  { path = "/apis/apiregistration.k8s.io/v1/apiservices", body = [=[{"apiVersion":"apiregistration.k8s.io/v1",
    "kind":"APIService","metadata":{"name":"v1beta1.metrics.example.com"},"spec":{"group":"metrics.example.com",
    "version":"v1beta1","groupPriorityMinimum":100,"versionPriority":100,"insecureSkipTLSVerify":true,
    "service":{"name":"s","namespace":"n"}}}]=] },
  body("/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", "flowcontrol.apiserver.k8s.io/v1",
    "PriorityLevelConfiguration", [=["spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0,
    "borrowingLimitPercent":0,"lendablePercent":100,"limitResponse":{"type":"Queue","queuing":{"queues":64,
    "handSize":10}}}}]=]),
  body("/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", "resource.k8s.io/v1", "ResourceClaim",
    [=["spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c","allocationMode":"All",
    "tolerations":[{"operator":"Exists"},{"key":"a/b","value":"","effect":"NoExecute"}],
    "selectors":[{"cel":{"expression":"true"}}]}},{"name":"s","firstAvailable":[{"name":"r","deviceClassName":"c"}]}],
    "constraints":[{"requests":["r","s/r","s"],"matchAttribute":"D.x/a_1"},{"distinctAttribute":"d/A"}],
    "config":[{"requests":["s"],"opaque":{"driver":"D.x","parameters":{}}}]}}]=]),
  body("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", "flowcontrol.apiserver.k8s.io/v1", "FlowSchema",
    [=["spec":{"matchingPrecedence":10000,"priorityLevelConfiguration":{"name":"a"},
    "rules":[{"subjects":[{"kind":"Group","group":{"name":"g"}},{"kind":"ServiceAccount","serviceAccount":
    {"name":"*","namespace":"n"}}],"resourceRules":[
    {"verbs":["get"],"apiGroups":[""],"resources":["nodes"],"clusterScope":true}],"nonResourceRules":[
    {"verbs":["*"],"nonResourceURLs":["/a/*"]}]}]}]=]),
  body("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicy", [=["spec":{"failurePolicy":"Ignore","paramKind":{"apiVersion":"v1","kind":"ConfigMap"},
    "matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],"resources":["pods"],
    "resourceNames":["a"]}],"excludeResourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["DELETE"],
    "resources":["*/*"]}]},"auditAnnotations":[{"key":"a","valueExpression":"'b'"}]}]=]),
  body("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicyBinding", [=["spec":{"policyName":"a.b","validationActions":["Audit","Warn"],
    "paramRef":{"selector":{},"parameterNotFoundAction":"Allow"},"matchResources":{"objectSelector":{"matchLabels":
    {"a":"b"}}}}]=]),
  cron [=["schedule":"@every 1h30m"]=], cron [=["schedule":"@daily","timeZone":"Europe/Berlin"]=],
  cron [=["schedule":"0,30 0-6/2 1,15 JAN-mar mon-FRI","timeZone":"Etc/GMT+5"]=], cron [=["schedule":"*/5 ? 5/2 * 6"]=],
  body("/apis/batch/v1/namespaces/default/jobs", "batch/v1", "Job", [=["spec":{"completionMode":"Indexed",
    "completions":3,"parallelism":2,"backoffLimitPerIndex":1,"maxFailedIndexes":2,"podReplacementPolicy":"Failed",
    "podFailurePolicy":{"rules":[{"action":"FailIndex","onExitCodes":{"operator":"NotIn","values":[0,1],
    "containerName":"c"}},{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]}]},
    "successPolicy":{"rules":[{"succeededCount":1},{"succeededIndexes":"0-1"}]},"template":{"spec":{
    "restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}]=]),
  service [=["type":"LoadBalancer","ports":[{"port":80}],"loadBalancerSourceRanges":["10.0.0.0/8"," fd00::/8"],
    "externalTrafficPolicy":"Local","loadBalancerClass":"example.com/a","allocateLoadBalancerNodePorts":false]=],
  service [=["type":"NodePort","ports":[{"port":80,"nodePort":30080,"name":"a"},{"port":81,"name":"b",
    "targetPort":"web","protocol":"UDP"}],"externalIPs":["192.0.2.1"],"internalTrafficPolicy":"Local"]=],
  service [=["clusterIP":"None","ports":[{"port":80,"appProtocol":"example.com/http"}],"sessionAffinity":"ClientIP",
    "sessionAffinityConfig":{"clientIP":{"timeoutSeconds":86400}}]=],
  service [=["type":"ExternalName","externalName":"a.example.com"]=],
  service [=["type":"ExternalName","externalName":"a.example.com."]=],
  service [=["ports":[{"port":80}],"externalIPs":["192.0.2.1"],"externalTrafficPolicy":"Local"]=],
  rolling("Deployment", [=["progressDeadlineSeconds":5,"minReadySeconds":4,
    "strategy":{"rollingUpdate":{"maxSurge":"101%","maxUnavailable":0}}]=]),
  rolling("DaemonSet", [=["updateStrategy":{"rollingUpdate":{"maxSurge":"100%","maxUnavailable":"0%"}}]=]),
  { path = core .. "pods", body = [[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"good","annotations":{
    "controller.kubernetes.io/pod-deletion-cost":"-05"}},"spec":{"containers":[{"name":"c","image":"i"}]}}]] },
  ingress [=["defaultBackend":{"resource":{"apiGroup":"example.com","kind":"A","name":"b"}}]=],
  ingress [=["ingressClassName":"a","tls":[{"hosts":["*.example.com"],"secretName":"a"}],"rules":[
    {"host":"*.example.com","http":{"paths":[{"pathType":"ImplementationSpecific","backend":{"service":{"name":"a",
    "port":{"name":"web"}}}},{"path":"/a.b","pathType":"Prefix","backend":{"service":{"name":"a",
    "port":{"number":80}}}}]}},{"host":"b"}]]=],
  slice [=["addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"],"nodeName":"n.1","hostname":"a",
    "conditions":{"ready":true}}],"ports":[{"port":80},{"name":"a","port":81,"protocol":"SCTP",
    "appProtocol":"http"}]]=],
  slice [=["addressType":"IPv6","endpoints":[{"addresses":["fd00::1"]}]]=],
  slice [=["addressType":"FQDN","endpoints":[{"addresses":["a.example.com"]}]]=],
  body("/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", "networking.k8s.io/v1", "NetworkPolicy",
    [=["spec":{"podSelector":{},"ingress":[{"ports":[{"port":80,"endPort":90},{"port":"web"},{}],"from":[{"ipBlock":
    {"cidr":"10.0.0.0/8","except":["10.1.0.0/16"]}},{"podSelector":{},"namespaceSelector":{}}]}],
    "egress":[{"to":[{"ipBlock":{"cidr":"fd00::/8","except":["fd00:1::/32"]}}]}],
    "policyTypes":["Ingress","Egress"]}]=]),
  body(core .. "secrets", "v1", "Secret", [=["type":"kubernetes.io/dockerconfigjson",
    "data":{".dockerconfigjson":"eyJhdXRocyI6e319"}]=]),
  body("/api/v1/nodes", "v1", "Node", [=["spec":{"taints":[{"key":"a","effect":"NoSchedule"},
    {"key":"a","value":"b","effect":"NoExecute"}],"podCIDR":"10.0.0.0/24","podCIDRs":["10.0.0.0/24","fd00::/64"]}]=]),
  body("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "rbac.authorization.k8s.io/v1", "ClusterRoleBinding",
    [=["roleRef":{"kind":"ClusterRole","name":"a:b","apiGroup":"rbac.authorization.k8s.io"},"subjects":[
    {"kind":"ServiceAccount","name":"a","namespace":"b"},{"kind":"Group","name":"system:x"}]]=]),
  body("/apis/node.k8s.io/v1/runtimeclasses", "node.k8s.io/v1", "RuntimeClass", [=["handler":"a-b","overhead":
    {"podFixed":{"cpu":"1m"}},"scheduling":{"nodeSelector":{"a":"b"},"tolerations":[{"operator":"Exists"}]}]=]),
  pod [=[{"hostUsers":false,"containers":[{"name":"c","image":"i","securityContext":{"procMount":"Unmasked"}}]}]=],
  pod [=[{"volumes":[{"name":"p","persistentVolumeClaim":{"claimName":"x"}},{"name":"e","emptyDir":{}},{"name":"f",
    "ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"volumeMode":"Block","resources":
    {"requests":{"storage":"1Gi"}}}}}}],"initContainers":[{"name":"d","image":"i","restartPolicy":"Always",
    "resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]}],"containers":[{"name":"c","image":"i",
    "restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[42]}}],
    "volumeDevices":[{"name":"p","devicePath":"/dev/a"},{"name":"f","devicePath":"/dev/b"}],
    "volumeMounts":[{"name":"e","mountPath":"/e"}]}]}]=],
  -- Mounts of what will be claimed.
  { path = apps .. "statefulsets", body = [[{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"good"},
    "spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[
    {"name":"c","image":"i","volumeMounts":[{"name":"data","mountPath":"/a","subPath":"x/y"}]}]}},
    "volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],
    "resources":{"requests":{"storage":"1Gi"}}}}]}}]] },
  pod [[{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1000m","memory":"1024Mi"},
    "limits":{"cpu":"1","memory":"1Gi","example.com/gpu":"2"}}}]}]],
  pod [[{"containers":[{"name":"c","image":"i","env":[{"name":"a.b-c d","value":""},{"name":"A","value":"",
    "valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations['example.com/A']"}}},{"name":"B","valueFrom":
    {"resourceFieldRef":{"resource":"limits.cpu","divisor":"1m"}}},{"name":"C","valueFrom":{"secretKeyRef":
    {"name":"a.b","key":"c_d","optional":true}}},{"name":"D","valueFrom":{"fieldRef":{"fieldPath":"spec.host"}}}],
    "envFrom":[{"prefix":"P_","configMapRef":{"name":"a"}}]}]}]],
  pod [[{"initContainers":[{"name":"i","image":"i","restartPolicy":"Always","startupProbe":{"exec":{"command":["a"]}}},
    {"name":"j","image":"i","ports":[{"containerPort":1,"hostPort":8}]}],"containers":[{"name":"c","image":"i",
    "ports":[{"containerPort":1,"hostPort":8,"name":"a"},{"containerPort":1,"hostPort":8,"protocol":"UDP"}],
    "lifecycle":{"preStop":{"sleep":{"seconds":5}}},"livenessProbe":{"httpGet":{"port":"a"}},
    "readinessProbe":{"grpc":{"port":5}}}]}]],
  pod [[{"hostNetwork":true,"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"securityContext":
    {"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"],"add":["NET_ADMIN"]},"runAsUser":0,
    "seccompProfile":{"type":"Localhost","localhostProfile":"a/b.json"}}}],"tolerations":[{"operator":"Exists"},
    {"key":"a","value":"b","effect":"NoExecute","tolerationSeconds":0}],"dnsPolicy":"None",
    "dnsConfig":{"nameservers":["1.1.1.1","fd00::1"],"searches":["a.b.","."],"options":[{"name":"ndots"}]},
    "securityContext":{"fsGroup":0,"supplementalGroups":[0],"sysctls":[{"name":"kernel.shm_rmid_forced","value":"1"}],
    "seccompProfile":{"type":"RuntimeDefault"}},"hostAliases":[{"ip":"10.0.0.1","hostnames":["a.b"]},
    {"ip":"1:2:3:4:5:6:1.2.3.4"},{"ip":"1:2:3:4:5:6:7::"},{"ip":"::2:3:4:5:6:7:8"}],
    "volumes":[{"name":"q","quobyte":{"registry":"a:1","volume":"v"}}]}]],
  pod [[{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"a","mountPath":"/a"},{"name":"a",
    "mountPath":"/b","subPathExpr":"$(A)","mountPropagation":"None"}]}],"volumes":[{"name":"a","projected":{"sources":[
    {"configMap":{"name":"a","items":[{"key":"k","path":"a/b"}]}},{"downwardAPI":{"items":[{"path":"l","fieldRef":
    {"fieldPath":"metadata.labels"}},{"path":"n","fieldRef":{"fieldPath":"metadata.labels['a']"}}]}}]}},
    {"name":"b","hostPath":{"path":"/x..y"}},{"name":"c"},{"name":"d","ephemeral":{"volumeClaimTemplate":{"spec":
    {"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}}]}]],
  pod [[{"containers":[{"name":"c","image":"i"}],"affinity":{"nodeAffinity":{
    "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
    {"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]},{"matchFields":[
    {"key":"metadata.name","operator":"In","values":["n"]}]}]}},"podAntiAffinity":
    {"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,"podAffinityTerm":{"topologyKey":"a",
    "labelSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]},"namespaceSelector":{}}}]}},
    "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule","minDomains":2},
    {"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"ScheduleAnyway","nodeTaintsPolicy":"Honor"}]}]],
  { path = "/apis/example.com/v1/namespaces/default/widgets", body = [=[{"apiVersion":"example.com/v1","kind":"Widget",
    "metadata":{"name":"good"},"spec":{"size":1,"port":2.0}}]=] },
  { path = "/apis/example.com/v1/namespaces/default/widgets", body = [=[{"apiVersion":"example.com/v1","kind":"Widget",
    "metadata":{"name":"good"},"spec":{"size":1,"port":1e3}}]=] },
  body("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", "autoscaling/v2", "HorizontalPodAutoscaler",
    [=["spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"a","apiVersion":"apps/v1"},"metrics":[
    {"type":"Resource","resource":{"name":"foo","target":{"type":"Utilization","averageUtilization":50}}}]}]=]),
}
