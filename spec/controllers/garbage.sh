# Owners and what they own: the propagation policies, adoption, and references by hand.
left() { any_order get deployments,replicasets,pods --no-headers -o 'custom-columns=KIND:.kind,LABELS:.metadata.labels.app,OWNER:.metadata.ownerReferences[*].kind'; }
make() {
  k create deployment web --image=i:1 --replicas=2 >/dev/null
  until_is 2 get deployment web -o 'jsonpath={.status.availableReplicas}'
}
owned() { # NAME OWNER-KIND OWNER UID [MORE]
  k create -f - >/dev/null <<MANIFEST
apiVersion: v1
kind: ConfigMap
metadata: {name: $1, ownerReferences: [{apiVersion: v1, kind: $2, name: $3, uid: "$4"${5:-}}]}
MANIFEST
}
uid() { k get configmap "$1" -o 'jsonpath={.metadata.uid}'; }

make
kubectl delete deployment web
until_gone replicasets,pods
left
make
kubectl delete deployment web --cascade=foreground
left
make
kubectl delete deployment web --cascade=orphan
until_is "" get replicasets -o 'jsonpath={.items[*].metadata.ownerReferences}'
left
k create deployment web --image=i:1 --replicas=2 >/dev/null
until_is Deployment get replicasets -o 'jsonpath={.items[*].metadata.ownerReferences[*].kind}'
until_is 2 get deployment web -o 'jsonpath={.status.availableReplicas}'
left
kubectl delete replicasets -l app=web --cascade=orphan
until_is 2 get deployment web -o 'jsonpath={.status.availableReplicas}'
left
kubectl delete deployment web
until_gone replicasets,pods

k create configmap owner >/dev/null
k create configmap second >/dev/null
owned one ConfigMap owner "$(uid owner)"
owned other ConfigMap owner "$(uid owner)"
k patch configmap other -p "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"second\",\"uid\":\"$(uid second)\"}]}}" >/dev/null
owned nobodys ConfigMap none 11111111-1111-1111-1111-111111111111
owned wrong ConfigMap owner 22222222-2222-2222-2222-222222222222
until_gone configmap nobodys wrong
kubectl delete configmap owner
until_gone configmap one
kubectl get configmap other -o 'jsonpath={.metadata.ownerReferences[*].name}'
until_is second get configmap other -o 'jsonpath={.metadata.ownerReferences[*].name}'
kubectl delete configmap second --cascade=foreground
until_gone configmap other
k create configmap owner >/dev/null
owned blocks ConfigMap owner "$(uid owner)" ', blockOwnerDeletion: true'
k patch configmap blocks -p '{"metadata":{"finalizers":["example.com/held"]}}' >/dev/null
kubectl delete configmap owner --cascade=foreground --wait=false
until_is '[foregroundDeletion]' get configmap owner -o 'jsonpath={.metadata.finalizers}'
until_is '[example.com/held]' get configmap blocks -o 'jsonpath={.metadata.finalizers}'
LIMIT=10 until_is true get configmap blocks -o 'go-template={{if .metadata.deletionTimestamp}}true{{end}}'
kubectl get configmaps -o name
kubectl patch configmap blocks --type=merge -p '{"metadata":{"finalizers":null}}'
until_gone configmap owner blocks
k create configmap owner >/dev/null
owned kept ConfigMap owner "$(uid owner)"
kubectl delete configmap owner --cascade=orphan
until_is "" get configmap kept -o 'jsonpath={.metadata.ownerReferences}'
kubectl get configmap kept -o yaml
