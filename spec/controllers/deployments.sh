# Deployments: rollouts on and back, scaling, pausing, deadlines, and how ReplicaSets are numbered and kept.
sets='custom-columns=REV:.metadata.annotations.deployment\.kubernetes\.io/revision,WANTED:.spec.replicas,READY:.status.readyReplicas'
sets() { any_order get replicasets --no-headers -o "$sets,IMAGE:.spec.template.spec.containers[0].image"; }
settled() { until_is "$1 0" get deployment web -o 'jsonpath={.status.observedGeneration} {.status.replicas} {.status.availableReplicas} {.status.terminatingReplicas}'; }

kubectl create deployment web --image=i:1 --replicas=3
last rollout status deployment web --timeout=60s
settled "1 3 3"
kubectl get deployment web
kubectl get deployment web -o yaml
with_events deployment web
any_order events --for deployment/web
any_order get events --no-headers --field-selector involvedObject.kind=Deployment
kubectl get replicasets -o yaml
any_order get pods --no-headers -o custom-columns=PHASE:.status.phase,LABELS:.metadata.labels.app,OWNER:.metadata.ownerReferences[0].kind
kubectl scale deployment web --replicas=5
settled "2 5 5"
kubectl set image deployment/web i=i:2
last rollout status deployment web --timeout=60s
settled "3 5 5"
sets
kubectl rollout history deployment web
kubectl rollout undo deployment web
last rollout status deployment web --timeout=60s
settled "4 5 5"
sets
kubectl get deployment web -o yaml
kubectl rollout history deployment web
kubectl rollout restart deployment web
last rollout status deployment web --timeout=60s
settled "5 5 5"
kubectl rollout history deployment web --revision=3
kubectl rollout undo deployment web --to-revision=2
last rollout status deployment web --timeout=60s
settled "6 5 5"
sets
kubectl rollout undo deployment web --to-revision=9
kubectl rollout pause deployment web
kubectl set image deployment/web i=i:5
kubectl scale deployment web --replicas=4
settled "9 4 4"
sets
kubectl get deployment web -o yaml
kubectl rollout resume deployment web
last rollout status deployment web --timeout=60s
settled "10 4 4"
sets
kubectl get deployment web -o yaml
kubectl annotate deployment web kubernetes.io/change-cause=fifth
kubectl patch deployment web -p '{"spec":{"revisionHistoryLimit":1}}'
until_is "2" get replicasets -o 'go-template={{len .items}}'
sets
kubectl rollout history deployment web
kubectl describe deployment web

# One that cannot go on: no node has the label, and the deadline passes.
k create -f - >/dev/null <<<"$(workload Deployment stuck "progressDeadlineSeconds: 2" "nodeSelector: {no: such}")"
until_is False get deployment stuck -o 'jsonpath={.status.conditions[?(@.type=="Progressing")].status}'
kubectl rollout status deployment stuck --timeout=5s
kubectl get deployment stuck -o yaml
any_order get pods -l app=stuck -o 'jsonpath={.items[0].status}'
kubectl scale deployment stuck --replicas=0
until_is "2" get deployment stuck -o 'jsonpath={.status.observedGeneration}'
until_gone pods -l app=stuck
kubectl get deployment stuck -o yaml

# One rollout over the other, and one that stops everything first.
k create -f - >/dev/null <<<"$(workload Deployment fast "replicas: 4")"
until_is "4" get deployment fast -o 'jsonpath={.status.availableReplicas}'
k set image deployment/fast c=i:2 >/dev/null
k set image deployment/fast c=i:3 >/dev/null
last rollout status deployment fast --timeout=60s
until_is "4 4" get deployment fast -o 'jsonpath={.status.replicas} {.status.availableReplicas}'
any_order get replicasets -l app=fast --no-headers -o custom-columns=WANTED:.spec.replicas,IMAGE:.spec.template.spec.containers[0].image
k create -f - >/dev/null <<<"$(workload Deployment anew "strategy: {type: Recreate}")"
until_is "1" get deployment anew -o 'jsonpath={.status.availableReplicas}'
k set image deployment/anew c=i:2 >/dev/null
last rollout status deployment anew --timeout=60s
until_is "1 1" get deployment anew -o 'jsonpath={.status.replicas} {.status.availableReplicas}'
kubectl get deployment anew -o yaml
kubectl delete deployment fast anew stuck
told
