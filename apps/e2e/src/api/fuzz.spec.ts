import * as api from '@fairlead/api';
import * as edge from '@fairlead/edge';
import fc from 'fast-check';
import { until } from '@fairlead/postgres/testing';
import { Contract, type OpenApi } from '../testing/contract';
import { converse, faultOf, type Message, parseAnswers } from '../testing/fuzz/exchange';
import { type FuzzService, startFuzzService } from '../testing/fuzz/fuzz-service';
import { deep } from '../testing/fuzz/hostile';
import { protocolNoise } from '../testing/fuzz/protocol';
import { requestsTo } from '../testing/fuzz/requests';

/*
 * Bad requests over all routes of the running server. Environment:
 *   FUZZ_SEED  number that decides which requests are made; the same seed makes the same ones (1 when not set)
 *   FUZZ_LOG   level of the server's log (silent when not set); error shows where a 500 comes from
 *   FUZZ_RUNS  how many requests in all; each route gets an equal share (when not set 1500, and 10000 with
 *              `npm run test:faults`)
 * A failure shows the smallest request found that still shows the fault.
 */
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const RUNS = Number(process.env.FUZZ_RUNS ?? (process.env.FAIRLEAD_FAULTS === 'full' ? 10_000 : 1500));
const AT_ONCE = 12;

jest.mock('@fairlead/edge', () => {
  const actual = jest.requireActual<typeof edge>('@fairlead/edge');
  return { ...actual, createServer: jest.fn(actual.createServer) };
});
jest.setTimeout(Math.max(300_000, RUNS * 100));

let service: FuzzService;
let contract: Contract;
/** Statuses of answers to an address or a head that names no route, or is none. */
const OF_NO_ROUTE = [400, 404, 405, 408, 413, 414, 415, 431];

beforeAll(async () => {
  service = await startFuzzService(jest.mocked(edge.createServer));
  contract = new Contract(api.openApi(service.table, '0') as unknown as OpenApi);
});
afterEach(() => service?.answersAsUsual());
afterAll(() => service?.stop());

/** Lets `AT_ONCE` of the given works run at a time. */
function inTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}

/** Tries a property on as many inputs as asked for. Answers the fault of the smallest failing one. */
async function faultIn<T>(
  inputs: fc.Arbitrary<T>,
  { runs, part }: { runs: number; part: number },
  test: (input: T) => Promise<void>,
): Promise<string[]> {
  const property = fc.asyncProperty(inputs, test);
  const { failed, errorInstance } = await fc.check(property, {
    seed: SEED * 1000 + part,
    numRuns: runs,
    // Far more than it takes: a slow machine makes all of them too.
    interruptAfterTimeLimit: RUNS * 80,
  });
  if (!failed) return [];
  return [errorInstance instanceof Error ? errorInstance.message : 'The time was over.'];
}

it('answers every bad request with an error of the one shape, on every route', async () => {
  const turn = inTurns();
  const statuses = new Map<number, number>();
  const share = Math.ceil(RUNS / service.table.length);
  const faults = await Promise.all(
    service.table.map((route, part) =>
      faultIn(requestsTo(route, service.target), { runs: share, part }, async (message) => {
        const { status } = await turn(() => service.check(message));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (message.method !== route.method || OF_NO_ROUTE.includes(status) || contract.declares(route, status)) return;
        throw new Error(
          `${route.method} ${route.path} answered ${status}, which it does not describe: ${message.target}`,
        );
      }),
    ),
  );
  expect(faults.flat()).toEqual([]);
  const sum = (from: number) => [...statuses].reduce((all, [status, count]) => (status >= from ? all + count : all), 0);
  expect(sum(400)).toBeGreaterThanOrEqual(RUNS / 2);
  // Apart from what is no part of Fairlead.
  expect(sum(500) - (statuses.get(501) ?? 0)).toBeLessThanOrEqual(RUNS / 100);
});

it('answers or closes every connection that does not speak HTTP well', async () => {
  const turn = inTurns();
  const paths = [
    '/v2/deployments',
    `/v2/deployments/${service.target.ids.deployment_id}`,
    '/api/v1/datasets/upload-experiment',
    '/sessions',
    '/health/live',
    '/nothing',
  ];
  const share = Math.ceil(RUNS / 80);
  const faults = await Promise.all(
    Array.from({ length: 8 }, (_, part) =>
      faultIn(protocolNoise(service.login, paths), { runs: share, part }, async (pieces) => {
        try {
          const bytes = await turn(() => converse(service.port, pieces, true));
          const fault = parseAnswers(bytes)
            .map((answer) => faultOf(answer))
            .find(Boolean);
          if (fault) throw new Error(fault);
        } catch (error) {
          const sent = JSON.stringify(Buffer.concat(pieces).toString('latin1'));
          throw new Error(`${(error as Error).message}\n${sent.slice(0, 3000)}`, { cause: error });
        }
      }),
    ),
  );
  expect(faults.flat()).toEqual([]);
});

it('writes nothing for a request that it refuses', async () => {
  const turn = inTurns();
  const writes = service.table.filter(({ method, scope }) => method !== 'GET' && scope !== 'read');
  const messages = writes.flatMap((route) =>
    fc.sample(requestsTo(route, service.target), { seed: SEED + 1, numRuns: Math.ceil(RUNS / 200) }),
  );
  /** Messages that are refused, whatever has happened before. */
  const refused = async (all: readonly Message[]) => {
    const tried = await Promise.all(
      all.map((message) => turn(async () => ((await service.check(message)).status < 400 ? [] : [message]))),
    );
    return tried.flat();
  };
  const bad = await refused(await refused(messages));
  await service.settled();
  const before = await service.countRows();
  expect(bad.length).toBeGreaterThan(messages.length / 2);
  expect(await refused(bad)).toHaveLength(bad.length);
  await service.settled();
  expect(await service.countRows()).toEqual(before);
});

describe('hostile JSON in an upload', () => {
  const KEPT = [
    String.raw`{"a":"\u0000"}`,
    String.raw`{"\u0000":"\ud800","\udfff":"\uDC00\ud800"}`,
    String.raw`{"escapes":"\u002f\/\u00e9\"\\"}`,
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"a":1}}}',
    '{"a":1,"a":2,"a":{"b":1,"b":[]}}',
    '{"n":9007199254740993,"m":-9223372036854775809,"z":-0,"one":1.0,"e":1E+2,"tiny":1e-400}',
    '{"huge":1e400,"most":-1e999}',
    `{"digits":${'7'.repeat(500)}.${'3'.repeat(500)}}`,
    '{ "spaces" : [ 1 ,\t2 ,\r\n3 ] }',
    '{"":"","é\u0301":"👩‍👩‍👧 \u2028\ufeff"}',
    '{"toString":1,"then":2,"toJSON":3,"length":-1}',
    `{"deep":${deep(90)}}`,
  ];
  const text = (index: number, name: string) => KEPT[(index + name.length) % KEPT.length];
  const row = (index: number) =>
    `{"row_id":"${crypto.randomUUID()}","inputs":${KEPT[index]},"expected_outputs":${text(index, 'expected')},` +
    `"actual_outputs":${text(index, 'actual')},"run_metadata":${text(index, 'metadata')},` +
    `"error":"\\u0000\\ud800 ${index}","start_time":"2026-01-01T00:00:${10 + index}Z","end_time":"2026-01-01T00:00:59Z",` +
    `"evaluation_scores":[{"key":"k","score":1,"value":${text(index, 'value')},"comment":"\\ud800\\u0000 ${index}","extra":${text(index, 'extra')}}]}`;
  const upload = (rows: readonly string[]) =>
    `{"results":[${rows.join(',')}],"experiment_name":"hostile ${crypto.randomUUID()}","dataset_name":"${crypto.randomUUID()}",` +
    '"experiment_start_time":"2026-01-01","experiment_end_time":"2026-01-02"}';

  it('comes back byte for byte', async () => {
    const answer = await service.ask('POST', '/api/v1/datasets/upload-experiment', upload(KEPT.map((_, i) => row(i))));
    const { dataset, experiment } = JSON.parse(answer) as { dataset: { id: string }; experiment: { id: string } };
    const query = { session: [experiment.id], order: 'asc' };
    const runs = await until(async () => {
      const page = await service.ask('POST', '/api/v1/runs/query', query);
      return page.includes('"inputs":') ? page : undefined;
    });
    const examples = await service.ask('GET', `/api/v1/examples?dataset=${dataset.id}`);
    const feedback = await service.ask('GET', `/api/v1/feedback?session=${experiment.id}`);
    const lost = KEPT.flatMap((inputs, index) => {
      const wanted: [string, string][] = [
        [examples, `"inputs":${inputs}`],
        [examples, `"outputs":${text(index, 'expected')}`],
        [runs, `"inputs":${inputs}`],
        [runs, `"outputs":${text(index, 'actual')}`],
        [runs, `"metadata":${text(index, 'metadata')}`],
        [runs, `"error":"\\u0000\\ud800 ${index}"`],
        [feedback, `"value":${text(index, 'value')}`],
        [feedback, `"comment":"\\ud800\\u0000 ${index}"`],
        [feedback, `"extra":${text(index, 'extra')}`],
      ];
      return wanted.filter(([page, part]) => !page.includes(part)).map(([, part]) => part);
    });
    expect(lost).toEqual([]);
  });

  it.each([
    ['levels beyond the limit', `{"a":${deep(101)}}`],
    ['100,000 levels', `{"a":${deep(100_000)}}`],
    ['a number that is none', '{"a":NaN}'],
    ['a control character', '{"a":"\u0001"}'],
    ['a raw lone surrogate', Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1').toString('latin1')],
  ])('is refused when it has %s', async (_, inputs) => {
    const raw = upload([row(0).replace(KEPT[0]!, () => inputs)]);
    const headers = [service.target.logins[0]![0]!];
    const target = '/api/v1/datasets/upload-experiment';
    const { status } = await service.check({ method: 'POST', target, headers, body: Buffer.from(raw, 'latin1') });
    expect(status).toBe(422);
  });
});

it('knows the schemas of the routes that take a body or a query', () => {
  const taking = service.table.filter(({ description }) => description?.query ?? description?.body);
  expect(taking.length).toBeGreaterThan(service.table.length / 2);
});
