interface Visited {
  readonly status: number;
  readonly url: string;
  readonly text: string;
}

type Body = Readonly<Record<string, string>>;

/** A person's browser without the browser: follows redirects by hand, keeps cookies, fills in forms. */
export class Visitor {
  private readonly cookies = new Map<string, Map<string, string>>();

  /** Opens a page and answers where the redirects ended; those to `stopAt` are not followed. */
  async open(url: string, stopAt?: string): Promise<Visited> {
    return this.go(url, undefined, stopAt);
  }

  /** Signs in and agrees on the forms of the authorization server; answers what the last redirect shows. */
  async signIn(url: string, stopAt?: string): Promise<Visited> {
    let visited = await this.open(url, stopAt);
    for (let forms = 0; forms < 4 && visited.text.includes('name="prompt"'); forms++) {
      const prompt = visited.text.includes('value="login"') ? 'login' : 'consent';
      const action = /<form[^>]* action="([^"]+)"/.exec(visited.text)![1]!;
      const fields: Body = prompt === 'login' ? { prompt, login: 'ada', password: 'secret' } : { prompt };
      visited = await this.go(new URL(action, visited.url).href, fields, stopAt);
    }
    return visited;
  }

  /** The cookies that a request to an address carries. */
  headers(url: string): { cookie: string } {
    const jar = this.cookies.get(new URL(url).host) ?? new Map<string, string>();
    return { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') };
  }

  private async go(url: string, fields?: Body, stopAt?: string): Promise<Visited> {
    for (let hops = 0; hops < 20; hops++) {
      if (stopAt !== undefined && url.startsWith(stopAt)) return { status: 302, url, text: '' };
      const { host } = new URL(url);
      const jar = this.cookies.get(host) ?? new Map<string, string>();
      this.cookies.set(host, jar);
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await fetch(url, {
        method: fields ? 'POST' : 'GET',
        redirect: 'manual',
        headers: { accept: 'text/html', ...(cookie && { cookie }) },
        ...(fields && { body: new URLSearchParams(fields) }),
      });
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (value === '') jar.delete(name);
        else jar.set(name, value);
      }
      const location = answer.headers.get('location');
      const text = await answer.text();
      if (location === null) return { status: answer.status, url, text };
      url = new URL(location, url).href;
      fields = undefined;
    }
    throw new Error(`Too many redirects, the last one to ${url}`);
  }
}
