-- Mistakes in pods that a kube-apiserver refuses with 422, one at a time: JSON to be merged into a pod with one
-- container. Go's maps have no order, so that no mistake has two causes of one map.
local pods = {}

local function add(form, mistakes)
  for _, mistake in ipairs(mistakes) do pods[#pods + 1] = form:gsub("%$", function() return mistake end) end
end

-- Members of the container.
add([=[{"spec":{"containers":[{"name":"c","image":"i",$}]}}]=], {
  -- resources
  [=["resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}]=],
  [=["resources":{"requests":{"memory":"2Gi"},"limits":{"memory":"1024Mi"}}]=],
  [=["resources":{"requests":{"cpu":"1001m"},"limits":{"cpu":"1"}}]=],
  [=["resources":{"requests":{"cpu":"-1"}}]=], [=["resources":{"requests":{"example.com/gpu":"1"}}]=],
  [=["resources":{"requests":{"example.com/gpu":"1"},"limits":{"example.com/gpu":"2"}}]=],
  [=["resources":{"limits":{"example.com/gpu":"1500m"}}]=], [=["resources":{"limits":{"hugepages-2Mi":"2Mi"}}]=],
  [=["resources":{"limits":{"hugepages-2Mi":"3Mi","cpu":"1"}}]=], [=["resources":{"limits":{"odd":"1"}}]=],
  [=["resources":{"limits":{"hugepages-2Mi":"4Mi","cpu":"1"},"requests":{"hugepages-2Mi":"3Mi"}}]=],
  [=["resources":{"limits":{"hugepages-2Mi":"3Mi"}}]=], [=["resources":{"limits":{"a b/c":"1"}}]=],
  [=["resources":{"limits":{"a b":"1"}}]=], [=["resources":{"limits":{"pods":"1"}}]=],
  [=["resources":{"requests":{"hugepages-2Mi":"-2Mi","cpu":"1"}}]=], [=["resources":{"limits":{"a.b/c":"-1500m"}}]=],
  [=["resources":{"claims":[{"name":"a"}]}]=], [=["resources":{"claims":[{}]}]=],
  [=["resources":{"claims":[{"name":"a"},{"name":"a"},{"name":"b","request":"A"},{"name":"b","request":"A"},
    {"name":"b"},{"name":"a","request":"x"}]}]=],
  -- volumes
  [=["volumeDevices":[{"name":"none","devicePath":"/a"}]]=], [=["volumeDevices":[{"devicePath":"/a"}]]=],
  -- lives
  [=["restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}]]=],
  [=["restartPolicy":"","restartPolicyRules":[{"exitCodes":{}},{"action":"Odd"}]]=],
  [=["restartPolicy":"Never","restartPolicyRules":[]=]
    .. ('{"action":"Restart","exitCodes":{"operator":"In"}},'):rep(20)
    .. [=[{"action":"Restart","exitCodes":{"operator":"In","values":[]=] .. ("1,"):rep(255) .. [=[1]}}]]=],
  [=["securityContext":{"procMount":"Unmasked"}]=], [=["securityContext":{"procMount":""}]=],
  -- env
  [=["env":[{"name":"A","value":"x","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]]=],
  [=["env":[{"name":"A","valueFrom":{}}]]=], [=["env":[{"name":"A=B","value":"x"}]]=],
  [=["env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"},
    "secretKeyRef":{"name":"a","key":"b"}}}]]=],
  [=["env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.odd"}}}]]=],
  [=["env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels"}}}]]=],
  [=["env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['a b']"}}}]]=],
  [=["env":[{"name":"A","valueFrom":{"resourceFieldRef":{"resource":"limits.odd"}}}]]=],
  [=["env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"A","key":"b"}}}]]=],
  [=["env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"a"}}}]]=],
  [=["env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"a","key":"b c"}}}]]=],
  [=["envFrom":[{}]]=], [=["envFrom":[{"configMapRef":{"name":"a"},"secretRef":{"name":"b"}}]]=],
  [=["envFrom":[{"configMapRef":{}}]]=], [=["envFrom":[{"prefix":"a=","secretRef":{"name":"b"}}]]=],
  -- probes and lives
  [=["livenessProbe":{"httpGet":{"port":80},"exec":{"command":["a"]}}]=], [=["livenessProbe":{}]=],
  [=["livenessProbe":{"exec":{}}]=], [=["livenessProbe":{"httpGet":{"port":80},"successThreshold":2}]=],
  [=["startupProbe":{"tcpSocket":{"port":80},"successThreshold":2}]=],
  [=["readinessProbe":{"tcpSocket":{"port":80},"terminationGracePeriodSeconds":5}]=],
  [=["livenessProbe":{"tcpSocket":{"port":80},"terminationGracePeriodSeconds":0}]=],
  [=["livenessProbe":{"httpGet":{"port":80,"scheme":"ODD"}}]=], [=["livenessProbe":{"httpGet":{"port":0}}]=],
  [=["livenessProbe":{"httpGet":{"port":80,"httpHeaders":[{"name":"a b","value":"c"}]}}]=],
  [=["livenessProbe":{"grpc":{"port":0}}]=], [=["livenessProbe":{"grpc":{"port":1},"tcpSocket":{"port":1}}]=],
  [=["livenessProbe":{"httpGet":{"port":"a_b"}}]=], [=["livenessProbe":{"httpGet":{"port":80},"periodSeconds":-1}]=],
  [=["lifecycle":{"preStop":{}}]=], [=["lifecycle":{"preStop":{"exec":{"command":["a"]},"httpGet":{"port":80}}}]=],
  [=["lifecycle":{"preStop":{"sleep":{"seconds":-1}}}]=], [=["lifecycle":{"postStart":{"sleep":{"seconds":31}}}]=],
  [=["restartPolicy":"Odd"]=], [=["terminationMessagePolicy":"Odd"]=],
  [=["resizePolicy":[{"resourceName":"odd","restartPolicy":"NotRequired"}]]=],
  [=["resizePolicy":[{"resourceName":"cpu","restartPolicy":"Odd"}]]=],
  -- ports
  [=["ports":[{"containerPort":1,"name":"a_b"}]]=], [=["ports":[{"containerPort":1,"name":"averylongportname"}]]=],
  [=["ports":[{"containerPort":1,"name":"a"},{"containerPort":2,"name":"a"}]]=], [=["ports":[{"name":"a"}]]=],
  [=["ports":[{"containerPort":1,"hostPort":8},{"containerPort":2,"hostPort":8}]]=],
  [=["ports":[{"containerPort":1,"hostPort":70000}]]=],
  -- security
  [=["securityContext":{"privileged":true,"allowPrivilegeEscalation":false}]=],
  [=["securityContext":{"capabilities":{"add":["CAP_SYS_ADMIN"]},"allowPrivilegeEscalation":false}]=],
  [=["securityContext":{"runAsUser":-1}]=], [=["securityContext":{"runAsGroup":3000000000}]=],
  [=["securityContext":{"procMount":"Odd"}]=], [=["securityContext":{"seccompProfile":{"type":"Odd"}}]=],
  [=["securityContext":{"seccompProfile":{"type":"Localhost"}}]=], [=["securityContext":{"seccompProfile":{}}]=],
  [=["securityContext":{"seccompProfile":{"type":"Localhost","localhostProfile":"../a"}}]=],
  [=["securityContext":{"seccompProfile":{"type":"RuntimeDefault","localhostProfile":"a"}}]=],
  [=["securityContext":{"appArmorProfile":{"type":"Localhost"}}]=], [=["securityContext":{"appArmorProfile":{}}]=],
  [=["securityContext":{"appArmorProfile":{"type":"Localhost","localhostProfile":" a"}}]=],
  [=["securityContext":{"appArmorProfile":{"type":"Unconfined","localhostProfile":"a"}}]=],
  [=["securityContext":{"appArmorProfile":{"type":"Odd"}}]=],
})

-- Members of the spec.
add([=[{"spec":{$}}]=], {
  [=["hostname":"A_b"]=], [=["hostname":"a.b"]=], [=["subdomain":"-a"]=], [=["serviceAccountName":"A"]=],
  [=["nodeName":"a_b"]=],
  [=["os":{"name":"odd"}]=],
  [=["os":{}]=], [=["os":{"name":"linux"},"securityContext":{"windowsOptions":{}}]=], [=["activeDeadlineSeconds":0]=],
  [=["hostPID":true,"shareProcessNamespace":true]=], [=["nodeSelector":{"a b":"c"}]=], [=["nodeSelector":{"a":"b c"}]=],
  [=["hostAliases":[{"ip":"odd"}]]=], [=["hostAliases":[{"ip":"10.0.0.1","hostnames":["A_b"]}]]=],
  [=["hostAliases":[{}]]=],
  [=["dnsPolicy":"None"]=], [=["dnsPolicy":"None","dnsConfig":{}]=], [=["dnsConfig":{"nameservers":["odd"]}]=],
  [=["dnsConfig":{"nameservers":["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]}]=], [=["dnsConfig":{"options":[{}]}]=],
  [=["dnsConfig":{"searches":["A"]}]=], [=["readinessGates":[{"conditionType":"a b"}]]=],
  [=["schedulingGates":[{"name":"a b"}]]=], [=["schedulingGates":[{"name":"a"}],"nodeName":"n"]=],
  [=["ephemeralContainers":[{"name":"e","image":"i"}]]=], [=["setHostnameAsFQDN":true,"hostnameOverride":"a"]=],
  [=["hostnameOverride":"A"]=], [=["terminationGracePeriodSeconds":30,"containers":[{"name":"c","image":" i"}]]=],
  [=["containers":[{"name":"a","image":"i","ports":[{"containerPort":1,"hostPort":8}]},
    {"name":"b","image":"i","ports":[{"containerPort":2,"hostPort":8}]}]]=],
  [=["hostNetwork":true,"containers":[{"name":"a","image":"i","ports":[{"containerPort":1,"hostPort":8}]}]]=],
  [=["initContainers":[{"name":"a","image":"i"},{"name":"b","image":"i","ports":[
    {"containerPort":1,"hostPort":8},{"containerPort":2,"hostPort":8}]}]]=],
  [=["hostAliases":[{"ip":"1::2:","hostnames":["a"]}]]=], [=["hostAliases":[{"ip":"1.2.3.4::","hostnames":["a"]}]]=],
  [=["hostAliases":[{"ip":"1:2:3:4:5:6:7:8::"}]]=], [=["hostAliases":[{"ip":"1:2:3:4:5:6:7:1.2.3.4"}]]=],
  [=["resourceClaims":[{"name":"z","resourceClaimName":"r"},{"name":"y","resourceClaimName":"r"}],
    "containers":[{"name":"c","image":"i","resources":{"claims":[{"name":"a"}]}}]]=],
  [=["initContainers":[{"name":"d","image":"i","resources":{"claims":[{"name":"a"}]}}]]=],
  [=["resources":{"claims":[{"name":"a"}]}]=], [=["resources":{"limits":{"a.b/c":"1"}}]=],
  [=["resources":{"limits":{"ephemeral-storage":"1"}}]=],
  [=["resources":{"limits":{"cpu":"1"},"requests":{"cpu":"2"}}]=],
  [=["resources":{"limits":{"odd":"1"}}]=], [=["resources":{"limits":{"hugepages-2Mi":"2Mi"}}]=],
  [=["resources":{"limits":{"cpu":"1"}},"os":{"name":"windows"}]=],
  [=["resources":{"limits":{"cpu":"1"}},"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}]]=],
  [=["resources":{"limits":{"cpu":"1"}},"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"2"},
    "requests":{"cpu":"1"}}}]]=],
  [=["resources":{"limits":{"cpu":"1","hugepages-2Mi":"2Mi"}},"containers":[{"name":"c","image":"i","resources":{
    "limits":{"hugepages-2Mi":"4Mi","cpu":"1"}}}]]=],
  [=["hostAliases":[{"ip":"::ffff:1.2.3.4"},{"ip":"01.2.3.4"}],"dnsConfig":{"nameservers":["1.1.1.01"]}]=],
  [=["initContainers":[{"name":"c","image":"i"}]]=], [=["initContainers":[{"name":"d"}]]=],
  [=["initContainers":[{"name":"d","image":"i","livenessProbe":{"tcpSocket":{"port":1}}}]]=],
  [=["initContainers":[{"name":"d","image":"i","lifecycle":{"preStop":{"exec":{"command":["a"]}}}}]]=],
  [=["initContainers":[{"name":"d","image":"i","restartPolicy":"Odd"}]]=],
  [=["initContainers":[{"name":"d","image":"i","resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}]]=],
  [=["initContainers":[{"name":"d","image":"i","restartPolicy":"Always","livenessProbe":{}}]]=],
  [=["serviceAccountName":"a","volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t",
    "expirationSeconds":10}}]}}]]=],
  -- security of all containers
  [=["securityContext":{"runAsUser":-1}]=], [=["securityContext":{"fsGroup":-1}]=],
  [=["securityContext":{"supplementalGroups":[1,-1]}]=],
  [=["securityContext":{"sysctls":[{"name":"A b","value":"1"}]}]=],
  [=["securityContext":{"sysctls":[{"name":"a","value":"1"},{"name":"a","value":"1"}]}]=],
  [=["securityContext":{"fsGroupChangePolicy":"Odd"}]=], [=["securityContext":{"seccompProfile":{"type":"Odd"}}]=],
  [=["securityContext":{"supplementalGroupsPolicy":"Odd"}]=], [=["securityContext":{"seLinuxChangePolicy":"Odd"}]=],
  -- tolerations
  [=["tolerations":[{"key":"a","operator":"Exists","value":"b"}]]=], [=["tolerations":[{"key":"a","operator":"Odd"}]]=],
  [=["tolerations":[{"operator":"Equal","value":"b"}]]=], [=["tolerations":[{"key":"a b"}]]=], [=["tolerations":[{}]]=],
  [=["tolerations":[{"key":"a","value":"b c"}]]=], [=["tolerations":[{"key":"a","effect":"Odd"}]]=],
  [=["tolerations":[{"key":"a","effect":"NoSchedule","tolerationSeconds":1}]]=],
  [=["tolerations":[{"key":"a","tolerationSeconds":1}]]=],
  [=["tolerations":[{"key":"a","operator":"Gt","value":"1"}]]=],
  -- spreads
  [=["topologySpreadConstraints":[{"maxSkew":0,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule"}]]=],
  [=["topologySpreadConstraints":[{"maxSkew":1,"whenUnsatisfiable":"DoNotSchedule"}]]=],
  [=["topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"Odd"}]]=],
  [=["topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a"}]]=],
  [=["topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"ScheduleAnyway",
    "minDomains":1}]]=],
  [=["topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule"},
    {"maxSkew":2,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule"}]]=],
  [=["topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule",
    "nodeTaintsPolicy":"Odd"}]]=],
  [=["topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule",
    "matchLabelKeys":["a"]}]]=],
})

-- Annotations.
add([=[{"metadata":{"annotations":{$}},"spec":{"containers":[{"name":"c","image":"i","securityContext":{
  "seccompProfile":{"type":"Unconfined"},"appArmorProfile":{"type":"Localhost","localhostProfile":"a"}}}]}}]=], {
  [=["kubernetes.io/config.mirror":"a"]=], [=["controller.kubernetes.io/pod-deletion-cost":"+1"]=],
  [=["controller.kubernetes.io/pod-deletion-cost":"2147483648"]=],
  [=["controller.kubernetes.io/pod-deletion-cost":"08"]=], [=["controller.kubernetes.io/pod-deletion-cost":""]=],
  [=["seccomp.security.alpha.kubernetes.io/pod":"odd"]=],
  [=["container.seccomp.security.alpha.kubernetes.io/c":"localhost/../a"]=],
  [=["container.seccomp.security.alpha.kubernetes.io/c":"runtime/default"]=],
  [=["container.apparmor.security.beta.kubernetes.io/d":"unconfined"]=],
  [=["container.apparmor.security.beta.kubernetes.io/c":"odd"]=],
  [=["container.apparmor.security.beta.kubernetes.io/c":"unconfined"]=],
  [=["container.apparmor.security.beta.kubernetes.io/c":"localhost/b"]=],
})

-- Windows.
add([=[{"spec":{"os":{"name":"windows"},$}}]=], {
  [=["securityContext":{"runAsUser":1,"runAsGroup":1,"fsGroup":1,"supplementalGroups":[1],"seLinuxOptions":{},
    "seccompProfile":{"type":"Unconfined"},"appArmorProfile":{"type":"Unconfined"},"fsGroupChangePolicy":"Always",
    "sysctls":[{"name":"a","value":"1"}],"supplementalGroupsPolicy":"Merge","seLinuxChangePolicy":"Recursive"}]=],
  [=["hostPID":true,"hostIPC":true,"hostUsers":true,"shareProcessNamespace":false]=],
  [=["containers":[{"name":"c","image":"i","securityContext":{"capabilities":{},"privileged":false,"runAsUser":1,
    "runAsGroup":1,"allowPrivilegeEscalation":true,"procMount":"Default","readOnlyRootFilesystem":false,
    "seLinuxOptions":{},"seccompProfile":{"type":"Unconfined"},"appArmorProfile":{"type":"Unconfined"}}}]]=],
  [=["securityContext":{"windowsOptions":{"hostProcess":true}}]=],
  [=["hostNetwork":true,"securityContext":{"windowsOptions":{"hostProcess":true}},"containers":[
    {"name":"c","image":"i","securityContext":{"windowsOptions":{"hostProcess":false}}}]]=],
  [=["initContainers":[{"name":"d","image":"i"}],"containers":[
    {"name":"c","image":"i","securityContext":{"windowsOptions":{"hostProcess":true}}}]]=],
})
add([=[{"spec":{"securityContext":{"windowsOptions":{$}}}}]=], {
  [=["gmsaCredentialSpecName":"A"]=], [=["gmsaCredentialSpec":""]=], [=["runAsUserName":""]=],
  [=["runAsUserName":"a\\b\\c"]=], [=["runAsUserName":"a\nb"]=], [=["runAsUserName":"-an.overlong.name\\c"]=],
  [=["runAsUserName":"A B*\\c"]=], [=["runAsUserName":"a\\"]=], [=["runAsUserName":". ."]=],
  [=["runAsUserName":"a@b"]=], [=["runAsUserName":"]=] .. ("a"):rep(105) .. [=["]=],
  [=["runAsUserName":"]=] .. ("a"):rep(256) .. [=[\\b"]=],
})
add([=[{"spec":{$}}]=], {
  [=["os":{"name":"linux"},"containers":[{"name":"c","image":"i","securityContext":{"windowsOptions":{}}}]]=],
  [=["containers":[{"name":"c","image":"i","securityContext":{"windowsOptions":{"runAsUserName":""}}}]]=],
  [=["securityContext":{"windowsOptions":{"hostProcess":true}}]=],
})

-- Of volumes.
add([=[{"spec":{"volumes":[{"name":"v",$}]}}]=], {
  [=["emptyDir":{},"hostPath":{"path":"/x"}]=], [=["emptyDir":{"sizeLimit":"-1"}]=], [=["hostPath":{}]=],
  [=["rbd":{"monitors":["m"],"image":"i"},"quobyte":{"registry":"a:1","volume":"v"}]=],
  [=["hostPath":{"path":"/a/../b"}]=], [=["hostPath":{"path":"/a","type":"Odd"}]=], [=["secret":{}]=],
  [=["configMap":{}]=],
  [=["secret":{"secretName":"a","defaultMode":512}]=], [=["configMap":{"name":"a","items":[{"key":"k"}]}]=],
  [=["configMap":{"name":"a","items":[{"key":"k","path":"../x"}]}]=], [=["persistentVolumeClaim":{}]=],
  [=["configMap":{"name":"a","items":[{"key":"k","path":"/x","mode":1000}]}]=], [=["nfs":{"path":"x","server":"a"}]=],
  [=["nfs":{}]=], [=["downwardAPI":{"items":[{"path":"a"}]}]=], [=["projected":{"defaultMode":-1}]=],
  [=["downwardAPI":{"items":[{"path":"..a","fieldRef":{"fieldPath":"metadata.name"}}]}]=],
  [=["projected":{"sources":[{"secret":{"name":"a"},"configMap":{"name":"b"}}]}]=],
  [=["projected":{"sources":[{"secret":{"name":"a","items":[{"key":"k","path":"p"}]}},
    {"configMap":{"name":"b","items":[{"key":"k","path":"p"}]}}]}]=],
  [=["ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"]}}}]=], [=["ephemeral":{}]=],
  -- of single vendors
  [=["rbd":{}]=], [=["cephfs":{}]=], [=["glusterfs":{}]=], [=["azureFile":{}]=], [=["vsphereVolume":{}]=],
  [=["photonPersistentDisk":{}]=], [=["portworxVolume":{}]=], [=["scaleIO":{}]=], [=["gcePersistentDisk":{}]=],
  [=["gcePersistentDisk":{"pdName":"a","partition":256}]=], [=["awsElasticBlockStore":{"partition":-1}]=],
  [=["cinder":{"secretRef":{}}]=], [=["iscsi":{}]=], [=["iscsi":{"targetPortal":"a","iqn":"odd","lun":256}]=],
  [=["iscsi":{"targetPortal":"a","iqn":"iqn.2001-04","lun":0}]=], [=["iscsi":{"targetPortal":"a","iqn":"eui.1"}]=],
  [=["iscsi":{"targetPortal":"a","iqn":"naa.1","chapAuthSession":true,"initiatorName":"x"}]=],
  [=["fc":{}]=], [=["fc":{"targetWWNs":["a"],"wwids":["b"]}]=], [=["fc":{"targetWWNs":["a"],"lun":256}]=],
  [=["quobyte":{}]=], [=["quobyte":{"registry":"a,b:1,c:1:2,[::1]:2","volume":"v"}]=],
  [=["quobyte":{"registry":"a:1","tenant":"]=] .. ("a"):rep(65) .. [=["}]=], [=["flocker":{}]=],
  [=["flocker":{"datasetName":"a/b","datasetUUID":"c"}]=], [=["flexVolume":{}]=],
  [=["flexVolume":{"driver":"d","options":{"a.K8s.io/x":"y"}}]=],
  [=["flexVolume":{"driver":"d","options":{"kubernetes.io/x":"y"}}]=], [=["azureDisk":{}]=],
  [=["azureDisk":{"diskName":"a","diskURI":"b","cachingMode":"Odd","kind":"Odd"}]=],
  [=["azureDisk":{"diskName":"a","diskURI":"b","kind":"Managed"}]=], [=["storageos":{}]=],
  [=["storageos":{"volumeName":"A","volumeNamespace":"B","secretRef":{}}]=], [=["csi":{}]=],
  [=["csi":{"driver":"a_b","nodePublishSecretRef":{"name":"A"}}]=],
  [=["csi":{"driver":"a","nodePublishSecretRef":{}}]=],
  [=["csi":{"driver":"]=] .. ("a"):rep(64) .. [=["}]=], [=["image":{}]=],
  [=["image":{"reference":"a","pullPolicy":"Odd"}]=],
})
add([=[{"spec":{"volumes":[{"name":"v"}],"containers":[{"name":"c","image":"i","volumeMounts":[$]}]}}]=], {
  [=[{"name":"v","mountPath":"/a","subPath":"../x"}]=], [=[{"name":"v","mountPath":"/a","subPath":"/x"}]=],
  [=[{"name":"v","mountPath":"/a"},{"name":"v","mountPath":"/a"}]=], [=[{"name":"w","mountPath":"/a"}]=],
  [=[{"name":"v"}]=], [=[{"mountPath":"/a"}]=], [=[{"name":"v","mountPath":"/a","mountPropagation":"Odd"}]=],
  [=[{"name":"v","mountPath":"/a","mountPropagation":"Bidirectional"}]=],
  [=[{"name":"v","mountPath":"/a","subPath":"a","subPathExpr":"b"}]=],
  [=[{"name":"v","mountPath":"/a","recursiveReadOnly":"Enabled"}]=],
  [=[{"name":"v","mountPath":"/a","recursiveReadOnly":"Odd"}]=],
})
add([=[{"spec":{"volumes":[$]}}]=], { [=[{"name":"a_b"}]=], [=[{"emptyDir":{}}]=], [=[{"name":"a"},{"name":"a"}]=] })

-- Of affinities.
add([=[{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{$}}}}}]=], {
  "", [=["nodeSelectorTerms":["@empty"]]=],
  [=["nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In"}]}]]=],
  [=["nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Odd"}]}]]=],
  [=["nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Gt","values":["1","2"]}]}]]=],
  [=["nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists","values":["1"]}]}]]=],
  [=["nodeSelectorTerms":[{"matchExpressions":[{"key":"a b","operator":"Exists"}]}]]=],
  [=["nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In","values":["b c"]}]}]]=],
  [=["nodeSelectorTerms":[{"matchFields":[{"key":"a","operator":"In","values":["b"]}]}]]=],
  [=["nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["b","c"]}]}]]=],
})
add([=[{"spec":{"volumes":[{"name":"v","emptyDir":{}},{"name":"p","persistentVolumeClaim":{"claimName":"x"}},
  {"name":"w","configMap":{}}],"containers":[{"name":"c","image":"i",$}]}}]=], {
  [=["volumeDevices":[{"name":"v","devicePath":"/a"}]]=], [=["volumeDevices":[{"name":"w","devicePath":"/a"}]]=],
  [=["volumeDevices":[{"name":"p","devicePath":"/a"},{"name":"p","devicePath":"/a"},{"name":"p"}]]=],
  [=["volumeDevices":[{"name":"p","devicePath":"/a/../b"}]]=], [=["volumeMounts":[{"name":"w","mountPath":"/a"}]]=],
  [=["volumeDevices":[{"name":"p","devicePath":"/a"}],"volumeMounts":[{"name":"p","mountPath":"/a"}]]=],
  [=["volumeDevices":[{"name":"q","devicePath":"/a"}],"volumeMounts":[{"name":"p","mountPath":"/a"},
    {"name":"p","mountPath":"/b"}]]=],
  [=["volumeMounts":[{"name":"v","mountPath":"/a","subPath":"../a","subPathExpr":"/b"}]]=],
})
add([=[{"spec":{"hostUsers":false,"volumes":[{"name":"p","persistentVolumeClaim":{"claimName":"x"}}],$}}]=], {
  [=["hostPID":true,"hostIPC":true]=], [=["hostNetwork":true]=],
  [=["containers":[{"name":"c","image":"i","volumeDevices":[{"name":"p","devicePath":"/a"}]}]]=],
})
add([=[{"spec":{$}}]=], { [=["overhead":{"cpu":"-1"}]=], [=["overhead":{"a b":"1"}]=] })
add([=[{"spec":{"initContainers":[{"name":"d","image":"i",$}]}}]=], {
  [=["resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]]=],
  [=["restartPolicyRules":[{"action":"Odd"}]]=], [=["restartPolicy":"Always","restartPolicyRules":[{"action":"Odd"}]]=],
})
add([=[{"spec":{"affinity":{$}}}]=], {
  [=["nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":0,"preference":{}}]}]=],
  [=["nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":101,"preference":{"matchExpressions":[
    {"key":"a","operator":"In"}]}}]}]=],
  [=["podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{}}]}]=],
  [=["podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a b"}]}]=],
  [=["podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":0,"podAffinityTerm":
    {"topologyKey":"a"}}]}]=],
  [=["podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a","labelSelector":
    {"matchExpressions":[{"key":"a","operator":"Odd"}]}}]}]=],
  [=["podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a","namespaces":["A"]}]}]=],
  [=["podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a","matchLabelKeys":["a"]}]}]=],
  [=["podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a","labelSelector":
    {"matchLabels":{"a":"b c"}}}]}]=],
})

return pods
