import { randomUUID } from 'node:crypto';
import type { NewEvent } from '@fairlead/eventing';
import { TENANT } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import { PROVIDERS, type Provider } from '../integration/integration';
import { CodeHostServer } from '../testing/code-host.server';
import { HASTY, TestService } from '../testing/service';
import { HEAD } from '../testing/shapes';
import { LONGEST_COMMENT } from './comment-text';

const TOKENS = { github: 'ghp_good', gitlab: 'glpat-good', gitea: 'gitea-good', bitbucket: 'bb-good' } as const;
const OWNERS = { github: 'octo-org', gitlab: 'team/sub', gitea: 'forge', bitbucket: 'team' } as const;
/** Words of the hosts for pending, success, failure and for a commit on which nobody decides. */
const STATES = {
  github: ['pending', 'success', 'failure', 'error'],
  gitlab: ['pending', 'success', 'failed', 'canceled'],
  gitea: ['pending', 'success', 'failure', 'error'],
  bitbucket: ['INPROGRESS', 'SUCCESSFUL', 'FAILED', 'STOPPED'],
} as const;
/** The request that posts a comment. */
const POSTING = /^POST .*\/(comments|notes)$/;

let service: TestService;
let hosts: CodeHostServer[] = [];

beforeAll(async () => {
  service = await TestService.start({ deliveries: { patience: 60_000 }, limits: HASTY });
});
afterEach(async () => {
  for (const host of hosts) await host.stop();
  hosts = [];
  service.verdicts.more = '';
});
afterAll(async () => {
  await service?.stop();
});

interface Wanted {
  readonly provider?: Provider;
  readonly reports?: object[];
  /** Another deployment of the same repository. */
  readonly of?: { readonly host: CodeHostServer; readonly integration: string; readonly repo_url: string };
  readonly name?: string;
}

/** A deployment from `agent-0` of a host, whose revisions are of the head. */
async function deployed({ provider = 'github', of, name = 'agent', reports }: Wanted = {}) {
  const host = of?.host ?? (await CodeHostServer.start(provider));
  if (!of) hosts.push(host);
  const repo_url = of?.repo_url ?? `${host.origin}/${OWNERS[provider]}/agent-0`;
  const integration =
    of?.integration ??
    (await service.add({
      ...{ provider, base_url: host.origin, credentials: { token: TOKENS[provider] } },
      ...(reports?.length === 0 ? {} : { reports: (reports ?? [{}]).map((more) => ({ repo_url, ...more })) }),
    }));
  if (!of) host.reported.pulls = [{ number: 7, commit: HEAD, state: 'open' }];
  const id = randomUUID();
  const append = async (stream: string, type: NewEvent['type'], data: object) => {
    await service.store.append(stream, 'any', [{ type, data }], { tenant: TENANT, actor: 'system:test' });
  };
  const say = (type: NewEvent['type'], data: object) => append(`deployment-${id}`, type, data);
  const source = { source: 'codehost', source_revision_config: { repo_ref: 'main' } };
  await say('DeploymentCreated', {
    ...{ deployment_id: id, tenant_id: TENANT, name, secrets: [], secret_references: null, ...source },
    source_config: { integration_id: integration, repo_url },
  });
  /** A revision that its gates hold. */
  const hold = async (commit = HEAD) => {
    const revision_id = uuid7();
    await say('RevisionCreated', { revision_id, deployment_id: id, ...source, secrets: [], secret_references: null });
    await say('RevisionCommitResolved', { revision_id, repo_commit_sha: commit });
    await say('RevisionHeld', { revision_id, gates: [], active_revision_id: null, until: '2030-01-01T00:00:00.000Z' });
    return revision_id;
  };
  const judge = (revision_id: string, outcome: string, ...reasons: string[]) =>
    append(`gate-${revision_id}`, 'GateJudged', {
      ...{ deployment_id: id, revision_id, look: 1, outcome, reasons, method: 'm', data: '' },
      ...{ verdicts: [], experiments: [] },
    });
  const end = (revision_id: string, status: string, more: object = {}) =>
    say('RevisionStatusChanged', { revision_id, previous_status: 'AWAITING_DEPLOY', status, ...more });
  const release = (revision_id: string) => say('RevisionReleased', { revision_id, by: 'verdict' });
  return { host, integration, repo_url, id, say, hold, judge, end, release };
}

let last = 0;
/** Ids of revisions grow with time. */
function uuid7(): string {
  last = Math.max(Date.now(), last + 1);
  return (
    last
      .toString(16)
      .padStart(12, '0')
      .replace(/^(.{8})/, '$1-') + randomUUID().slice(13).replace(/^-./, '-7')
  );
}

async function reportsOf(integration: string) {
  const { json } = await service.send('GET', `/v1/integrations/${integration}/reports`);
  return json.resources as {
    revision_id: string;
    status: string;
    reason: string | null;
    standing: string;
    pulls: number[];
  }[];
}

/** Waits until nothing of an integration waits, and a revision has a status. */
async function settled(integration: string, revision: string, status = 'sent', standing?: string) {
  let found: Awaited<ReturnType<typeof reportsOf>>[number] | undefined;
  await until(async () => {
    found = (await reportsOf(integration)).find(({ revision_id }) => revision_id === revision);
    return found?.status === status && (standing === undefined || found.standing === standing);
  });
  return found!;
}

const states = (host: CodeHostServer) => host.reported.statuses.map(({ state }) => state);
const calls = (host: CodeHostServer, at: RegExp) =>
  host.asked.filter(({ method, path }) => at.test(`${method} ${path}`)).length;

describe.each(PROVIDERS)('%s', (provider) => {
  const [pending, success, failure, skipped] = STATES[provider];

  it('gives the commit a status, and the pull request one comment that is replaced', async () => {
    const { host, integration, hold, judge, release, id } = await deployed({ provider });
    host.reported.pulls.push({ number: 8, commit: 'd'.repeat(40), state: 'open' });
    host.reported.pulls.push({ number: 9, commit: HEAD, state: 'closed' });
    const revision = await hold();
    await settled(integration, revision);
    expect(host.reported.statuses).toEqual([
      {
        ...{ commit: HEAD, name: 'fairlead/agent', state: pending, description: 'Held by its gates.' },
        url: `https://fairlead.example/o/-/host/deployments/${id}?tab=revisions`,
      },
    ]);
    expect(host.reported.comments).toMatchObject([{ pull: 7 }]);
    expect(host.reported.comments[0]!.body).toMatch(
      /^\[\/\/\]: # \(fairlead [0-9a-f-]{36}\)\n\n## agent: held by its gates$/,
    );
    await judge(revision, 'promote', 'All is well.');
    await release(revision);
    await settled(integration, revision, 'sent', 'promoted');
    expect(states(host).at(-1)).toBe(success);
    expect(host.reported.comments).toHaveLength(1);
    expect(host.reported.comments[0]!.body).toContain('## agent: promoted by its gates');
  });

  it.each([
    ['DEPLOY_FAILED', failure, 'Refused by its gates: It is worse.'],
    ['SKIPPED', skipped, 'Skipped for a newer revision.'],
    ['INTERRUPTED', skipped, 'Ended before its gates have decided.'],
  ])('tells the end %s of a held revision as %s', async (status, state, description) => {
    const { host, integration, hold, end } = await deployed({ provider });
    const revision = await hold();
    await settled(integration, revision);
    await end(revision, status, { reason: 'It is worse.' });
    await until(() => states(host).at(-1) === state);
    expect(host.reported.statuses.at(-1)).toMatchObject({ state, description });
    expect(host.reported.comments).toHaveLength(1);
  });

  it('sends nothing without an opt-in', async () => {
    const { host, integration, hold, judge } = await deployed({ provider, reports: [] });
    const other = await deployed({ provider });
    const revision = await hold();
    await judge(revision, 'refuse', 'It is worse.');
    await settled(other.integration, await other.hold());
    const waiting = 'select 1 from verdict_reports where revision_id = $1';
    await until(async () => (await service.pool.query(waiting, [revision])).rowCount === 0);
    expect(host.asked).toEqual([]);
    expect(await reportsOf(integration)).toEqual([]);
  });

  it('finds a comment again whose identifier was lost, and removes a second one', async () => {
    const { host, integration, hold, release } = await deployed({ provider });
    host.reported.pulls = [{ number: 7, commit: HEAD, state: 'open' }];
    for (let n = 0; n < 60; n++) host.reported.add(7, `comment ${n} of somebody`);
    host.faultsAt = [{ at: POSTING, fault: 'lost' }];
    const revision = await hold();
    await settled(integration, revision);
    const ours = () => host.reported.comments.filter(({ body }) => body.startsWith('[//]: # (fairlead'));
    expect(ours()).toHaveLength(1);
    expect(calls(host, POSTING)).toBe(1);
    // A request that was cut off arrives late, and somebody copies the comment.
    const { body, author } = ours()[0]!;
    host.reported.add(7, body, author);
    host.reported.add(7, body, 7);
    await service.pool.query('update verdict_comments set posting = 1 where integration_id = $1', [integration]);
    await release(revision);
    await settled(integration, revision, 'sent', 'promoted');
    expect(ours().map((one) => [one.author, one.body.includes('promoted')])).toEqual([
      [author, true],
      [7, false],
    ]);
  });

  it('says where a permission is missing, and tells again when asked to', async () => {
    const { host, integration, hold } = await deployed({ provider });
    const secret = TOKENS[provider];
    host.faultsAt = [
      { at: /^POST .*status/, fault: { status: 403, body: `{"message": "no ${secret}"}` } },
      { at: POSTING, fault: { status: provider === 'github' ? 404 : 403 } },
    ];
    const revision = await hold();
    const { reason } = await settled(integration, revision, 'set_aside');
    expect(reason).toMatch(/^The commit got no status: .* answered 403: check the credentials of the integration\. /);
    expect(reason).toMatch(/ The pull request 7 got no comment: .*credentials of the integration/);
    expect(reason).not.toContain(secret);
    expect(service.log.join('\n')).not.toContain(secret);
    const path = `/v1/integrations/${integration}/reports/${revision}/retry`;
    expect(await service.send('POST', path)).toMatchObject({ status: 202, json: { status: 'waiting' } });
    await settled(integration, revision);
    expect(states(host)).toEqual([pending]);
    expect(host.reported.comments).toHaveLength(1);
  });
});

it('waits for a host that is gone, as long as the host asks, and tells the end alone', async () => {
  const { host, integration, hold, release } = await deployed();
  host.faultsAt = [
    ...Array.from({ length: 6 }, () => ({ at: /^POST .*\/statuses\//, fault: { status: 503 } })),
    { at: /^POST .*\/statuses\//, fault: { status: 429, headers: { 'retry-after': '4' } } },
  ];
  const revision = await hold();
  await until(async () => (await reportsOf(integration))[0]?.reason?.includes('503') === true);
  await release(revision);
  await until(() => host.faultsAt.length === 0);
  const asked = host.asked.length;
  const began = Date.now();
  await settled(integration, revision, 'sent', 'promoted');
  expect(Date.now() - began).toBeGreaterThan(3000);
  expect(asked).toBeGreaterThan(0);
  expect(states(host)).toEqual(['success']);
  expect(host.reported.comments).toHaveLength(1);
});

it('sets a report aside when the host does not come back', async () => {
  const { host, integration, hold } = await deployed();
  host.faultsAt = Array.from({ length: 100 }, () => ({ at: /./, fault: { status: 502 } }));
  const revision = await hold();
  await until(async () => ((await reportsOf(integration))[0]?.reason ?? null) !== null);
  await service.pool.query(`update verdict_reports set waits_since = now() - interval '1 day' where revision_id = $1`, [
    revision,
  ]);
  const { reason } = await settled(integration, revision, 'set_aside');
  expect(reason).toContain('502');
});

it('one comment tells of all deployments of a commit, which are told of at the same time', async () => {
  const first = await deployed({ name: 'one' });
  const others = [];
  for (const name of ['two', 'three', 'four']) others.push(await deployed({ of: first, name }));
  const all = [first, ...others];
  const revisions = await Promise.all(all.map(({ hold }) => hold()));
  for (const revision of revisions) await settled(first.integration, revision);
  expect(first.host.reported.comments).toHaveLength(1);
  const { body } = first.host.reported.comments[0]!;
  expect(body.match(/^## .*$/gm)).toEqual(
    ['four', 'one', 'three', 'two'].map((name) => `## ${name}: held by its gates`),
  );
});

it('a comment that another process holds waits, and a process that was killed is followed by another', async () => {
  const { host, integration, hold } = await deployed();
  const other = await deployed({ of: { host, integration, repo_url: `${host.origin}/octo-org/agent-0` } });
  await settled(integration, await hold());
  // Killed after it had posted, and before it had stored the identifier.
  await service.pool.query(
    `update verdict_comments set comment_id = null, body_hash = null, posting = 1, holder = gen_random_uuid(),
       held_until = now() + interval '1 hour' where integration_id = $1`,
    [integration],
  );
  const revision = await other.hold();
  await until(async () => (await reportsOf(integration))[0]?.status === 'waiting' && states(host).length === 2);
  expect(host.reported.comments).toHaveLength(1);
  await service.pool.query(`update verdict_comments set held_until = now() where integration_id = $1`, [integration]);
  await settled(integration, revision);
  expect(host.reported.comments).toHaveLength(1);
  expect(calls(host, POSTING)).toBe(1);
});

it('a comment that somebody has deleted is written anew', async () => {
  const { host, integration, hold, release } = await deployed();
  const revision = await hold();
  await settled(integration, revision);
  host.reported.comments = [];
  await release(revision);
  await settled(integration, revision, 'sent', 'promoted');
  expect(host.reported.comments).toHaveLength(1);
});

it('tells only what was chosen, and nothing after that was taken back', async () => {
  const { host, integration, hold, repo_url, release } = await deployed({ reports: [{ comments: false }] });
  const revision = await hold();
  await settled(integration, revision);
  expect([states(host), calls(host, /pulls/)]).toEqual([['pending'], 0]);
  const patch = (body: object) => service.send('PATCH', `/v1/integrations/${integration}`, { body });
  expect(await patch({ reports: [{ repo_url, statuses: false }] })).toMatchObject({
    ...{ status: 200, json: { reports: [{ repo_url, statuses: false, comments: true }] } },
  });
  await release(revision);
  await settled(integration, revision, 'sent', 'promoted');
  expect([states(host), host.reported.comments.length]).toEqual([['pending'], 1]);
  expect((await patch({ reports: [] })).json.reports).toEqual([]);
  const asked = host.asked.length;
  await hold();
  await service.send('POST', `/v1/integrations/${integration}/reports/${revision}/retry`);
  await settled(integration, revision, 'ignored');
  expect(host.asked).toHaveLength(asked);
});

it('a comment is never longer than the smallest host takes', async () => {
  const { host, integration, hold } = await deployed();
  service.verdicts.more = '\n\nwhat was found'.repeat(10_000);
  await settled(integration, await hold());
  const { body } = host.reported.comments[0]!;
  expect(body.length).toBeLessThanOrEqual(LONGEST_COMMENT);
  expect(body).toMatch(/\n\nThe rest is in Fairlead\.$/);
});

it('a revision without a commit is told when its commit is known', async () => {
  const { host, integration, say, id } = await deployed();
  const revision_id = uuid7();
  const config = { source: 'codehost', source_revision_config: { repo_ref: 'main' } };
  await say('RevisionCreated', { revision_id, deployment_id: id, ...config, secrets: [], secret_references: null });
  await say('RevisionHeld', { revision_id, gates: [], active_revision_id: null, until: '2030-01-01T00:00:00.000Z' });
  expect((await settled(integration, revision_id, 'ignored')).reason).toBe('The commit of the revision is not known.');
  await say('RevisionCommitResolved', { revision_id, repo_commit_sha: HEAD });
  await settled(integration, revision_id);
  expect(states(host)).toEqual(['pending']);
});

it('a silent host does not hold up another', async () => {
  const silent = await deployed();
  silent.host.faultsAt = Array.from({ length: 50 }, () => ({ at: /./, fault: 'silent' as const }));
  const slow = await silent.hold();
  const other = await deployed({ provider: 'gitea' });
  await settled(other.integration, await other.hold());
  expect((await reportsOf(silent.integration)).find(({ revision_id }) => revision_id === slow)?.status).toBe('waiting');
});

it('refuses repositories of other hosts, and those that are named twice', async () => {
  const { integration, host, repo_url } = await deployed();
  const patch = (body: object) => service.send('PATCH', `/v1/integrations/${integration}`, { body });
  expect(await patch({ reports: [{ repo_url: 'https://elsewhere.example/a/b' }] })).toMatchObject({
    ...{ status: 400, json: { detail: 'reports[0].repo_url is no repository on the host of base_url.' } },
  });
  expect(
    await patch({ reports: [{ repo_url }, { repo_url: `${repo_url.toUpperCase()}.git`.replace(/^HTTP/, 'http') }] }),
  ).toMatchObject({ status: 400 });
  expect(await patch({ reports: [{ repo_url, everything: true }] })).toMatchObject({ status: 422 });
  expect((await patch({ reports: Array.from({ length: 101 }, () => ({ repo_url })) })).status).toBe(422);
  expect(host.asked).toEqual([]);
  await service.send('DELETE', `/v1/integrations/${integration}`);
  expect((await service.send('GET', `/v1/integrations/${integration}/reports`)).status).toBe(404);
});

it('pages through reports, and forgets them with the integration', async () => {
  const { integration, hold } = await deployed({ reports: [{ comments: false }] });
  const revisions = [await hold(), await hold(), await hold()];
  for (const revision of revisions) await settled(integration, revision);
  const path = `/v1/integrations/${integration}/reports`;
  const first = await service.send('GET', `${path}?limit=2`);
  const next = await service.send('GET', `${path}?limit=2&cursor=${first.json.next_cursor as string}`);
  const ids = [first, next].flatMap(({ json }) =>
    (json.resources as { revision_id: string }[]).map((one) => one.revision_id),
  );
  expect(ids).toEqual(revisions.toReversed());
  expect(next.json.next_cursor).toBeNull();
  expect((await service.send('GET', `${path}?status=set_aside`)).json.resources).toEqual([]);
  expect((await service.send('POST', `${path}/${randomUUID()}/retry`)).status).toBe(404);
  await service.send('DELETE', `/v1/integrations/${integration}`);
  await until(async () => (await service.rows('verdict_reports', integration)) === 0);
  expect(await service.rows('verdict_comments', integration)).toBe(0);
});
