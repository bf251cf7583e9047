import type { Context } from '../api/context';
import { EXIT, Failure } from '../failure';
import type { Session } from '../api/records';

const PATIENCE_MS = 300_000;
const LOOK_MS = 250;

/** The experiment as JSON once its rows are stored. @throws Failure when that takes too long */
export async function waitForRows(context: Context, id: string): Promise<string> {
  return context.out.waiting('The rows are being stored', () => stored(context, id));
}

async function stored({ api, timeoutMs = PATIENCE_MS }: Context, id: string): Promise<string> {
  for (const deadline = Date.now() + timeoutMs; ; await api.pause(LOOK_MS)) {
    const json = (await api.read(`/api/v1/sessions/${id}`)).trim();
    if ((JSON.parse(json) as Session).run_count !== null) return json;
    if (Date.now() < deadline) continue;
    throw new Failure(`Experiment ${id} was uploaded, but its rows are still being stored.`, EXIT.timeout);
  }
}
