// Makes the pictures of the README and of the documentation anew: fills the service at FAIRLEAD_URL, whose key is
// FAIRLEAD_KEY, with the demo, and looks at it with Chromium.
//
//   node tools/pictures/pictures.mjs [name …]
//   node tools/pictures/pictures.mjs --all pictures [page …]     every page, in both themes and two widths, into a folder
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { root } from '../start/prepare.mjs';

const CHROMIUM = '/usr/bin/chromium';
const OUTPUT = join(root, 'docs/console');
const QUALITY = 82;
const DRAWN =
  'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn, 300))))';

const args = process.argv.slice(2);
const cli = ['-r', join(root, 'tools/test/typescript.cjs'), join(root, 'apps/cli/src/main.ts')];
const fairlead = (...line) => execFileSync(process.execPath, [...cli, ...line], { encoding: 'utf8' });
const made = JSON.parse(fairlead('demo', '--json'));
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
try {
  const signIn = async (options) => {
    const link = new URL(fairlead('console').trim());
    const context = await browser.newContext({ baseURL: link.origin, reducedMotion: 'reduce', ...options });
    const page = await context.newPage();
    await page.goto(link.href);
    await page.waitForURL('**/o/-/experiments');
    return page;
  };
  if (args[0] === '--all') await everyPage(signIn, made, args[1], args.slice(2));
  else await pictures(signIn, made, args);
} finally {
  await browser.close();
}

/** The pictures of the documentation: where each is taken, and what is done there first. */
async function pictures(signIn, made, chosen) {
  const { dataset, experiments, deployment, project } = made;
  const [baseline, prompt] = Object.values(experiments);
  const all = Object.values(experiments).join(',');
  const compared = `/o/-/datasets/${dataset}/compare?selectedSessions=`;
  const app = `/o/-/host/deployments/${deployment}`;
  const scenes = {
    compare: { path: compared + all, then: hasRows },
    row: {
      path: `${compared}${baseline},${prompt}`,
      then: async (page) => {
        await hasRows(page);
        await page.keyboard.press('n');
        await page.getByRole('complementary', { name: 'Row' }).getByText('Output').first().waitFor();
      },
    },
    trace: { path: `/o/-/projects/p/${project}?status=error`, then: openTrace },
    deployment: { path: app, height: 800 },
    bisect: { path: `${app}?tab=revisions&good=v1&bad=v3`, height: 640 },
    'roll-back': {
      path: `${app}?tab=revisions`,
      height: 760,
      then: async (page) => {
        await page.getByRole('button', { name: 'Roll back to v1' }).click();
        await page.getByText('Makes a revision').waitFor();
        await page.getByLabel('Reason').fill('customers read the wrong policy');
      },
    },
    audit: { path: '/o/-/audit', height: 800 },
  };
  for (const [name, { path, then, height = 848 }] of Object.entries(scenes)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const page = await signIn({ viewport: { width: 1440, height }, colorScheme: 'light' });
    await page.goto(path);
    await settled(page);
    await then?.(page);
    await settled(page);
    await shot(page, join(OUTPUT, `${name}.webp`));
    await page.context().close();
  }
}

/** Resolves when a comparison shows rows, and where it got worse. */
async function hasRows(page) {
  await page.getByRole('button', { name: /^Open row 1:/ }).waitFor();
  await page.getByRole('button', { name: /Worse in/ }).waitFor();
}

/** Opens the first trace of a list, at its last step. */
async function openTrace(page) {
  await page.getByRole('main').getByRole('link').nth(0).waitFor();
  await page.getByRole('table').getByRole('link').first().click();
  await settled(page);
}

/** Every page of the console, light and dark, at the width of a desk and of a phone. */
async function everyPage(signIn, { dataset, experiments, deployment, project }, folder, chosen) {
  mkdirSync(folder, { recursive: true });
  const all = Object.values(experiments).join(',');
  const app = `host/deployments/${deployment}`;
  const paths = {
    experiments: 'experiments',
    datasets: 'datasets',
    dataset: `datasets/${dataset}`,
    examples: `datasets/${dataset}?tab=examples`,
    compare: `datasets/${dataset}/compare?selectedSessions=${all}`,
    projects: 'projects',
    project: `projects/p/${project}`,
    deployments: 'host/deployments',
    ...Object.fromEntries(
      ['overview', 'revisions', 'history', 'secrets', 'logs', 'settings'].map((tab) => [tab, `${app}?tab=${tab}`]),
    ),
    integrations: 'integrations',
    audit: 'audit',
    keys: 'keys',
    health: 'health',
    demo: 'demo',
  };
  for (const colorScheme of ['light', 'dark']) {
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ]) {
      const page = await signIn({ viewport: { width, height }, colorScheme });
      for (const [name, path] of Object.entries(paths)) {
        if (chosen.length > 0 && !chosen.includes(name)) continue;
        await page.goto(`/o/-/${path}`);
        await settled(page);
        await shot(page, join(folder, `${name}-${colorScheme}-${width}.webp`));
      }
      await page.context().close();
    }
  }
}

/** Resolves when a page has loaded what it shows, and stands still. */
async function settled(page) {
  const shown = page.locator('main:not(:has([aria-busy="true"])) h1').first();
  await shown.waitFor();
  await page.evaluate(DRAWN);
  await shown.waitFor();
}

async function shot(page, file) {
  const devtools = await page.context().newCDPSession(page);
  const { data: image } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  writeFileSync(file, Buffer.from(image, 'base64'));
  console.log(file);
}
