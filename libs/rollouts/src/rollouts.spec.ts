import { Readable } from 'node:stream';
import { CommitResolver, type Gate, SourceArchives, storedTypes } from '@fairlead/contracts';
import { type NewEvent, streamName, UpcastingEventStore } from '@fairlead/eventing';
import { until } from '@fairlead/postgres/testing';
import { v7 as uuid } from 'uuid';
import { ExecutorUnreachable, RecordExecutor, StepFailed } from '@fairlead/executors';
import { RolloutQueue } from './steps/rollout-queue.store';
import { RolloutsOptions } from './steps/rollouts.options';
import { FailingStore } from './testing/failing.store';
import { InterruptedStore } from './testing/interrupted.store';
import { endless, ScriptedExecutor } from './testing/scripted-executor';
import { STRANGER, TENANT, TestRollouts } from './testing/service';

let service: TestRollouts;
let executor: ScriptedExecutor;
beforeEach(async () => {
  service = await TestRollouts.create();
  executor = new ScriptedExecutor();
});
afterEach(() => service.drop());

const image = { source: 'external_container', source_revision_config: { image_uri: 'registry.example/agent:1' } };
const called = (call: string) =>
  until(
    () => executor.calls,
    (calls) => calls.includes(call),
  );

describe('a rollout', () => {
  it('takes a revision that is built through all its statuses', async () => {
    await service.start(executor);
    const id = await service.deployment();
    const rid = await service.revision(id);
    expect(await service.reached(id, rid, 'DEPLOYED')).toEqual([
      'AWAITING_BUILD',
      'BUILDING',
      'AWAITING_DEPLOY',
      'DEPLOYING',
      'DEPLOYED',
    ]);
    expect(await service.hostStatuses(id)).toEqual(['READY']);
    const reports = await service.store.read(streamName('rollout', rid));
    expect(reports.at(-1)!.data).toMatchObject({ status: 'DEPLOYED', executor: 'scripted' });
    expect(executor.calls).toEqual(['prepare', `build ${rid}`, `deploy ${rid}`, 'close']);
  });

  it('does not build an image', async () => {
    await service.start(executor);
    const id = await service.deployment();
    const rid = await service.revision(id, image);
    expect(await service.reached(id, rid, 'DEPLOYED')).toEqual(['AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED']);
  });

  it('of a revision with gates is left to the first process of a version that knows gates', async () => {
    // A process that gets types as they are stored passes over those that it does not know, as earlier versions do.
    await service.start(executor);
    const id = await service.deployment();
    await service.reached(id, await service.revision(id, image), 'DEPLOYED');
    const { length } = executor.calls;
    const today = new UpcastingEventStore(service.store, {}, storedTypes);
    const revision_id = uuid();
    const gates: Gate[] = [
      {
        name: 'g',
        dataset_id: uuid(),
        baseline: 'active',
        keys: {},
        measures: {},
        min_rows: 30,
        max_age_days: 30,
        wait_days: 7,
      },
    ];
    const spec = { deployment_id: id, resource_spec: null, secrets: [], secret_references: null, ...image };
    const begun = { revision_id, previous_status: 'QUEUED', status: 'AWAITING_DEPLOY' };
    const events: NewEvent[] = [
      { type: 'GatesDeclared', data: { gates } },
      { type: 'RevisionCreated', data: { revision_id, gates, ...spec } },
      { type: 'RevisionStatusChanged', data: begun },
    ];
    const { position } = await today.append(streamName('deployment', id), 'any', events, { tenant: TENANT });
    const { pool } = service.database;
    const passed = `select from checkpoints where name like '%RevisionStatusChanged' and "position" >= $1
      and not exists (select from rollout_duties)`;
    await until(async () => (await pool.query(passed, [position])).rowCount === 1);
    expect(executor.calls).toHaveLength(length);
    expect(await service.store.read(streamName('rollout', revision_id))).toEqual([]);
    await service.stop();
    // Processes of earlier versions do not hear of gates.
    await pool.query(`delete from checkpoints where name like '%GatesDeclared'`);
    await pool.query(`delete from inbox where consumer like '%GatesDeclared'`);
    await service.start(executor, today);
    const held = () => today.read(streamName('rollout', revision_id));
    const reports = await until(held, (said) => said.some(({ type }) => type === 'RolloutHeld'));
    expect(reports.map(({ type }) => type)).toEqual(['RolloutStarted', 'RolloutHeld']);
    expect(executor.calls).not.toContain(`deploy ${revision_id}`);
  });

  it('of a revision with gates is taken up again where a process of an earlier version has ended its work on it', async () => {
    const today = new UpcastingEventStore(service.store, {}, storedTypes);
    service.options = { watchEvery: 100 };
    await service.start(executor, today);
    const id = await service.deployment();
    const gates: Gate[] = [
      {
        ...{ name: 'g', dataset_id: uuid(), baseline: 'active', keys: {}, measures: {} },
        ...{ min_rows: 30, max_age_days: 30, wait_days: 7 },
      },
    ];
    await today.append(streamName('deployment', id), 'any', [{ type: 'GatesDeclared', data: { gates } }], {
      tenant: TENANT,
    });
    const { pool } = service.database;
    await until(async () => (await pool.query('select from gated_deployments')).rowCount === 1);
    await until(async () => (await pool.query('select from rollout_duties')).rowCount === 0);
    // A process of an earlier version works on the deployment while this one hears of the revision.
    await pool.query(
      `insert into rollout_duties (deployment_id, tenant_id, noted, holder, leased_until)
       values ($1, $2, 1, gen_random_uuid(), now() + interval '1 hour')`,
      [id, TENANT],
    );
    const revision_id = uuid();
    const spec = { deployment_id: id, resource_spec: null, secrets: [], secret_references: null, ...image };
    const events: NewEvent[] = [
      { type: 'RevisionCreated', data: { revision_id, gates, ...spec } },
      {
        type: 'RevisionStatusChanged',
        data: { revision_id, previous_status: 'QUEUED', status: 'AWAITING_DEPLOY' },
      },
    ];
    const { position } = await today.append(streamName('deployment', id), 'any', events, { tenant: TENANT });
    const heard = `select from checkpoints where name like '%RevisionStatusChanged' and "position" >= $1
      or name like '%RevisionCreated' and "position" >= $1::bigint - 1`;
    await until(async () => (await pool.query(heard, [position])).rowCount === 2);
    // It finds nothing to do, and keeps no note for others.
    await pool.query('delete from rollout_duties');
    const read = () => today.read(streamName('rollout', revision_id));
    await until(read, (said) => said.some(({ type }) => type === 'RolloutHeld'));
    // Once the deployment has no gates and nothing of it waits, nobody looks at it any more.
    const over: NewEvent[] = [
      {
        type: 'RevisionStatusChanged',
        data: { revision_id, previous_status: 'AWAITING_DEPLOY', status: 'INTERRUPTED' },
      },
      { type: 'GatesDeclared', data: { gates: [] } },
    ];
    await today.append(streamName('deployment', id), 'any', over, { tenant: TENANT });
    await until(async () => (await pool.query('select from gated_deployments')).rowCount === 0);
  });

  it('that only records builds nothing', async () => {
    await service.start(new RecordExecutor());
    const id = await service.deployment();
    const rid = await service.revision(id);
    expect(await service.reached(id, rid, 'DEPLOYED')).toEqual(['AWAITING_BUILD', 'DEPLOYING', 'DEPLOYED']);
    const { json } = await service.logs(`${id}/revisions/${rid}/deploy_logs`);
    expect(json.logs[0].message).toContain('nothing is run');
  });

  it('fails in the phase whose step fails, and says why', async () => {
    executor.builds = () => Promise.reject(new Error('no such base image'));
    await service.start(executor);
    const id = await service.deployment();
    const rid = await service.revision(id);
    expect((await service.reached(id, rid, 'BUILD_FAILED')).at(-1)).toBe('BUILD_FAILED');
    expect(executor.calls).toEqual(['prepare', `build ${rid}`, 'close']);
    const { json } = await service.logs(`${id}/revisions/${rid}/build_logs`, { level: 'error' });
    expect(json.logs).toMatchObject([{ level: 'ERROR', message: 'no such base image' }]);
    executor.builds = () => Promise.resolve();
    executor.deploys = () => Promise.reject(new Error('no room'));
    const next = await service.revision(id);
    expect((await service.reached(id, next, 'DEPLOY_FAILED')).at(-1)).toBe('DEPLOY_FAILED');
  });

  it.each([
    ['codehost', 'repo_ref', 'build', 'BUILD_FAILED'],
    ['internal_source', 'source_tarball_path', 'build', 'BUILD_FAILED'],
    ['internal_container', 'image_uri', 'deploy', 'DEPLOY_FAILED'],
    ['external_container', 'image_uri', 'deploy', 'DEPLOY_FAILED'],
  ])('of %s without %s fails and says so, whatever runs it', async (source, member, phase, failed) => {
    await service.start(new RecordExecutor());
    const id = await service.deployment();
    const rid = await service.revision(id, { source, source_revision_config: {} });
    expect(await service.reached(id, rid, failed)).not.toContain('DEPLOYED');
    const { json } = await service.logs(`${id}/revisions/${rid}/${phase}_logs`);
    expect(json.logs).toMatchObject([
      { level: 'ERROR', message: `There is nothing to roll out: ${member} is not set.` },
    ]);
  });

  it('of a source that was never uploaded fails and says so, whatever runs it', async () => {
    service.archives = new (class extends SourceArchives {
      override async open(_tenant: string, _deployment: string, path: string) {
        return path === 'there.tar.gz' ? Readable.from([Buffer.from('archive')]) : undefined;
      }
    })();
    await service.start(new RecordExecutor());
    const id = await service.deployment();
    const from = (source_tarball_path: string) =>
      service.revision(id, { source: 'internal_source', source_revision_config: { source_tarball_path } });
    const never = await from('nowhere.tar.gz');
    expect(await service.reached(id, never, 'BUILD_FAILED')).toEqual(['AWAITING_BUILD', 'BUILD_FAILED']);
    const { json } = await service.logs(`${id}/revisions/${never}/build_logs`);
    expect(json.logs[0].message).toBe('Nothing was uploaded to source_tarball_path.');
    await service.reached(id, await from('there.tar.gz'), 'DEPLOYED');
  });

  it.each([
    ['before it is read', 0],
    ['while it is read', 1],
  ])('of a source whose database is away %s waits for that, and calls nothing UNKNOWN', async (_, blocks) => {
    const away = Object.assign(new Error('The database is away.'), { code: 'ECONNREFUSED' });
    let tries = 0;
    service.archives = new (class extends SourceArchives {
      override async open() {
        const isAway = ++tries < 4;
        if (isAway && blocks === 0) throw away;
        return (async function* () {
          yield Buffer.from('tar');
          if (isAway) throw away;
          yield Buffer.from('ball');
        })();
      }
    })();
    let read = '';
    executor.builds = async (_, { source }) => {
      read = '';
      for await (const block of (await source())!) read += block.toString();
    };
    await service.start(executor);
    const id = await service.deployment();
    const source_revision_config = { source_tarball_path: 'there.tar.gz' };
    const rid = await service.revision(id, { source: 'internal_source', source_revision_config });
    expect(await service.reached(id, rid, 'DEPLOYED')).not.toContain('BUILD_FAILED');
    expect([read, tries >= 4]).toEqual(['tarball', true]);
    expect(await service.hostStatuses(id)).toEqual(['READY']);
  });

  it('of a source that the database refuses says so', async () => {
    let isRefused = true;
    service.archives = new (class extends SourceArchives {
      override async open() {
        if (isRefused) throw new Error('permission denied for table source_archives');
        return Readable.from([Buffer.from('archive')]);
      }
    })();
    await service.start(executor);
    const id = await service.deployment();
    const source_revision_config = { source_tarball_path: 'there.tar.gz' };
    const rid = await service.revision(id, { source: 'internal_source', source_revision_config });
    const [, said] = await until(
      () => service.store.read(streamName('host', id)),
      (all) => all.length > 1,
    );
    const reason = 'The uploaded source cannot be read from the database: permission denied for table source_archives';
    expect(said!.data).toMatchObject({ status: 'UNKNOWN', reason });
    isRefused = false;
    await service.reached(id, rid, 'DEPLOYED');
  });

  it('ends at its time limit', async () => {
    service.options = { timeLimit: 300 };
    executor.builds = endless;
    await service.start(executor);
    const id = await service.deployment();
    const rid = await service.revision(id);
    await service.reached(id, rid, 'BUILD_FAILED');
    const { json } = await service.logs(`${id}/revisions/${rid}/build_logs`);
    expect(json.logs.at(-1).message).toBe('The time limit of 0.3 s has passed.');
    expect(executor.calls.at(-1)).toBe('close');
  });

  it('tells the commit that the ref stands for, once', async () => {
    const sha = 'c'.repeat(40);
    let asked = 0;
    service.commits = new (class extends CommitResolver {
      override async resolve(...names: string[]): Promise<string> {
        asked++;
        expect(names.slice(1)).toEqual(['integration', 'https://code.example/a/b', 'main']);
        return sha;
      }
      override archive(): Promise<AsyncIterable<Buffer>> {
        throw new Error('nobody needs it');
      }
    })();
    await service.start(executor);
    const id = await service.deployment({ integration_id: 'integration', repo_url: 'https://code.example/a/b' });
    const rid = await service.revision(id);
    await service.reached(id, rid, 'DEPLOYED');
    const events = await service.store.read(streamName('rollout', rid));
    expect(events.filter(({ type }) => type === 'CommitResolved').map(({ data }) => data)).toEqual([
      { deployment_id: id, revision_id: rid, repo_commit_sha: sha },
    ]);
    const reports = events.filter(({ type }) => type === 'RolloutStatusReported').map(({ data }) => data);
    expect(reports.at(-1)).toMatchObject({ status: 'DEPLOYED', repo_commit_sha: sha });
    expect(asked).toBe(1);
  });

  it.each([0, 1, 2])(
    'whose build ends after %d pieces of its source holds no answer of the code host',
    async (pieces) => {
      let [fetched, held] = [0, 0];
      service.commits = new (class extends CommitResolver {
        override resolve = () => Promise.resolve('c'.repeat(40));
        override async archive(): Promise<AsyncIterable<Buffer>> {
          [fetched, held] = [fetched + 1, held + 1];
          return (async function* () {
            try {
              for (;;) yield Buffer.from('piece');
            } finally {
              held--;
            }
          })();
        }
      })();
      executor.builds = async (_, { source }) => {
        const reading = (await source())![Symbol.asyncIterator]();
        for (let read = 0; read < pieces; read++) await reading.next();
        await reading.return!();
        throw new StepFailed('The build is broken.');
      };
      await service.start(executor);
      const id = await service.deployment({ integration_id: 'integration', repo_url: 'https://code.example/a/b' });
      await service.reached(id, await service.revision(id), 'BUILD_FAILED');
      expect([fetched, held]).toEqual([Math.min(pieces, 1), 0]);
    },
  );
});

describe('revisions of one deployment', () => {
  it('are rolled out one at a time: the newest follows, older ones are skipped', async () => {
    executor.builds = endless;
    await service.start(executor);
    const id = await service.deployment();
    const first = await service.revision(id);
    await called(`build ${first}`);
    const second = await service.revision(id);
    const third = await service.revision(id);
    executor.builds = () => Promise.resolve();
    await service.interrupt(id, first);
    await service.reached(id, third, 'DEPLOYED');
    expect(await service.statuses(id, second)).toEqual(['SKIPPED']);
    expect((await service.statuses(id, first)).at(-1)).toBe('INTERRUPTED');
    expect(executor.calls).not.toContain(`build ${second}`);
    expect(executor.mostAtOnce).toBe(1);
  });

  it('that are not ready yet make room for a newer one, whose id is in their log', async () => {
    executor.deploys = (step, { revision }) => (revision.resource_spec ? endless(step) : Promise.resolve());
    await service.start(executor);
    const id = await service.deployment();
    const first = await service.revision(id, { resource_spec: {} });
    await called(`deploy ${first}`);
    // The replacement is decided on what the stream says, as the deployments service does.
    await service.reached(id, first, 'DEPLOYING');
    const second = await service.replace(id, first);
    await service.reached(id, second, 'DEPLOYED');
    expect(await service.statuses(id, first)).toEqual([
      ...['AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING', 'INTERRUPTED'],
    ]);
    const { json } = await service.logs(`${id}/revisions/${first}/deploy_logs`);
    const told = json.logs.filter(({ message }: { message: string }) => message.includes(second));
    expect(told).toEqual([
      expect.objectContaining({ message: expect.stringContaining('took its place'), level: 'WARNING' }),
    ]);
    expect(executor.mostAtOnce).toBe(1);
  });

  it('do not wait for those of another deployment', async () => {
    executor.builds = (step, { revision }) => (revision.resource_spec ? endless(step) : Promise.resolve());
    await service.start(executor);
    const [slow, fast] = [await service.deployment(), await service.deployment()];
    const waiting = await service.revision(slow, { resource_spec: { cpu: 1 } });
    await called(`build ${waiting}`);
    await service.reached(fast, await service.revision(fast), 'DEPLOYED');
    expect((await service.statuses(slow, waiting)).at(-1)).toBe('BUILDING');
  });

  it('of one workspace leave a place to another one, which goes first', async () => {
    service.options = { concurrency: 4 };
    executor.builds = (step, { revision }) => (revision.resource_spec ? endless(step) : Promise.resolve());
    const queued: string[] = [];
    for (let count = 0; count < 12; count++) {
      const id = await service.deployment();
      queued.push(await service.revision(id, { resource_spec: { cpu: 1 } }));
    }
    const other = await service.deployment({}, {}, STRANGER);
    const rid = await service.revision(other);
    await service.start(executor);
    await service.reached(other, rid, 'DEPLOYED');
    const building = () => executor.calls.filter((call) => queued.some((revision) => call === `build ${revision}`));
    await until(building, ({ length }) => length === 3);
    const another = await service.deployment({}, {}, STRANGER);
    await service.reached(another, await service.revision(another), 'DEPLOYED');
    expect(building()).toHaveLength(3);
  });

  it('end their step when they are interrupted, whatever it then says', async () => {
    let ended = false;
    executor.deploys = async (step) => {
      await endless(step).catch(() => undefined);
      ended = true;
    };
    await service.start(executor);
    const id = await service.deployment();
    const rid = await service.revision(id);
    await called(`deploy ${rid}`);
    await service.interrupt(id, rid);
    await until(
      () => executor.calls.at(-1),
      (last) => last === 'close',
    );
    expect(ended).toBe(true);
    const said = await service.store.read(streamName('rollout', rid));
    expect(said.map(({ data }) => (data as { status?: string }).status)).not.toContain('DEPLOYED');
  });
});

describe('a service that stops', () => {
  it.each([
    { how: 'before it is written', written: false },
    { how: 'before it learns that it was written', written: true },
  ])('at any event, $how, goes on from there', async ({ written }) => {
    for (let appends = 0; ; appends++) {
      const id = await service.deployment();
      const rid = await service.revision(id);
      const store = new FailingStore(service.store, appends, written);
      await service.start(executor, store);
      const done = await until(
        async () => store.failed || (await service.statuses(id, rid)).includes('DEPLOYED'),
        (seen) => seen,
      );
      expect(done).toBe(true);
      await service.stop();
      await service.start(executor);
      const statuses = await service.reached(id, rid, 'DEPLOYED');
      expect(statuses.filter((status) => status === 'DEPLOYED')).toHaveLength(1);
      expect(statuses.at(-1)).toBe('DEPLOYED');
      await service.stop();
      if (!store.failed) break;
      expect(appends).toBeLessThan(30);
    }
    expect(executor.mostAtOnce).toBe(1);
  });

  it('ends its steps, and starts the revision over', async () => {
    executor.builds = endless;
    await service.start(executor);
    const id = await service.deployment();
    const rid = await service.revision(id);
    await called(`build ${rid}`);
    await service.stop();
    expect(executor.calls.at(-1)).toBe('close');
    executor.builds = () => Promise.resolve();
    await service.start(executor);
    await service.reached(id, rid, 'DEPLOYED');
    expect(executor.calls.filter((call) => call === `build ${rid}`)).toHaveLength(2);
  });

  it('without a word leaves its work to another once its hold has run out', async () => {
    const id = await service.deployment();
    const rid = await service.revision(id);
    await service.database.pool.query(
      `insert into rollout_duties (deployment_id, noted, holder, leased_until)
       values ($1, 1, gen_random_uuid(), now() + interval '1 second')`,
      [id],
    );
    await service.start(executor);
    await service.reached(id, rid, 'DEPLOYED');
    expect(executor.mostAtOnce).toBe(1);
  });

  it('at every attempt ends the revision in the end', async () => {
    service.options = { attempts: 2 };
    const id = await service.deployment();
    const rid = await service.revision(id);
    const begun = { type: 'RolloutStarted', data: { deployment_id: id } };
    await service.store.append(streamName('rollout', rid), 0, [begun, begun], {});
    await service.start(executor);
    await service.reached(id, rid, 'DEPLOY_FAILED');
    expect(executor.calls).toEqual(['prepare']);
  });
});

describe('what another process has said of the host since this one has', () => {
  const host = (id: string) => streamName('host', id);

  it('is read when the deployment has failed there: it is prepared, and READY is said again', async () => {
    await service.start(executor);
    const id = await service.deployment();
    await service.reached(id, await service.revision(id), 'DEPLOYED');
    const unknown = { type: 'HostStatusReported', data: { deployment_id: id, status: 'UNKNOWN', reason: 'no route' } };
    // A duty that an event notes late is done first: the duty with a failure takes its place once it is gone.
    const failed =
      'insert into rollout_duties (deployment_id, noted, failures) values ($1, 1, 1) on conflict do nothing';
    const { pool } = service.database;
    await until(
      () => pool.query('select from rollout_duties'),
      ({ rowCount }) => rowCount === 0,
    );
    await service.store.append(host(id), 'any', [unknown], {});
    await until(
      () => pool.query(failed, [id]),
      ({ rowCount }) => rowCount === 1,
    );
    await until(
      () => service.hostStatuses(id),
      (statuses) => statuses.at(-1) === 'READY',
    );
    expect(await service.hostStatuses(id)).toEqual(['READY', 'UNKNOWN', 'READY']);
    expect(executor.calls.filter((call) => call === 'prepare')).toHaveLength(2);
  });

  it('is read before anything is done to what runs: what was stopped there is not stopped again', async () => {
    await service.start(executor);
    const id = await service.deployment();
    await service.reached(id, await service.revision(id), 'DEPLOYED');
    const { length } = await service.store.read(streamName('deployment', id));
    const carriedOut = { type: 'ControlCarriedOut', data: { deployment_id: id, version: length + 1 } };
    await service.store.append(host(id), 'any', [carriedOut], {});
    await service.append(id, [{ type: 'DeploymentStopRequested', data: {} }]);
    const rid = await service.revision(id);
    // The revision has started what was stopped, which asks for another stop.
    await until(() => executor.calls.includes('stop'));
    expect(executor.calls.slice(-3)).toEqual([`deploy ${rid}`, 'close', 'stop']);
  });
});

it('a lease that was not given back counts as a failure, because its process has ended in the middle of its work', async () => {
  const { pool } = service.database;
  const [dead, living] = [1, 60_000].map((lease) => new RolloutQueue(pool, new RolloutsOptions({ lease })));
  const id = uuid();
  await dead!.note(id, 7);
  expect(await dead!.claim(1)).toEqual([{ id, tenant: null, noted: 7n, failures: 0 }]);
  const claimed = await until(
    () => living!.claim(1),
    ({ length }) => length === 1,
  );
  expect(claimed).toEqual([{ id, tenant: null, noted: 7n, failures: 1 }]);
  await living!.note(id, 7);
  await living!.note(id, 12);
  await living!.again(claimed[0]!);
  expect(await living!.claim(1)).toEqual([{ id, tenant: null, noted: 12n, failures: 0 }]);
});

it('only the process that holds a deployment gives the place of its rollout away', async () => {
  const { pool } = service.database;
  const former = new RolloutQueue(pool, new RolloutsOptions({ lease: 1 }));
  const present = new RolloutQueue(pool, new RolloutsOptions());
  const id = uuid();
  await former.note(id, 1);
  expect(await former.claim(1)).toHaveLength(1);
  await until(
    () => present.claim(1),
    (claimed) => claimed.length === 1,
  );
  const waits = async () => (await pool.query<{ waits: boolean }>('select waits from rollout_duties')).rows[0]?.waits;
  await former.leavePlace(id);
  expect(await waits()).toBe(false);
  await present.leavePlace(id);
  expect(await waits()).toBe(true);
});

it('a log that fails once, at whatever read or append, is never taken for a failure of what is rolled out or controlled', async () => {
  const seen: object[] = [];
  for (let before = 0; ; before++) {
    const store = new InterruptedStore(service.store, before);
    await service.start(executor, store);
    const id = await service.deployment({}, { TOKEN: 'secret' });
    const rid = await service.revision(id);
    executor.deploys = async (_, { secrets }) => void (await secrets());
    await until(
      () => service.statuses(id, rid),
      (statuses) => statuses.some((status) => /DEPLOYED|FAILED/.test(status)),
    );
    await service.append(id, [{ type: 'DeploymentStopRequested', data: {} }]);
    const host = () => service.store.read(streamName('host', id));
    await until(host, (events) => events.some(({ type }) => /^Control/.test(type)));
    await service.stop();
    const failures = (await service.statuses(id, rid)).filter((status) => /FAILED/.test(status));
    const unknown = (await service.hostStatuses(id)).filter((status) => status === 'UNKNOWN');
    const uncontrolled = (await host()).filter(({ type }) => type === 'ControlFailed').map(({ data }) => data);
    if (failures.length + unknown.length + uncontrolled.length > 0)
      seen.push({ before, failures, unknown, uncontrolled });
    if (!store.failed) break;
    expect(before).toBeLessThan(100);
  }
  expect(seen).toEqual([]);
});

describe('an executor that cannot be reached', () => {
  it('leaves the deployment UNKNOWN until it can', async () => {
    let failures = 2;
    executor.prepares = () => (failures-- > 0 ? Promise.reject(new Error('no route')) : Promise.resolve());
    await service.start(executor);
    const id = await service.deployment();
    const rid = await service.revision(id);
    await service.reached(id, rid, 'DEPLOYED');
    expect(await service.hostStatuses(id)).toEqual(['UNKNOWN', 'READY']);
  });

  it('is asked again in the middle of a rollout, as the same attempt', async () => {
    let failures = 1;
    executor.deploys = () =>
      failures-- > 0 ? Promise.reject(new ExecutorUnreachable('The cluster is away.')) : Promise.resolve();
    await service.start(executor);
    const id = await service.deployment();
    const rid = await service.revision(id);
    await service.reached(id, rid, 'DEPLOYED');
    expect(await service.hostStatuses(id)).toEqual(['READY', 'UNKNOWN', 'READY']);
    const types = (await service.store.read(streamName('rollout', rid))).map(({ type }) => type);
    expect(types.filter((type) => type === 'RolloutStarted')).toHaveLength(1);
  });

  it('ends the revision when the time limit passes meanwhile', async () => {
    service.options = { timeLimit: 300 };
    executor.deploys = () => {
      executor.prepares = () => Promise.reject(new Error('no route'));
      return Promise.reject(new ExecutorUnreachable('The cluster is away.'));
    };
    await service.start(executor);
    const id = await service.deployment();
    const rid = await service.revision(id);
    await service.reached(id, rid, 'DEPLOY_FAILED');
  });
});

describe('a deployment that is to be deleted', () => {
  it('has its rollout ended and everything taken away, again and again until that succeeds', async () => {
    executor.builds = endless;
    let failures = 1;
    executor.removes = () => (failures-- > 0 ? Promise.reject(new Error('busy')) : Promise.resolve());
    await service.start(executor);
    const id = await service.deployment();
    const rid = await service.revision(id);
    await called(`build ${rid}`);
    await service.append(id, [{ type: 'DeploymentDeletionRequested', data: { name: 'agent' } }]);
    await until(
      () => service.hostStatuses(id),
      (statuses) => statuses.includes('REMOVED'),
    );
    expect(executor.calls.slice(-3)).toEqual(['close', 'remove', 'remove']);
    expect((await service.database.pool.query('select from rollout_logs')).rowCount).toBe(0);
  });
});
