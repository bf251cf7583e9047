import { list, literal, note, nullable, object, str, timestamp, uuid } from '@fairlead/schema';
import { page } from '@fairlead/api';

export const listener = object('Listener', {
  version: note(nullable(str()), 'Version of the listener software; null when it was not given.'),
  compute_type: note(literal(['k8s']), 'Kind of cluster: Kubernetes.'),
  compute_id: note(str(), 'Name of the cluster, unique in the workspace.'),
  compute_config: note(
    object('StoredListenerComputeConfig', {
      cluster_namespaces: note(
        nullable(list(str())),
        'Namespaces that deployments may use; null when none were given.',
      ),
    }),
    'What the listener offers of its cluster.',
  ),
  id: note(uuid(), 'Identifier of the listener.'),
  created_at: note(timestamp(), 'When the listener was created.'),
  updated_at: note(timestamp(), 'When the listener last changed.'),
});
export const listeners = page('ListenersList', listener);
