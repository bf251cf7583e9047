import type { AdminKey } from './admin-key';
import { consoleState } from './console/console-files';
import { FIRST_UPLOAD } from './first-upload';
import type { Edge } from './edge';
import type { Settings } from './settings/settings';

/** Printed when the console should be served and is not built. */
export const CONSOLE_MISSING = 'The console is not built: run `npm run build` to build it.';

/** Sentences about deployments, by executor. */
const DEPLOYMENTS: Readonly<Record<string, string>> = {
  record: 'Deployments are recorded, nothing is run (EXECUTOR=record).',
  local: 'Deployments run on this machine (EXECUTOR=local): deploy only code that you trust.',
};

/**
 * Returns what `npm start` prints once the server answers at `url`: its address, a link that signs in to the console,
 * where the key is, and commands to paste into a shell.
 */
export async function banner(
  { url, key, executor }: Pick<Edge, 'url' | 'key' | 'executor'>,
  settings: Pick<Settings, 'console' | 'publicUrl'>,
): Promise<string> {
  const header = `-H "x-api-key: ${key.file === undefined ? '$FAIRLEAD_API_KEY' : `$(cat ${quote(key.file)})`}"`;
  const where = key.file === undefined ? 'the one in FAIRLEAD_API_KEY' : `in ${key.file}`;
  return [
    '',
    `Fairlead is ready at ${url}`,
    key.isNew ? `API key: ${key.text} (shown once; kept ${where})` : `API key: ${where}`,
    ...(await consoleLines(url, key, settings)),
    `The API, to read and to try out: ${url}/docs`,
    ...(executor in DEPLOYMENTS ? [DEPLOYMENTS[executor]!] : []),
    '',
    'Upload a first experiment:',
    `  curl -sS ${url}/api/v1/datasets/upload-experiment ${header} -H 'content-type: application/json' -d ${quote(JSON.stringify(FIRST_UPLOAD))}`,
    '',
    'List the deployments:',
    `  curl -sS ${url}/v2/deployments ${header}`,
    '',
  ].join('\n');
}

async function consoleLines(
  url: string,
  key: AdminKey,
  settings: Pick<Settings, 'console' | 'publicUrl'>,
): Promise<string[]> {
  const state = consoleState(settings);
  if (state === 'off') return [];
  if (state === 'missing') return [CONSOLE_MISSING];
  const base = settings.publicUrl ?? url;
  const path = await linkPath(url, key);
  if (path === undefined) return [`The console: ${base}/`];
  return [`The console, signed in (the link works once, within ten minutes): ${base}${path}`];
}

/**
 * Returns the path of a page that signs in; undefined when the server makes none, for example because it is stopping.
 */
async function linkPath(url: string, key: AdminKey): Promise<string | undefined> {
  try {
    const answer = await fetch(`${url}/v1/console/codes`, { method: 'POST', headers: { 'x-api-key': key.text } });
    return answer.ok ? ((await answer.json()) as { path: string }).path : undefined;
  } catch {
    return undefined;
  }
}

/** Quotes a text for a POSIX shell, also within $( ) between double quotes. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
