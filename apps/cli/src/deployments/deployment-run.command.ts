import { once } from 'node:events';
import type { Command } from 'commander';
import { reasonHeader } from '../api/api';
import { type Context, does } from '../api/context';
import { deploymentId } from '../api/lookups';
import { EXIT, Failure, Interrupted } from '../failure';
import { examples } from '../output/help';
import { clean } from '../output/text';
import { reaches } from '../table/group';

/** A line of the answer, as far as it matters here. */
interface Line {
  readonly type: string;
  readonly text?: string;
  readonly exit_code?: number | null;
  readonly reason?: string | null;
}

const LOST = 'The connection was lost before the command ended: the service ends it.';
/** The service sends something every 15 seconds; after this time without it (ms), the connection is given up. */
const PATIENCE_MS = 60_000;

export function addRun(group: Command): void {
  const command = group
    .command('run')
    .description('run a command with the files and variables of a deployment, also while its program does not run')
    .argument('<deployment>', 'id or name')
    .argument('<command...>', 'the command and its words, after --; no shell reads them')
    .option('--reason <text>', 'why, for the history');
  examples(
    command,
    "deployments run support-agent -- sh -c 'du -sk data/* | sort -n'",
    'deployments run support-agent --timeout 1800 -- npm run migrate',
  );
  command.addHelpText(
    'after',
    `
The exit code is that of the command. It is 125 when the command did not run,
was ended by the service, or its end is not known; standard error says why. The
service ends it after --timeout seconds (default: 600). Ctrl-C ends it too.`,
  );
  reaches(command, 'POST /v2/deployments/{deployment_id}/commands');
  does<{ reason?: string }>(command, async (context, [name, ...words], { reason }) => {
    try {
      return await run(context, name!, words.flat(), reason);
    } catch (error) {
      // The other codes could be those of the command.
      if (!(error instanceof Failure) || error instanceof Interrupted) throw error;
      throw Object.assign(error, { exitCode: EXIT.notRun });
    }
  });
}

/** Runs a command and passes on what it writes. Answers its exit code. */
async function run(context: Context, name: string, command: string[], reason?: string): Promise<number> {
  const { api, out, signal, timeoutMs } = context;
  const path = `/v2/deployments/${await deploymentId(api, name)}/commands`;
  const timeout = timeoutMs === undefined ? undefined : Math.ceil(timeoutMs / 1000);
  const body = JSON.stringify({ command, timeout });
  const call = { method: 'POST', path, body, headers: reasonHeader(reason), once: true, patience: PATIENCE_MS };
  let last: Line | undefined;
  try {
    for await (const text of linesOf(await api.open(call))) {
      last = JSON.parse(text) as Line;
      if (out.json) out.text(text);
      else if (last.type === 'stdout' || last.type === 'stderr') await write(last.type, last.text ?? '');
    }
  } catch (error) {
    if (signal.aborted) throw new Interrupted();
    if (error instanceof Failure) throw error;
    throw new Failure(LOST);
  }
  if (signal.aborted) throw new Interrupted();
  if (last?.type !== 'ended') throw new Failure(LOST);
  if (last.reason && !out.json) out.note(clean(last.reason));
  return last.exit_code ?? EXIT.notRun;
}

/** The lines of an answer. JSON has no line ends in a text, and other marks that separate lines count as text. */
async function* linesOf(message: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of message) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}

/** Output as it came, because programs colour it. */
async function write(stream: 'stdout' | 'stderr', text: string): Promise<void> {
  if (!process[stream].write(text)) await once(process[stream], 'drain');
}
