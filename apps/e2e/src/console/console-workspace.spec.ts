import { Client } from 'langsmith';
import { createHmac, randomUUID } from 'node:crypto';
import { inBrowser } from '@fairlead/edge/testing';
import { CodeHostServer } from '@fairlead/integrations/testing';
import { type Installation, OPERATOR } from '@fairlead/service/testing';
import type { Page } from 'playwright-core';
import { appears, ConsoleWalk, settled, tabTo } from '../testing/console/console-walk';
import { type Outside, startOutside } from '../testing/outside';
import { askUntil } from '../testing/route-service';
import { newDeployment, upload } from '../testing/tenant-things';

/** A request that waits for changes; others only ask what has changed. */
const WAITS = /\/v1\/changes\?after=\d+&wait=25/;

let walk: ConsoleWalk;
let installation: Installation;
let outside: Outside;
let page: Page;

/** An experiment on a dataset of its own, and its run. */
async function uploaded(name: string) {
  type Uploaded = { dataset: { id: string }; experiment: { id: string } };
  const { dataset, experiment }: Uploaded = await installation.ask(
    'POST',
    '/api/v1/datasets/upload-experiment',
    upload(name),
  );
  const run = await askUntil(async () => {
    const { runs } = await installation.ask('POST', '/api/v1/runs/query', { session: [experiment.id] });
    return (runs as { id: string }[])[0]?.id;
  });
  return { dataset: dataset.id, run };
}

/** Lets a repository be told of gates, then of less, then of nothing, with the keyboard alone. */
async function tellsVerdicts(repo_url: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  const told = page.getByRole('region', { name: 'Repositories that are told' });
  const reports = async () => (await installation.ask('GET', '/v1/integrations')).resources[0].reports as object[];
  const choose = async (label: string, key: 'n' | 'y') => {
    await tabTo(dialog.getByLabel(label));
    await page.keyboard.press(key);
  };
  const save = async () => {
    await tabTo(dialog.getByRole('button', { name: 'Save' }));
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
  };
  await appears(page.getByText('No repository is told of them.'));
  await tabTo(page.getByRole('button', { name: 'Verdicts for agent' }));
  await page.keyboard.press('Enter');
  await appears(dialog.getByText(repo_url));
  expect(await walk.looks(page)).toEqual([]);
  await choose('One comment on each open pull request', 'n');
  await save();
  await appears(told.getByRole('row').filter({ hasText: repo_url }));
  expect(await reports()).toEqual([{ repo_url, statuses: true, comments: false }]);
  expect(await walk.looks(page)).toEqual([]);
  // Somebody else names another repository meanwhile, which stays.
  const [{ id }] = (await installation.ask('GET', '/v1/integrations')).resources as [{ id: string }];
  const other = { repo_url: `${repo_url}-of-others`, statuses: true, comments: true };
  await installation.ask('PATCH', `/v1/integrations/${id}`, { reports: [...(await reports()), other] });
  await tabTo(told.getByRole('button', { name: `Change ${repo_url}`, exact: true }));
  await page.keyboard.press('Enter');
  await choose('Statuses of commits', 'n');
  await save();
  await appears(told.getByText(other.repo_url));
  expect(await reports()).toEqual([other]);
}

inBrowser('The console of a workspace', () => {
  beforeAll(async () => {
    outside = await startOutside('a-token');
    walk = await ConsoleWalk.start({
      EXECUTOR: 'command',
      COMMAND_DEPLOY: `/bin/sh -c 'case "$FAIRLEAD_IMAGE_URI" in *slow*) sleep 600;; esac'`,
      OUTBOUND_ALLOW: '127.0.0.1',
    });
    ({ installation } = walk);
    page = await walk.open();
    await walk.signIn(page);
  });

  afterAll(async () => {
    await walk?.stop();
    outside?.stop();
  });

  afterEach(() => expect(walk.complaints.splice(0)).toEqual([]));

  it('shows what is shared to whoever opens the address that an SDK gave out, and nothing else', async () => {
    const { dataset, run } = await uploaded('shared with all');
    const client = new Client({ apiUrl: `${installation.url}/api/v1`, apiKey: OPERATOR, webUrl: installation.url });
    const { url } = await client.shareDataset(dataset);
    const stranger = await walk.open();
    await stranger.goto(url);
    await appears(stranger.getByRole('heading', { level: 1, name: 'shared with all' }));
    await appears(stranger.getByRole('cell', { name: 'shared with all' }));
    expect(await walk.faults(stranger)).toEqual([]);
    await stranger.getByRole('link', { name: 'Examples 1' }).click();
    await appears(stranger.getByRole('region', { name: 'Examples' }).getByText('shared with all'));

    await stranger.goto(await client.shareRun(run));
    await appears(stranger.getByRole('heading', { level: 1, name: 'shared with all' }));
    await appears(stranger.getByRole('group', { name: 'Output' }));
    await stranger.emulateMedia({ colorScheme: 'dark' });
    expect(await walk.faults(stranger)).toEqual([]);
    const below = '**/v2/public/*/runs/query';
    await stranger.route(below, (route) => route.fulfill({ status: 404, json: { detail: 'not just now' } }));
    await stranger.reload();
    await appears(stranger.getByRole('alert').getByText('not just now'));
    await stranger.unroute(below);
    await stranger.getByRole('button', { name: 'Try again' }).click();
    await stranger.getByRole('alert').waitFor({ state: 'detached' });
    await stranger.goto(`/api-host/public/${new URL(url).pathname.split('/')[2]}/d`);
    await appears(stranger.getByRole('heading', { level: 1, name: 'shared with all' }));

    await client.unshareDataset(dataset);
    await stranger.reload();
    await appears(stranger.getByText('not found'));
    await stranger.goto('/');
    await appears(stranger.getByLabel('API key'));
    await stranger.context().close();
  });

  it('shows which run took the place of one that failed', async () => {
    const path = '/api/v1/datasets/upload-experiment';
    const body = { ...upload('filled later'), summary_experiment_scores: undefined };
    const results = body.results.map((row) => ({ ...row, error: 'It broke.' }));
    const { experiment } = await installation.ask('POST', path, { ...body, results });
    await installation.ask('POST', `${path}?into=${experiment.id}`, body);
    const gone = await askUntil(async () => {
      const { resources } = await installation.ask('GET', `/v1/experiments/${experiment.id}/replaced-runs`);
      return (resources as { id: string; replaced_by: string }[])[0];
    });
    await page.goto(`/o/-/projects/p/${experiment.id}/r/${gone.id}`);
    await appears(page.getByText('It broke.'));
    expect(await page.getByRole('button', { name: 'Share …' }).count()).toBe(0);
    expect(await walk.faults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Show the run that replaced it' }).click();
    await page.waitForURL(`**/r/${gone.replaced_by}`);
    await appears(page.getByRole('button', { name: 'Share …' }));
  });

  it('adds a code host, deploys one of its repositories, and removes the host', async () => {
    await page.goto('/o/-/integrations');
    await page.getByRole('button', { name: 'Add a code host …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Company GitLab');
    await dialog.getByLabel('Host', { exact: true }).selectOption('gitlab');
    await dialog.getByLabel('Address').fill(outside.url);
    await dialog.getByLabel('Access token').fill('canary-of-the-host');
    expect(await walk.faults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await removed();
    expect(await page.content()).not.toContain('canary-of-the-host');
    await page.getByRole('link', { name: 'Company GitLab' }).click();
    await tellsVerdicts(`${outside.url}/team/agent`);
    await page.getByRole('button', { name: 'Deploy this: agent' }).click();
    await dialog.getByLabel('Name of the deployment').fill('from-a-repository');
    await dialog.getByRole('button', { name: 'Deploy', exact: true }).click();
    await page.waitForURL('**/host/deployments/*');
    await appears(page.getByRole('heading', { level: 1, name: 'from-a-repository' }));
    const { resources } = await installation.ask('GET', '/v2/deployments?name=from-a-repository');
    expect(resources[0]).toMatchObject({
      source: 'codehost',
      source_config: { repo_url: `${outside.url}/team/agent` },
      source_revision_config: { repo_ref: 'main' },
    });
    await page.goto('/o/-/integrations');
    await removeFirst('Company GitLab');
    await appears(page.getByText('No code host yet'));
  });

  it('shows what a code host delivered, what was made of it and why not, and the push of a revision', async () => {
    const secret = 'at least sixteen characters';
    const host = await CodeHostServer.start('github');
    const { id } = await installation.ask('POST', '/v1/integrations', {
      ...{ name: 'Company GitHub', provider: 'github', base_url: host.origin, webhook_secret: secret },
      credentials: { token: 'ghp_good' },
    });
    const [repository] = await installation.ask('GET', `/v1/integrations/codehost/${id}/repos`);
    const send = async (event: string, more: object, signedWith = secret) => {
      const body = JSON.stringify({ repository: { id: repository.id, html_url: repository.url }, ...more });
      const signature = createHmac('sha256', signedWith).update(body).digest('hex');
      await fetch(`${installation.url}/v1/integrations/${id}/webhook`, {
        method: 'POST',
        headers: {
          ...{ 'content-type': 'application/json', 'x-github-event': event, 'x-github-delivery': randomUUID() },
          'x-hub-signature-256': `sha256=${signature}`,
        },
        body,
      });
    };
    const push = (commit: string, branch: string, message: string) => {
      const head_commit = { id: commit, message, author: { name: 'Ada Author' } };
      const moved = { ref: `refs/heads/${branch}`, before: 'c'.repeat(40), after: commit };
      return send('push', { ...moved, head_commit, commits: [head_commit], pusher: { name: 'pia' } });
    };
    const { id: deployment } = await installation.ask('POST', '/v2/deployments', {
      ...{ name: 'pushed', source: 'codehost', secrets: [], source_revision_config: { repo_ref: 'main' } },
      source_config: { integration_id: id, repo_url: repository.url, build_on_push: true },
    });
    await walk.deployed(deployment as string);
    const message = 'Answer refunds from the policy';
    host.branches.main = { commit: 'd'.repeat(40), message, author: 'Ada Author' };
    await page.goto(`/o/-/integrations?open=${id}`);
    await appears(page.getByText('The code host has delivered nothing yet.'));
    await push('d'.repeat(40), 'main', message);
    await push('e'.repeat(40), 'a-feature', message);
    await send('ping', {});
    await send('push', {}, 'another secret than that');
    await page.reload();
    const deliveries = page.getByRole('region', { name: 'Deliveries' });
    const row = (text: string) => deliveries.getByRole('row').filter({ hasText: text });
    await appears(row('main at ddddddd by pia: Answer').getByText('Revision made'));
    await appears(row('a-feature at').getByText('No deployment follows refs/heads/a-feature of this repository.'));
    await appears(row('ping').getByText('The delivery reports no branch or tag that was moved'));
    await appears(row('without a valid signature').getByText('Refused'));
    expect(await walk.looks(page)).toEqual([]);
    const retried = page.waitForResponse('**/retry');
    await page.getByRole('button', { name: 'Try again: a-feature' }).click();
    expect((await retried).ok()).toBe(true);
    await row('main at ddddddd').getByRole('link', { name: 'pushed' }).click();
    const pushed = page.getByRole('region', { name: 'Revisions' }).getByRole('row').filter({ hasText: message });
    await appears(pushed.getByText('by Ada Author'));
    await appears(pushed.getByRole('cell', { name: 'pia' }));
    expect(await walk.looks(page)).toEqual([]);
    await page.getByRole('link', { name: 'History' }).click();
    await appears(page.getByRole('row').filter({ hasText: message }).getByRole('cell', { name: 'pia' }));
    await installation.ask('DELETE', `/v2/deployments/${deployment}`);
    await installation.ask('DELETE', `/v1/integrations/${id}`);
    await host.stop();
  });

  it('adds and removes an OAuth provider and a listener', async () => {
    const dialog = page.getByRole('dialog');
    await page.goto('/o/-/providers');
    await page.getByRole('button', { name: 'Add a provider …' }).click();
    await dialog.getByLabel('Id for paths').fill('company');
    await dialog.getByLabel('Name').fill('Company');
    await dialog.getByLabel('Authorization endpoint').fill('not an address');
    await dialog.getByLabel('Token endpoint').fill(`${outside.url}/token`);
    await dialog.getByLabel('Client id').fill('client');
    await dialog.getByLabel('Client secret').fill('canary-of-the-client');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await appears(dialog.getByRole('alert').getByText('“Authorization endpoint” should be a valid URL.'));
    await dialog.getByLabel('Authorization endpoint').fill('https://login.example/authorize');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await appears(page.getByText('https://login.example/authorize'));
    await removed();
    expect(await page.content()).not.toContain('canary-of-the-client');
    await removeFirst('Company', 'company');
    await appears(page.getByText('No OAuth provider yet'));

    await page.goto('/o/-/listeners');
    await page.getByRole('button', { name: 'Add a listener …' }).click();
    await dialog.getByLabel('Name of the cluster').fill('eu-production');
    await dialog.getByLabel('Namespaces').fill('agents, staging');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await appears(page.getByText('agents, staging'));
    await removeFirst('eu-production');
    await appears(page.getByText('No listener yet'));
  });

  it('adds a webhook, shows its secret once, sends a test and shows what became of it', async () => {
    await page.goto('/o/-/webhooks');
    await page.getByRole('button', { name: 'Add a webhook …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Address').fill(`${outside.url}/hook`);
    await dialog.getByLabel('Events').fill('dataset.deleted');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    const secret = await dialog.locator('code').textContent();
    await page.keyboard.press('Escape');
    await removed();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('link', { name: `${outside.url}/********` }).click();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await appears(page.getByRole('cell', { name: 'Delivered' }));
    await page.getByRole('link', { name: 'webhook.test' }).click();
    await appears(page.getByText('Attempt 1'));
    expect(await walk.faults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Send again' }).click();
    await appears(page.getByText('Attempt 2'));
    await page.getByRole('button', { name: 'Turn off' }).click();
    await appears(page.getByText('Off: requested'));
  });

  it('adds, changes, pauses and removes a monitor, and shows its state and what it found', async () => {
    const run = { session_name: 'watched', error: 'it broke', start_time: new Date().toISOString() };
    const post = Array.from({ length: 20 }, () => ({ id: randomUUID(), name: 'answer', ...run }));
    await installation.ask('POST', '/api/v1/runs/batch', { post });
    const [{ id }] = await askUntil(async () => {
      const found = (await installation.ask('GET', '/api/v1/sessions?name=watched')) as { id: string }[];
      return found.length > 0 ? (found as [{ id: string }]) : undefined;
    });
    await page.goto(`/o/-/projects/p/${id}`);
    await page.locator('main').getByRole('link', { name: 'Monitors' }).click();
    await appears(page.getByText('No monitor yet'));
    await page.getByRole('button', { name: 'Add a monitor …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('too many errors');
    await dialog.getByLabel('Threshold', { exact: true }).fill('0.2');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await appears(page.getByText('Error rate above 20 % in 60 min'));
    const { resources } = await installation.ask('GET', '/v1/monitors');
    const [{ id: monitor, project_id }] = resources as [{ id: string; project_id: string }];
    expect(project_id).toBe(id);
    await tabTo(page.getByRole('button', { name: 'Change too many errors' }));
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Looks in a row').fill('1');
    await dialog.getByLabel('Threshold to recover').fill('0.5');
    await dialog.getByRole('button', { name: 'Change' }).click();
    await appears(dialog.getByRole('alert').getByText('recovery_threshold may not be above threshold.'));
    await dialog.getByLabel('Threshold to recover').fill('0.1');
    expect(await walk.looks(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Change' }).click();
    await dialog.waitFor({ state: 'detached' });
    const now = async () => await installation.ask('GET', `/v1/monitors/${monitor}`);
    expect(await now()).toMatchObject({ threshold: 0.2, recovery_threshold: 0.1, looks: 1, min_runs: 20 });
    await appears(page.getByText('Alerting', { exact: true }));
    await appears(page.getByRole('cell', { name: '100 %' }));
    expect(await walk.looks(page)).toEqual([]);
    await tabTo(page.getByRole('button', { name: 'Pause too many errors' }));
    await page.keyboard.press('Enter');
    await appears(page.getByText('Paused', { exact: true }));
    expect(await now()).toMatchObject({ enabled: false, state: 'alerting' });
    await tabTo(page.getByRole('button', { name: 'Resume too many errors' }));
    await page.keyboard.press('Enter');
    await appears(page.getByText('Alerting', { exact: true }));
    expect(await now()).toMatchObject({ enabled: true });
    await page.getByRole('button', { name: 'Remove too many errors' }).click();
    await dialog.getByLabel('Type too many errors').fill('too many errors');
    await dialog.getByRole('button', { name: 'Remove for good' }).click();
    await appears(page.getByText('No monitor yet'));
  });

  it('keeps what is written in a page when the session cannot be read just now', async () => {
    await page.goto('/o/-/listeners');
    await page.getByRole('button', { name: 'Add a listener …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the cluster').fill('us-production');
    await dialog.getByLabel('Namespaces').fill('not-lost');
    const ask = `fetch('/v1/console/session').then((answer) => answer.json())`;
    const { workspace_id } = await page.evaluate<{ workspace_id: string }>(ask);
    // Not 503: that would be asked for again, for some seconds.
    await page.route('**/v1/console/session', (route) => route.fulfill({ status: 404, json: { detail: 'away' } }));
    const refused = page.waitForResponse('**/v1/console/session');
    await page.evaluate(
      `new BroadcastChannel('fairlead.changes.${workspace_id}').postMessage({ stale: [], ended: true })`,
    );
    await refused;
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await appears(page.getByText('not-lost'));
    await page.unroute('**/v1/console/session');
    await page.reload();
    await appears(page.getByText('not-lost'));
  });

  it('interrupts a rollout', async () => {
    const { id } = await walk.deploy('interrupted');
    await page.goto(`/o/-/host/deployments/${id}?tab=revisions`);
    await appears(page.getByText('v1', { exact: true }));
    await walk.changeImage(id, 'registry.example/slow:2');
    await page.getByRole('button', { name: 'Interrupt' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('it takes too long');
    await dialog.getByRole('button', { name: 'Interrupt' }).click();
    await dialog.waitFor({ state: 'detached' });
    const list = page.getByRole('region', { name: 'Revisions' });
    await appears(list.getByText('Interrupted', { exact: true }));
    await appears(list.getByText('Live', { exact: true }));
  });

  it('makes a deployment of an image, with a plan first, and shows what is measured of it', async () => {
    await page.goto('/o/-/host/deployments');
    await page.getByRole('button', { name: 'An image …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the deployment').fill('made-of-an-image');
    await dialog.getByLabel('Image with tag or digest').fill('registry.example/made:1');
    expect(await walk.faults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Show the plan' }).click();
    await appears(dialog.getByText('Makes a revision'));
    const { resources } = await installation.ask('GET', '/v2/deployments?name=made-of-an-image');
    expect(resources).toEqual([]);
    await dialog.getByLabel('Reason').fill('the first one');
    await dialog.getByRole('button', { name: 'Deploy', exact: true }).click();
    await page.waitForURL('**/host/deployments/*');
    await appears(page.getByText('Live, v1', { exact: true }));
    await appears(page.getByText('the first one'));
    await appears(page.getByRole('img', { name: 'Requests, not measured' }));
    expect(await walk.faults(page)).toEqual([]);
  });

  it('finds the first bad revision by halves, and keeps how far it is in the address', async () => {
    const { id } = await walk.deploy('halved', 5);
    await page.goto(`/o/-/host/deployments/${id}?tab=revisions`);
    await page.getByRole('button', { name: 'Bisect' }).click();
    const panel = page.getByRole('region', { name: 'Bisect' });
    await panel.getByLabel('Known good').selectOption('v1');
    await appears(panel.getByText('At most 2 steps left'));
    expect(await walk.faults(page)).toEqual([]);
    await panel.getByRole('button', { name: 'Roll back to v3' }).click();
    await appears(page.getByRole('dialog').getByText('registry.example/halved:3'));
    await page.keyboard.press('Escape');
    await panel.getByRole('button', { name: 'Bad' }).click();
    await appears(panel.getByText('1 step left'));
    expect(page.url()).toContain('good=v1');
    await page.reload();
    await panel.getByRole('button', { name: 'Good' }).click();
    await appears(panel.getByText('v3 is the first bad revision'));
    await appears(panel.getByText('registry.example/halved:2'));
    await page.goBack();
    await appears(panel.getByText('1 step left'));
    await panel.getByRole('button', { name: 'End' }).click();
    await panel.waitFor({ state: 'detached' });
    await page.goto(`/o/-/host/deployments/${id}?tab=revisions&good=v1&bad=v99`);
    await appears(panel.getByText('There is no v99 among these revisions'));
  });

  it('is filled with an example, by keyboard, and says what to try with it, until that is removed alone', async () => {
    const names = async () => {
      const paths = ['/api/v1/datasets', '/api/v1/sessions', '/v2/deployments'];
      const lists = await Promise.all(paths.map((path) => installation.ask('GET', path)));
      return lists.map((list) => (list.resources ?? list).map(({ name }: { name: string }) => name).sort());
    };
    const before = await names();
    await page.goto('/o/-/demo');
    const fill = page.getByRole('button', { name: 'Fill the workspace with it' });
    await tabTo(fill);
    await page.keyboard.press('Enter');
    await appears(page.getByRole('progressbar'));
    // The executor of this installation runs the operator's programs, which no example is to start.
    await appears(page.getByText('This installation deploys with command'));
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
    const links = page.getByRole('main').getByRole('listitem').getByRole('link');
    expect(await links.count()).toBe(4);
    await links.nth(1).click();
    await appears(page.getByText('30 of 300 rows'));
    await page.goto('/o/-/demo');
    await page.getByRole('button', { name: 'Remove the example …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await appears(fill);
    expect(await names()).toEqual(before);
  });

  it('misses nothing that changed before it was told where to begin to listen', async () => {
    const begins = /\/v1\/changes\?wait=0/;
    await page.route(
      begins,
      async (route) => {
        await installation.ask('POST', '/v2/deployments', newDeployment('made meanwhile'));
        // A page that waits no longer has gone on by itself.
        await route.continue().catch(() => undefined);
      },
      { times: 1 },
    );
    await page.goto('/o/-/host/deployments');
    await appears(page.getByRole('link', { name: 'made meanwhile' }));
  });

  it('follows what changes in all pages of a browser, of which one that is shown waits for the service', async () => {
    const context = page.context();
    const asked: Record<'first' | 'second', (string | undefined)[]> = { first: [], second: [] };
    const count = (of: Page, name: keyof typeof asked) =>
      of.on('request', (request) => {
        if (WAITS.test(request.url())) asked[name].push(request.headers()['x-unattended']);
      });
    await page.close();
    const [first, second] = [await walk.openIn(context), await walk.openIn(context)];
    count(first, 'first');
    count(second, 'second');
    const waiting = first.waitForRequest(WAITS);
    await first.goto('/o/-/host/deployments');
    await waiting;
    await second.goto('/o/-/host/deployments');
    await settled(second);
    await installation.ask('POST', '/v2/deployments', newDeployment('seen by both'));
    for (const one of [first, second]) await appears(one.getByRole('link', { name: 'seen by both' }));
    expect([new Set(asked.first), asked.second]).toEqual([new Set(['true']), []]);
    const goesOn = async (one: Page, end: () => Promise<unknown>) => {
      const next = one.waitForRequest(WAITS);
      await end();
      await next;
    };
    const turn = (state: 'hidden' | 'visible') =>
      first.evaluate(`
        Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));`);
    await goesOn(second, () => turn('hidden'));
    await installation.ask('POST', '/v2/deployments', newDeployment('seen by the second'));
    await appears(second.getByRole('link', { name: 'seen by the second' }));
    await turn('visible');
    await appears(first.getByRole('link', { name: 'seen by the second' }));
    await goesOn(first, () => second.close());
    await installation.ask('POST', '/v2/deployments', newDeployment('seen by the first'));
    await appears(first.getByRole('link', { name: 'seen by the first' }));
    page = first;
  });
});

/** Resolves when the dialog is removed, which is a moment after it was closed and lost its role. */
async function removed(): Promise<void> {
  await page.locator('dialog').waitFor({ state: 'detached' });
}

/** Removes the first thing of a list, by its name and what has to be typed. */
async function removeFirst(name: string, typed = name): Promise<void> {
  await page.getByRole('button', { name: `Remove ${name}` }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(`Type ${typed}`).fill(typed);
  await dialog.getByRole('button', { name: 'Remove for good' }).click();
  await dialog.waitFor({ state: 'detached' });
}
