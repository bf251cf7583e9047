import { quotedAlways } from './source-tree';

/** The command of each process type of a Procfile, by the grammar of Heroku: the last line of a type counts. */
export function readProcfile(text: string): ReadonlyMap<string, string> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  const found = lines.flatMap((line) => {
    const [, type, rest = ''] = /^([A-Za-z0-9_-]+):(.*)$/.exec(line) ?? [];
    const command = rest.trim();
    return type === undefined || command === '' ? [] : ([[type, command]] as const);
  });
  return new Map(found);
}

const PAUSE = 5;
const WORKER = '( while :; do ';

/** A command that runs a worker beside the program, with which it ends; a worker that ends is started again. */
export function withWorker(web: string, worker: string | undefined): string {
  if (worker === undefined) return web;
  const run = `env -u PORT /bin/sh -c ${quotedAlways(worker)}`;
  const said = `The worker ended with exit code $?, and is started again in ${PAUSE} s.`;
  return `${WORKER}${run}; echo "${said}" >&2; sleep ${PAUSE}; done ) &\n${web}`;
}

/** True for a command that runs a worker beside the program. */
export function hasWorker(start: string): boolean {
  return start.startsWith(WORKER);
}
