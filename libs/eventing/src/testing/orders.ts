import { randomUUID } from 'node:crypto';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { testDatabase, type TestDatabase, until } from '@fairlead/postgres/testing';
import { Consumers } from '../consumers/consumers';
import { Degradation } from '../followers/degradation';
import type { Recorded } from '../core/event';
import type { EventContext } from '../consumers/event-store-transport';
import { Followers } from '../followers/followers';
import { once } from '../consumers/inbox';
import { KafkaCluster } from '../kafka/cluster';
import { KafkaRelay } from '../kafka/relay';
import { eventingMigrations } from '../domain';
import { ParkedSubjects } from '../followers/parked-subjects';
import { PostgresEventStore } from '../postgres/postgres-event-store';
import { Transports, UnchangedErrors } from '../transports';
import type { KafkaLink } from '../kafka/message';

/** Orders and payments in a log, sent to Kafka and consumed from it by processes that tests start and end. */
export class Orders {
  readonly link: KafkaLink;
  readonly store: PostgresEventStore;
  /** Runs in the handler of an event, before its effect is written. */
  meanwhile: (event: Recorded) => Promise<void> | void = () => undefined;
  private readonly stops: (() => Promise<unknown>)[] = [];

  private constructor(
    private readonly addresses: string,
    readonly database: TestDatabase,
  ) {
    this.store = new PostgresEventStore(database.pool);
    this.link = {
      cluster: new KafkaCluster({ brokers: addresses.split(','), prefix: `test-${randomUUID()}.` }),
      publications: {
        topics: new Map([
          ['Ordered', 'orders.v1'],
          ['Paid', 'payments.v1'],
        ]),
        data: ({ type, data }) => (type === 'Ordered' ? (data as object) : {}),
      },
    };
  }

  static async open(addresses: string): Promise<Orders> {
    const database = await testDatabase(eventingMigrations);
    await database.pool.query('create table effects (n serial, stream text, version int, payload json, tenant text)');
    return new Orders(addresses, database);
  }

  /** Ends every process and removes the database. */
  async close(): Promise<void> {
    for (const stop of this.stops.reverse()) await stop();
    await this.store.close();
    await this.database.drop();
  }

  /** Another client of the same topics. */
  anotherCluster(): KafkaCluster {
    return new KafkaCluster({ brokers: this.addresses.split(','), prefix: this.link.cluster.name('') });
  }

  /** Starts a process that relays. */
  relay(cluster = this.link.cluster): void {
    const followers = new Followers(this.store, this.database.pool);
    const relay = new KafkaRelay(cluster, this.link.publications, followers, new Degradation());
    followers.onApplicationBootstrap();
    relay.onApplicationBootstrap();
    this.stops.push(
      () => relay.onApplicationShutdown(),
      () => followers.onApplicationShutdown(),
    );
  }

  /** Starts a process that consumes: the effect of an event is a row. Answers what ends it. */
  async consume(): Promise<() => Promise<void>> {
    const { store, link } = this;
    const { pool } = this.database;
    const effect = (data: unknown, context: EventContext) => this.write(data, context);
    @Controller()
    class Effects {
      @EventPattern<string>('Ordered')
      ordered(@Payload() data: unknown, @Ctx() context: EventContext) {
        return effect(data, context);
      }

      @EventPattern<string>('Paid')
      paid(@Payload() data: unknown, @Ctx() context: EventContext) {
        return effect(data, context);
      }
    }
    const patience = { attempts: 3, firstMs: 10, mostMs: 50 };
    const consumers = new Consumers(store, pool, new ParkedSubjects(pool), patience);
    @Module({ controllers: [Effects], providers: [{ provide: Consumers, useValue: consumers }] })
    class EffectsModule {}
    const strategy = new Transports(store, new Followers(store, pool), consumers, new Degradation(), link).of(
      'effects',
    );
    const app = await NestFactory.createMicroservice(EffectsModule, { strategy, logger: false });
    app.useGlobalFilters(new UnchangedErrors());
    await app.listen();
    let ended: Promise<void> | undefined;
    const end = () => (ended ??= app.close());
    this.stops.push(end);
    return end;
  }

  /** Appends so many events of one type to a stream. */
  async append(stream: string, count: number, type = 'Ordered'): Promise<void> {
    const events = Array.from({ length: count }, (_, n) => ({ type, data: { n } }));
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await this.store.append(stream, 'any', events, { tenant: 'tenant-1', traceparent });
  }

  /** Versions of a stream whose effects are there, in the order in which they came. */
  async effects(stream: string): Promise<number[]> {
    const { rows } = await this.database.pool.query<{ version: number }>(
      'select version from effects where stream = $1 order by n',
      [stream],
    );
    return rows.map(({ version }) => version);
  }

  /** Resolves when so many effects are there. */
  async effected(count: number): Promise<void> {
    await until(async () => {
      const { rows } = await this.database.pool.query<{ count: number }>('select count(*)::int as count from effects');
      return rows[0]!.count >= count;
    });
  }

  private async write(data: unknown, { event, metadata }: EventContext): Promise<void> {
    await this.meanwhile(event);
    await once(this.database.pool, 'effects', event.stream, event.version, async (tx) => {
      await tx.query('insert into effects (stream, version, payload, tenant) values ($1, $2, $3, $4)', [
        event.stream,
        event.version,
        JSON.stringify(data),
        metadata.tenant,
      ]);
    });
  }
}

/** 1 to `count`. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n + 1);
}
