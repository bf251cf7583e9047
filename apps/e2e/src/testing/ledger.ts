import { type DeploymentLife, stepOf } from './deployment-life';
import type { ExperimentUpload } from './experiment-upload';
import type { Traffic } from './traffic';

/** An event of the log. */
export interface Entry {
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  readonly data: ReturnType<typeof JSON.parse>;
}

/** Acknowledgements that clients had by some moment, to be compared with a later state of the log. */
export class Ledger {
  private readonly acknowledged: ReadonlyMap<DeploymentLife, number>;
  private readonly answered: readonly ExperimentUpload[];

  constructor(private readonly traffic: Traffic) {
    this.acknowledged = new Map(traffic.lives.map((life) => [life, life.acknowledged]));
    this.answered = traffic.uploads.filter(({ answer }) => answer);
  }

  /**
   * Faults of the log: an acknowledged step that is missing, one that is there twice or was never sent, or a hole. At
   * most the one step that a client is waiting for may be in the log without having been acknowledged.
   */
  faults(log: readonly Entry[]): string[] {
    return [
      ...holes(log),
      ...this.deploymentFaults(log.filter(({ stream }) => stream.startsWith('deployment-'))),
      ...this.uploadFaults(log.filter(({ type }) => type === 'ExperimentUploaded')),
    ];
  }

  private deploymentFaults(entries: readonly Entry[]): string[] {
    const faults: string[] = [];
    const streams = new Map<string, Entry[]>();
    for (const entry of entries) streams.set(entry.stream, [...(streams.get(entry.stream) ?? []), entry]);
    for (const life of this.traffic.lives) {
      const before = this.acknowledged.get(life) ?? 0;
      const stream = this.streamOf(life, streams);
      const recorded = streams.get(stream) ?? [];
      streams.delete(stream);
      const steps = recorded.flatMap(({ type, data }) => stepOf(type, data) ?? []);
      const isPrefix = steps.every((step, index) => step === life.sent[index]);
      if (isPrefix && steps.length >= before && onceEach(recorded)) continue;
      const told = `${before} of [${life.sent.join(', ')}] acknowledged`;
      faults.push(`${life.name} (${stream}): ${told}, recorded: ${recorded.map(({ type }) => type).join(', ')}`);
    }
    for (const [stream, [first]] of streams)
      faults.push(`${stream}: nobody asked for ${first?.data.name} a second time`);
    return faults;
  }

  /** The stream that an acknowledged creation told of, or the one of a creation that is still to be acknowledged. */
  private streamOf({ id, refused, name }: DeploymentLife, streams: ReadonlyMap<string, Entry[]>): string {
    if (id !== undefined) return `deployment-${id}`;
    if (refused) return 'none';
    const known = new Set(this.traffic.lives.map((life) => `deployment-${life.id}`));
    const own = [...streams].find(([stream, [first]]) => first?.data.name === name && !known.has(stream));
    return own?.[0] ?? 'none';
  }

  private uploadFaults(entries: readonly Entry[]): string[] {
    const faults: string[] = [];
    const streams = new Map<string, string[]>();
    for (const { stream, data } of entries) streams.set(data.name, [...(streams.get(data.name) ?? []), stream]);
    for (const [name, found] of streams) if (found.length > 1) faults.push(`${name} is there ${found.length} times`);
    for (const { name, answer } of this.answered) {
      if (streams.get(name)?.[0] !== `experiment-${answer?.experiment}`) faults.push(`${name} is not there`);
    }
    return faults;
  }
}

/**
 * True when the events that the service itself adds to a deployment are there once, and a revision comes with each
 * change of the image.
 */
function onceEach(entries: readonly Entry[]): boolean {
  const count = (...types: string[]) => entries.filter(({ type }) => types.includes(type)).length;
  const revisions = count('DeploymentCreated', 'DeploymentPatched');
  return (
    count('DeploymentProvisioned') <= 1 && count('DeploymentDeleted') <= 1 && count('RevisionCreated') === revisions
  );
}

/** Streams whose versions are not 1, 2, 3 in the order of the log, and events that are there twice. */
function holes(log: readonly Entry[]): string[] {
  const faults: string[] = [];
  const versions = new Map<string, number>();
  const ids = new Set<string>();
  for (const { id, stream, version } of log) {
    const before = versions.get(stream) ?? 0;
    if (version !== before + 1) faults.push(`${stream}: version ${version} comes after ${before}`);
    if (ids.has(id)) faults.push(`event ${id} is there twice`);
    versions.set(stream, version);
    ids.add(id);
  }
  return faults;
}
