-- Bodies that a kube-apiserver takes, near to those that it refuses: what a check could refuse by mistake.
local core, apps = "/api/v1/namespaces/default/", "/apis/apps/v1/namespaces/default/"

local function pod(spec)
  return { path = core .. "pods", body = [[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"good"},"spec":]]
    .. spec .. "}" }
end

return {
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
    {"name":"a.b","key":"c_d","optional":true}}}],"envFrom":[{"prefix":"P_","configMapRef":{"name":"a"}}]}]}]],
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
    "seccompProfile":{"type":"RuntimeDefault"}},"hostAliases":[{"ip":"10.0.0.1","hostnames":["a.b"]}]}]],
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
}
