import { mkdirSync } from 'node:fs';
import { inBrowser } from '@fairlead/edge/testing';
import type { Installation } from '@fairlead/service/testing';
import type { Page } from 'playwright-core';
import { v4 as newId } from 'uuid';
import { appears, ConsoleWalk, settled } from '../testing/console/console-walk';
import { newGate } from '../testing/tenant-things';

jest.setTimeout(300_000);

inBrowser('A revision that gates hold', () => {
  let walk: ConsoleWalk;
  let installation: Installation;
  let page: Page;
  const shots = process.env.SCREENSHOTS;

  beforeAll(async () => {
    walk = await ConsoleWalk.start();
    ({ installation } = walk);
    page = await walk.open({ viewport: { width: 1440, height: 900 } });
    await walk.signIn(page);
  });
  afterAll(() => walk?.stop());
  afterEach(() => expect(walk.complaints.splice(0)).toEqual([]));

  async function evaluate(revision: string, wrong: number): Promise<string> {
    const time = new Date().toISOString();
    const score = (place: number) => Number(place >= wrong);
    const { dataset } = await installation.ask('POST', '/api/v1/datasets/upload-experiment', {
      ...{
        experiment_name: `experiment ${newId()}`,
        dataset_name: 'questions',
        experiment_metadata: { revision_id: revision },
      },
      ...{ experiment_start_time: time, experiment_end_time: time },
      results: Array.from({ length: 40 }, (_, place) => ({
        ...{ row_id: `01980055-0000-7000-8000-${String(place).padStart(12, '0')}`, inputs: { question: place } },
        ...{ actual_outputs: { answer: place }, start_time: time, end_time: time, run_name: 'agent' },
        evaluation_scores: [{ key: 'correct', score: score(place) }],
      })),
    });
    return dataset.id as string;
  }

  /** Looks at the page in both widths and themes. */
  async function looks(name: string): Promise<void> {
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      await settled(page);
      expect(await walk.looks(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      if (!shots) continue;
      mkdirSync(shots, { recursive: true });
      await page.screenshot({ path: `${shots}/${name}-${width}.png`, fullPage: true });
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  }

  it('says what it waits for, and is deployed anyway for a reason', async () => {
    const { id, revision: first } = await walk.deploy('held');
    const dataset = await evaluate(first, 4);
    await installation.ask('PUT', `/v2/deployments/${id}/gates`, { gates: [newGate('questions', dataset)] });
    await walk.changeImage(id, 'registry.example/held:2');
    await page.goto(`/o/-/host/deployments/${id}`);
    await appears(page.getByText('questions: No experiment on the dataset names the revision.'));
    await looks('nothing');
    const { latest_revision_id: second } = await installation.ask('GET', `/v2/deployments/${id}`);
    await evaluate(second as string, 4);
    const limits = page.getByRole('region', { name: 'Limits' });
    await appears(limits.getByText('the difference of correct'));
    await looks('limits');
    await page.getByRole('button', { name: 'Deploy it anyway …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('the judge was wrong');
    expect(await walk.faults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Deploy', exact: true }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await walk.deployed(id)).toBe(second);
    await appears(page.getByText('Live, v2'));
  });
});
