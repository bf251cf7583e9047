import { readFileSync } from 'node:fs';
import { startBrowser } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import { Installation } from '@fairlead/service/testing';
import type { Browser, BrowserContext, Locator, Page, Request } from 'playwright-core';
import { newDeployment } from '../tenant-things';

/** A busy machine may take long for anything; only a test that fails waits for so long. */
const PATIENCE_MS = 120_000;
/** Elements of a page that one may pass with the key Tab, many times over. */
const MOST_TABS = 1000;
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
/** Signs that say something, and characters that turn the direction of a line; also characters that only look like them. */
const SIGNS = '[\u25b2\u25bc\u2248\u2715\u26a0\u25c2\u25b8\u21a9\u2191\u2193\u25cf\u25d0]';
const TURNS = '[\u202a-\u202e\u2066-\u2069]';
/**
 * Messages of browsers about an answer 401, 403, 404, 412 or 422; and about requests, which pages send again, when a
 * network interface of the machine comes or goes, as those of containers do.
 */
const EXPECTED = /the server responded with a status of 4(0|12|22)|net::ERR_NETWORK_CHANGED/;
/** Requests that wait until something changes: a page has loaded although they go on. */
export const WAITING = /\/v1\/changes\?/;
/** The requests of a page that have not been answered. */
const open = new WeakMap<Page, Set<Request>>();
/** Resolves when the page has drawn what it knows, and everything on it stands still. Runs in the page. */
const DRAWN = `(async () => {
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))));
  const ending = document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < Infinity);
  await Promise.allSettled(ending.map(({ finished }) => finished));
})()`;
/**
 * Faults that no page may have: signs without words, markup made of data, text that turns its direction. Runs in the
 * page.
 */
const UNSAID = `(() => {
  const faults = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const { data, parentElement: parent } = node;
    if (parent.closest('textarea')) continue;
    if (/${TURNS}/.test(data)) faults.push('turned: ' + parent.outerHTML.slice(0, 300));
    if (/${SIGNS}/.test(data) && !parent.closest('[aria-hidden=true], [aria-label], bdi, code')) {
      faults.push('a sign without words: ' + parent.outerHTML.slice(0, 300));
    }
  }
  for (const made of document.body.querySelectorAll('img, iframe, object, embed, script:not([src]), [onerror]')) {
    faults.push('markup: ' + made.outerHTML.slice(0, 300));
  }
  if (globalThis.polluted !== undefined || {}.polluted !== undefined) faults.push('a prototype was changed');
  return faults;
})()`;
/** Adds up in `shift` how far what a page shows has moved by itself, as its layout shift. Runs in the page. */
export const WATCH_SHIFT = `globalThis.shift = 0;
new PerformanceObserver((list) => {
  for (const { value } of list.getEntries()) globalThis.shift += value;
}).observe({ type: 'layout-shift', buffered: true });`;
/** Told of whatever the policy of the page forbids. */
const WATCH = `addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample);
});`;

/** A browser in front of an installation. */
export class ConsoleWalk {
  /** Complaints of browsers and pages. */
  readonly complaints: string[] = [];

  private constructor(
    readonly installation: Installation,
    readonly browser: Browser,
  ) {}

  static async start(...installed: Parameters<typeof Installation.start>): Promise<ConsoleWalk> {
    const installation = await Installation.start(...installed);
    try {
      return new ConsoleWalk(installation, await startBrowser());
    } catch (error) {
      // On a busy machine a browser may not start in time: nothing of the installation may outlive the test.
      await installation.stop();
      throw error;
    }
  }

  /** A page in a browser of its own, in which nobody is signed in. */
  async open(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const usual = { baseURL: this.installation.url, reducedMotion: 'reduce' } as const;
    const context = await this.browser.newContext({ ...usual, ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    await context.addInitScript(WATCH);
    return this.openIn(context);
  }

  /** A further page of a browser. */
  async openIn(context: BrowserContext): Promise<Page> {
    const page = await context.newPage();
    const goto = page.goto.bind(page);
    page.goto = async (...address) => {
      for (;;) {
        try {
          return await goto(...address);
        } catch (error) {
          // The page itself is asked for again, as its requests are.
          if (!String(error).includes('net::ERR_NETWORK_CHANGED')) throw error;
        }
      }
    };
    const requests = new Set<Request>();
    open.set(page, requests);
    page.on('request', (request) => WAITING.test(request.url()) || requests.add(request));
    page.on('requestfinished', (request) => requests.delete(request));
    page.on('requestfailed', (request) => requests.delete(request));
    page.on('console', (message) => {
      if (message.type() === 'error' && !EXPECTED.test(message.text())) {
        this.complaints.push(`${page.url()}: ${message.text()}`);
      }
    });
    page.on('pageerror', ({ message }) => this.complaints.push(`${page.url()}: ${message}`));
    return page;
  }

  /** The path of a link that signs a browser in, once. */
  async newLink(): Promise<string> {
    return ((await this.installation.ask('POST', '/v1/console/codes')) as { path: string }).path;
  }

  async signIn(page: Page): Promise<void> {
    await page.goto(await this.newLink());
    await page.waitForURL('**/o/-/experiments');
  }

  /** A deployment with so many images one after the other, of which the last one runs. */
  async deploy(name: string, images = 1): Promise<{ id: string; revision: string }> {
    const { id } = (await this.installation.ask('POST', '/v2/deployments', newDeployment(name))) as { id: string };
    for (let tag = 2; tag <= images; tag++) await this.changeImage(id, `registry.example/${name}:${tag}`);
    return { id, revision: await this.deployed(id) };
  }

  async changeImage(id: string, image_uri: string): Promise<void> {
    await this.deployed(id);
    await this.installation.ask('PATCH', `/v2/deployments/${id}`, { source_revision_config: { image_uri } });
  }

  /** The newest revision, once it has been rolled out. */
  async deployed(id: string): Promise<string> {
    const { latest_revision_id: revision } = await this.installation.ask('GET', `/v2/deployments/${id}`);
    await until(
      () => this.installation.ask('GET', `/v2/deployments/${id}/revisions/${revision}/wait?timeout=60`),
      ({ status }) => /DEPLOYED|FAILED|SKIPPED|INTERRUPTED/.test(status),
    );
    return revision as string;
  }

  /** Faults that axe finds on the page that is shown, targets below 24 pixels among them; by `rules` alone when given. */
  async faults(page: Page, rules?: readonly string[]): Promise<string[]> {
    if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(AXE);
    const asked = rules ? { runOnly: [...rules] } : { rules: { 'target-size': { enabled: true } } };
    const options = { resultTypes: ['violations'], preload: false, ...asked };
    return page.evaluate(async (given) => {
      type Found = { violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] };
      const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<Found> } };
      const { violations } = await axe.run(given);
      return violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
      );
    }, options);
  }

  /** Faults of the page that is shown, for those who see it in either theme, and for those who hear it. */
  async looks(page: Page): Promise<string[]> {
    await page.emulateMedia({ colorScheme: 'light' });
    const faults = [...(await page.evaluate<string[]>(UNSAID)), ...(await this.faults(page))];
    await page.emulateMedia({ colorScheme: 'dark' });
    // The theme changes nothing but colours.
    return [...faults, ...(await this.faults(page, ['color-contrast'])).map((fault) => `dark: ${fault}`)];
  }

  async stop(): Promise<void> {
    try {
      await this.browser.close();
    } finally {
      await this.installation.stop();
    }
  }
}

/** Resolves when a page shows its content, and nothing of it is still being loaded. */
export async function settled(page: Page): Promise<void> {
  const heading = page.locator('main:not(:has([aria-busy="true"])) h1').first();
  const requests = open.get(page)!;
  do {
    await heading.waitFor();
    await until(
      () => [...requests].map((request) => request.url()),
      (urls) => urls.length === 0,
    );
    await page.evaluate(DRAWN);
  } while (requests.size > 0 || !(await heading.isVisible()));
}

/**
 * Resolves when an element is seen. While a page loads or changes, other elements may say the same for a moment, as the
 * state of a deployment and that of its process do.
 */
export function appears(target: Locator, options?: { readonly timeout: number }): Promise<void> {
  return target.filter({ visible: true }).first().waitFor(options);
}

const isFocused = (target: Locator) => target.evaluate((element) => element === element.ownerDocument.activeElement);

/** Goes to an element with the key Tab alone, which must lead there, and shows where it is. */
export async function tabTo(target: Locator): Promise<void> {
  await target.waitFor();
  const page = target.page();
  for (let pressed = 0; !(await isFocused(target)); pressed++) {
    if (pressed > MOST_TABS) throw new Error(`Tab does not lead to ${String(target)}.`);
    await page.keyboard.press('Tab');
  }
}
