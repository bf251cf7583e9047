import { shape } from '@fairlead/api';

const { list, nullable, object, oneOf, page, text, time, uuid } = shape;

export const listener = object('Listener', {
  version: nullable(text),
  compute_type: oneOf('k8s'),
  compute_id: text,
  compute_config: object('StoredListenerComputeConfig', { cluster_namespaces: nullable(list(text)) }),
  id: uuid,
  created_at: time,
  updated_at: time,
});
export const listeners = page('ListenersList', listener);
