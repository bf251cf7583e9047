import {
  bool,
  dict,
  type Infer,
  int,
  INVALID,
  list,
  num,
  object,
  optional,
  record,
  type Schema,
  str,
} from '@fairlead/schema';
import { both } from '../deployment/spelling.schema';

/** Cores, kept to a tenth. */
function cpu(limits: { ge: number; le?: number }): Schema<number> {
  const number = num(limits);
  return {
    ...number,
    parse(input, context) {
      const value = number.parse(input, context);
      return value === INVALID ? value : Number(value.toFixed(1));
    },
  };
}

const requested = { ge: 0.1, le: 8 };
const limited = { ge: 0.1, le: 16 };
const text = optional(str());
const named = str({ min: 1 });
/** Cores of what this service does not size itself. */
const cores = optional(cpu({ ge: 0.1 }));
/** Replicas: none at all is a size too. */
const replicas = optional(int({ ge: 0 }));
/** Megabytes, gibibytes, connections. */
const amount = optional(int({ ge: 1 }));

const volumeMount = object(
  {
    name: text,
    mountPath: text,
    subPath: text,
    mountPropagation: text,
    readOnly: optional(bool()),
    subPathExpr: text,
  },
  'VolumeMount',
);

const volume = object(
  {
    name: text,
    configMap: optional(dict()),
    secret: optional(dict()),
    emptyDir: optional(dict()),
    persistentVolumeClaim: optional(dict()),
    nfs: optional(dict()),
    projected: optional(dict()),
    downwardAPI: optional(dict()),
    csi: optional(dict()),
  },
  'Volume',
);

const container = object(
  {
    name: named,
    image: named,
    imagePullPolicy: text,
    command: optional(list(str())),
    args: optional(list(str())),
    workingDir: text,
    env: optional(list(object({ name: named, value: text, valueFrom: optional(dict()) }, 'EnvVar'))),
    envFrom: optional(list(dict())),
    resources: optional(
      object({ limits: optional(record(str())), requests: optional(record(str())) }, 'ResourceRequirements'),
    ),
    volumeMounts: optional(list(volumeMount)),
    securityContext: optional(dict()),
    restartPolicy: text,
  },
  'Container',
);

/** Sizing of everything a deployment runs, and additions to its pods. Kubernetes objects keep Kubernetes' names. */
export const resourceSpec = object(
  both({
    min_scale: replicas,
    max_scale: replicas,
    cpu: optional(cpu(requested)),
    cpu_limit: optional(cpu(limited)),
    memory_mb: amount,
    memory_limit_mb: amount,
    queue_min_scale: replicas,
    queue_max_scale: replicas,
    queue_cpu: optional(cpu(requested)),
    queue_cpu_limit: optional(cpu(limited)),
    queue_memory_mb: amount,
    queue_memory_limit_mb: amount,
    orchestrator_cpu: cores,
    orchestrator_cpu_limit: cores,
    orchestrator_memory_mb: amount,
    orchestrator_memory_limit_mb: amount,
    orchestrator_min_scale: replicas,
    orchestrator_max_scale: replicas,
    executor_cpu: cores,
    executor_cpu_limit: cores,
    executor_memory_mb: amount,
    executor_memory_limit_mb: amount,
    cache_cpu: optional(cpu(requested)),
    cache_cpu_limit: optional(cpu(limited)),
    cache_memory_mb: amount,
    cache_memory_limit_mb: amount,
    labels: optional(record(str())),
    annotations: optional(record(str())),
    service_account_name: text,
    image_pull_secrets: optional(list(object({ name: named }, 'LocalObjectReference'))),
    volumes: optional(list(volume)),
    volume_mounts: optional(list(volumeMount)),
    init_containers: optional(list(container)),
    sidecars: optional(list(container)),
    db_cpu: cores,
    db_cpu_limit: cores,
    db_memory_mb: amount,
    db_memory_limit_mb: amount,
    db_storage_gi: amount,
    db_max_connections: amount,
  }),
  'ResourceSpec',
);

export type SentResourceSpec = Infer<typeof resourceSpec>;
