import type { IncomingHttpHeaders } from 'node:http';
import type { Dialect } from '@fairlead/api';

/** First segments of the paths of LangSmith's API, which are served below `/api/v1`, `/api` and the root. */
const platform = new Set(
  (
    'annotation-queues api-key audit-logs charts commits datasets examples feedback feedback-configs feedback-formulas ' +
    'info likes metadata orgs otel platform playground-settings prompts public repos revisions runs sessions settings tenants ' +
    'ttl-settings workspaces'
  ).split(' '),
);

/** The id of a thread is the rest of the path. */
const THREADS = '/api/v1/runs/threads/';

/**
 * Headers of every request of the command line `langgraph` for Python: the name of its HTTP library, and exactly this
 * `Accept`.
 */
const PYTHON_CLI = { agent: /^python-httpx\//, accept: 'application/json' };

/**
 * Returns whether a request comes from a client that reads only LangSmith's names: the command line `langgraph` for
 * Python. It has no name of its own in its headers, so it is recognised by those of its HTTP library. Other programs
 * with this library send another `Accept` by default, and a client with a `User-Agent` of its own does not match.
 */
export function readsWire(headers: IncomingHttpHeaders): boolean {
  return headers.accept === PYTHON_CLI.accept && PYTHON_CLI.agent.test(headers['user-agent'] ?? '');
}

/** Returns the address as controllers declare it, and the names that the answer uses. */
export function canonicalUrl(url: string, fallback: Dialect = 'specification'): { url: string; dialect: Dialect } {
  const end = url.search(/[?#]/);
  const search = end < 0 ? '' : url.slice(end);
  let path = end < 0 ? url : url.slice(0, end);
  // A request may name the whole address.
  if (!path.startsWith('/')) path = path.replace(/^https?:\/\/[^/]*/i, '') || '/';
  if (path.includes('//')) path = path.replaceAll(/\/{2,}/g, '/');
  let dialect = fallback;
  if (path.startsWith('/api-host/')) {
    path = path.slice('/api-host'.length);
    dialect = 'wire';
  }
  if (path.startsWith('/v1/integrations/')) {
    const spelled = path
      .replace(/^\/v1\/integrations\/forge\/github(?=\/)/, '/v1/integrations/managed/codehost')
      .replace(/^\/v1\/integrations\/github(?=\/)/, '/v1/integrations/codehost');
    return { url: spelled + search, dialect: spelled === path ? dialect : 'wire' };
  }
  return { url: threadPath(platformPath(path)) + search, dialect };
}

/**
 * Returns a path in which the id of a thread is one segment: `langsmith-fetch` sends its slashes as they are. A slash at
 * the end is none of the id, as on all routes.
 */
function threadPath(path: string): string {
  return path.startsWith(THREADS) ? THREADS + path.slice(THREADS.length).replaceAll(/\/(?!$)/g, '%2F') : path;
}

function platformPath(path: string): string {
  const [, first = '', second = ''] = path.split('/', 3);
  if (first === 'v2' || (first === 'api' && second === 'v1')) return path;
  if (first === 'api' && second === 'v2') return path.slice('/api'.length);
  if (first === 'api') return platform.has(second) ? `/api/v1${path.slice('/api'.length)}` : path;
  if (first === 'v1') return platform.has(second) ? `/api${path}` : path;
  return platform.has(first) ? `/api/v1${path}` : path;
}
