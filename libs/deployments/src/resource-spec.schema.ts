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
} from '@fairlead/http';
import { both } from './spelling.schema';

/** Cores, kept to a tenth. */
function cpu(limits: { ge?: number; le?: number } = {}): Schema<number> {
  const cores = num(limits);
  return {
    ...cores,
    parse(input, context) {
      const value = cores.parse(input, context);
      return value === INVALID ? value : Number(value.toFixed(1));
    },
  };
}

const requested = { ge: 0.1, le: 8 };
const limited = { ge: 0.1, le: 16 };
const text = optional(str());

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
    name: str(),
    image: str(),
    imagePullPolicy: text,
    command: optional(list(str())),
    args: optional(list(str())),
    workingDir: text,
    env: optional(list(object({ name: str(), value: text, valueFrom: optional(dict()) }, 'EnvVar'))),
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
    min_scale: optional(int()),
    max_scale: optional(int()),
    cpu: optional(cpu(requested)),
    cpu_limit: optional(cpu(limited)),
    memory_mb: optional(int()),
    memory_limit_mb: optional(int()),
    queue_min_scale: optional(int()),
    queue_max_scale: optional(int()),
    queue_cpu: optional(cpu(requested)),
    queue_cpu_limit: optional(cpu(limited)),
    queue_memory_mb: optional(int()),
    queue_memory_limit_mb: optional(int()),
    orchestrator_cpu: optional(cpu()),
    orchestrator_cpu_limit: optional(cpu()),
    orchestrator_memory_mb: optional(int()),
    orchestrator_memory_limit_mb: optional(int()),
    orchestrator_min_scale: optional(int()),
    orchestrator_max_scale: optional(int()),
    executor_cpu: optional(cpu()),
    executor_cpu_limit: optional(cpu()),
    executor_memory_mb: optional(int()),
    executor_memory_limit_mb: optional(int()),
    cache_cpu: optional(cpu(requested)),
    cache_cpu_limit: optional(cpu(limited)),
    cache_memory_mb: optional(int()),
    cache_memory_limit_mb: optional(int()),
    labels: optional(record(str())),
    annotations: optional(record(str())),
    service_account_name: text,
    image_pull_secrets: optional(list(object({ name: str() }, 'LocalObjectReference'))),
    volumes: optional(list(volume)),
    volume_mounts: optional(list(volumeMount)),
    init_containers: optional(list(container)),
    sidecars: optional(list(container)),
    db_cpu: optional(cpu()),
    db_cpu_limit: optional(cpu()),
    db_memory_mb: optional(int()),
    db_memory_limit_mb: optional(int()),
    db_storage_gi: optional(int()),
    db_max_connections: optional(int()),
  }),
  'ResourceSpec',
);

export type SentResourceSpec = Infer<typeof resourceSpec>;
