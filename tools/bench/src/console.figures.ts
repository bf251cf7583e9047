import { existsSync } from 'node:fs';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';
import { v7 as uuid } from 'uuid';
import type { BenchServer } from './bench-server';
import { experimentBody } from './experiment-body';
import { uploaded } from './experiments.figures';
import { type Figure, median, shown } from './figure';

/** Function of the browser, in which a part of this file runs. */
declare function requestAnimationFrame(callback: () => void): number;

const CHROMIUM = '/usr/bin/chromium';
const EXPERIMENTS = 5;
const ROWS = 20_000;
const ROUNDS = 5;
const FRAMES = 240;
const JUMPS = 10;
const VIEWPORT = { width: 1360, height: 850 };

/** Keeps in `rowsAt` when the first row had its text, in milliseconds since the page was asked for. */
const WATCH = `
  new MutationObserver((_, observer) => {
    if (!document.querySelector('[role=row][aria-rowindex="2"] button')) return;
    globalThis.rowsAt = performance.now();
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });`;

/** Times of a browser with a comparison of 5 × 20,000 rows; empty where there is no browser. */
export async function consoleFigures(server: BenchServer): Promise<Figure[]> {
  if (!existsSync(CHROMIUM)) {
    console.log(`       The web console was not measured: there is no ${CHROMIUM}.`);
    return [];
  }
  const ids: string[] = [];
  for (let n = 0; n < EXPERIMENTS; n++) {
    ids.push((await uploaded(server, experimentBody(ROWS, `shown ${n} ${uuid()}`, n))).session);
  }
  const { reference_dataset_id: dataset } = await server.send<{ reference_dataset_id: string }>(
    'GET',
    `/api/v1/sessions/${ids[0]}`,
  );
  const address = `/o/-/datasets/${dataset}/compare?selectedSessions=${ids.join()}&sort=row`;
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const opened: Opened[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await opened.at(-1)?.page.context().close();
      opened.push(await open(browser, server, address));
    }
    const { page } = opened.at(-1)!;
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Performance.enable');
    const empty = await scrollEmpty(browser);
    const scrolled = await scroll(page, devtools, 120);
    const flung = await scroll(page, devtools, 600);
    const jumps = await jump(page);
    await devtools.send('HeapProfiler.collectGarbage');
    const heap = (await metric(devtools, 'JSHeapUsedSize')) / 2 ** 20;
    const elements = await page.locator('*').count();
    const times = (of: readonly number[]) => of.map((time) => `${shown(time)} ms`).join(', ');
    const name = `console, comparison of ${EXPERIMENTS} × ${ROWS.toLocaleString('en')} rows`;
    const rows = opened.map(({ rowsAt }) => rowsAt);
    return [
      {
        name: `${name}: rows on the screen`,
        value: median(rows),
        unit: 'ms',
        goal: { atMost: 1200 },
        detail: times(rows),
      },
      {
        name: 'the same: frames a second while scrolling 120 px a frame, against an empty page',
        value: scrolled.rate / empty,
        unit: '',
        goal: { atLeast: 0.85 },
        detail: `${shown(scrolled.rate)}/s of ${shown(empty)}/s`,
      },
      {
        name: 'the same: CPU of a frame meanwhile',
        value: scrolled.cpu,
        unit: 'ms',
        goal: { atMost: 16 },
        detail: `mean of ${FRAMES} frames`,
      },
      {
        name: 'the same: CPU of a frame while flinging 600 px a frame',
        value: flung.cpu,
        unit: 'ms',
        goal: { atMost: 16 },
        detail: `mean of ${FRAMES} frames`,
      },
      {
        name: 'the same: a jump until its rows are there',
        value: median(jumps),
        unit: 'ms',
        goal: { atMost: 300 },
        detail: times(jumps),
      },
      {
        name: 'the same: heap after all of it',
        value: heap,
        unit: 'MB',
        goal: { atMost: 100 },
        detail: `${elements} elements`,
      },
    ];
  } finally {
    await browser.close();
  }
}

interface Opened {
  readonly page: Page;
  readonly rowsAt: number;
}

/** A browser that knows nothing yet, signed in, with the comparison. */
async function open(browser: Browser, server: BenchServer, address: string): Promise<Opened> {
  const context = await browser.newContext({ baseURL: server.url, viewport: VIEWPORT });
  const { path } = await server.send<{ path: string }>('POST', '/v1/console/codes');
  const page = await context.newPage();
  await page.goto(path);
  await page.waitForURL('**/experiments');
  await page.addInitScript(WATCH);
  await page.goto(address);
  await page.getByRole('button', { name: 'Open row 1:' }).waitFor();
  return { page, rowsAt: await page.evaluate<number>('globalThis.rowsAt') };
}

/** The members of a page's element that are used here. */
interface Part {
  scrollTop: number;
  readonly scrollHeight: number;
  querySelectorAll(selector: string): Iterable<Part>;
  closest(selector: string): Part | null;
  getAttribute(name: string): string | null;
}

/** Moves an element down by so many pixels in each of so many frames; answers how many frames a second that were. */
async function moved(element: Part, { pixels, frames }: { pixels: number; frames: number }): Promise<number> {
  element.scrollTop = 0;
  const start = performance.now();
  for (let frame = 0; frame < frames; frame++) {
    await new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
    element.scrollTop += pixels;
  }
  return (frames * 1000) / (performance.now() - start);
}

/** Frames a second, and milliseconds of the main thread for each, while the rows move by so many pixels a frame. */
async function scroll(page: Page, devtools: CDPSession, pixels: number): Promise<{ rate: number; cpu: number }> {
  const before = await metric(devtools, 'TaskDuration');
  const rate = await viewport(page).evaluate(moved, { pixels, frames: FRAMES });
  return { rate, cpu: (((await metric(devtools, 'TaskDuration')) - before) * 1000) / FRAMES };
}

/** Frames a second of a page that is nothing but high. */
async function scrollEmpty(browser: Browser): Promise<number> {
  const page = await browser.newPage({ viewport: VIEWPORT });
  await page.setContent(`<div style="height:600px;overflow:auto"><div style="height:100000px"></div></div>`);
  const rate = await page.locator('div').first().evaluate(moved, { pixels: 120, frames: FRAMES });
  await page.close();
  return rate;
}

/** Milliseconds until rows are there, for jumps to places that were not seen yet. */
async function jump(page: Page): Promise<number[]> {
  const found: number[] = [];
  for (let n = 1; n <= JUMPS; n++) {
    const place = Math.floor((n / (JUMPS + 1)) * ROWS);
    found.push(
      await viewport(page).evaluate(
        async (element: Part, [index, rows]: [number, number]) => {
          const start = performance.now();
          element.scrollTop = (element.scrollHeight * index) / rows;
          const isThere = () =>
            [...element.querySelectorAll('[role=row] button')].some((button) => {
              const at = Number(button.closest('[role=row]')!.getAttribute('aria-rowindex'));
              return Math.abs(at - index) < 10;
            });
          while (!isThere()) await new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
          return performance.now() - start;
        },
        [place, ROWS] as [number, number],
      ),
    );
  }
  return found;
}

function viewport(page: Page) {
  return page.getByRole('region', { name: `${ROWS.toLocaleString('en')} rows` });
}

async function metric(devtools: CDPSession, wanted: string): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === wanted)!.value;
}
