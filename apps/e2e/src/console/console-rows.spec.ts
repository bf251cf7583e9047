import { inBrowser } from '@fairlead/edge/testing';
import type { CDPSession, Page, Request } from 'playwright-core';
import { appears, ConsoleWalk, WATCH_SHIFT } from '../testing/console/console-walk';

/** Function of the browser, in which a part of this file runs. */
declare function requestAnimationFrame(callback: () => void): number;

const EXPERIMENTS = 5;
const ROWS = 20_000;
/** Most elements of a page that has shown rows from everywhere, and most megabytes of its heap. */
const MOST = { nodes: 2000, megabytes: 100, shift: 0.02, pagesAtATime: 3 };
/** Most bytes, compressed, that a browser fetches until the rows are there; every page takes part of them from its cache. */
const MOST_BYTES = { '.js': 200_000, '.css': 15_000 };

let walk: ConsoleWalk;
let page: Page;
let address: string;

function row(n: number, experiment: number) {
  const noise = ((n * 7919 + experiment * 104_729) % 1000) / 1000;
  return {
    row_id: `e0000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
    inputs: { question: `question number ${n} about a delayed parcel` },
    expected_outputs: { answer: `reference ${n}` },
    actual_outputs: {
      answer: `row ${n}: the carrier confirms the delay${noise < 0.3 ? ` as ${experiment} says` : ''}`,
    },
    start_time: '2026-01-01T00:01:00Z',
    end_time: '2026-01-01T00:01:02Z',
    evaluation_scores: [
      { key: 'correct', score: noise < 0.8 ? 1 : 0 },
      { key: 'similarity', score: noise },
      { key: 'cost', score: noise / 100 },
    ],
  };
}

inBrowser('A comparison of 5 × 20,000 rows', () => {
  beforeAll(async () => {
    walk = await ConsoleWalk.start();
    const { installation } = walk;
    let dataset: string | undefined;
    const ids: string[] = [];
    for (let n = 0; n < EXPERIMENTS; n++) {
      const body = {
        experiment_name: `experiment ${n}`,
        ...(dataset === undefined ? { dataset_name: 'large' } : { dataset_id: dataset }),
        experiment_start_time: `2026-01-01T00:00:0${n}Z`,
        experiment_end_time: '2026-01-01T01:00:00Z',
        results: Array.from({ length: ROWS }, (_, index) => row(index, n)),
      };
      const uploaded = await installation.ask('POST', '/api/v1/datasets/upload-experiment', body);
      dataset ??= uploaded.dataset.id as string;
      ids.push(uploaded.experiment.id as string);
    }
    address = `/o/-/datasets/${dataset}/compare?selectedSessions=${ids.join()}&sort=row`;
    page = await walk.open();
    await walk.signIn(page);
  });

  afterAll(() => walk?.stop());
  afterEach(() => expect(walk.complaints.splice(0)).toEqual([]));

  it('shows any of its rows, with few elements, little memory, and few requests at a time', async () => {
    await page.addInitScript(WATCH_SHIFT);
    let underWay = 0;
    let most = 0;
    const isPage = (url: string) => /\/compare\?.*offset=/.test(url);
    page.on('request', (request) => {
      if (isPage(request.url())) most = Math.max(most, ++underWay);
    });
    const ended = (request: Request) => {
      if (isPage(request.url())) underWay--;
    };
    page.on('requestfinished', ended).on('requestfailed', ended);
    // On a busy machine more is under way at a time and pages come in pieces: what is too much is so at each try.
    let seen = await looked(page, address);
    for (let tried = 1; tried < 3 && faultsOf({ ...seen, most }).length > 0; tried++) {
      underWay = most = 0;
      seen = await looked(page, address);
    }
    expect(faultsOf({ ...seen, most })).toEqual([]);
  });

  it('is there after few bytes of scripts and styles', async () => {
    const fresh = await walk.open();
    await walk.signIn(fresh);
    await fresh.goto(address);
    await appears(fresh.getByText('row 0: the carrier'), { timeout: 60_000 });
    // Those of the first page too: most come from the cache now, and are told with the bytes that they had.
    const loaded = await fresh.evaluate<{ name: string; encodedBodySize: number }[]>(
      `performance.getEntriesByType('resource').map(({ name, encodedBodySize }) => ({ name, encodedBodySize }))`,
    );
    for (const [ending, most] of Object.entries(MOST_BYTES)) {
      const files = loaded.filter(({ name }) => name.endsWith(ending));
      const bytes = files.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
      expect({ ending, bytes, few: bytes > 0 && bytes <= most }).toMatchObject({ ending, few: true });
    }
    await fresh.context().close();
  });

  it('begins above the fold, and with the row that the address names', async () => {
    const desk = await walk.open({ viewport: { width: 1440, height: 900 } });
    await walk.signIn(desk);
    const four = address.replace(/,[^,&]*&/, '&');
    await desk.goto(four);
    await appears(desk.getByText('row 0: the carrier'));
    const first = desk.getByRole('row').filter({ has: desk.getByRole('button', { name: 'Open row 1:' }) });
    expect((await first.boundingBox())!.y).toBeLessThanOrEqual(420);
    expect(await desk.evaluate('document.documentElement.scrollHeight')).toBe(900);
    await desk.goto(`${four}&row=${row(12_345, 0).row_id}`);
    const named = desk.getByRole('row', { selected: true });
    await appears(named.getByText('question number 12345 '));
    await desk.setViewportSize({ width: 390, height: 844 });
    await desk.goto(four);
    await appears(first);
    expect((await first.boundingBox())!.y).toBeLessThanOrEqual(844 - 64);
    await desk.context().close();
  });

  it('asks again for the rows that could not be read', async () => {
    const last = /\/compare\?.*offset=19900/;
    await page.route(last, (route) => route.fulfill({ status: 404, json: { detail: 'not just now' } }));
    await page.goto(address);
    await appears(page.getByText('row 0: the carrier'));
    const viewport = page.getByRole('region', { name: '20,000 rows' });
    await viewport.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
    await appears(page.getByRole('alert').getByText('not just now'));
    await page.unroute(last);
    await page.getByRole('button', { name: 'Try again' }).click();
    await appears(viewport);
  });
});

interface Seen {
  readonly nodes: number;
  readonly megabytes: number;
  readonly shift: number;
}

/** Goes to rows all over the comparison, and answers what the page has become then. */
async function looked(page: Page, address: string): Promise<Seen> {
  await page.goto(address);
  await appears(page.getByText('row 0: the carrier'));
  const viewport = page.getByRole('region', { name: '20,000 rows' });
  const pixels = await viewport.evaluate((element) => element.scrollHeight);
  const perRow = pixels / (ROWS + 1);
  for (const index of [10_000, 19_990, 123, 7777, 15_000, 40]) {
    await viewport.evaluate((element, top) => element.scrollTo({ top }), index * perRow);
    await appears(page.getByText(`row ${index}: the carrier`));
  }
  // Flung through all of it, a screen and a half in each frame.
  await viewport.evaluate(
    (element) =>
      new Promise<void>((resolve) => {
        element.scrollTop = 0;
        let frames = 0;
        const frame = () => {
          element.scrollTop += 900;
          if (++frames < 120) requestAnimationFrame(frame);
          else resolve();
        };
        requestAnimationFrame(frame);
      }),
  );
  await appears(page.getByText(/^…?row \d+: the carrier/));
  const devtools = await page.context().newCDPSession(page);
  const { nodes, megabytes } = await measured(devtools);
  return { nodes, megabytes, shift: await page.evaluate<number>('globalThis.shift') };
}

function faultsOf(seen: Seen & { readonly most: number }): string[] {
  const { nodes, megabytes, shift, most } = seen;
  const bounds = { nodes: MOST.nodes - nodes, megabytes: MOST.megabytes - megabytes, shift: MOST.shift - shift };
  const faults = Object.entries({ ...bounds, most: MOST.pagesAtATime - most }).filter(([, left]) => left < 0);
  return faults.map(([name]) => `${name} of ${JSON.stringify(seen)}`);
}

/** Elements of the document, and megabytes of the heap after a collection. */
async function measured(devtools: CDPSession): Promise<{ nodes: number; megabytes: number }> {
  await devtools.send('HeapProfiler.collectGarbage');
  await devtools.send('Performance.enable');
  const { metrics } = await devtools.send('Performance.getMetrics');
  const valueOf = (wanted: string) => metrics.find(({ name }) => name === wanted)!.value;
  const { result } = await devtools.send('Runtime.evaluate', { expression: 'document.querySelectorAll("*").length' });
  return { nodes: result.value as number, megabytes: valueOf('JSHeapUsedSize') / 2 ** 20 };
}
