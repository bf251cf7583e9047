import { identifier } from './chance';
import type { Trace } from './runs';
import type { Parts, Service } from './service';

/** Traces of one request: a slow server answers it long before the time limit of a request. */
const TRACES = 20;
/** Requests that are under way at a time. */
const AT_ONCE = 2;

/** Sends traces into a session. What the service has already is not stored again. */
export async function sendTraces(
  service: Service,
  session: string,
  traces: readonly Trace[],
  onSent: (count: number) => void,
): Promise<void> {
  const batches = Array.from({ length: Math.ceil(traces.length / TRACES) }, (_, at) =>
    traces.slice(at * TRACES, (at + 1) * TRACES),
  );
  const work = async () => {
    for (let batch = batches.shift(); batch; batch = batches.shift()) {
      await service.send('POST', '/api/v1/runs/multipart', { parts: partsOf(session, batch) });
      onSent(batch.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** The body of a request: runs, and the feedback on them. */
function partsOf(session_id: string, traces: readonly Trace[]): Parts {
  const boundary = `demo-${identifier(traces[0]!.runs[0]!.id)}`;
  const part = (name: string, value: object) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(value)}\r\n`;
  const parts = traces.flatMap(({ runs, feedback }) => [
    ...runs.map((run) => part(`post.${run.id}`, { ...run, session_id })),
    ...feedback.map((one) => part(`feedback.${one.id}`, one)),
  ]);
  return { type: `multipart/form-data; boundary=${boundary}`, text: `${parts.join('')}--${boundary}--\r\n` };
}
