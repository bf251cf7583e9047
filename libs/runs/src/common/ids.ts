import { createHash } from 'node:crypto';
import { v5 } from 'uuid';

const UPLOADS = 'd1b6c8f4-3a57-5f0e-9c2b-7e4a1f6d8b90';

/**
 * Id of the experiment that a body becomes: the same body of a tenant has the same, until that one was deleted. It can be
 * computed, so another generation is taken where a session of another kind has it.
 */
export function experimentId(tenant: string, sha256: string, generation: number): string {
  return v5(`${tenant}/${sha256}/${generation}`, UPLOADS);
}

/**
 * Id of the session that runs make by naming it: requests that make it at the same time, and one that is repeated after
 * a crash, have the same. `reservation` is the number of the name's reservation.
 */
export function namedSessionId(tenant: string, name: string, reservation: number): string {
  return v5(`${tenant}/${reservation}/${name}`, UPLOADS);
}

export function newDatasetId(experiment: string): string {
  return v5('dataset', experiment);
}

export function exampleId(dataset: string, row: string): string {
  return v5(row, dataset);
}

/**
 * UUIDs of version 8 for the things of one kind in an upload: 60 bits of a hash of its seed and the kind, then a counter.
 * The same seed always gives the same, and they grow, which keeps index inserts local. They are answered in one buffer by turns.
 */
export function numberedIds(seed: string, kind: string): (number: number) => Buffer {
  const id = Buffer.from(createHash('sha256').update(`${seed}/${kind}`).digest().subarray(0, 16));
  id[6] = 0x80 | (id[6]! & 0x0f);
  id.fill(0, 8);
  id[8] = 0x80;
  return (number) => {
    id.writeUIntBE(number, 10, 6);
    return id;
  };
}

export function tracingProjectId(deployment: string): string {
  return v5(deployment, UPLOADS);
}
