import { shape } from '@fairlead/api';

const { list, noted, nullable, object, oneOf, page, text, time, uuid } = shape;

export const listener = object('Listener', {
  version: noted(nullable(text), 'Version of the listener software; null when it was not given.'),
  compute_type: noted(oneOf('k8s'), 'Kind of cluster: Kubernetes.'),
  compute_id: noted(text, 'Name of the cluster, unique in the workspace.'),
  compute_config: noted(
    object('StoredListenerComputeConfig', {
      cluster_namespaces: noted(
        nullable(list(text)),
        'Namespaces that deployments may use; null when none were given.',
      ),
    }),
    'What the listener offers of its cluster.',
  ),
  id: noted(uuid, 'Identifier of the listener.'),
  created_at: noted(time, 'When the listener was created.'),
  updated_at: noted(time, 'When the listener last changed.'),
});
export const listeners = page('ListenersList', listener);
