# StatefulSets, DaemonSets, and ReplicaSets and ReplicationControllers of their own.
db() { until_is "$1" get statefulset db -o 'jsonpath={.status.observedGeneration} {.status.replicas} {.status.availableReplicas} {.status.updatedReplicas}'; }
agent() { until_is "$1" get daemonset agent -o 'jsonpath={.status.observedGeneration} {.status.numberReady} {.status.updatedNumberScheduled} {.status.numberAvailable}'; }
pods() { any_order get pods -l "app=$1" --no-headers -o 'custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[0].image,PHASE:.status.phase'; }

k create -f - >/dev/null <<<"$(workload StatefulSet db "serviceName: db; replicas: 3")"
last rollout status statefulset db --timeout=60s
db "1 3 3 3"
kubectl get statefulset db -o yaml
any_order get pod db-1 -o 'jsonpath={.metadata.labels}{"\n"}{.spec.hostname}{"\n"}{.spec.subdomain}{"\n"}{.metadata.ownerReferences[0].kind}'
kubectl set image statefulset/db c=i:2
last rollout status statefulset db --timeout=60s
db "2 3 3 3"
pods db
kubectl rollout history statefulset db
kubectl rollout undo statefulset db
last rollout status statefulset db --timeout=60s
db "3 3 3 3"
pods db
kubectl rollout history statefulset db
any_order get controllerrevisions -o 'custom-columns=REV:.revision,OWNER:.metadata.ownerReferences[0].name'
kubectl patch statefulset db -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":2}}}}'
kubectl set image statefulset/db c=i:3
db "5 3 3 1"
last rollout status statefulset db --timeout=60s
pods db
kubectl get statefulset db -o yaml
kubectl rollout restart statefulset db
db "6 3 3 1"
kubectl scale statefulset db --replicas=1
until_is "7 1 1" get statefulset db -o 'jsonpath={.status.observedGeneration} {.status.replicas} {.status.availableReplicas}'
pods db
kubectl get statefulset db -o yaml
kubectl delete pod db-0
until_is "Running" get pod db-0 -o 'jsonpath={.status.phase}'
kubectl get statefulset db -o wide
kubectl delete statefulset db --cascade=orphan
until_is "" get pod db-0 -o 'jsonpath={.metadata.ownerReferences}'
kubectl delete pod db-0

k create -f - >/dev/null <<<"$(workload DaemonSet agent)"
last rollout status daemonset agent --timeout=60s
agent "1 3 3 3"
kubectl get daemonset agent
kubectl get daemonset agent -o yaml
any_order get pods -l app=agent -o 'custom-columns=NODE:.spec.nodeName'
any_order get pods -l app=agent -o 'jsonpath={.items[0].spec.tolerations}{"\n"}{.items[0].metadata.labels}'
kubectl set image daemonset/agent c=i:2
last rollout status daemonset agent --timeout=60s
agent "2 3 3 3"
kubectl rollout history daemonset agent
kubectl rollout undo daemonset agent
last rollout status daemonset agent --timeout=60s
agent "3 3 3 3"
kubectl rollout history daemonset agent
kubectl rollout history daemonset agent --revision=3
kubectl patch daemonset agent -p '{"spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/hostname":"node-1"}}}}}'
agent "4 1 1 1"
any_order get pods -l app=agent -o 'custom-columns=NODE:.spec.nodeName'
kubectl get daemonset agent -o yaml
kubectl patch daemonset agent -p '{"spec":{"updateStrategy":{"type":"OnDelete"}}}'
kubectl set image daemonset/agent c=i:3
until_is "6 1" get daemonset agent -o 'jsonpath={.status.observedGeneration} {.status.numberReady}'
kubectl rollout status daemonset agent --timeout=2s
kubectl get daemonset agent -o yaml
k delete pods -l app=agent >/dev/null
agent "6 1 1 1"
kubectl delete daemonset agent
until_gone pods -l app=agent

k create -f - >/dev/null <<<"$(workload ReplicaSet rs "replicas: 2")"
until_is "2" get replicaset rs -o 'jsonpath={.status.availableReplicas}'
kubectl get replicaset rs -o yaml
k label pods "$(k get pods -l app=rs -o name | head -n 1 | cut -d/ -f2)" app=other --overwrite >/dev/null
until_is "3" get pods -o 'go-template={{len .items}}'
until_is "2" get replicaset rs -o 'jsonpath={.status.availableReplicas}'
any_order get pods --no-headers -o custom-columns=APP:.metadata.labels.app,OWNER:.metadata.ownerReferences
k label pods -l app=other app=rs --overwrite >/dev/null
until_is "2" get pods --field-selector status.phase=Running -l app=rs -o 'go-template={{len .items}}'
kubectl scale replicaset rs --replicas=0
until_is "2" get replicaset rs -o 'jsonpath={.status.observedGeneration}'
until_gone pods -l app=rs
kubectl get replicaset rs -o yaml
k create -f - >/dev/null <<'MANIFEST'
apiVersion: v1
kind: ReplicationController
metadata: {name: old}
spec:
  replicas: 2
  selector: {app: old}
  template:
    metadata: {labels: {app: old}}
    spec: {containers: [{name: c, image: "i:1"}]}
MANIFEST
until_is "2" get rc old -o 'jsonpath={.status.availableReplicas}'
kubectl get rc old -o yaml
kubectl get rc old
kubectl delete rc/old rs/rs
told
