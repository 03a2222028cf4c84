# HorizontalPodAutoscalers where nobody measures: their bounds hold, and they say what they lack.
has() { until_is "$2" get hpa "$1" -o 'jsonpath={.status.conditions[*].reason}'; }

kubectl create deployment web --image=i:1 --replicas=2
until_is 2 get deployment web -o 'jsonpath={.status.availableReplicas}'
kubectl autoscale deployment web --min=1 --max=3 --cpu=80%
LIMIT=40 has web "SucceededGetScale FailedGetResourceMetric"
any_order get hpa web --no-headers
kubectl get hpa web -o yaml
with_events hpa web
kubectl scale deployment web --replicas=5
LIMIT=40 until_is 3 get deployment web -o 'jsonpath={.spec.replicas}'
LIMIT=40 has web "SucceededGetScale FailedGetResourceMetric"
until_is "3 3" get hpa web -o 'jsonpath={.status.currentReplicas} {.status.desiredReplicas}'
kubectl get hpa web -o yaml
kubectl patch hpa web -p '{"spec":{"minReplicas":2}}'
kubectl scale deployment web --replicas=1
LIMIT=40 until_is 2 get deployment web -o 'jsonpath={.spec.replicas}'
kubectl scale deployment web --replicas=0
LIMIT=40 has web "SucceededGetScale ScalingDisabled"
kubectl get hpa web -o yaml
kubectl autoscale deployment none --max=3
kubectl create -f - <<'MANIFEST'
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: none}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}}
MANIFEST
LIMIT=40 has none FailedGetScale
kubectl get hpa none -o yaml
kubectl delete hpa web none
told
