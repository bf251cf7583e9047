import { guardedFetch, OutboundFailure, type OutboundPolicy } from '@fairlead/outbound';

const MOST_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers that could prove who asks; they go to no address that a redirect names. */
const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization'];

/** One request of a discovery, and what came of it in words. Neither holds a query or a body. */
interface Call {
  readonly asked: string;
  answered: string;
  /** True when another attempt may have another result: the server failed, was slow, or could not be reached. */
  passing: boolean;
}

/**
 * The requests of one discovery. A GET follows at most three redirects within the same scheme, host and port, without
 * credentials, and each address is checked again; no other request follows any.
 */
export class MetadataCalls {
  private readonly calls: Call[] = [];

  constructor(
    private readonly policy: OutboundPolicy,
    private readonly workspace: string,
  ) {}

  /** A `fetch` that remembers what was asked and answered. @throws OutboundFailure */
  readonly fetch = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const first = new URL(input);
    const isGet = (init.method ?? 'GET') === 'GET';
    for (let url = first, followed = 0; ; followed++) {
      const call = this.begin(init.method ?? 'GET', url);
      const answer = await this.once(call, url, followed === 0 ? init : withoutCredentials(init));
      const next = locationOf(answer, url);
      if (!next) return answer;
      const reason = refusal(isGet, followed, first, next);
      call.answered = `${answer.status}, a redirect${reason === undefined ? '' : ` that is not followed because ${reason}`}`;
      if (reason !== undefined) return answer;
      await answer.body?.cancel();
      url = next;
    }
  };

  /** Notes why the last answer was of no use, although it was a success. */
  note(why: string): void {
    const last = this.calls.at(-1);
    if (last && /^2\d\d$/.test(last.answered)) last.answered += `, ${why}`;
  }

  /** True when a server failed on the way, so that the same discovery may succeed later. */
  get mayPass(): boolean {
    return this.calls.some(({ passing }) => passing);
  }

  /** All requests and answers, for the sentence of an error. */
  toString(): string {
    return this.calls.map(({ asked, answered }) => `${asked} was answered ${answered}`).join('; ');
  }

  /** The last request and its answer, for the sentence of an error; empty before the first. */
  get last(): string {
    const call = this.calls.at(-1);
    return call ? `${call.asked} was answered ${call.answered}` : '';
  }

  private begin(method: string, { origin, pathname }: URL): Call {
    const call: Call = { asked: `${method} ${origin}${pathname}`, answered: 'nothing', passing: false };
    this.calls.push(call);
    return call;
  }

  private async once(call: Call, url: URL, init: RequestInit): Promise<Response> {
    try {
      const answer = await guardedFetch(url, init, this.policy, this.workspace);
      call.answered = String(answer.status);
      call.passing = answer.status >= 500 || answer.status === 429;
      return answer;
    } catch (error) {
      const fault = error instanceof OutboundFailure ? error.fault : 'timeout';
      call.answered = FAULTS[fault];
      call.passing = fault !== 'refused';
      throw error;
    }
  }
}

const FAULTS: Readonly<Record<OutboundFailure['fault'], string>> = {
  refused: 'by nobody, because the address may not be called',
  unreachable: 'by nobody, because the server could not be reached',
  timeout: 'by nobody in time',
  'too large': 'with too large a body',
  busy: 'by nobody, because too many calls of this workspace are under way',
};

/** Returns where a redirect leads; undefined when the answer is none. */
function locationOf({ status, headers }: Response, base: URL): URL | undefined {
  const location = headers.get('location');
  if (!REDIRECTS.has(status) || location === null || !URL.canParse(location, base.href)) return undefined;
  return new URL(location, base);
}

/** Returns why a redirect is not followed; undefined when it is. */
function refusal(isGet: boolean, followed: number, { origin }: URL, next: URL): string | undefined {
  if (!isGet) return 'only a GET follows redirects';
  if (next.origin !== origin) return `it leads to ${next.origin.slice(0, 200)}, another scheme, host or port`;
  if (followed >= MOST_REDIRECTS) return `there were ${MOST_REDIRECTS} before it`;
  return undefined;
}

function withoutCredentials(init: RequestInit): RequestInit {
  const headers = new Headers(init.headers);
  for (const name of CREDENTIALS) headers.delete(name);
  return { ...init, headers };
}
