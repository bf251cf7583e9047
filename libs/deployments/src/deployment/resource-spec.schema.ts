import { bool, dict, int, INVALID, list, note, num, object, optional, type Schema, str } from '@fairlead/schema';
import { both } from '../model/spelling.schema';

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

const volumeMount = object('VolumeMount', {
  name: note(text, 'Name of a volume in `volumes`.'),
  mountPath: note(text, 'Path in the container where the volume is mounted.'),
  subPath: note(text, 'Path in the volume that is mounted; null: its root.'),
  mountPropagation: note(text, 'How mounts spread between host and container, such as `None` or `HostToContainer`.'),
  readOnly: note(optional(bool()), 'True: the container cannot write to the volume. Null means false.'),
  subPathExpr: note(text, 'Like `subPath`, with `$(NAME)` replaced by environment variables.'),
});

const volume = object('Volume', {
  name: note(text, 'Name that `volume_mounts` refer to.'),
  configMap: note(optional(dict()), 'ConfigMap as the source, as Kubernetes defines `ConfigMapVolumeSource`.'),
  secret: note(optional(dict()), 'Secret as the source, as Kubernetes defines `SecretVolumeSource`.'),
  emptyDir: note(optional(dict()), 'Empty directory, as Kubernetes defines `EmptyDirVolumeSource`.'),
  persistentVolumeClaim: note(
    optional(dict()),
    'Claim of persistent storage, as Kubernetes defines `PersistentVolumeClaimVolumeSource`.',
  ),
  nfs: note(optional(dict()), 'Directory of an NFS server, as Kubernetes defines `NFSVolumeSource`.'),
  projected: note(optional(dict()), 'Several sources in one directory, as Kubernetes defines `ProjectedVolumeSource`.'),
  downwardAPI: note(optional(dict()), 'Fields of the pod as files, as Kubernetes defines `DownwardAPIVolumeSource`.'),
  csi: note(optional(dict()), 'Volume of a storage driver, as Kubernetes defines `CSIVolumeSource`.'),
});

const container = object('Container', {
  name: note(named, 'Name of the container, unique in the pod.'),
  image: note(named, 'Container image with tag or digest.'),
  imagePullPolicy: note(text, '`Always`, `IfNotPresent` or `Never`; null: the default of Kubernetes.'),
  command: note(optional(list(str())), 'Entry point and its arguments; null: that of the image.'),
  args: note(optional(list(str())), 'Arguments of the entry point; null: those of the image.'),
  workingDir: note(text, 'Working directory; null: that of the image.'),
  env: note(
    optional(
      list(
        object('EnvVar', {
          name: note(named, 'Name of the variable.'),
          value: note(text, 'Value of the variable; null where `valueFrom` gives it.'),
          valueFrom: note(optional(dict()), 'Source of the value, as Kubernetes defines `EnvVarSource`.'),
        }),
      ),
    ),
    'Environment variables of the container.',
  ),
  envFrom: note(optional(list(dict())), 'Sources of several variables, as Kubernetes defines `EnvFromSource`.'),
  resources: note(
    optional(
      object('ResourceRequirements', {
        limits: note(
          optional(dict()),
          'Most that the container may use, by resource, as Kubernetes quantities such as `500m`, `1Gi` or 1.',
        ),
        requests: note(
          optional(dict()),
          'What is reserved for the container, by resource, as Kubernetes quantities such as `500m`, `1Gi` or 1.',
        ),
      }),
    ),
    'CPU and memory of the container.',
  ),
  volumeMounts: note(optional(list(volumeMount)), 'Volumes that the container mounts.'),
  securityContext: note(optional(dict()), 'Rights of the container, as Kubernetes defines `SecurityContext`.'),
  restartPolicy: note(text, '`Always` makes an init container run beside the others; null: the default of Kubernetes.'),
});

/** Sizing of everything a deployment runs, and additions to its pods. Kubernetes objects keep Kubernetes' names. */
export const resourceSpec = object(
  'ResourceSpec',
  both({
    min_scale: note(
      replicas,
      'Fewest replicas of the server; not more than `max_scale`. The executor `kubernetes` takes 1 when absent, and runs none for 0. The executor `local` runs this many processes, and one when absent or 0; with 1 or more they do not sleep.',
    ),
    max_scale: note(
      replicas,
      'Most replicas of the server. Above `min_scale` the executor `kubernetes` scales at 75 % CPU. The executor `local` does not apply it.',
    ),
    cpu: note(
      optional(cpu(requested)),
      'CPU reserved for the server, in cores, rounded to 0.1; not more than `cpu_limit`.',
    ),
    cpu_limit: note(
      optional(cpu(limited)),
      'Most CPU of the server, in cores, rounded to 0.1. The executor `local` applies it to each process where the kernel or the container engine can limit it, and does not limit CPU when absent.',
    ),
    memory_mb: note(
      amount,
      'Memory reserved for the server, in megabytes (10^6 bytes); not more than `memory_limit_mb`.',
    ),
    memory_limit_mb: note(
      amount,
      'Most memory of the server, in megabytes (10^6 bytes). The executor `local` ends a process that uses more, and starts it again; when absent, `memory_mb` is this limit.',
    ),
    queue_min_scale: note(
      replicas,
      'Fewest replicas of the queue workers; not more than `queue_max_scale`. The executor `kubernetes` takes 1 when absent, and runs none for 0.',
    ),
    queue_max_scale: note(
      replicas,
      'Most replicas of the queue workers. Above `queue_min_scale` the executor `kubernetes` scales at 75 % CPU.',
    ),
    queue_cpu: note(
      optional(cpu(requested)),
      'CPU reserved for the queue workers, in cores, rounded to 0.1; not more than `queue_cpu_limit`.',
    ),
    queue_cpu_limit: note(optional(cpu(limited)), 'Most CPU of the queue workers, in cores, rounded to 0.1.'),
    queue_memory_mb: note(
      amount,
      'Memory reserved for the queue workers, in megabytes (10^6 bytes); not more than `queue_memory_limit_mb`.',
    ),
    queue_memory_limit_mb: note(amount, 'Most memory of the queue workers, in megabytes (10^6 bytes).'),
    orchestrator_cpu: note(
      cores,
      'CPU reserved for the orchestrator, in cores, rounded to 0.1; not more than `orchestrator_cpu_limit`. Stored; the executors of this service do not apply it.',
    ),
    orchestrator_cpu_limit: note(
      cores,
      'Most CPU of the orchestrator, in cores, rounded to 0.1. Stored; the executors of this service do not apply it.',
    ),
    orchestrator_memory_mb: note(
      amount,
      'Memory reserved for the orchestrator, in megabytes (10^6 bytes); not more than `orchestrator_memory_limit_mb`. Stored; the executors of this service do not apply it.',
    ),
    orchestrator_memory_limit_mb: note(
      amount,
      'Most memory of the orchestrator, in megabytes (10^6 bytes). Stored; the executors of this service do not apply it.',
    ),
    orchestrator_min_scale: note(
      replicas,
      'Fewest replicas of the orchestrator; not more than `orchestrator_max_scale`. Stored; the executors of this service do not apply it.',
    ),
    orchestrator_max_scale: note(
      replicas,
      'Most replicas of the orchestrator. Stored; the executors of this service do not apply it.',
    ),
    executor_cpu: note(
      cores,
      'CPU reserved for the executor, in cores, rounded to 0.1; not more than `executor_cpu_limit`. Stored; the executors of this service do not apply it.',
    ),
    executor_cpu_limit: note(
      cores,
      'Most CPU of the executor, in cores, rounded to 0.1. Stored; the executors of this service do not apply it.',
    ),
    executor_memory_mb: note(
      amount,
      'Memory reserved for the executor, in megabytes (10^6 bytes); not more than `executor_memory_limit_mb`. Stored; the executors of this service do not apply it.',
    ),
    executor_memory_limit_mb: note(
      amount,
      'Most memory of the executor, in megabytes (10^6 bytes). Stored; the executors of this service do not apply it.',
    ),
    cache_cpu: note(
      optional(cpu(requested)),
      'CPU reserved for the cache, in cores, rounded to 0.1; not more than `cache_cpu_limit`. Stored; the executors of this service do not apply it.',
    ),
    cache_cpu_limit: note(
      optional(cpu(limited)),
      'Most CPU of the cache, in cores, rounded to 0.1. Stored; the executors of this service do not apply it.',
    ),
    cache_memory_mb: note(
      amount,
      'Memory reserved for the cache, in megabytes (10^6 bytes); not more than `cache_memory_limit_mb`. Stored; the executors of this service do not apply it.',
    ),
    cache_memory_limit_mb: note(
      amount,
      'Most memory of the cache, in megabytes (10^6 bytes). Stored; the executors of this service do not apply it.',
    ),
    labels: note(
      optional(dict()),
      'Labels of the Kubernetes objects and pods, answered as they were sent; Kubernetes gets strings. Those that Fairlead manages win.',
    ),
    annotations: note(
      optional(dict()),
      'Annotations of the Kubernetes objects and pods, answered as they were sent; Kubernetes gets strings.',
    ),
    service_account_name: note(text, 'Service account of the pods; null: the default of the namespace.'),
    image_pull_secrets: note(
      optional(list(object('LocalObjectReference', { name: note(named, 'Name of a Secret in the namespace.') }))),
      'Secrets of the cluster with credentials for image registries.',
    ),
    volumes: note(optional(list(volume)), 'Volumes of the pods.'),
    volume_mounts: note(optional(list(volumeMount)), 'Volumes that the container of the agent mounts.'),
    init_containers: note(optional(list(container)), 'Containers that run to their end before the agent starts.'),
    sidecars: note(optional(list(container)), 'Containers that run beside the agent in each pod.'),
    db_cpu: note(
      cores,
      'CPU reserved for the database, in cores, rounded to 0.1; not more than `db_cpu_limit`. Stored; the executors of this service do not apply it.',
    ),
    db_cpu_limit: note(
      cores,
      'Most CPU of the database, in cores, rounded to 0.1. Stored; the executors of this service do not apply it.',
    ),
    db_memory_mb: note(
      amount,
      'Memory reserved for the database, in megabytes (10^6 bytes); not more than `db_memory_limit_mb`. Stored; the executors of this service do not apply it.',
    ),
    db_memory_limit_mb: note(
      amount,
      'Most memory of the database, in megabytes (10^6 bytes). Stored; the executors of this service do not apply it.',
    ),
    db_storage_gi: note(
      amount,
      'Storage of the database, in gibibytes. Stored; the executors of this service do not apply it.',
    ),
    db_max_connections: note(
      amount,
      'Most connections to the database. Stored; the executors of this service do not apply it.',
    ),
  }),
);
