import { createReadStream } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { RevisionAssignment, Step } from '../port/executor';
import { LocalApps } from '../local/local-apps';
import { LocalExecutor } from '../local/local-executor';

/**
 * A process that runs deployments as a server does, until its standard input ends: `local-server.ts <data directory>
 * <socket> [bytes of files]`. Each line `<deployment> <archive> <build command> <secrets>`, in JSON, is answered with one that has the
 * port of its program or an error, and the build log; `stop <deployment>` stops its program, `remove <deployment>` removes
 * it, and `look <deployment>` is answered with its log and what it takes.
 */
async function main(dataDir: string, socket: string, disk?: string): Promise<void> {
  createServer().listen(socket);
  const apps = new LocalApps(join(dataDir, 'apps'), {
    ready: 60_000,
    ...(disk && { disk: Number(disk), diskWatch: { reserve: 0, latest: 100 } }),
  });
  const executor = new LocalExecutor(apps);
  const isolation = apps.begin(
    async () => undefined,
    async () => undefined,
    () => undefined,
  );
  console.log(JSON.stringify(isolation));
  for await (const line of createInterface({ input: process.stdin })) {
    const [, verb, id = ''] = /^(stop|remove|look) (.*)$/.exec(line) ?? [];
    if (verb === 'stop') await apps.stop(id);
    if (verb === 'remove') await apps.remove(id);
    const look = () => ({ log: apps.runners.lines(id).map(({ message }) => message), bytes: apps.disk.bytes(id) });
    const answer = verb === undefined ? await deploy(apps, executor, ...(JSON.parse(line) as Words)) : look();
    console.log(JSON.stringify(answer));
  }
}

type Words = [id: string, archive: string, command: string, secrets: Record<string, string>];

async function deploy(apps: LocalApps, executor: LocalExecutor, ...[id, archive, command, secrets]: Words) {
  const log: string[] = [];
  const step: Step = {
    signal: new AbortController().signal,
    log: async (_, message) => void log.push(message),
    output: () => ({ write: async (text) => void log.push(text.trim()), end: async () => undefined }),
    safe: (text) => text,
    waits: async () => undefined,
  };
  const assignment = {
    ...{ deploymentId: id, tenantId: 'tenant', name: id, commit: null },
    config: { build_command: command },
    revision: { revision_id: 'a', source: 'internal_source', source_revision_config: { source_tarball_path: archive } },
    source: async () => createReadStream(archive),
    secrets: async () => new Map(Object.entries(secrets)),
  } as unknown as RevisionAssignment;
  try {
    const steps = executor.rollOut(assignment);
    await steps.build!(step);
    await steps.deploy(step);
    const { port, end } = await apps.runners.enter(id);
    end();
    return { port, log };
  } catch (error) {
    return { error: (error as Error).message, log };
  }
}

void main(process.argv[2] ?? '', process.argv[3] ?? '', process.argv[4]);
