-- All that the documents of a kube-apiserver say of types besides their fields, out of the comments of its sources.
local marks = {}

local ISCSI, SCALE_IO = { iscsiInterface = "default" }, { fsType = "xfs", storageMode = "ThinProvisioned" }
local RBD = { keyring = "/etc/ceph/keyring", pool = "rbd", user = "admin" }

-- Defaults by type and field. All others are set by a server's code, and no document has them.
marks.defaults = {
  AzureDiskVolumeSource = { cachingMode = "ReadWrite", fsType = "ext4", kind = "Shared", readOnly = false },
  ContainerPort = { protocol = "TCP" },
  DeviceToleration = { operator = "Equal" },
  FileKeySelector = { optional = false },
  GRPCAction = { service = "" },
  ISCSIPersistentVolumeSource = ISCSI,
  ISCSIVolumeSource = ISCSI,
  LocalObjectReference = { name = "" },
  RBDPersistentVolumeSource = RBD,
  RBDVolumeSource = RBD,
  ReplicationControllerSpec = { minReadySeconds = 0, replicas = 1 },
  ScaleIOPersistentVolumeSource = SCALE_IO,
  ScaleIOVolumeSource = SCALE_IO,
  ScaleSpec = { replicas = 0 },
  ServicePort = { protocol = "TCP" },
}

-- Values in a map, by the field.
marks.enums = {
  allocatedResourceStatuses = { "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress",
    "NodeResizeInfeasible", "NodeResizePending" },
}

-- Types of which one field says what else they have: that field, and the others by its values; "" for no such field.
marks.unions = {
  AppArmorProfile = { "type", localhostProfile = "LocalhostProfile" },
  LimitResponse = { "type", queuing = "Queuing" },
  PodSchedulingGroup = { "", podGroupName = "PodGroupName" },
  PriorityLevelConfigurationSpec = { "type", exempt = "Exempt", limited = "Limited" },
  SeccompProfile = { "type", localhostProfile = "LocalhostProfile" },
  Subject = { "kind", group = "Group", serviceAccount = "ServiceAccount", user = "User" },
}

local CONVENTIONS = "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"

-- Descriptions of what all objects have, of an object within another one, and of a list.
marks.described = {
  apiVersion = "APIVersion defines the versioned schema of this representation of an object. Servers should convert "
    .. "recognized schemas to the latest internal value, and may reject unrecognized values. " .. CONVENTIONS
    .. "#resources",
  kind = "Kind is a string value representing the REST resource this object represents. Servers may infer this from "
    .. "the endpoint the client submits requests to. Cannot be updated. In CamelCase. " .. CONVENTIONS
    .. "#types-kinds",
  metadata = "Standard object's metadata. " .. CONVENTIONS .. "#metadata",
  list = "Standard list metadata. " .. CONVENTIONS .. "#types-kinds",
  items = "List of %s. " .. CONVENTIONS,
}
marks.embedded = {
  apiVersion = "apiVersion defines the versioned schema of this representation of an object. " .. CONVENTIONS
    .. "#resources",
  kind = "kind is a string value representing the type of this object. In CamelCase. " .. CONVENTIONS
    .. "#types-kinds",
  metadata = marks.described.metadata,
}

-- Groups and versions whose deletes take the same options, as documents of custom kinds say.
marks.versions = "/v1 admissionregistration.k8s.io/v1 admissionregistration.k8s.io/v1alpha1 "
  .. "admissionregistration.k8s.io/v1beta1 apps/v1 apps/v1beta1 apps/v1beta2 authentication.k8s.io/v1 "
  .. "authentication.k8s.io/v1alpha1 authentication.k8s.io/v1beta1 authorization.k8s.io/v1 "
  .. "authorization.k8s.io/v1beta1 autoscaling/v1 autoscaling/v2 batch/v1 batch/v1beta1 certificates.k8s.io/v1 "
  .. "certificates.k8s.io/v1alpha1 certificates.k8s.io/v1beta1 coordination.k8s.io/v1 coordination.k8s.io/v1alpha2 "
  .. "coordination.k8s.io/v1beta1 discovery.k8s.io/v1 discovery.k8s.io/v1beta1 events.k8s.io/v1 events.k8s.io/v1beta1 "
  .. "extensions/v1beta1 flowcontrol.apiserver.k8s.io/v1 flowcontrol.apiserver.k8s.io/v1beta1 "
  .. "flowcontrol.apiserver.k8s.io/v1beta2 flowcontrol.apiserver.k8s.io/v1beta3 internal.apiserver.k8s.io/v1alpha1 "
  .. "networking.k8s.io/v1 networking.k8s.io/v1beta1 node.k8s.io/v1 node.k8s.io/v1alpha1 node.k8s.io/v1beta1 policy/v1 "
  .. "policy/v1beta1 rbac.authorization.k8s.io/v1 rbac.authorization.k8s.io/v1alpha1 "
  .. "rbac.authorization.k8s.io/v1beta1 resource.k8s.io/v1 resource.k8s.io/v1alpha3 resource.k8s.io/v1beta1 "
  .. "resource.k8s.io/v1beta2 scheduling.k8s.io/v1 scheduling.k8s.io/v1alpha2 scheduling.k8s.io/v1beta1 "
  .. "storage.k8s.io/v1 storage.k8s.io/v1alpha1 storage.k8s.io/v1beta1 storagemigration.k8s.io/v1beta1"

return marks
