import { randomUUID } from 'node:crypto';
import { BadRequest, Conflict, Unprocessable } from '@fairlead/schema';
import {
  type Abstract,
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type Provider,
  SetMetadata,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { answerTo } from './answer';
import { ClaimedCommand, newCommandId } from './command';
import { CommandContext, contextOf } from './context';
import { describeRoute } from './describe';
import { toWire } from './dialects';
import { checkedParts } from './parameters';

const LONGEST_KEY = 255;
const KEPT_HEADERS = ['content-type', 'etag', 'location', 'link'];
const PURGE_EVERY = 3_600_000;
const LEASE = 10_000;

interface Kept {
  readonly fingerprint: Buffer;
  readonly status: number | null;
  readonly headers: string | null;
  readonly answer: string | null;
}

/** Makes keyed hashes: a body may contain secrets, which could be guessed from a plain one. */
interface Digests {
  digest(subject: string, text: string): Promise<string>;
}

/** Runs a write once per Idempotency-Key and tenant, and repeats its answer for 24 hours. */
export class Idempotency {
  private purgedAt = 0;

  /** Returns the provider for a module whose application provides `Pool`; `digests` is the class that makes the hashes. */
  static hashedBy(digests: Abstract<Digests>): Provider {
    return {
      provide: Idempotency,
      useFactory: (pool: Pool, hashes: Digests) => new Idempotency(pool, hashes),
      inject: [Pool, digests],
    };
  }

  /** `lease`: milliseconds after which the key of a crashed process is free; a running process renews its lease. */
  constructor(
    private readonly pool: Pool,
    private readonly digests: Digests,
    private readonly lease = LEASE,
  ) {}

  /**
   * Returns the result of `work`, or the stored answer to the same request, with the header `Idempotent-Replayed:
   * true`. Without an Idempotency-Key, it just runs `work`. Only successes are stored. While `work` runs, the command of
   * the request has the id that was stored with the key, also when an earlier attempt ended without an answer. `body`
   * replaces the body of a request that was not parsed.
   * @throws BadRequest for a malformed key.
   * @throws Unprocessable when the key was used for another request.
   * @throws Conflict while the first request is running.
   */
  async run<T>(request: FastifyRequest, reply: FastifyReply, work: () => Promise<T>, body?: string): Promise<T> {
    const key = keyOf(request);
    if (key === undefined) return work();
    const { tenantId } = request.actor;
    const holder = randomUUID();
    const sent = body ?? JSON.stringify(request.body) ?? '';
    const fingerprint = Buffer.from(
      await this.digests.digest('idempotency', `${request.method} ${request.url}\n${sent}`),
    );
    const command = await this.claim(tenantId, key, fingerprint, holder);
    if (!command) return replay<T>(await this.find(tenantId, key), fingerprint, reply);
    request.command = command;
    const renewal = setInterval(() => {
      this.renew(tenantId, key, holder, command).catch(() => undefined);
    }, this.lease / 3).unref();
    try {
      const result = await work();
      // The work is done: not being able to keep its answer must not turn it into a failure.
      await this.keep(tenantId, key, holder, reply, result).catch(() => undefined);
      return result;
    } catch (error) {
      // A fault may have come after the work was done: the next attempt has the same ids.
      const isRefused = answerTo(error).problem.status < 500;
      await (isRefused ? this.release(tenantId, key, holder) : this.expire(tenantId, key, holder)).catch(
        () => undefined,
      );
      throw error;
    } finally {
      clearInterval(renewal);
      this.purge();
    }
  }

  /** Returns the command that the key is for; undefined when the key is held, or has an answer. */
  private async claim(
    tenantId: string,
    key: string,
    fingerprint: Buffer,
    holder: string,
  ): Promise<ClaimedCommand | undefined> {
    const begun = performance.now();
    const id = newCommandId();
    const { rows } = await this.pool.query<{ command_id: string }>({
      name: 'claim idempotency key',
      text: `
        insert into idempotency_keys as k (tenant_id, key, fingerprint, holder, leased_until, command_id)
        values ($1, $2, $3, $4, now() + $5 * interval '1 millisecond', $6)
        on conflict (tenant_id, key) do update
          set fingerprint = excluded.fingerprint, holder = excluded.holder, leased_until = excluded.leased_until,
              status = null, headers = null, answer = null, created_at = now(),
              command_id = case when k.created_at < now() - interval '24 hours' then excluded.command_id
                else coalesce(k.command_id, excluded.command_id) end
          where k.created_at < now() - interval '24 hours' and (k.status is not null or k.leased_until < now())
             or k.status is null and k.leased_until < now() and k.fingerprint = excluded.fingerprint
        returning command_id`,
      values: [tenantId, key, fingerprint, holder, this.lease, id],
    });
    const claimed = rows[0]?.command_id;
    return claimed === undefined ? undefined : new ClaimedCommand(claimed, claimed !== id, begun + this.lease);
  }

  private async find(tenantId: string, key: string): Promise<Kept | undefined> {
    const { rows } = await this.pool.query<Kept>(
      'select fingerprint, status, headers, answer from idempotency_keys where tenant_id = $1 and key = $2',
      [tenantId, key],
    );
    return rows[0];
  }

  private async renew(tenantId: string, key: string, holder: string, command: ClaimedCommand): Promise<void> {
    const begun = performance.now();
    const { rowCount } = await this.pool.query(
      `update idempotency_keys set leased_until = now() + $4 * interval '1 millisecond'
       where tenant_id = $1 and key = $2 and holder = $3 and status is null`,
      [tenantId, key, holder, this.lease],
    );
    if (rowCount === 1) command.heldUntil = begun + this.lease;
  }

  private async keep(tenantId: string, key: string, holder: string, reply: FastifyReply, result: unknown) {
    if (reply.statusCode >= 300) {
      await this.release(tenantId, key, holder);
      return;
    }
    const headers = KEPT_HEADERS.flatMap((name) => (reply.hasHeader(name) ? [[name, reply.getHeader(name)]] : []));
    const answer = result === undefined ? null : JSON.stringify(result);
    await this.pool.query(
      `update idempotency_keys set status = $4, headers = $5, answer = $6
       where tenant_id = $1 and key = $2 and holder = $3`,
      [tenantId, key, holder, reply.statusCode, JSON.stringify(Object.fromEntries(headers)), answer],
    );
  }

  private async release(tenantId: string, key: string, holder: string): Promise<void> {
    await this.pool.query(
      'delete from idempotency_keys where tenant_id = $1 and key = $2 and holder = $3 and status is null',
      [tenantId, key, holder],
    );
  }

  /** Ends the lease, so that the same request can be carried out again as the same command. */
  private async expire(tenantId: string, key: string, holder: string): Promise<void> {
    await this.pool.query(
      'update idempotency_keys set leased_until = now() where tenant_id = $1 and key = $2 and holder = $3 and status is null',
      [tenantId, key, holder],
    );
  }

  private purge(): void {
    if (Date.now() - this.purgedAt < PURGE_EVERY) return;
    this.purgedAt = Date.now();
    this.pool
      .query(`delete from idempotency_keys where created_at < now() - interval '24 hours' and leased_until < now()`)
      .catch(() => undefined);
  }
}

function keyOf(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return undefined;
  if (typeof header === 'string' && /^[\x20-\x7e]+$/.test(header) && header.length <= LONGEST_KEY) return header;
  throw new BadRequest(`The header Idempotency-Key must be 1 to ${LONGEST_KEY} plain characters.`);
}

function replay<T>(kept: Kept | undefined, fingerprint: Buffer, reply: FastifyReply): T {
  if (kept && !kept.fingerprint.equals(fingerprint)) {
    throw new Unprocessable('This Idempotency-Key was used for a different request.');
  }
  if (!kept || kept.status === null) {
    throw new Conflict('A request with this Idempotency-Key is still running.', { headers: { 'retry-after': '1' } });
  }
  const headers = JSON.parse(kept.headers ?? '{}') as Record<string, string>;
  void reply.code(kept.status).headers(headers).header('idempotent-replayed', 'true');
  return (kept.answer === null ? undefined : JSON.parse(kept.answer)) as T;
}

/** Metadata of a handler: the classes that turn its result into the answer for its caller. */
const OUTSIDE = 'fairlead:outside';

/**
 * Runs a handler once per Idempotency-Key, and shows its result to the caller. Requests that do not fit their schemas,
 * and dry runs, claim no key. It does both, because every further interceptor costs each request a pipeline of its own.
 */
@Injectable()
class IdempotencyInterceptor implements NestInterceptor {
  private readonly shows = new Map<object, readonly ForEachCaller<unknown>[]>();

  constructor(
    private readonly idempotency: Idempotency,
    private readonly module: ModuleRef,
  ) {}

  async intercept(execution: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = execution.switchToHttp();
    const { query } = checkedParts(execution) as { readonly query?: { readonly dry_run?: unknown } };
    const [request, reply] = [http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>()];
    const work = () => lastValueFrom<unknown>(next.handle());
    let answer = await (query?.dry_run ? work() : this.idempotency.run(request, reply, work));
    const handler = execution.getHandler();
    const shows = this.shows.get(handler) ?? (await this.showsOf(handler));
    for (const each of shows) answer = await each.show(answer, contextOf(execution), reply);
    return of(answer);
  }

  private async showsOf(handler: object): Promise<readonly ForEachCaller<unknown>[]> {
    const outside = Reflect.getMetadata(OUTSIDE, handler) as readonly Type<ForEachCaller<unknown>>[];
    const shows = await Promise.all(outside.map((type) => this.module.create(type)));
    this.shows.set(handler, shows);
    return shows;
  }
}

/**
 * Makes a route safe to repeat with the header Idempotency-Key. The answer of its handler is stored for all callers, so
 * it must contain no secrets and use the names of the specification. `outside`: classes that turn it into the answer for
 * each caller, the last one first. The module of the controller provides `Idempotency`.
 */
export function Idempotent(...outside: Type<ForEachCaller<never>>[]): MethodDecorator {
  return applyDecorators(
    describeRoute({ takes: ['Idempotency-Key'] }),
    UseInterceptors(IdempotencyInterceptor),
    SetMetadata(OUTSIDE, outside.toReversed()),
  );
}

/**
 * Turns the result of a handler, which may be a stored answer to an earlier request, into the answer for this caller.
 */
export abstract class ForEachCaller<Kept> {
  abstract show(kept: Kept, context: CommandContext, reply: FastifyReply): unknown;
}

/** Answers with the names that the caller reads. */
export class Spelling extends ForEachCaller<unknown> {
  show(kept: unknown, context: CommandContext): unknown {
    return spelled(context, kept);
  }
}

/** Returns an answer with the names that the caller reads. */
export function spelled<T>({ dialect }: Pick<CommandContext, 'dialect'>, answer: T): T {
  return dialect === 'wire' ? toWire(answer) : answer;
}
