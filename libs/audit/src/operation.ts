import { rowOf } from '@fairlead/contracts';

/** The operation of a request, as audit logs name it: `create_deployment`. */
type Operation = string;

const VERBS: ReadonlyMap<string, string> = new Map([
  ['created', 'create'],
  ['added', 'create'],
  ['registered', 'create'],
  ['issued', 'create'],
  ['received', 'create'],
  ['changed', 'update'],
  ['patched', 'update'],
  ['renamed', 'update'],
  ['removed', 'delete'],
  ['deleted', 'delete'],
  ['revoked', 'delete'],
  ['read', 'read'],
]);

export function operationOf(type: string): Operation {
  return rowOf(type)?.operation ?? spelledOut(type);
}

/** Returns a name for a type that the catalogue does not contain, because another version of Fairlead wrote it. */
function spelledOut(type: string): Operation {
  const words = type
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .toLowerCase()
    .split('_');
  const verb = VERBS.get(words.at(-1) ?? '');
  return verb === undefined ? words.join('_') : [verb, ...words.slice(0, -1)].join('_');
}

const UPDATES = ['update', 'stop', 'start', 'restart', 'run', 'end', 'hold', 'release', 'judge'];

/** The activity of OCSF's class API Activity (6003): 1 create, 2 read, 3 update, 4 delete, 99 other. */
export function activityOf(operation: Operation): { id: 1 | 2 | 3 | 4 | 99; name: string } {
  const verb = operation.split('_', 1)[0];
  if (verb === 'create' || verb === 'register') return { id: 1, name: 'Create' };
  if (verb === 'read') return { id: 2, name: 'Read' };
  if (UPDATES.includes(verb!)) return { id: 3, name: 'Update' };
  if (verb === 'delete') return { id: 4, name: 'Delete' };
  return { id: 99, name: 'Other' };
}
