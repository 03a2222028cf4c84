-- kubectl as it comes prints the same on the simulator as on a kube-apiserver: what it validates, explains, applies,
-- scales and refuses.
local apiserver = require "spec.support.apiserver"
local cluster = require "spec.support.cluster"
local temp = require "spec.support.temp"

local SCRIPT = [[
kubectl() { "$TOOL" --cache-dir "$HOME_OF/cache" "$@" 2>&1; echo "exit code $?"; }
cd "$HOME_OF"
kubectl create -f map.yaml
kubectl create -f bad.yaml
kubectl create configmap two --from-literal=a=b
kubectl create deployment web --image=nginx --replicas=2
kubectl scale deployment web --replicas=3
kubectl scale deployment web --replicas=5 --current-replicas=9
kubectl get deployment web -o 'jsonpath={.spec.replicas} {.metadata.generation}'
kubectl set image deployment/web nginx=nginx:1.27
kubectl apply --server-side -f map.yaml
kubectl apply -f two.yaml
kubectl diff -f two.yaml
kubectl explain pod.spec.restartPolicy
kubectl explain deployment.spec.strategy --recursive
kubectl label configmap two colour=red
kubectl annotate configmap two note=words
kubectl get configmap two -o name
kubectl auth can-i list pods
kubectl delete configmap one two
kubectl get configmap two
]]

-- The commands that people run every day, on one object of many kinds.
local DAILY = [[
kubectl() { echo "\$ kubectl $*"; "$TOOL" --cache-dir "$HOME_OF/cache" "$@" 2>&1; echo "exit code $?"; }
cd "$HOME_OF"
kubectl api-versions
kubectl api-resources --no-headers
kubectl auth whoami
kubectl auth can-i create deployments --as nobody --as-group system:masters
kubectl create namespace shop
kubectl config set-context --current --namespace shop
kubectl create configmap settings --from-file=map.yaml --from-literal=n=1
kubectl create secret generic words --from-literal=a=b
kubectl create secret docker-registry pull --docker-server=r.io --docker-username=u --docker-password=p
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=shop -keyout tls.key -out tls.crt 2>openssl.log ||
  cat openssl.log
kubectl create secret tls sealed --cert=tls.crt --key=tls.key
kubectl get secret sealed -o 'jsonpath={.type}'
kubectl create secret tls torn --cert=tls.crt --key=map.yaml
kubectl create serviceaccount robot
kubectl create role reader --verb=get,list --resource=pods,deployments.apps
kubectl create clusterrole all-reader --verb=get --resource=pods --non-resource-url=/healthz
kubectl create rolebinding reads --role=reader --serviceaccount=shop:robot --user=u --group=g
kubectl create clusterrolebinding reads-all --clusterrole=all-reader --user=u
kubectl create quota few --hard=configmaps=20,services=10
kubectl create priorityclass high --value=100 --description=words
kubectl create poddisruptionbudget one --selector=app=web --min-available=1
kubectl create deployment web --image=nginx:1.26 --replicas=3 --port=80
kubectl create service clusterip plain --tcp=80:8080
kubectl create service nodeport open --tcp=80
kubectl create service loadbalancer balanced --tcp=443:8443
kubectl create service externalname away --external-name=db.example.com
kubectl get service away -o 'jsonpath={.spec}'
kubectl create ingress in --rule=example.com/*=web:80 --class=nginx
kubectl create job once --image=busybox -- true
kubectl create cronjob nightly --image=busybox --schedule='0 3 * * *' -- date
kubectl create job by-hand --from=cronjob/nightly
kubectl create token robot --duration=1h -o 'jsonpath={.kind}'
kubectl expose deployment web --port=80 --target-port=8080
kubectl patch service open -p '{"spec":{"type":"ClusterIP"}}'
kubectl get service open -o 'jsonpath={.spec.type} {.spec.ports}'
kubectl patch service open -p '{"spec":{"type":"NodePort"}}'
kubectl autoscale deployment web --min=2 --max=5 --cpu=80%
kubectl run one --image=busybox --restart=Never --labels=app=one
kubectl get all
kubectl get all -o wide
kubectl get configmap,secret,serviceaccount,role,rolebinding,quota,pdb,ingress,cronjob -o wide
kubectl get clusterrole all-reader -o wide
kubectl get priorityclass high -o name
kubectl get deployment web -o 'custom-columns=NAME:.metadata.name,IMAGE:.spec.template.spec.containers[*].image'
kubectl get deployments -l app=web --show-labels
kubectl get pods --field-selector metadata.name=one -o name
kubectl get nosuch
kubectl get deployment none
kubectl describe configmap settings
kubectl describe service web
kubectl describe deployment web
kubectl describe secret words
kubectl describe role reader
kubectl describe rolebinding reads
kubectl describe quota few
kubectl describe ingress in
kubectl describe cronjob nightly
kubectl describe pod one
kubectl rollout status deployment web --timeout=1s
kubectl rollout restart deployment web
kubectl rollout undo deployment web
kubectl rollout history deployment web
kubectl rollout pause deployment web
kubectl rollout resume deployment web
kubectl create -f computed.yaml
for field in .spec .metadata.managedFields[*].fieldsV1; do
  form="jsonpath={range .items[*]}{$field}{'\n'}{end}"
  kubectl get pod,statefulset,limitrange computed -o "$form" --show-managed-fields
done
kubectl get pvc new old -o 'jsonpath={.items[*].spec}'
kubectl delete pod,statefulset,limitrange computed --grace-period=0 --force
kubectl create -f sets.yaml
kubectl rollout status statefulset db --timeout=1s
kubectl rollout status daemonset agent --timeout=1s
kubectl rollout history statefulset db
kubectl rollout history daemonset agent
kubectl rollout restart statefulset db
kubectl rollout restart daemonset agent
kubectl rollout undo statefulset db
kubectl rollout undo daemonset agent
kubectl rollout pause statefulset db
kubectl rollout resume daemonset agent
kubectl scale statefulset db --replicas=2
kubectl get statefulset,daemonset -o wide
kubectl get statefulset db -o 'jsonpath={.spec.replicas} {.metadata.generation}'
kubectl set image deployment/web nginx=nginx:1.27
kubectl set env deployment/web A=b
kubectl set resources deployment web --limits=cpu=200m
kubectl patch deployment web -p '{"spec":{"replicas":4}}'
kubectl patch deployment web --type=json -p '[{"op":"replace","path":"/spec/replicas","value":2}]'
kubectl patch deployment web --type=merge -p '{"spec":{"replicas":-1}}'
kubectl apply -f prune.yaml --prune -l set=one
kubectl apply -f less.yaml --prune -l set=one
kubectl replace -f two.yaml
kubectl apply -f two.yaml
kubectl replace -f two.yaml
kubectl replace --force -f two.yaml
EDITOR="sed -i s/a:.c/a:\ d/" kubectl edit configmap two
kubectl get configmap two -o 'jsonpath={.data.a}'
kubectl diff -f two.yaml | grep '^[-+] '
kubectl apply -f moves.yaml
kubectl apply -f moves.yaml --server-side
sed -i s/a:.b/a:\ c/ moves.yaml
kubectl apply -f moves.yaml --server-side
kubectl get configmap moves -o 'jsonpath={.metadata.annotations}'
kubectl get configmap moves --show-managed-fields \
  -o 'jsonpath={range .metadata.managedFields[*]}{.manager}{"\n"}{end}' | sort
kubectl patch configmap moves -p '{"data":{"a":"other"}}' --field-manager other
kubectl apply -f moves.yaml --server-side
kubectl apply -f moves.yaml
kubectl label pods one colour=red
kubectl label pods one colour=blue
kubectl label pods one colour=blue --overwrite
kubectl annotate pods one note=words note=words
kubectl wait configmap two --for=jsonpath='{.data.a}'=d --timeout=2s
kubectl wait pod one --for=condition=Ready --timeout=1s
kubectl wait pod none --for=delete --timeout=1s
kubectl create -f node.yaml
kubectl get node worker
kubectl taint node worker dedicated=db:NoSchedule
kubectl taint node worker dedicated=db:NoSchedule
kubectl taint node worker dedicated-
kubectl cordon worker
kubectl cordon worker
kubectl drain worker --timeout=2s
kubectl uncordon worker
kubectl events
kubectl create -f event.yaml
kubectl events
kubectl get events -o 'custom-columns=R:.reason,O:.involvedObject.name'
kubectl get endpoints
kubectl create -f old.yaml
kubectl wait crd/olds.example.com --for=condition=Established --timeout=10s
kubectl get olds
kubectl logs one
kubectl logs none
kubectl exec one -- true
kubectl cp one:/etc/passwd x
kubectl top pods
kubectl top nodes
kubectl attach one
kubectl delete deployment web --wait=false
kubectl delete configmap settings none
kubectl delete pods -l app=one --grace-period=0 --force
kubectl delete all --all --wait=false
kubectl get configmaps -o name
]]

-- Who may: on servers that ask RBAC.
local RIGHTS = [[
kubectl() { echo "\$ kubectl $*"; "$TOOL" --cache-dir "$HOME_OF/cache" "$@" 2>&1; echo "exit code $?"; }
cd "$HOME_OF"
kubectl create namespace shop
kubectl create role reader --verb=get,list --resource=pods --namespace shop
kubectl create rolebinding reads --role=reader --user=ann --namespace shop
kubectl auth can-i list pods --namespace shop --as ann
kubectl auth can-i delete pods --namespace shop --as ann
kubectl auth can-i list pods --namespace default --as ann
kubectl auth can-i list pods --all-namespaces --as ann
kubectl auth can-i list nodes --as ann
kubectl auth can-i get /metrics --as ann
kubectl auth can-i list nosuch --namespace shop --as ann
kubectl auth can-i get pods --subresource=log --namespace shop --as ann
kubectl auth can-i delete pods --namespace shop --as ann --quiet
kubectl delete pod one --namespace shop --as ann
kubectl get secrets --namespace shop --as ann
]]

-- Without descriptions, which are one sentence in the simulator.
local function plain(text)
  local kept, described = {}, false
  for line in text:gmatch "[^\n]+" do
    if line:find "^DESCRIPTION:" then described = true end
    if line:find "^FIELDS:" or line:find "^exit code" then described = false end
    if not described then kept[#kept + 1] = (line:gsub("%s+$", "")) end
  end
  return table.concat(kept, "\n")
end

local PRUNE = [[
apiVersion: v1
kind: ConfigMap
metadata: {name: kept, labels: {set: one}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: pruned, labels: {set: one}}
]]

local SETS = [[
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: "postgres:17"}]}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: agent, image: "agent:1"}]}}
]]

local NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: worker}\n"

local EVENT = [[
apiVersion: v1
kind: Event
metadata: {name: one.1, namespace: shop}
involvedObject: {apiVersion: v1, kind: Pod, namespace: shop, name: one}
type: Normal
reason: Tried
message: words
source: {component: spec}
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:00Z"
count: 2
]]

-- A kind in a version that is deprecated.
local OLD = [[
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: olds.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: olds, singular: old, kind: Old}
  versions:
  - {name: v1, served: true, storage: true, deprecated: true, schema: {openAPIV3Schema: {type: object}}}
]]

-- Objects with fields that a server computes from others.
local COMPUTED = [[
apiVersion: v1
kind: Pod
metadata: {name: computed}
spec:
  serviceAccountName: one
  hostNetwork: true
  volumes: [{name: v, image: {reference: "a/b:latest"}}, {name: w, image: {reference: "a/b:1"}}]
  initContainers: [{name: i, image: i, ports: [{containerPort: 81, hostPort: 81}], resources: {limits: {memory: 1Gi}}}]
  containers:
  - name: c
    image: "i:1"
    ports: [{containerPort: 80}]
    resources: {limits: {cpu: "2", memory: 1Gi}, requests: {cpu: "1"}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: computed}
spec:
  serviceName: s
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      serviceAccount: old
      hostNetwork: true
      containers: [{name: c, image: "i:1", ports: [{containerPort: 80}], resources: {limits: {cpu: "1"}}}]
  volumeClaimTemplates:
  - {metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: computed}
spec: {limits: [{type: Container, max: {cpu: "2"}, min: {cpu: "1", memory: 1Mi}}, {type: Pod, max: {cpu: "2"}}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: new}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
  dataSourceRef: {kind: PersistentVolumeClaim, name: x}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: old}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
  dataSource: {kind: VolumeSnapshot, name: x, apiGroup: snapshot.storage.k8s.io}
]]

-- Lines that are a server's own: who asks, the context's name, a kind that the simulator does not have (docs/sim.md).
local OWN = { "^Username ", "^Groups ", "^Extra: ", "^Context ", "^componentstatuses " }

-- Events of controllers within a kube-apiserver that look after addresses and ports of services: under load they find a
-- service before its address, and say so in its namespace.
local REPAIR = " is not allocated; repairing"

-- Without these Events, and as kubectl prints a table of events that is empty without them.
local function without_repairs(text)
  local kept = {}
  for line in text:gmatch "([^\n]*)\n" do
    if not line:find(REPAIR, 1, true) then kept[#kept + 1] = line .. "\n" end
  end
  text = table.concat(kept)
  text = text:gsub("Events:\n +Type +Reason[^\n]*\n[ -]+\n([^ ])", "Events:            <none>\n%1")
  text = text:gsub("LAST SEEN[^\n]*\n(exit code)", "No events found in shop namespace.\n%1")
  return (text:gsub("%a+NotAllocated +[^\n]*\n", "")) -- a table of reasons
end

-- Without what differs from run to run and from server to server: ages, times, addresses, versions, generated names.
local function without_times(text)
  local function each(line)
    line = line:gsub("%s+$", ""):gsub("%x+%-%x+%-%x+%-%x+%-%x+", "UID"):gsub("https?://[%d%.:]+", "SERVER")
    line = line:gsub("%f[%d]10%.[%d]+%.[%d]+%.[%d]+", "ADDRESS"):gsub("%d%d%d%d%-%d%d%-%d%dT[%d:]+Z", "TIME")
    line = line:gsub("%d%d%d%d/%d%d/%d%d [%d:]+", "TIME"):gsub("%a%a%a, %d%d %a%a%a %d%d%d%d [%d:]+ %+0000", "TIME")
    line = line:gsub("%f[%w]%d+m?s%f[^%w]", "AGE"):gsub("resourceVersion: \"%d+\"", "VERSION"):gsub(" +", " ")
    line = line:gsub("^W%d%d%d%d [%d:%.]+ +%d+ ", "W "):gsub("(%d+):3[0-2]%d%d%d/", "%1:NODE/")
    return (line:gsub("kubectl%-[%w%-]+%.yaml", "FILE"))
  end
  local lines = {}
  for line in without_repairs(text):gmatch "[^\n]+" do
    local is_own = false
    for _, own in ipairs(OWN) do is_own = is_own or line:find(own) end
    if not is_own then lines[#lines + 1] = each(line) end
  end
  return table.concat(lines, "\n")
end

describe("kubectl", function()
  local home
  before_each(function()
    home = temp.folder {
      ["map.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: b}\n",
      ["two.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\ndata: {a: c}\n",
      ["bad.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndta: {a: b}\n",
      ["prune.yaml"] = PRUNE, ["less.yaml"] = PRUNE:match "^(.-)%-%-%-", ["node.yaml"] = NODE, ["event.yaml"] = EVENT,
      ["old.yaml"] = OLD, ["computed.yaml"] = COMPUTED, ["sets.yaml"] = SETS,
      ["moves.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: moves}\ndata: {a: b, n: m}\n",
      ["script"] = SCRIPT, ["daily"] = DAILY, ["rights"] = RIGHTS,
    }
  end)
  after_each(function()
    cluster.stop_all()
    temp.remove(home)
  end)

  -- What a script prints on the simulator, with more flags, and on a kube-apiserver.
  local function run_both(script, flags)
    local environment = ("HOME_OF=%s TOOL=$PWD/build/real/kubectl"):format(home)
    local simulated = temp.run(("%s %s sim %s -- bash %s/%s"):format(environment, cluster.binary, flags or "", home,
      script))
    temp.run("rm -rf " .. home .. "/cache")
    local server = apiserver.start()
    local real = temp.run(("%s KUBECONFIG=%s bash %s/%s"):format(environment, server.kubeconfig, home, script))
    server:stop()
    return real, simulated
  end

  it("prints the same on the simulator as on a kube-apiserver", function()
    local real, simulated = run_both "script"
    assert.has_match("configmap/one created\n", real)
    assert.has_match('unknown field "dta"', real)
    assert.are.equal(plain(real), plain(simulated))
  end)

  it("does what people do every day as on a kube-apiserver", function()
    local real, simulated = run_both "daily"
    assert.has_match("deployment.apps/web created\n", real)
    assert.are.equal(without_times(real), without_times(simulated))
  end)

  it("is compared without the events by which a kube-apiserver repairs addresses", function()
    local said = "Cluster IP [IPv4]: 10.0.4.5" .. REPAIR .. "\n"
    local row = "3s   Warning   ClusterIPNotAllocated   Service/web   " .. said
    local head, own = "LAST SEEN   TYPE   REASON   OBJECT   MESSAGE\n", "2s   Normal   Tried   Pod/one   words\n"
    local done = "exit code 0\n"
    assert.are.equal("No events found in shop namespace.\n" .. done, without_repairs(head .. row .. done))
    assert.are.equal(head .. own .. done, without_repairs(head .. row .. own .. done))
    local table_head = "Events:\n  Type     Reason  Age  From  Message\n  ----     ------  ---- ----  -------\n"
    row = "  Warning  ClusterIPNotAllocated  0s  ipallocator-repair-controller  " .. said
    own = "  Normal  Tried\n"
    assert.are.equal("Name: web\nEvents:            <none>\n" .. done,
      without_repairs("Name: web\n" .. table_head .. row .. done))
    assert.are.equal(table_head .. own .. done, without_repairs(table_head .. row .. own .. done))
    assert.are.equal("R   O\nTried   one\n", without_repairs "R   O\nClusterIPNotAllocated   web\nTried   one\n")
  end)

  it("says who may what as on a kube-apiserver", function()
    local real, simulated = run_both("rights", "--authorization rbac")
    assert.has_match("can%-i list pods %-%-namespace shop %-%-as ann\nyes\nexit code 0\n", real)
    assert.has_match("can%-i delete pods %-%-namespace shop %-%-as ann\nno\nexit code 1\n", real)
    assert.are.equal(without_times(real), without_times(simulated))
  end)
end)
