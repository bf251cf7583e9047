import { mkdirSync } from 'node:fs';
import { inBrowser } from '@fairlead/edge/testing';
import type { Installation } from '@fairlead/service/testing';
import type { Page } from 'playwright-core';
import { v4 as newId } from 'uuid';
import { until } from '@fairlead/postgres/testing';
import { appears, ConsoleWalk, settled, tabTo } from '../testing/console/console-walk';

jest.setTimeout(300_000);

const ROWS = 40;
/** Wrong rows of each revision, of the experiments that name it. */
const WRONG = [[6, 7], [4], [5], [], [19]];

inBrowser('Revisions with scores', () => {
  let walk: ConsoleWalk;
  let installation: Installation;
  let page: Page;
  let deployment: string;
  /** Ids of the revisions, the oldest first. */
  let revisions: string[];
  let dataset: string;
  const shots = process.env.SCREENSHOTS;

  beforeAll(async () => {
    walk = await ConsoleWalk.start();
    ({ installation } = walk);
    deployment = (await walk.deploy('scored', WRONG.length)).id;
    type Revision = { id: string };
    const { resources } = await installation.ask('GET', `/v2/deployments/${deployment}/revisions`);
    revisions = (resources as Revision[]).map(({ id }) => id).reverse();
    for (const [at, experiments] of WRONG.entries()) {
      for (const wrong of experiments) await evaluate(revisions[at]!, at, wrong);
    }
    await trace(revisions[3]!, 30, 1);
    await trace(revisions[4]!, 20, 4);
    page = await walk.open({ viewport: { width: 1440, height: 900 } });
    await walk.signIn(page);
  });
  afterAll(() => walk?.stop());
  afterEach(() => expect(walk.complaints.splice(0)).toEqual([]));

  /** An experiment with so many wrong rows, which says what its rows used; waits until it is counted. */
  async function evaluate(revision: string, at: number, wrong: number, dataset_name = 'questions'): Promise<void> {
    const start = Date.parse('2026-01-01T00:00:00Z') + at * 3_600_000;
    const time = (ms: number) => new Date(start + ms).toISOString();
    const { dataset: uploaded, experiment } = await installation.ask('POST', '/api/v1/datasets/upload-experiment', {
      ...{ experiment_name: `v${at + 1} ${newId()}`, dataset_name },
      experiment_metadata: { revision_id: revision },
      ...{ experiment_start_time: time(0), experiment_end_time: time(60_000) },
      results: Array.from({ length: ROWS }, (_, place) => ({
        row_id: `01980055-0000-7000-8000-${String(place + 1000 * dataset_name.length).padStart(12, '0')}`,
        inputs: { question: `question ${place}` },
        actual_outputs: { answer: `answer ${place} of v${at + 1}` },
        ...{ start_time: time(place * 10), end_time: time(place * 10 + 900 + at * 150), run_name: 'agent' },
        run_metadata: {
          usage_metadata: {
            input_tokens: 500 + at * 20,
            output_tokens: 60 + place,
            total_tokens: 560 + at * 20 + place,
            total_cost: 0.002 + at * 0.0005,
          },
        },
        evaluation_scores: [
          { key: 'correct', score: Number((place * 7) % ROWS >= wrong) },
          { key: 'helpfulness', score: 0.9 - ((place * 3) % 10) / 40 - wrong / 100 },
        ],
      })),
    });
    dataset ??= uploaded.id as string;
    await until(
      () => installation.ask('GET', `/api/v1/sessions/${experiment.id}`),
      ({ run_count, feedback_stats }) => run_count === ROWS && Boolean(feedback_stats),
    );
  }

  /** Live runs of a revision, of which some have failed. */
  async function trace(revision: string, count: number, failed: number): Promise<void> {
    const runs = Array.from({ length: count }, (_, place) => {
      const id = newId();
      const start = Date.now() - (place + 1) * 60_000;
      return {
        ...{ id, trace_id: id, name: 'agent', run_type: 'llm', session_name: 'scored' },
        dotted_order: `${new Date(start).toISOString().replace(/[-:.]/g, '').replace('Z', '000Z')}${id}`,
        start_time: new Date(start).toISOString(),
        end_time: new Date(start + 1200 + place * 20).toISOString(),
        inputs: { question: place },
        outputs: {
          answer: place,
          usage_metadata: { input_tokens: 600, output_tokens: 80, total_tokens: 680, total_cost: 0.0031 },
        },
        extra: { metadata: { revision_id: revision } },
        ...(place < failed && { error: 'Timeout' }),
      };
    });
    await installation.ask('POST', '/api/v1/runs/batch', { post: runs });
    await until(
      () => installation.ask('GET', `/api/v1/revisions/scores?revision_ids=${revision}`),
      ({ resources: [one] }) => one.live.runs === count && one.live.total_tokens !== null,
    );
  }

  /** Looks at the page in both widths and themes. */
  async function looks(name: string): Promise<void> {
    for (const [width, height] of [
      [390, 844],
      [1440, 900],
    ] as const) {
      await page.setViewportSize({ width, height });
      await settled(page);
      expect(await walk.looks(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      if (!shots) continue;
      mkdirSync(shots, { recursive: true });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: `${shots}/${name}-${width}-${colorScheme}.png`, fullPage: true });
      }
    }
  }

  it('have them in the list, with links to the experiments and the runs', async () => {
    await page.goto(`/o/-/host/deployments/${deployment}?tab=revisions`);
    const list = page.getByRole('region', { name: 'Revisions', exact: true });
    await appears(list.getByText('correct 0.838'));
    await appears(list.getByText('680 tokens a run').first());
    await looks('list');
    await list.getByRole('link', { name: 'Experiments of v1: 2 experiments' }).click();
    await appears(page.getByText('2 experiments in 1 dataset'));
    await page.goBack();
    await list.getByRole('link', { name: 'Runs of v5: 20 live runs' }).click();
    await appears(page.getByRole('region', { name: /Traces|Runs/ }).first());
    expect(new URL(page.url()).searchParams.get('metadata')).toBe(`revision_id=${revisions[4]}`);
    await settled(page);
  });

  it('have a trend with intervals on the page of the deployment, of a score or a measure', async () => {
    await page.goto(`/o/-/host/deployments/${deployment}`);
    const trend = page.getByRole('region', { name: 'Trend' });
    await appears(trend.getByText('0.838'));
    await appears(page.getByRole('img', { name: /^4 revisions, from 0.838 to 0.525/ }));
    await looks('trend');
    await page.getByLabel('Followed').selectOption('Latency');
    await page.waitForURL(/measure=latency/);
    await appears(
      page.getByRole('img', { name: '4 revisions, from 900 ms to 1.5 s; the table below has the numbers' }),
    );
    await page.reload();
    await appears(trend.getByText('1.5 s').first());
    const compare = page.getByRole('link', { name: 'Compare row by row' });
    await tabTo(compare);
    await page.keyboard.press('Enter');
    await appears(page.getByText(/4 experiments · 40 rows/));
    await page.goBack();
    await trend.getByRole('link', { name: 'Experiments of v1: 2' }).click();
    await appears(page.getByText(/2 experiments · 40 rows/));
    expect(new URL(page.url()).pathname).toBe(`/o/-/datasets/${dataset}/compare`);
    await settled(page);
  });

  it('are told when one goes back, of what is deployed again and of what is live', async () => {
    await page.goto(`/o/-/host/deployments/${deployment}?tab=revisions`);
    await page.getByRole('button', { name: 'Roll back to v2' }).click();
    const known = page.getByRole('dialog').getByRole('region', { name: 'Scores', exact: true });
    await appears(known.getByRole('row', { name: 'correct 0.9 0.525 –' }));
    await appears(known.getByRole('row', { name: 'Cost of a run 0.0025 0.004 0.0031' }));
    await appears(known.getByRole('columnheader', { name: 'v5 live Runs of v5: 20 live runs' }));
    await looks('roll-back');
    await known.getByRole('link', { name: 'Compare their newest experiments row by row' }).click();
    await appears(page.getByText(/2 experiments · 40 rows/));
    await settled(page);
  });

  it('are told at each step of a bisection, and of the first bad one', async () => {
    await page.goto(`/o/-/host/deployments/${deployment}?tab=revisions&good=v1&bad=v5`);
    const panel = page.getByRole('region', { name: 'Bisect' });
    await appears(panel.getByRole('row', { name: 'correct 0.838 0.875 0.525 –' }));
    await appears(panel.getByRole('columnheader', { name: /^v3 to try/ }));
    await looks('bisect');
    await panel.getByRole('button', { name: 'Good' }).click();
    await panel.getByRole('button', { name: 'Good' }).click();
    await appears(panel.getByText('v5 is the first bad revision'));
    await appears(
      panel
        .getByRole('row', { name: 'Errors – 0 % 20 %' })
        .or(panel.getByRole('row', { name: 'Errors 3.33 % 0 % 20 %' })),
    );
    await looks('found');
  });

  it('are compared row by row with tokens and cost, and by score against cost', async () => {
    await page.goto(`/o/-/host/deployments/${deployment}`);
    await page.getByRole('link', { name: 'Compare row by row' }).click();
    await appears(page.getByRole('gridcell').getByText('560 tokens'));
    await appears(page.getByRole('gridcell').getByText('cost 0.0025').first());
    await page.getByRole('button', { name: 'Statistics', exact: true }).click();
    const costs = page.getByRole('region', { name: 'Scores and costs' });
    await appears(costs.getByRole('row', { name: /^3 v3 \S+ 0.875 0.003 2$/ }));
    await appears(
      page.getByRole('img', { name: '4 experiments by correct and cost of a run; the table below has the numbers' }),
    );
    await tabTo(costs);
    await looks('cost');
    const [, two] = new URL(page.url()).searchParams.get('selectedSessions')!.split(',');
    await page.goto(`/o/-/datasets/${dataset}/compare?selectedSessions=${two}&panel=statistics`);
    await appears(page.getByRole('heading', { name: 'correct' }));
    expect(await page.getByText('Score against cost').count()).toBe(0);
  });

  it('are of one dataset alone where revisions stand beside each other', async () => {
    const { id } = await walk.deploy('mixed', 2);
    const { resources } = await installation.ask('GET', `/v2/deployments/${id}/revisions`);
    const [second, first] = resources as { id: string }[];
    for (const [revision, wrong, name] of [
      [first!, 10, 'questions'],
      [second!, 20, 'questions'],
      [second!, 0, 'others'],
    ] as const) {
      await evaluate(revision.id, 0, wrong, name);
    }
    await page.goto(`/o/-/host/deployments/${id}?tab=revisions`);
    await page.getByRole('button', { name: 'Roll back to v1' }).click();
    const dialog = page.getByRole('dialog');
    await appears(dialog.getByText('Only experiments on a dataset that all of them have are counted.'));
    await appears(dialog.getByRole('row', { name: 'correct 0.75 0.5' }));
    await settled(page);
    expect(await walk.looks(page)).toEqual([]);
  });

  it('say so when they have none, and when they cannot be read', async () => {
    const { id } = await walk.deploy('unscored', 2);
    await page.goto(`/o/-/host/deployments/${id}`);
    await appears(page.getByText('No experiment names a revision of this deployment.'));
    await looks('none');
    await page.goto(`/o/-/host/deployments/${id}?tab=revisions`);
    await page.getByRole('button', { name: 'Roll back to v1' }).click();
    await appears(
      page.getByRole('dialog').getByText('No scores: no experiment and no live run names these revisions.'),
    );
    await page.keyboard.press('Escape');
    await page.route('**/api/v1/revisions/**', (route) =>
      route.fulfill({ status: 404, json: { detail: 'not just now' } }),
    );
    await page.reload();
    await appears(page.getByText('not just now'));
    expect(await walk.looks(page)).toEqual([]);
    await page.unroute('**/api/v1/revisions/**');
    await page.getByRole('button', { name: 'Try again', exact: true }).click();
    await page.getByText('not just now').waitFor({ state: 'detached' });
  });
});
