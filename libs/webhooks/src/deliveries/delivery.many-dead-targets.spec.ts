import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { NameServer } from '@fairlead/edge/testing';
import { OutboundPolicy, OutboundResolver, parseOutboundAllow } from '@fairlead/outbound';
import { v4 as newId } from 'uuid';
import { Receiver } from '../testing/receiver';
import { activated, TestService } from '../testing/service';
import { WebhookSecrets } from '../webhook/webhook-secrets.service';
import { TargetStore } from './target.store';

/**
 * Number of dead targets, in workspaces with as many webhooks as one may have; more are tried by hand, with
 * `DEAD_TARGETS`.
 */
const DEAD = Number(process.env.DEAD_TARGETS ?? 60);
const PER_WORKSPACE = Math.min(100, Math.ceil(DEAD / 4));
/** Targets that are called at a time, by all and by one workspace. */
const [AT_ONCE, AT_ONCE_PER_WORKSPACE] = [20, 8];
const LANES = 2;
const LOOKUPS = { most: 16, mostPerWorkspace: 4 };
const DAY = 24 * 3_600_000;
/** Time limit for steps that are not asserted tightly (ms); longer for more targets. */
const PATIENCE_MS = 120_000 + DEAD * 100;

let service: TestService;
let names: NameServer;
let receiver: Receiver;
let hanging: Server;
let resolver: OutboundResolver;
/** Connections to what takes every call and never answers. */
let open: Set<Socket>;
let mostOpen: number;
/** The time of the schedule, which passes on request only: however slow the machine is, nothing is due before. */
let clock = Date.now();
function pass(ms: number): void {
  clock += ms;
  service.app.get(TargetStore).wake();
}

beforeAll(async () => {
  [names, receiver] = [await NameServer.start(), await Receiver.start()];
  [open, mostOpen] = [new Set(), 0];
  hanging = createServer((socket) => {
    open.add(socket);
    mostOpen = Math.max(mostOpen, open.size);
    // Without reading it would not be seen when the other side ends.
    socket
      .on('close', () => open.delete(socket))
      .on('error', () => undefined)
      .resume();
  });
  await new Promise<void>((listening) => hanging.listen(0, '127.0.0.1', listening));
  resolver = new OutboundResolver({ servers: [names.address], deadline: 100, ...LOOKUPS });
  const outbound = new OutboundPolicy(parseOutboundAllow('127.0.0.1'), { connect: 30_000 }, false, resolver.resolve);
  const places = { targets: AT_ONCE, targetsPerTenant: AT_ONCE_PER_WORKSPACE, lanes: LANES };
  service = await TestService.start({ outbound, timeLimit: 1500, now: () => clock, ...places });
});

afterAll(async () => {
  await service.stop();
  for (const socket of open) socket.destroy();
  await new Promise((closed) => hanging.close(closed));
  await Promise.all([receiver.stop(), names.stop()]);
});

/** A third refuses, a third takes the call and never answers, a third has a name that nobody knows. */
async function addTargets(refusing: number): Promise<string[]> {
  const secrets = service.app.get(WebhookSecrets);
  const tenants: string[] = [];
  const { port } = hanging.address() as AddressInfo;
  for (let n = 0; n < DEAD; n++) {
    if (n % PER_WORKSPACE === 0) tenants.push(newId());
    const [id, tenant_id] = [newId(), tenants.at(-1)!];
    const url = [`http://127.0.0.1:${refusing}/`, `http://127.0.0.1:${port}/`, `https://dead-${n}.example/`][n % 3]!;
    const secret = await secrets.make(tenant_id, id);
    const data = { webhook_id: id, tenant_id, url, event_types: ['*'], description: '', enabled: true, secret };
    await service.store.append(`webhook-${id}`, 0, [{ type: 'WebhookAdded', data }], { tenant: tenant_id });
  }
  return tenants;
}

/** Something happens in each workspace. */
async function happenToAll(tenants: readonly string[]): Promise<void> {
  for (const tenant of tenants) await service.happen(activated, tenant);
}

interface Seen {
  readonly deliveries: number;
  readonly attempts: number;
  /** Deliveries that are still to be made. */
  readonly waiting: number;
  readonly resting: number;
  readonly enabled: number;
  /** Targets that are being called. */
  readonly called: number;
}

async function seen(tenants: readonly string[]): Promise<Seen> {
  const { rows } = await service.database.pool.query<Seen>(
    `select (select count(*)::int from webhook_deliveries d join webhooks w on w.id = webhook_id
         where w.tenant_id = any($1)) as deliveries,
       (select coalesce(sum(attempts), 0)::int from webhook_deliveries d join webhooks w on w.id = webhook_id
         where w.tenant_id = any($1)) as attempts,
       (select count(*)::int from webhook_deliveries d join webhooks w on w.id = webhook_id
         where status = 'pending' and w.tenant_id = any($1)) as waiting,
       (select count(*)::int from webhook_targets where rests_until > $2 and tenant_id = any($1)) as resting,
       (select count(*)::int from webhooks where enabled and tenant_id = any($1)) as enabled,
       (select count(*)::int from webhook_targets where leased_until > now() and tenant_id = any($1)) as called`,
    [tenants, new Date(clock)],
  );
  return rows[0]!;
}

/** Waits for what is wanted, and holds meanwhile that no more is under way than may be. */
async function until(tenants: readonly string[], wanted: (now: Seen) => boolean): Promise<Seen> {
  for (const deadline = Date.now() + PATIENCE_MS; ;) {
    const now = await seen(tenants);
    expect(resolver.pending).toBeLessThanOrEqual(LOOKUPS.most);
    if (wanted(now)) return now;
    if (Date.now() > deadline) throw new Error(`Still ${JSON.stringify(now)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Prints the memory of the process after garbage collection, for trials with many targets. */
function tell(phase: string, now: Seen): void {
  if (process.env.DEAD_TARGETS === undefined) return;
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { rss, heapUsed } = process.memoryUsage();
  const mib = (bytes: number) => Math.round(bytes / 1024 / 1024);
  process.stderr.write(
    `${phase}: ${JSON.stringify({ ...now, rssMiB: mib(rss), heapMiB: mib(heapUsed), lookups: resolver.pending, mostOpen })}\n`,
  );
}

it(
  'dead targets are called ever less by few at a time, are disabled with a notice, and delay nobody else',
  async () => {
    const refusing = createServer();
    await new Promise<void>((listening) => refusing.listen(0, '127.0.0.1', listening));
    const { port } = refusing.address() as AddressInfo;
    await new Promise((closed) => refusing.close(closed));
    const tenants = await addTargets(port);
    await service.add(receiver.url);
    await until(tenants, ({ enabled }) => enabled === DEAD);
    await happenToAll(tenants);
    tell('begun', await until(tenants, ({ deliveries }) => deliveries === DEAD));
    // Another workspace is served while they are tried.
    await service.happen();
    for (const deadline = Date.now() + PATIENCE_MS; receiver.received.length < 1;) {
      expect(Date.now()).toBeLessThan(deadline);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await until(tenants, ({ attempts }) => attempts >= DEAD);
    for (let tries = 2; tries <= 3; tries++) {
      pass(10 * 60_000);
      await until(tenants, ({ attempts }) => attempts >= tries * DEAD);
    }
    // Three failures in a row: all rest, and nothing that happens now calls them.
    const rested = await until(tenants, ({ resting }) => resting === DEAD);
    tell('resting', rested);
    expect(rested.attempts).toBeLessThanOrEqual(3 * DEAD);
    await happenToAll(tenants);
    const more = await until(tenants, ({ deliveries }) => deliveries === 2 * DEAD);
    expect(more.attempts).toBe(rested.attempts);
    // Each time that a rest has ended one lane or two find out that the target still fails, whatever waits.
    const before = more.attempts;
    pass(DAY / 2);
    // A call that began before the next days pass would not count as one after them, and its target would rest on.
    const again = await until(
      tenants,
      ({ resting, attempts, called }) => resting === DEAD && attempts >= before + DEAD && called === 0,
    );
    expect(again.attempts).toBeLessThanOrEqual(before + LANES * DEAD);
    tell('again', again);
    pass(5 * DAY);
    await happenToAll(tenants);
    // A target has several lanes: when it is disabled, another one of them may be in a call.
    const ended = await until(tenants, ({ enabled, called }) => enabled === 0 && called === 0);
    tell('disabled', ended);
    expect(ended.attempts).toBeLessThanOrEqual(again.attempts + LANES * DEAD);
    const notices = await service.database.pool.query<{ n: number }>(
      `select count(distinct stream)::int as n from events where type = 'WebhookDisabled'
       and data->>'reason' = 'failing' and metadata->>'tenant' = any($1)`,
      [tenants],
    );
    expect(notices.rows[0]!.n).toBe(DEAD);
    // Nothing is left of them: no call, no lookup, nothing that waits.
    await happenToAll(tenants);
    pass(DAY);
    await service.happen();
    for (
      const deadline = Date.now() + PATIENCE_MS;
      receiver.received.length < 2 || open.size > 0 || resolver.pending > 0;
    ) {
      expect(Date.now()).toBeLessThan(deadline);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const left = await until(tenants, ({ waiting, called }) => waiting === 0 && called === 0);
    expect(left.attempts).toBe(ended.attempts);
    // With a thousand, the other side has not heard yet that some were broken off when the next ones come.
    expect(mostOpen).toBeLessThanOrEqual(AT_ONCE * (process.env.DEAD_TARGETS === undefined ? LANES : LANES + 1));
    tell('ended', left);
  },
  4 * PATIENCE_MS,
);
