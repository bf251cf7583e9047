import { createHash } from 'node:crypto';
import { v5 } from 'uuid';

const UPLOADS = 'd1b6c8f4-3a57-5f0e-9c2b-7e4a1f6d8b90';

/** Id of the experiment that a body becomes: the same body of a tenant has the same, until that one was deleted. */
export function experimentId(tenant: string, sha256: string, generation: number): string {
  return v5(`${tenant}/${sha256}/${generation}`, UPLOADS);
}

/** Id of the dataset that an experiment brings along. */
export function newDatasetId(experiment: string): string {
  return v5('dataset', experiment);
}

/** Id of the example of a row whose own id is in use in another dataset. */
export function exampleId(dataset: string, row: string): string {
  return v5(row, dataset);
}

/** The 16 bytes of a UUID. */
export function uuidBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/**
 * UUIDs of version 8 for the things of one kind in an experiment: 60 bits of a hash of both, then a counter. The same
 * upload always gives the same, and they grow, which keeps index inserts local.
 */
export function numberedIds(experiment: string, kind: string): (number: number) => Buffer {
  const prefix = createHash('sha256').update(`${experiment}/${kind}`).digest().subarray(0, 16);
  prefix[6] = 0x80 | (prefix[6]! & 0x0f);
  prefix.fill(0, 8);
  prefix[8] = 0x80;
  return (number) => {
    const id = Buffer.from(prefix);
    id.writeUIntBE(number, 10, 6);
    return id;
  };
}

/** Id of the tracing project of a deployment, by the stream of that. */
export function tracingProjectId(deployment: string): string {
  return v5(deployment, UPLOADS);
}
