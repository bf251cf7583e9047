import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { newDeployment } from '@fairlead/e2e/testing';
import type { LoadFigures, LoadOptions } from './open-load';

const HOOK = join(__dirname, '../../test/typescript.cjs');

/** Makes deployments to change; answers their ids. */
export async function makeDeployments(url: string, key: string, count: number): Promise<string[]> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const body = JSON.stringify(newDeployment(`agent-${n}`));
    const answer = await fetch(`${url}/v2/deployments`, { method: 'POST', headers, body });
    ids.push(((await answer.json()) as { id: string }).id);
  }
  return ids;
}

/** Puts a load on a service from a process of its own. */
export async function load(url: string, options: Omit<LoadOptions, 'port'>): Promise<LoadFigures> {
  const child = fork(join(__dirname, 'load.main.ts'), { execArgv: ['-r', HOOK] });
  child.send({ ...options, port: Number(new URL(url).port) });
  const [figures] = (await once(child, 'message')) as [LoadFigures];
  return figures;
}
