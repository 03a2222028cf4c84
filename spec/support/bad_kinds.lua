-- More mistakes that a kube-apiserver refuses with 422, by kind, as rows of bad_bodies.lua.
local core = "/api/v1/namespaces/default/"

local rows = {}

local function add(path, version, kind, base, mistakes) rows[#rows + 1] = { path, version, kind, base, mistakes } end

local function named(group, scope, plural) return ("/apis/%s/%s%s"):format(group, scope, plural) end

local inside = "namespaces/default/"
local template = [[{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}]]

add(named("batch/v1", inside, "cronjobs"), "batch/v1", "CronJob", [[{"spec":{"schedule":"* * * * *","jobTemplate":
  {"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}]], {
  [[{"spec":{"schedule":"61 * * * *"}}]], [[{"spec":{"schedule":"* * * * x"}}]], [[{"spec":{"schedule":"* * 0 * *"}}]],
  [[{"spec":{"schedule":"5-1 * * * *"}}]], [[{"spec":{"schedule":"*/0 * * * *"}}]], [[{"spec":{"schedule":"@odd"}}]],
  [[{"spec":{"schedule":"1/2/3 * * * *"}}]], [[{"spec":{"schedule":"1-2-3 * * * *"}}]],
  [[{"spec":{"schedule":"* * * * * *"}}]], [[{"spec":{"schedule":"TZ=UTC * * * * *"}}]],
  [[{"spec":{"timeZone":"Odd/Zone"}}]], [[{"spec":{"timeZone":""}}]], [[{"spec":{"timeZone":"a//b"}}]],
  [[{"spec":{"timeZone":"Local"}}]],
  [[{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i","resources":
    {"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}]}}}}}}]],
})
add(named("batch/v1", inside, "jobs"), "batch/v1", "Job",
  [[{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}]], {
  [[{"spec":{"podFailurePolicy":{"rules":[{"action":"Odd","onExitCodes":{"operator":"In","values":[1]}}]}}}]],
  [[{"spec":{"podFailurePolicy":{"rules":[{"action":"FailJob"}]}}}]],
  [[{"spec":{"podFailurePolicy":{"rules":[{"action":"FailIndex","onExitCodes":{"operator":"In","values":[1]}}]}}}]],
  [[{"spec":{"podFailurePolicy":{"rules":[{"action":"Count","onExitCodes":{"operator":"In","values":[0]}}]}}}]],
  [[{"spec":{"podFailurePolicy":{"rules":[{"action":"Count","onExitCodes":{"operator":"In","values":[2,1]}}]}}}]],
  [[{"spec":{"podFailurePolicy":{"rules":[{"action":"Count","onExitCodes":{"operator":"Odd","values":[1,1]}}]}}}]],
  [[{"spec":{"podFailurePolicy":{"rules":[{"action":"Count","onExitCodes":{"operator":"In","values":[1],
    "containerName":"odd"}}]}}}]],
  [[{"spec":{"podFailurePolicy":{"rules":[{"action":"Count","onPodConditions":[{"type":"a b","status":"Odd"}]}]}}}]],
  [[{"spec":{"podFailurePolicy":{"rules":[{"action":"Count","onPodConditions":[{"type":"a","status":"True"}]}]},
    "template":{"spec":{"restartPolicy":"OnFailure"}}}}]],
  [[{"spec":{"podReplacementPolicy":"Odd"}}]], [[{"spec":{"backoffLimitPerIndex":1}}]],
  [[{"metadata":{"name":"a.b"},"spec":{"completionMode":"Indexed","completions":3}}]],
  [[{"spec":{"completionMode":"Indexed","parallelism":2}}]], [[{"spec":{"maxFailedIndexes":1,"completionMode":"Indexed",
    "completions":2}}]],
  [[{"spec":{"completionMode":"Indexed","completions":2,"successPolicy":{"rules":[{"succeededCount":3}]}}}]],
  [[{"spec":{"completionMode":"Indexed","completions":2,"successPolicy":{"rules":[{}]}}}]],
})
add(named("rbac.authorization.k8s.io/v1", "", "clusterrolebindings"), "rbac.authorization.k8s.io/v1",
  "ClusterRoleBinding", [[{"roleRef":{"kind":"ClusterRole","name":"a","apiGroup":"rbac.authorization.k8s.io"}}]], {
  [[{"subjects":[{"kind":"ServiceAccount","name":"a"}]}]], [[{"roleRef":{"kind":"Role"}}]],
})
add(named("rbac.authorization.k8s.io/v1", "", "clusterroles"), "rbac.authorization.k8s.io/v1", "ClusterRole", "{}", {
  [[{"rules":[{"verbs":["get"],"nonResourceURLs":["/a"],"resources":["pods"],"apiGroups":[""]}]}]],
})
add(named("rbac.authorization.k8s.io/v1", inside, "roles"), "rbac.authorization.k8s.io/v1", "Role", "{}", {
  [[{"rules":[{"verbs":["get"],"nonResourceURLs":["/a"]}]}]],
})
add(named("networking.k8s.io/v1", inside, "ingresses"), "networking.k8s.io/v1", "Ingress", "{}", {
  [[{"spec":{"rules":[{"http":{"paths":[{"path":"a","pathType":"Prefix","backend":{"service":{"name":"a",
    "port":{"number":80}}}}]}}]}}]],
  [[{"spec":{"rules":[{"http":{"paths":[{"path":"a","pathType":"ImplementationSpecific","backend":{"service":
    {"name":"a","port":{"number":80}}}}]}}]}}]],
  [[{"spec":{"rules":[{"http":{"paths":[{"path":"/a//b","pathType":"Exact","backend":{"service":{"name":"a",
    "port":{"number":80}}}}]}}]}}]],
  [[{"spec":{"rules":[{"http":{"paths":[{"path":"/a/..","pathType":"Exact","backend":{"service":{"name":"a",
    "port":{"number":80}}}}]}}]}}]],
  [[{"spec":{"defaultBackend":{"service":{"name":"a"}}}}]],
  [[{"spec":{"defaultBackend":{"service":{"name":"a","port":{"number":80,"name":"b"}}}}}]],
  [[{"spec":{"defaultBackend":{"service":{"name":"a","port":{"number":80}},"resource":{"kind":"A","name":"b"}}}}]],
  [[{"spec":{"defaultBackend":{"service":{"name":"A","port":{"number":80}}}}}]],
  [[{"spec":{"defaultBackend":{"service":{"name":"a","port":{"number":70000}}}}}]],
  [[{"spec":{"rules":[{"host":"*.*.b"}]}}]],
})
add(named("networking.k8s.io/v1", inside, "networkpolicies"), "networking.k8s.io/v1", "NetworkPolicy",
  [[{"spec":{"podSelector":{}}}]], {
  [[{"spec":{"ingress":[{"from":[{"ipBlock":{"cidr":"odd"}}]}]}}]],
  [[{"spec":{"ingress":[{"from":[{"ipBlock":{"cidr":"01.2.3.0/24"}},{"ipBlock":{"cidr":"1.2.3.0/024"}},
    {"ipBlock":{"cidr":"1.2.3.4/24"}},{"ipBlock":{"cidr":"::ffff:1.2.3.4/128"}},{"ipBlock":{"cidr":"2001:db8::1/64"}},
    {"ipBlock":{"cidr":"1.2.3.0/33"}},{"ipBlock":{"cidr":"2001:db8::/32"}},{"ipBlock":{"cidr":"0.0.0.0/0"}}]}]}}]],
  [[{"spec":{"ingress":[{"from":[{"ipBlock":{}}]}]}}]],
  [[{"spec":{"ingress":[{"from":[{"ipBlock":{"cidr":"10.0.0.0/8","except":["11.0.0.0/16"]}}]}]}}]],
  [[{"spec":{"ingress":[{"from":[{"ipBlock":{"cidr":"10.0.0.0/8"},"podSelector":{}}]}]}}]],
  [[{"spec":{"ingress":[{"ports":[{"port":80,"endPort":79}]}]}}]], [[{"spec":{"egress":[{"ports":[{"endPort":79}]}]}}]],
})
add(named("apps/v1", inside, "statefulsets"), "apps/v1", "StatefulSet",
  [[{"spec":{"selector":{"matchLabels":{"a":"b"}},"template":]] .. template .. "}}", {
  [[{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"d"},"spec":{"accessModes":["ReadWriteOnce"]}}]}}]],
  [[{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"d"},"spec":{"resources":{"requests":{"storage":"1Gi"}}}}]}}]],
  [[{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Odd"}}}]],
  [[{"spec":{"template":{"spec":{"activeDeadlineSeconds":5}}}}]],
})
add(core .. "secrets", "v1", "Secret", "{}", {
  [[{"type":"kubernetes.io/dockerconfigjson","data":{".dockerconfigjson":"eA=="}}]],
  [[{"type":"kubernetes.io/dockerconfigjson","data":{".dockerconfigjson":"W10="}}]],
  [[{"type":"kubernetes.io/dockercfg","data":{".dockercfg":"ew=="}}]],
})
add(named("discovery.k8s.io/v1", inside, "endpointslices"), "discovery.k8s.io/v1", "EndpointSlice",
  [[{"addressType":"IPv4","endpoints":[]}]], {
  [[{"addressType":"Odd"}]], [[{"addressType":null}]], [[{"endpoints":[{"addresses":["odd"]}]}]],
  [[{"addressType":"IPv6","endpoints":[{"addresses":["::ffff:1.2.3.4"]},{"addresses":["2001:DB8::1"]},
    {"addresses":["1:0:0:2:0:0:0:3"]}]}]], [[{"endpoints":[{"addresses":["10.0.0.01"]}]}]],
  [[{"endpoints":[{"addresses":["127.0.0.1"]}]}]], [[{"endpoints":[{"addresses":["fd00::1"]}]}]],
  [[{"endpoints":[{"addresses":["@empty"]}]}]], [[{"endpoints":[{"addresses":["10.0.0.1"],"hostname":"A"}]}]],
  [[{"ports":[{"name":"A","port":80}]}]], [[{"ports":[{"name":"a","port":80},{"name":"a","port":81}]}]],
  [[{"ports":[{"name":"a","port":80,"protocol":"ODD"}]}]], [[{"ports":[{"port":80,"appProtocol":"a b"}]}]],
})
add(core .. "services", "v1", "Service", [[{"spec":{"ports":[{"port":80}]}}]], {
  [[{"spec":{"internalTrafficPolicy":""}}]],
  [[{"spec":{"loadBalancerSourceRanges":["10.0.0.0/8"]}}]], [[{"spec":{"externalIPs":["127.0.0.1"]}}]],
  [[{"spec":{"externalIPs":["::ffff:1.2.3.4","01.2.3.4"]}}]],
  [[{"spec":{"type":"LoadBalancer","loadBalancerSourceRanges":["01.2.3.0/24","1.2.3.4/24"]}}]],
  [[{"spec":{"type":"LoadBalancer","loadBalancerSourceRanges":["odd"]}}]], [[{"spec":{"externalIPs":["odd"]}}]],
  [[{"spec":{"ports":[{"port":80,"nodePort":30000}]}}]], [[{"spec":{"allocateLoadBalancerNodePorts":true}}]],
  [[{"spec":{"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":0}}}}]],
  [[{"spec":{"type":"NodePort","externalTrafficPolicy":"Odd"}}]], [[{"spec":{"internalTrafficPolicy":"Odd"}}]],
  [[{"spec":{"ports":[{"port":80,"appProtocol":"a b"}]}}]], [[{"spec":{"ports":[{"port":80,"appProtocol":""}]}}]],
})
add(core .. "endpoints", "v1", "Endpoints", "{}", {
  [[{"subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":80,"appProtocol":"a b"}]}]}]],
})
add("/api/v1/nodes", "v1", "Node", "{}", {
  [[{"spec":{"taints":[{"key":"a","effect":"NoSchedule"},{"key":"a","value":"b","effect":"NoSchedule"}]}}]],
  [[{"spec":{"taints":[{"key":"a","effect":"Odd"}]}}]],
})
add(named("node.k8s.io/v1", "", "runtimeclasses"), "node.k8s.io/v1", "RuntimeClass", [[{"handler":"a"}]], {
  [[{"handler":"A_b"}]], [[{"handler":null}]], [[{"scheduling":{"tolerations":[{"key":"a","operator":"Odd"}]}}]],
  [[{"overhead":{"podFixed":{"cpu":"-1"}}}]], [[{"overhead":{"podFixed":{"a b":"1"}}}]],
})

add("/api/v1/persistentvolumes", "v1", "PersistentVolume", [[{"spec":{"accessModes":["ReadWriteOnce"],
  "capacity":{"storage":"1Gi"},"hostPath":{"path":"/data"}}}]], {
  [[{"spec":{"capacity":{"x":1}}}]], [[{"spec":{"capacity":{"x":"0"}}}]],
  [[{"spec":{"capacity":{"storage":null,"x":1}}}]],
  [[{"spec":{"capacity":{"x":"-2"}}}]], [[{"spec":{"accessModes":["ReadWriteOncePod","ReadWriteOnce"]}}]],
  [[{"spec":{"accessModes":["ReadOnlyMany","ReadWriteOncePod"]}}]],
  [[{"spec":{"accessModes":["ReadWriteOnce","ReadOnlyMany","ReadWriteOncePod"]}}]],
  [[{"spec":{"accessModes":["ReadWriteOncePod","ReadWriteOncePod","Odd","ReadWriteMany"]}}]],
  [[{"spec":{"accessModes":["ReadWriteOncePod","Odd"]}}]],
  [[{"spec":{"persistentVolumeReclaimPolicy":"Recycle","hostPath":{"path":"/"}}}]],
})
add("/api/v1/persistentvolumes", "v1", "PersistentVolume", [[{"spec":{"accessModes":["ReadWriteOnce"],
  "capacity":{"storage":"1Gi"}}}]], {
  [=[{}]=], [=[{"spec":{"hostPath":{}}}]=], [=[{"spec":{"hostPath":{"path":"/a/../b","type":"Odd"}}}]=],
  [=[{"spec":{"nfs":{"path":"x"}}}]=], [=[{"spec":{"glusterfs":{"endpointsNamespace":""}}}]=],
  [=[{"spec":{"glusterfs":{"endpoints":"a","path":"b","endpointsNamespace":"A"}}}]=], [=[{"spec":{"flocker":{}}}]=],
  [=[{"spec":{"rbd":{}}}]=], [=[{"spec":{"quobyte":{}}}]=], [=[{"spec":{"cephfs":{}}}]=],
  [=[{"spec":{"iscsi":{}}}]=],
  [=[{"spec":{"iscsi":{"targetPortal":"a","iqn":"odd","lun":-1,"chapAuthDiscovery":true,"initiatorName":"x"}}}]=],
  [=[{"spec":{"iscsi":{"targetPortal":"a","iqn":"iqn.2001-04","lun":0,"secretRef":{}}}}]=],
  [=[{"spec":{"iscsi":{"targetPortal":"]=] .. ("a"):rep(64) .. [=[","iqn":"iqn.2001-04.a.b:c","lun":0,
    "initiatorName":"iqn.2001-04.a.b:c"}}}]=],
  [=[{"spec":{"cinder":{"secretRef":{}}}}]=], [=[{"spec":{"fc":{}}}]=], [=[{"spec":{"flexVolume":{}}}]=],
  [=[{"spec":{"azureFile":{"secretNamespace":""}}}]=], [=[{"spec":{"vsphereVolume":{}}}]=],
  [=[{"spec":{"photonPersistentDisk":{}}}]=], [=[{"spec":{"portworxVolume":{}}}]=], [=[{"spec":{"azureDisk":{}}}]=],
  [=[{"spec":{"scaleIO":{}}}]=], [=[{"spec":{"local":{}}}]=], [=[{"spec":{"local":{"path":"/../a"}}}]=],
  [=[{"spec":{"local":{"path":"/a"},"nodeAffinity":{}}}]=], [=[{"spec":{"storageos":{"secretRef":{}}}}]=],
  [=[{"spec":{"csi":{"controllerPublishSecretRef":{},"nodePublishSecretRef":{"name":"A",
    "namespace":"B"},"nodeExpandSecretRef":{}}}}]=], [=[{"spec":{"gcePersistentDisk":{}}}]=],
  [=[{"spec":{"awsElasticBlockStore":{}}}]=],
  [=[{"spec":{"nfs":{"path":"/x","server":"a"},"cephfs":{"monitors":["m"]},"flexVolume":{"driver":"d"},"csi":{}}}]=],
})
add(named("apiregistration.k8s.io/v1", "", "apiservices"), "apiregistration.k8s.io/v1", "APIService",
  [[{"metadata":{"name":"v1.a.b"},"spec":{"group":"a.b","version":"v1","groupPriorityMinimum":100,"versionPriority":10,
  "service":{"name":"s","namespace":"n"}}}]], {
  [[{"metadata":{"name":"odd"}}]], [[{"spec":{"groupPriorityMinimum":null}}]],
  [[{"spec":{"groupPriorityMinimum":20001}}]],
  [[{"spec":{"versionPriority":-1}}]], [[{"spec":{"versionPriority":1001}}]], [[{"spec":{"service":{"name":null}}}]],
  [[{"spec":{"service":{"namespace":null}}}]], [[{"spec":{"service":{"port":70000}}}]],
  [[{"spec":{"service":null,"insecureSkipTLSVerify":true}}]],
  [[{"spec":{"service":null,"caBundle":"eA==","insecureSkipTLSVerify":true}}]],
  [[{"spec":{"service":null,"caBundle":"eHl6YQ=="}}]],
  [[{"metadata":{"name":"A_b"}}]], [[{"metadata":{"name":"a%b"}}]], [[{"metadata":{"name":".."}}]],
  [[{"metadata":{"name":null}}]], [[{"metadata":{"generateName":"x"}}]], [[{"metadata":{"generateName":"a%"}}]],
  [[{"spec":{"caBundle":"eA==","insecureSkipTLSVerify":true}}]],
})
add(named("flowcontrol.apiserver.k8s.io/v1", "", "flowschemas"), "flowcontrol.apiserver.k8s.io/v1", "FlowSchema",
  [[{"spec":{"matchingPrecedence":1000,"priorityLevelConfiguration":{"name":"a"},"rules":[{"subjects":[{"kind":"User",
  "user":{"name":"u"}}],"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],
    "namespaces":["*"]}]}]}}]], {
  [[{"spec":{"matchingPrecedence":-1}}]], [[{"spec":{"matchingPrecedence":10001}}]],
  [[{"spec":{"matchingPrecedence":1}}]],
  [[{"spec":{"priorityLevelConfiguration":{"name":"A"}}}]], [[{"spec":{"priorityLevelConfiguration":{"name":null}}}]],
  [[{"spec":{"rules":[{"subjects":[{"kind":"User","user":{"name":"u"}}]}]}}]],
  [[{"spec":{"rules":[{"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"clusterScope":true}]}]}}]],
  [[{"spec":{"rules":[{"subjects":[{"kind":"Odd"}],"nonResourceRules":[{}]}]}}]],
  [[{"spec":{"rules":[{"subjects":[{"kind":"User"},{"kind":"Group"},{"kind":"ServiceAccount"}],
    "resourceRules":[{}]}]}}]],
  [[{"spec":{"rules":[{"subjects":[{"kind":"ServiceAccount","serviceAccount":{},"user":{"name":"u"},
    "group":{"name":"g"}}],"nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/a"]}]}]}}]],
  [[{"spec":{"rules":[{"subjects":[{"kind":"User","user":{"name":"u"}}],"resourceRules":[{"verbs":["get","odd"],
    "apiGroups":["*","a"],"resources":["a","*"],"namespaces":["*","a"]}]}]}}]],
  [[{"spec":{"rules":[{"subjects":[{"kind":"User","user":{"name":"u"}}],"resourceRules":[{"verbs":["get","*"],
    "apiGroups":[""],"resources":["a"],"namespaces":["A_b"]}]}]}}]],
  [[{"spec":{"rules":[{"subjects":[{"kind":"User","user":{"name":"u"}}],"nonResourceRules":[{"verbs":["odd"],
    "nonResourceURLs":["/","/a b","//","/a*","/a/*","/*/*","","x"]},{"verbs":[],"nonResourceURLs":[]},
    {"verbs":["*"],"nonResourceURLs":["*","/a"]}]}]}}]],
})
add(core .. "resourcequotas", "v1", "ResourceQuota", "{}", {
  [[{"spec":{"hard":{"cpu":"-1"}}}]], [[{"spec":{"hard":{"pods":"1.5"}}}]], [[{"spec":{"hard":{"odd":"1"}}}]],
  [[{"spec":{"hard":{"storage":"1"}}}]], [[{"spec":{"hard":{"x.io/y":"500m"}}}]],
  [[{"spec":{"hard":{"Bad Name":"1"}}}]], [[{"spec":{"scopes":["Odd"]}}]],
  [[{"spec":{"hard":{"pods":"1"},"scopes":["BestEffort","NotBestEffort"]}}]],
  [[{"spec":{"hard":{"cpu":"1"},"scopes":["BestEffort"]}}]],
  [[{"spec":{"hard":{"pods":"1","services":"1"},"scopes":["PriorityClass"]}}]],
  [[{"spec":{"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In"},
    {"scopeName":"PriorityClass","operator":"Exists","values":["a"]},{"scopeName":"Odd","operator":"Odd"},
    {"scopeName":"BestEffort","operator":"In","values":["a"]}]}}}]],
  [[{"spec":{"hard":{"cpu":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"BestEffort","operator":"Exists"},
    {"scopeName":"NotBestEffort","operator":"Exists"}]}}}]],
})
add(named("admissionregistration.k8s.io/v1", "", "validatingadmissionpolicies"), "admissionregistration.k8s.io/v1",
  "ValidatingAdmissionPolicy", [[{"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["apps"],
  "apiVersions":["v1"],"operations":["CREATE"],"resources":["deployments"]}]},
  "validations":[{"expression":"true"}]}}]], {
  [[{"spec":{"failurePolicy":"Odd"}}]], [[{"spec":{"matchConstraints":null}}]], [[{"spec":{"validations":null}}]],
  [[{"spec":{"matchConstraints":{"resourceRules":null}}}]], [[{"spec":{"matchConstraints":{"matchPolicy":"Odd"}}}]],
  [[{"spec":{"validations":[{"message":"no"}]}}]], [[{"spec":{"validations":[{"expression":"true","reason":"Odd"}]}}]],
  [[{"spec":{"paramKind":{}}}]], [[{"spec":{"matchConstraints":{"resourceRules":[{"operations":["ODD"]}]}}}]],
})
add(named("admissionregistration.k8s.io/v1", "", "validatingadmissionpolicybindings"),
  "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding",
  [[{"spec":{"policyName":"a","validationActions":["Deny"]}}]], {
  [[{"spec":{"policyName":null}}]], [[{"spec":{"policyName":"A_b"}}]], [[{"spec":{"validationActions":null}}]],
  [[{"spec":{"validationActions":["Odd"]}}]], [[{"spec":{"paramRef":{}}}]],
  [[{"spec":{"paramRef":{"name":"a","selector":{},"parameterNotFoundAction":"Deny"}}}]],
  [[{"spec":{"paramRef":{"name":"a"}}}]],
  [[{"spec":{"matchResources":{"resourceRules":[{"operations":["CREATE"]}]}}}]],
})

add(named("flowcontrol.apiserver.k8s.io/v1", "", "prioritylevelconfigurations"), "flowcontrol.apiserver.k8s.io/v1",
  "PriorityLevelConfiguration", [[{"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Queue",
  "queuing":{}}}}}]], {
  [[{"metadata":{"name":"exempt"}}]], [[{"spec":{"type":"Exempt"}}]], [[{"spec":{"type":"Odd"}}]],
  [[{"spec":{"type":null}}]], [[{"metadata":{"name":"exempt"},"spec":{"type":null}}]],
  [[{"spec":{"type":"Exempt","limited":null,"exempt":{"nominalConcurrencyShares":-1,"lendablePercent":101}}}]],
  [[{"spec":{"exempt":{}}}]], [[{"spec":{"limited":null}}]], [[{"spec":{"limited":{"nominalConcurrencyShares":-1}}}]],
  [[{"spec":{"limited":{"lendablePercent":-1,"borrowingLimitPercent":-1}}}]],
  [[{"spec":{"limited":{"limitResponse":{"type":"Reject"}}}}]], [[{"spec":{"limited":{"limitResponse":null}}}]],
  [[{"spec":{"limited":{"limitResponse":{"queuing":null}}}}]],
  [[{"spec":{"limited":{"limitResponse":{"type":"Odd"}}}}]],
  [[{"spec":{"limited":{"limitResponse":{"queuing":{"queues":-1,"handSize":-2,"queueLengthLimit":-3}}}}}]],
  [[{"spec":{"limited":{"limitResponse":{"queuing":{"queues":-1}}}}}]],
  [[{"spec":{"limited":{"limitResponse":{"queuing":{"queues":10000001,"handSize":1}}}}}]],
  [[{"spec":{"limited":{"limitResponse":{"queuing":{"queues":64,"handSize":11}}}}}]],
  [[{"spec":{"limited":{"limitResponse":{"queuing":{"queues":4,"handSize":5}}}}}]],
  [[{"metadata":{"name":"catch-all"}}]],
  [[{"metadata":{"name":"catch-all"},"spec":{"limited":{"nominalConcurrencyShares":5,"borrowingLimitPercent":3,
    "limitResponse":{"type":"Reject","queuing":null}}}}]],
  [[{"metadata":{"name":"exempt"},"spec":{"type":"Exempt"}}]],
})

-- Claims of devices, by themselves and as a template has them; the mistakes are those of `devices`.
local devices = {
  [[{"requests":[{"name":"A","exactly":{"deviceClassName":"c"}},{"exactly":{"deviceClassName":"c_d"}}]}]],
  [[{"requests":[{"name":"r"},{"name":"r","exactly":{"deviceClassName":""}}]}]],
  [[{"requests":[{"name":"r","exactly":{"deviceClassName":"c"},
    "firstAvailable":[{"name":"a","deviceClassName":"c"}]}]}]],
  [[{"requests":[{"name":"r","firstAvailable":[{"name":"a","deviceClassName":"c"},{"name":"a"},
    {"deviceClassName":"C"}]}]}]],
  [[{"requests":[{"name":"r","firstAvailable":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"},{"name":"e"},
    {"name":"f"},{"name":"g"},{"name":"h"},{"name":"i"}]}]}]],
  [[{"requests":[{"name":"r","exactly":{"deviceClassName":"c","selectors":[{},{"cel":null}]}}]}]],
  [[{"requests":[{"name":"r","exactly":{"deviceClassName":"c","selectors":[{"cel":{"expression":"]]
    .. ("true&&"):rep(2000) .. [[true"}}]}}]}]],
  [[{"requests":[{"name":"r","exactly":{"deviceClassName":"c","count":-1}},
    {"name":"s","exactly":{"deviceClassName":"c","allocationMode":"All","count":2}},
    {"name":"t","exactly":{"deviceClassName":"c","allocationMode":"Odd"}}]}]],
  [[{"requests":[{"name":"r","exactly":{"deviceClassName":"c","tolerations":[{"key":"a b","value":"c d"},
    {"operator":"Exists","value":"v"},{"operator":"Odd","effect":"Odd"},{"key":"/x","effect":"None"}]}}]}]],
  [[{"requests":[{"name":"r","firstAvailable":[{"name":"a","deviceClassName":"c","allocationMode":"Odd",
    "selectors":[{}],"tolerations":[{"operator":"Exists","value":"v"}]}]}]}]],
  [[{"constraints":[{"requests":["odd","r","r","r/a","a/b/c","A"]}]}]],
  [[{"constraints":[{"matchAttribute":"x"},{"matchAttribute":"/"},{"matchAttribute":"a_b/c-d"},
    {"distinctAttribute":"a.b/]] .. ("x"):rep(33) .. [["},{"distinctAttribute":""}]}]],
  [[{"constraints":[{"matchAttribute":"]] .. ("x"):rep(64) .. [[/1"},{"matchAttribute":"A.B/c","requests":["r/x"]}]}]],
  [[{"config":[{},{"opaque":{}},{"requests":["x"],"opaque":{"driver":"A_b","parameters":1}}]}]],
  [[{"config":[{"opaque":{"driver":"]] .. ("x"):rep(64) .. [[","parameters":{"a":"]] .. ("x"):rep(10240)
    .. [["}}},{"opaque":{"driver":"d","parameters":null}},{"opaque":{"driver":"d","parameters":[]}}]}]],
}
for i, mistake in ipairs { "requests", "constraints", "config" } do
  local item = i == 1 and [[{"name":"r%d"}]] or "{}"
  local list = {}
  for n = 1, 33 do list[n] = item:format(n) end
  devices[#devices + 1] = ([[{"%s":[%s]}]]):format(mistake, table.concat(list, ","))
end
local claim = [[{"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}}}]]
local claims, templates = {}, { [[{"spec":{"metadata":{"labels":{"a b":"c d"},"annotations":{"e f":"g"}}}}]] }
for i, mistake in ipairs(devices) do
  claims[i] = ([[{"spec":{"devices":%s}}]]):format(mistake)
  templates[i + 1] = ([[{"spec":{"spec":{"devices":%s}}}]]):format(mistake)
end
add(named("resource.k8s.io/v1", inside, "resourceclaims"), "resource.k8s.io/v1", "ResourceClaim", claim, claims)
add(named("resource.k8s.io/v1", inside, "resourceclaimtemplates"), "resource.k8s.io/v1", "ResourceClaimTemplate",
  ([[{"spec":%s}]]):format(claim), templates)

for _, kind in ipairs { "Validating", "Mutating" } do
  add(named("admissionregistration.k8s.io/v1", "", kind:lower() .. "webhookconfigurations"),
    "admissionregistration.k8s.io/v1", kind .. "WebhookConfiguration", "{}", {
    [[{"webhooks":[{"name":"a","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":
      {"service":{"name":"a","namespace":"b"}}}]}]],
    [[{"webhooks":[{"name":"a.b.c","admissionReviewVersions":["v1"],"clientConfig":{"service":{"name":"a",
      "namespace":"b"}}}]}]],
    [[{"webhooks":[{"name":"a.b.c","sideEffects":"Some","admissionReviewVersions":["v1"],"clientConfig":
      {"service":{"name":"a","namespace":"b"}}}]}]],
    [[{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{}}]}]],
    [[{"webhooks":[{"name":"a.b.c","sideEffects":"None","clientConfig":{"service":{"name":"a","namespace":"b"}}}]}]],
    [[{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],"timeoutSeconds":31,
      "failurePolicy":"Odd","clientConfig":{"service":{"name":"a","namespace":"b","path":"x"}}}]}]],
    [[{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],"rules":[{"operations":["ODD"],
      "apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}],"clientConfig":{"service":{"namespace":"b"}}}]}]],
    [[{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],"rules":[{"operations":["*"]}],
      "clientConfig":{"service":{"name":"a","namespace":"b"}}}]}]],
  })
end

add("/apis/certificates.k8s.io/v1/certificatesigningrequests", "certificates.k8s.io/v1", "CertificateSigningRequest",
  [[{"spec":{"signerName":"example.com/a","usages":["client auth"]}}]], {
  "{}", [[{"spec":{"request":"eA=="}}]], [[{"spec":{"request":""}}]],
  [[{"spec":{"request":"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCllXSmoKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="}}]],
})

return rows
