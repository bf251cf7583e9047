import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A request that an SDK can send, as its source says. Parameters of the path are `:`. */
export interface SdkRequest {
  readonly path: string;
  /** Undefined where the source does not name it beside the path. */
  readonly method?: string;
}

const GENERATED = 'generated';
const WRITTEN = 'written';

/** Only addresses of datasets are put together of `path` and what comes after it. */
const BELOW_DATASETS = /[`"]\$?\{path\}(?<below>\/[^`"?]*)[`"]/g;

/** Patterns of requests in each kind of source: the groups are the method, where it is known, and the path. */
const PATTERNS = {
  javascript: {
    [GENERATED]: [/this\._client\.(?<method>\w+)\(\s*(?:path)?\s*[`'"](?<path>\/[^`'"]+)/g],
    [WRITTEN]: [
      /`\$\{this\.apiUrl\}(?<path>\/[^`]*)`(?:,\s*\{\s*method: "(?<method>[A-Z]+)")?/g,
      /(?<!\w)[`'"](?<path>\/[a-z][a-z0-9-]*(?:\/[^`'"\s]*)?)[`'"]/g,
      /_getPlatformEndpointPath\([`'"](?<platform>[^`'"]*)/g,
      BELOW_DATASETS,
    ],
  },
  python: {
    [GENERATED]: [/self\._(?<method>\w+)\(\s*(?:path_template\()?\s*f?"(?<path>\/[^"]+)"/g],
    [WRITTEN]: [
      /(?:"(?<method>[A-Z]+)",\s*)?(?<!\w)f?"(?<path>\/[a-z][a-z0-9-]*(?:\/[^"\s]*)?)"/g,
      /_platform_path\(self\.api_url, f?"(?<platform>[^"]+)"/g,
      BELOW_DATASETS,
    ],
  },
} as const;
const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);

function requestsIn(text: string, patterns: readonly RegExp[]): SdkRequest[] {
  return patterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(({ groups }) => {
      const { method = '', path, platform, below } = groups as Readonly<Record<string, string | undefined>>;
      const known = METHODS.has(method.toLowerCase());
      return {
        path: plain(path ?? (below === undefined ? `/v1/platform/${platform!}` : `/datasets${below}`)),
        ...(known && { method: method.toUpperCase() }),
      };
    }),
  );
}

/** The path with `:` for each parameter, without query, which may be a parameter that follows a word. */
function plain(path: string): string {
  const parameters = path
    .replaceAll(/\$?\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}?/g, ':')
    .replaceAll(/:+/g, ':')
    .replaceAll(/(?<=\w):/g, '');
  return parameters.split('?')[0]!.replace(/(?<=.)\/$/, '');
}

/** Requests in the generated sources, which lie in a folder of their own, and in the others. */
function requestsOf(folder: string, language: keyof typeof PATTERNS, generated: string, written: readonly string[]) {
  const sources = readdirSync(join(folder, generated), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(js|py)$/.test(file))
    .map((file) => join(generated, file));
  const search = (files: readonly string[], kind: typeof GENERATED | typeof WRITTEN) =>
    files.flatMap((file) => requestsIn(readFileSync(join(folder, file), 'utf8'), PATTERNS[language][kind]));
  const found = [...search(sources, GENERATED), ...search(written, WRITTEN)];
  return [...new Map(found.map((request) => [JSON.stringify(request), request])).values()];
}

/** Requests that the installed SDK for JavaScript can send. */
export function javascriptRequests(): SdkRequest[] {
  const folder = join(dirname(require.resolve('langsmith')), 'dist');
  return requestsOf(folder, 'javascript', '_openapi_client/resources', ['client.js']);
}

/** Requests that the SDK of a Python environment can send. */
export function pythonRequests(python: string): SdkRequest[] {
  const program = 'import langsmith, os; print(os.path.dirname(langsmith.__file__))';
  const folder = execFileSync(python, ['-c', program], { encoding: 'utf8' }).trim();
  return requestsOf(folder, 'python', 'resources', ['client.py', 'async_client.py', '_internal/_hub.py']);
}
