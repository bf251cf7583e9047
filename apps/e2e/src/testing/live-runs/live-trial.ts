import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { memberSlices } from '@fairlead/blobs';
import type { KillableService } from './killable-service';
import type { LiveReached } from './live-reached';
import { DEFAULT, LiveModel, type Told } from './model';
import { filled, type Names, requestOf } from './requests';
import { MEMBERS, RUNS, type Sent, type Trial } from './vary';

/** Members of a run that are not there, as they are read. */
const ABSENT: Readonly<Record<string, string>> = { name: '"Unnamed"', run_type: '"chain"', inputs: '{}' };
/** Members that are computed when they are not sent. */
const COMPUTED = ['start_time', 'dotted_order'];
/** Sessions that take runs, by their places. */
const SESSIONS = [0, 2, 3];

/** Carries out one trial with runs and sessions of its own, and holds what is read against the model. */
export class LiveTrial {
  readonly names: Names;
  private readonly model = new LiveModel();

  constructor(
    private readonly service: KillableService,
    private readonly trial: Trial,
    private readonly reached: LiveReached,
    uploaded: { readonly id: string; readonly name: string },
  ) {
    const own = randomUUID();
    this.names = {
      runs: Array.from({ length: RUNS + 1 }, () => randomUUID()),
      sessions: ['known', '', 'new', 'other'].map((name, at) => (at === 1 ? uploaded.name : `${name} ${own}`)),
      sessionIds: [own, uploaded.id, '', '', randomUUID()],
    };
  }

  /** Sends everything; returns the trial, to be read then. */
  static async run(...given: ConstructorParameters<typeof LiveTrial>): Promise<LiveTrial> {
    const made = new LiveTrial(...given);
    await made.send();
    return made;
  }

  /** The runs as they are read, and the runs and statistics of the sessions. */
  async actual(): Promise<unknown> {
    const { runs, sessions } = this.names;
    return {
      runs: await Promise.all(runs.map((id) => this.readRun(id))),
      sessions: await Promise.all(SESSIONS.map((at) => this.readSession(sessions[at]!))),
    };
  }

  /** The same as the model says. */
  expected(): unknown {
    return {
      runs: this.names.runs.map((_, run) => this.expectedRun(run, this.model.runs.get(run))),
      sessions: SESSIONS.map((at) => this.expectedSession(at)),
    };
  }

  private async send(): Promise<void> {
    const { steps, kill } = this.trial;
    const { courier } = this.service;
    const [id, name] = [this.names.sessionIds[0], this.names.sessions[0]];
    await courier.deliver({ method: 'POST', path: '/api/v1/sessions', body: JSON.stringify({ id, name }) });
    const all: (readonly Sent[])[] = [];
    let isToCome = kill !== undefined;
    for (const [at, step] of steps.entries()) {
      const sent = 'sent' in step ? step.sent : (all[step.again % Math.max(all.length, 1)] ?? []);
      all.push(sent);
      this.reached.note('a step again', Number('again' in step && sent.length > 0));
      this.reached.note('requests at once', Number(sent.length > 1));
      const answers = sent.map((one) => courier.deliver(requestOf(one, this.names)));
      if (isToCome && at >= kill!.step && sent.length > 0 && this.model.isRepeatable(sent)) {
        isToCome = false;
        const cut = () => courier.counts.unanswered + courier.counts.unavailable;
        const before = cut();
        await delay(kill!.after);
        await this.service.kill();
        await Promise.all(answers);
        this.reached.note('killed');
        this.reached.note('a request that was cut', cut() - before);
      }
      const actual = (await Promise.all(answers)).map(({ status, json }, nth) => answerOf(sent[nth]!, status, json));
      const expected = sent.map((one) => this.expectedAnswer(one));
      expect({ step: at, sent, answers: actual }).toEqual({ step: at, sent, answers: expected });
    }
  }

  private expectedAnswer(sent: Sent) {
    const { refused, stored } = this.model.receive(sent);
    this.reached.noteSent(sent, stored, refused.length);
    const places = refused.map((place) => filled(place, this.names)).sort();
    return {
      answer: stored === 0 && refused.length > 0 ? 'refused' : 'stored',
      refused: isList(sent) ? places : [],
    };
  }

  private async read(method: string, path: string, body?: object) {
    return this.service.courier.deliver({
      method,
      path: `/api/v1${path}`,
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  private async readRun(id: string): Promise<unknown> {
    const { status, json, text } = await this.read('GET', `/runs/${id}`);
    if (status !== 200) return status;
    const slices = memberSlices(Buffer.from(text));
    const { session_id: session, status: state, s3_urls: urls } = json;
    const attachments = Object.entries(
      (urls ?? {}) as Readonly<Record<string, { readonly presigned_url: string }>>,
    ).map(
      async ([name, { presigned_url: url }]) =>
        [name.replace('attachment.', ''), await (await fetch(url)).text()] as const,
    );
    return {
      session: (await this.read('GET', `/sessions/${session}`)).json.name,
      status: state,
      attachments: Object.fromEntries(await Promise.all(attachments)),
      members: Object.fromEntries(MEMBERS.map((name) => [name, slices.get(name)!.toString()])),
    };
  }

  private expectedRun(run: number, told: Told | undefined): unknown {
    if (!told) return 404;
    const { place, members, attachments } = told;
    const text = (json: string) => filled(json, this.names);
    const value = (name: string) => {
      const json = members[name];
      if (json !== undefined) return name.endsWith('_time') ? json.replace('Z"', '+00:00"') : text(json);
      // Those that nobody sent are made from other members.
      return COMPUTED.includes(name)
        ? expect.any(String)
        : (ABSENT[name] ?? (name === 'trace_id' ? text(`"$${run}"`) : 'null'));
    };
    return {
      session: place === DEFAULT ? place : this.names.sessions[place],
      status: members.error ? 'error' : members.end_time ? 'success' : 'pending',
      attachments: Object.fromEntries(Object.entries(attachments).map(([name, content]) => [name, text(content)])),
      members: Object.fromEntries(MEMBERS.map((name) => [name, value(name)])),
    };
  }

  private async readSession(name: string): Promise<unknown> {
    const [session] = (await this.read('GET', `/sessions?name=${encodeURIComponent(name)}`)).json;
    // A session that is named may be made although the run stays where it is.
    if (!session) return { roots: 0, runs: [] };
    const { runs } = (await this.read('POST', '/runs/query', { session: [session.id], limit: 100 })).json;
    return { roots: session.run_count ?? 0, runs: (runs as { id: string }[]).map(({ id }) => id).sort() };
  }

  private expectedSession(at: number): unknown {
    const own = [...this.model.runs].filter(([, { place }]) => place === at);
    const roots = own.filter(([, { members }]) => members.parent_run_id === undefined).length;
    return { roots, runs: own.map(([run]) => this.names.runs[run]!).sort() };
  }
}

/** A request that holds several changes, of which some may be stored and some refused. */
function isList({ form }: Sent): boolean {
  return form === 'batch' || form === 'multipart';
}

/** An answer in the form of the model: places of refused changes instead of reasons. */
function answerOf(
  sent: Sent,
  status: number,
  json: { readonly refused?: readonly { readonly loc: readonly string[] }[] },
) {
  const places = (isList(sent) ? (json.refused ?? []) : []).map(({ loc: [, first = '', second] }) =>
    sent.form === 'batch' ? `${first}.${second}` : first.split('.', 2).join('.'),
  );
  const answer = status === 202 ? 'stored' : status >= 400 && status < 500 ? 'refused' : status;
  return { answer, refused: places.sort() };
}
