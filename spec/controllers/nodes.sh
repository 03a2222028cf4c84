# Nodes and disruption: taints, cordons, drains, budgets.
budget() { until_is "$2" get pdb "$1" -o 'jsonpath={.status.currentHealthy} {.status.disruptionsAllowed}'; }
on() { any_order get pods --no-headers -o custom-columns=NODE:.spec.nodeName,PHASE:.status.phase; }

kubectl get nodes --no-headers
k create -f - >/dev/null <<<"$(workload Deployment web "replicas: 3" "nodeSelector: {kubernetes.io/hostname: node-1}")"
until_is 3 get deployment web -o 'jsonpath={.status.availableReplicas}'
kubectl create poddisruptionbudget web --selector=app=web --min-available=2
budget web "3 1"
kubectl get pdb web
kubectl get pdb web -o yaml
kubectl create poddisruptionbudget share --selector=app=web --max-unavailable=50%
budget share "3 2"
kubectl get pdb share -o yaml
kubectl delete pdb share
kubectl create poddisruptionbudget none --selector=app=none --min-available=1
budget none "0 0"
kubectl get pdb none -o yaml
kubectl patch pdb web -p '{"spec":{"minAvailable":3}}'
budget web "3 0"
any_order drain node-1 --timeout=2s --ignore-daemonsets
kubectl get node node-1 --no-headers
kubectl get node node-1 -o 'jsonpath={.spec}'
kubectl patch pdb web -p '{"spec":{"minAvailable":0}}'
budget web "3 3"
last drain node-1 --timeout=60s
until_is "Pending Pending Pending" get pods -o 'jsonpath={.items[*].status.phase}'
on
until_is 0 get pdb web -o 'jsonpath={.status.currentHealthy}'
kubectl get pdb web -o yaml
any_order get pods -o 'jsonpath={range .items[*]}{.status}{"\n"}{end}'
kubectl uncordon node-1
until_is 3 get deployment web -o 'jsonpath={.status.availableReplicas}'
on
kubectl get node node-1 -o 'jsonpath={.spec}'
k create -f - >/dev/null <<<"$(workload Deployment bears "replicas: 1" "nodeSelector: {kubernetes.io/hostname: node-1}, tolerations: [{key: a, operator: Exists}]")"
until_is 1 get deployment bears -o 'jsonpath={.status.availableReplicas}'
k create -f - >/dev/null <<<"$(workload Deployment briefly "replicas: 1" "nodeSelector: {kubernetes.io/hostname: node-1}, tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 3}]")"
until_is 1 get deployment briefly -o 'jsonpath={.status.availableReplicas}'
kubectl taint node node-1 a=b:NoExecute
until_is "Pending Pending Pending" get pods -l app=web -o 'jsonpath={.items[*].status.phase}'
any_order get pods -l app=bears --no-headers -o custom-columns=NODE:.spec.nodeName,PHASE:.status.phase
name=$(k get pods -l app=briefly -o name)
until_gone "$name"
any_order get pods -l app=web -o 'jsonpath={range .items[*]}{.status}{"\n"}{end}'
kubectl taint node node-1 a-
until_is 3 get deployment web -o 'jsonpath={.status.availableReplicas}'
k delete deployment briefly bears >/dev/null
kubectl taint node node-1 a=b:NoSchedule
k delete pods -l app=web >/dev/null
until_is "Pending Pending Pending" get pods -l app=web -o 'jsonpath={.items[*].status.phase}'
kubectl taint node node-1 a-
until_is 3 get deployment web -o 'jsonpath={.status.availableReplicas}'
k run big --image=i:1 --overrides='{"spec":{"containers":[{"name":"big","image":"i:1","resources":{"requests":{"cpu":"100"}}}]}}' >/dev/null
until_is Unschedulable get pod big -o 'jsonpath={.status.conditions[*].reason}'
kubectl get pod big -o 'jsonpath={.status}'
k run free --image=i:1 >/dev/null
until_is Running get pod free -o 'jsonpath={.status.phase}'
last drain node-1 node-2 node-3 --timeout=10s
last drain node-1 node-2 node-3 --timeout=60s --force
until_gone pod free
kubectl uncordon node-1 node-2 node-3
# Why a pod found no node differs while several nodes are cordoned one after the other; the last words are shown above.
told --field-selector reason!=FailedScheduling
told -n default --field-selector involvedObject.kind=Node
