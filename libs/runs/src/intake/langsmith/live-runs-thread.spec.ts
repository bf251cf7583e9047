// @starts threads
import { HttpProblem } from '@fairlead/schema';
import { ExperimentLimits } from '../../bodies/experiment-limits';
import { readRunBody } from './read-run-body';
import type { LiveRunsThread } from './live-runs-thread.service';

const limits = new ExperimentLimits({ maxRuns: 1000 });
const run = (bytes = 10) => ({ id: crypto.randomUUID(), name: 'one', inputs: { text: 'é'.repeat(bytes) } });
const batch = (count: number, bytes?: number) =>
  Buffer.from(JSON.stringify({ post: Array.from({ length: count }, () => run(bytes)) }));

describe('Large bodies of runs', () => {
  /** As built, with its worker. */
  let thread: LiveRunsThread;
  beforeAll(() => {
    const built = jest.requireActual<typeof import('./live-runs-thread.service')>(
      '../../../dist/intake/langsmith/live-runs-thread.service',
    );
    thread = new built.LiveRunsThread(limits);
  });
  afterAll(() => thread.stop());

  it('are read on another thread while this one goes on, as they are read here', async () => {
    const body = batch(1000, 1000);
    const expected = readRunBody({ kind: 'batch', body: Buffer.from(body), most: 1000, depth: 100 });
    let turns = 0;
    let done = false;
    const count = () => {
      turns += 1;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    const read = await thread.read('tenant', 'batch', body);
    done = true;
    expect(read).toEqual(expected);
    expect(turns).toBeGreaterThan(10);
  });

  it('give back what is attached to runs, byte for byte', async () => {
    const id = crypto.randomUUID();
    const content = Buffer.alloc(500_000, 'content ');
    const head = `--limit\r\nContent-Disposition: form-data; name="attachment.${id}.large"\r\n\r\n`;
    const body = Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n--limit--\r\n')]);
    const { runs, contents } = await thread.read('tenant', 'multipart', body, 'multipart/form-data; boundary=limit');
    const { sha256 } = runs[0]!.change.attachments![0]!;
    expect(Buffer.from(contents.get(sha256)!).equals(content)).toBe(true);
  });

  it('are refused there as here', async () => {
    const body = Buffer.from(`{"post":[{"id":"none","error":"${'x'.repeat(300_000)}"}]}`);
    const { refused } = await thread.read('tenant', 'batch', body);
    expect(refused).toMatchObject([
      { status: 422, id: 'none', detail: [{ type: 'uuid_parsing', loc: ['body', 'post', 0, 'id'] }] },
    ]);
    const failed = await thread.read('tenant', 'batch', Buffer.alloc(300_000, '[')).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(HttpProblem);
    expect(failed).toMatchObject({ status: 422, detail: [{ type: 'json_invalid' }] });
  });

  it.each([10, 1000])('may hold so many runs as the limit says (%i bytes each)', async (bytes) => {
    await expect(thread.read('tenant', 'batch', batch(1001, bytes))).rejects.toMatchObject({
      status: 413,
      detail: 'The request holds 1001 runs and feedback; at most 1000 are taken (RUNS_MAX).',
    });
  });

  it('wait for their turn, a few of each workspace', async () => {
    const reads = Array.from({ length: 18 }, () => thread.read('greedy', 'batch', batch(1000, 100)));
    const other = thread.read('other', 'batch', batch(1000, 100));
    await expect(reads.at(-1)).rejects.toThrow('Too many large requests of one workspace are being read.');
    expect((await other).runs).toHaveLength(1000);
    await Promise.all(reads.slice(0, -1));
  });
});
