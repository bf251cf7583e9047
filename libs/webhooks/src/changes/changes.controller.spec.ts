import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { CommandContext } from '@fairlead/api';
import { OTHER_TENANT, TENANT } from '@fairlead/edge/testing';
import type { FastifyReply } from 'fastify';
import { activated, TestService } from '../testing/service';
import { ChangesController } from './changes.controller';

let service: TestService;
let url: string;
beforeAll(async () => {
  service = await TestService.start();
  await service.app.listen(0, '127.0.0.1');
  url = `${(await service.app.getUrl()).replace('[::1]', '127.0.0.1')}/v1/changes`;
});
afterAll(() => service.stop());

interface Answer {
  readonly changes: { position: string; type: string; timestamp: string; data: { deployment_id: string } }[];
  readonly position: string;
  readonly reset: boolean;
}

const request = (search = '', headers: Record<string, string> = {}) =>
  fetch(url + search, { headers: { 'x-api-key': 'reader', ...headers } });
const poll = async (search = '', headers: Record<string, string> = {}) =>
  (await (await request(search, headers)).json()) as Answer;
const idsOf = ({ changes }: Answer) => changes.map(({ data }) => data.deployment_id);
const created = (name: string) => ({
  type: 'DeploymentCreated',
  data: { name, source: 'codehost', source_config: {}, source_revision_config: {}, secrets: [{ value: 'hidden' }] },
});

/** Events that a stream has sent, one at a time. */
async function* events(response: Response): AsyncGenerator<Record<string, string>> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      yield Object.fromEntries(lines.map((line) => [line.split(': ', 1)[0]!, line.slice(line.indexOf(': ') + 2)]));
    }
  }
}

/** The first event of a stream with data. */
async function firstOf(stream: AsyncGenerator<Record<string, string>>) {
  for await (const event of stream) if (event.data !== undefined) return event;
  throw new Error('The stream has ended.');
}

const stream = (headers: Record<string, string> = {}, search = '') =>
  request(search, { accept: 'text/event-stream', ...headers });

describe('GET /v1/changes, one answer after the other', () => {
  it('answers at once what has changed after a position, in the words of webhooks', async () => {
    const { position, changes, reset } = await poll();
    expect({ changes, reset }).toEqual({ changes: [], reset: false });
    const id = await service.happen(created('agent'));
    const news = await poll(`?after=${position}&wait=20`);
    expect(news.changes).toEqual([
      {
        position: expect.stringMatching(/^\d+$/),
        type: 'deployment.created',
        timestamp: expect.stringMatching(/Z$/),
        data: expect.objectContaining({ deployment_id: id, name: 'agent' }),
      },
    ]);
    expect(JSON.stringify(news)).not.toContain('hidden');
    expect(await poll(`?after=${news.position}`)).toMatchObject({ changes: [], reset: false });
    expect(idsOf(await poll('?wait=0', { 'last-event-id': position }))).toEqual([id]);
  });

  it('waits for a change of its own workspace', async () => {
    const { position } = await poll();
    let answered = false;
    const waiting = poll(`?after=${position}&wait=30`).finally(() => (answered = true));
    await service.happen(created('theirs'), OTHER_TENANT);
    expect(idsOf(await poll(`?after=${position}`, { 'x-api-key': 'stranger' }))).toHaveLength(1);
    expect(answered).toBe(false);
    const id = await service.happen();
    expect(idsOf(await waiting)).toEqual([id]);
  });

  it('tells of some types, and of some things, only', async () => {
    const { position } = await poll();
    const first = await service.happen(created('one'));
    const second = await service.happen(activated);
    const last = await service.happen(created('last'));
    const found = async (search: string) => idsOf(await poll(`?after=${position}${search}`));
    expect((await poll(`?after=${position}&about=${last}&wait=20`)).changes).toHaveLength(1);
    expect(await found('')).toEqual([first, second, last]);
    expect(await found('&types=revision.*')).toEqual([second]);
    expect(await found('&types=revision.activated,deployment.created')).toEqual([first, second, last]);
    expect(await found(`&about=${first},${second}`)).toEqual([first, second]);
    expect(await found(`&about=${activated.data.revision_id}`)).toEqual([second]);
    expect(await found('&types=dataset.*')).toEqual([]);
  });

  it('says so when it does not know what has changed since', async () => {
    expect(await poll('?after=99999999999999999999&wait=20')).toMatchObject({ changes: [], reset: true });
    const { reset, position } = await poll('', { 'last-event-id': 'nonsense' });
    expect(reset).toBe(true);
    expect(await poll(`?after=${position}`)).toMatchObject({ reset: false });
  });

  it.each(['?after=x', '?wait=61', '?types=deployment.exploded', '?abuot=1'])('does not take %s', async (search) => {
    expect((await request(search)).status).toBe(422);
  });

  it('counts no client that has gone before its request is handled', async () => {
    const controller = service.app.get(ChangesController);
    const context = { actor: { keyId: 'gone' }, tenantId: TENANT } as unknown as CommandContext;
    for (let count = 0; count <= 100; count++) {
      const raw = new ServerResponse(new IncomingMessage(new Socket()));
      raw.destroy();
      const reply: FastifyReply = { raw, header: () => reply } as unknown as FastifyReply;
      expect(await controller.list(context, { wait: 30 }, undefined, undefined, reply)).toContain('"changes":[]');
    }
  });

  it('asks for a key', async () => {
    expect((await request('', { 'x-api-key': 'nobody' })).status).toBe(401);
  });
});

describe('GET /v1/changes as a stream', () => {
  it('sends changes as they happen, and after a break what was missed', async () => {
    const response = await stream();
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const received = events(response);
    // Its first event tells where it begins.
    for await (const { id } of received) if (id !== undefined) break;
    const again = events(await stream());
    for (let seen = await again.next(); seen.value?.id === undefined;) seen = await again.next();
    const id = await service.happen(created('streamed'));
    const event = await firstOf(again);
    expect(event).toMatchObject({ event: 'deployment.created', id: expect.stringMatching(/^\d+$/) });
    expect(JSON.parse(event.data!)).toMatchObject({ type: 'deployment.created', data: { deployment_id: id } });
    await again.return(undefined);
    const missed = await service.happen(activated);
    const resumed = events(await stream({ 'last-event-id': event.id! }, '?types=revision.activated'));
    expect(JSON.parse((await firstOf(resumed)).data!)).toMatchObject({ data: { deployment_id: missed } });
    await resumed.return(undefined);
  });

  it('begins with a reset when it does not know what has changed since', async () => {
    const received = events(await stream({ 'last-event-id': 'nonsense' }));
    expect(await firstOf(received)).toMatchObject({ event: 'reset', data: '{}', id: expect.stringMatching(/^\d+$/) });
    await received.return(undefined);
  });

  it('is refused when a key has too many, until one of them ends', async () => {
    const open: AsyncGenerator<unknown>[] = [];
    let refused: Response | undefined;
    while (!refused && open.length < 200) {
      const response = await stream({ 'x-api-key': 'auditor' });
      if (response.status === 200) open.push(events(response));
      else refused = response;
    }
    expect([open.length, refused?.status, refused?.headers.get('retry-after')]).toEqual([100, 429, '5']);
    await refused!.body?.cancel();
    const other = await stream();
    expect(other.status).toBe(200);
    await other.body!.cancel();
    for (const each of open) {
      await each.next();
      await each.return(undefined);
    }
    for (;;) {
      const response = await stream({ 'x-api-key': 'auditor' });
      await response.body!.cancel();
      if (response.status === 200) break;
    }
  });
});
