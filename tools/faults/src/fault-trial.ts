import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { asleep, Ledger, Random, Traffic, until } from '@fairlead/e2e/testing';
import { Installation, type InstallationOptions } from './installation';
import { settings } from './settings';

const ROOT = join(__dirname, '../../..');
const AUDIT = ['-r', join(ROOT, 'tools/test/typescript.cjs'), join(ROOT, 'tools/admin/src/main.ts'), 'audit', '--json'];
/** Nothing takes longer than this to come back; already what takes longer than `recoveryMs` is a fault. */
const HOPELESS_MS = 300_000;
const LOAD = { clients: 4, longestPauseMs: 200, names: 10_000 };
/** Events that only consumers record. */
const EFFECTS = new Set(['SessionCreated', 'RevisionActivated', 'DeploymentProvisioned']);
/** Requests that succeed between two faults at least. */
const BETWEEN = 20;

/** An installation under load, and what its clients were told. */
export class FaultTrial {
  private constructor(
    readonly installation: Installation,
    readonly random: Random,
    readonly traffic: Traffic,
  ) {}

  static async start(options: InstallationOptions): Promise<FaultTrial> {
    const random = new Random(settings.seed);
    const installation = await Installation.start(options, random);
    const traffic = new Traffic(installation.courier, random, LOAD);
    traffic.start();
    return new FaultTrial(installation, random, traffic);
  }

  async stop(): Promise<void> {
    this.installation.courier.giveUp();
    await this.traffic.stop();
    await this.installation.stop();
  }

  /** Resolves when clients have done something since the last fault. */
  async loaded(): Promise<void> {
    const { counts } = this.installation.courier;
    const { succeeded } = counts;
    await inTime('load', () => counts.succeeded >= succeeded + BETWEEN);
  }

  /** Resolves when deployments and experiments are written, and consumers react, again; says after how long. */
  async recovered(): Promise<{ writesMs: number; effectsMs: number }> {
    const since = Date.now();
    const slept = asleep();
    const passed = () => Date.now() - since - (asleep() - slept);
    const { successes } = this.installation.courier;
    // Those that are busy may not come to it for long.
    this.traffic.hurry();
    await inTime('writes', () => ['v2', 'api'].every((area) => (successes.get(area) ?? 0) >= since));
    const writesMs = passed();
    await inTime('effects', async () => {
      const log = await this.installation.log.read();
      return log.some(({ type, time }) => EFFECTS.has(type) && Date.parse(time) >= since);
    });
    return { writesMs, effectsMs: passed() };
  }

  /** Answers that clients should not have had, and events that the log should not hold or lacks. */
  async faults(): Promise<string[]> {
    const { courier, log } = this.installation;
    const ledger = new Ledger(this.traffic);
    const events = await log.read();
    return [...courier.faults, ...this.traffic.faults, ...ledger.faults(events), ...repeated(events)];
  }

  /** Resolves when consumers have nothing left to do. */
  settled(): Promise<void> {
    let left: string[] = [];
    const settled = async () => (left = unsettled(await this.installation.log.read())).length === 0;
    return inTime('end', settled, () => `: ${left.slice(0, 10).join(', ')} of ${left.length} wait`);
  }

  /** Number of things in the log and the read models that are not as they were written. */
  async audit(): Promise<number> {
    const env = { PATH: process.env.PATH, ...this.installation.direct };
    const answer = await new Promise<string>((resolve) => {
      execFile(process.execPath, AUDIT, { env, maxBuffer: 2 ** 26 }, (_, stdout, stderr) => resolve(stdout || stderr));
    });
    const report = JSON.parse(answer) as { wrong: number };
    if (report.wrong > 0) console.log(answer);
    return report.wrong;
  }
}

/** `seen`: what is left to wait for, for the error. */
export async function inTime(
  what: string,
  condition: () => boolean | Promise<boolean>,
  seen: () => string = () => '',
): Promise<void> {
  const deadline = Date.now() + HOPELESS_MS - asleep();
  const look = async () => {
    if (Date.now() > deadline + asleep()) throw new Error(`No ${what} for ${HOPELESS_MS / 1000} s${seen()}.`);
    return condition();
  };
  await until(look, Boolean, Infinity);
}

type Log = readonly { readonly stream: string; readonly type: string; readonly data: unknown }[];

/** Streams whose consumers have something left to do. */
function unsettled(log: Log): string[] {
  const streams = new Map<string, Set<string>>();
  for (const { stream, type } of log) streams.set(stream, (streams.get(stream) ?? new Set()).add(type));
  return [...streams].flatMap(([stream, has]) => {
    const gone = has.has('DeploymentDeleted');
    const begun = has.has('DeploymentCreated') && !has.has('DeploymentProvisioned') && !gone;
    const ending = has.has('DeploymentDeletionRequested') && !gone;
    const uploaded = has.has('ExperimentUploaded') && !has.has('RunsPersisted');
    return begun || ending || uploaded ? `${stream} (${[...has].join(' ')})` : [];
  });
}

/** Effects of consumers that are there twice: the tracing project of a deployment's name, a revision that became active. */
function repeated(log: Log): string[] {
  const seen = new Set<string>();
  return log.flatMap(({ stream, type, data }) => {
    const { name, revision_id } = data as { name?: string; revision_id?: string };
    const effect = type === 'SessionCreated' ? name : type === 'RevisionActivated' ? revision_id : undefined;
    if (effect === undefined) return [];
    const isThere = seen.has(`${type} ${effect}`);
    seen.add(`${type} ${effect}`);
    return isThere ? `${type} of ${effect} is there again in ${stream}` : [];
  });
}
