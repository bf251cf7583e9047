import type { Page } from 'playwright-core';
import type { Exchange, Wire } from './wire';

/** Texts of a page that scripts can read, by the name of the place. Runs in the page. */
const PLACES = `(async () => {
  const settled = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const databases = [];
  for (const { name } of await indexedDB.databases()) {
    const database = await settled(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      databases.push([name, store, await settled(database.transaction(store).objectStore(store).getAll())]);
    }
    database.close();
  }
  const cached = [];
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) cached.push([request.url, await (await cache.match(request)).text()]);
  }
  const fields = [...document.querySelectorAll('input, textarea, select')];
  return {
    document: document.documentElement.outerHTML,
    fields: JSON.stringify(fields.map(({ value }) => value)),
    address: location.href,
    history: JSON.stringify([history.state, ...navigation.entries().map((entry) => [entry.url, entry.getState()])]),
    'local storage': JSON.stringify({ ...localStorage }),
    'session storage': JSON.stringify({ ...sessionStorage }),
    databases: JSON.stringify(databases),
    caches: JSON.stringify(cached),
    cookies: document.cookie,
    'name of the window': window.name,
  };
})()`;

/** Secrets that may be nowhere in a browser, by their names, and where they have been found. */
export class Canaries {
  private readonly spelled = new Map<string, readonly string[]>();
  private looked = 0;

  constructor(private readonly wire: Wire) {}

  /** A text to be used as a secret. */
  plant(name: string): string {
    return this.watch(name, `canary-${name.replaceAll(/[^a-z]+/g, '-')}-${crypto.randomUUID()}`);
  }

  /** Looks for a secret that somebody else has made. */
  watch(name: string, secret: string): string {
    this.spelled.set(name, spellings(secret));
    return secret;
  }

  /** The number of secrets that are looked for. */
  get count(): number {
    return this.spelled.size;
  }

  /** Secrets in the page, and in the requests since the last look: `<secret> in <place>`. */
  async look(page: Page): Promise<string[]> {
    const inPage = await page.evaluate<Record<string, string>>(PLACES);
    return [...this.find(inPage), ...this.lookAtNewRequests()];
  }

  /** Secrets in any request from the first one on, also in those that had not ended when they were looked at. */
  lookAtRequests(): string[] {
    this.looked = 0;
    return this.lookAtNewRequests();
  }

  private lookAtNewRequests(): string[] {
    const found = this.wire.exchanges.slice(this.looked).flatMap((exchange) => this.find(placesOf(exchange)));
    this.looked = this.wire.exchanges.length;
    return [...new Set(found)];
  }

  private find(places: Readonly<Record<string, string>>): string[] {
    return Object.entries(places).flatMap(([place, text]) =>
      [...this.spelled].flatMap(([name, texts]) =>
        texts.some((one) => text.includes(one)) ? [`${name} in ${place}`] : [],
      ),
    );
  }
}

function placesOf({ name, url, sent, received }: Exchange): Record<string, string> {
  // The cookie of the session is in headers that no script sees: that is where it belongs.
  const asked = { ...sent.headers, cookie: undefined };
  const answered = { ...received.headers, 'set-cookie': undefined };
  return {
    [`the address of ${name}`]: url,
    [`headers of ${name}`]: JSON.stringify(asked),
    [`the body of ${name}`]: sent.body,
    [`headers of the answer to ${name}`]: JSON.stringify(answered),
    [`the answer to ${name}`]: received.body,
  };
}

/** A text as it is, and what is the same in every Base64 of something that holds it. */
function spellings(secret: string): string[] {
  const encoded = [0, 1, 2].map((before) => {
    const whole = Buffer.from(' '.repeat(before) + secret).toString('base64');
    return whole.slice(before === 0 ? 0 : before + 1, -4);
  });
  return [secret, ...encoded];
}
