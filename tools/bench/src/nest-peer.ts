import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { type ChildProcess, fork } from 'node:child_process';
import { Body, Controller, Module, NotFoundException, Param, Patch } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Column, CreateDateColumn, DataSource, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import { FLAGS } from './bench-server';

@Entity('peer_deployments')
class Deployment {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('jsonb')
  source_config!: object;

  @UpdateDateColumn({ type: 'timestamptz' })
  updated_at!: Date;
}

@Entity('peer_audit_log')
class AuditRow {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  deployment_id!: string;

  @Column('jsonb')
  changed!: object;

  @CreateDateColumn({ type: 'timestamptz' })
  created_at!: Date;
}

/** Rows that are changed in turn, as many as the deployments that Fairlead's figure changes. */
const ROWS = 64;

@Controller('deployments')
class DeploymentsController {
  constructor(private readonly db: DataSource) {}

  @Patch(':id')
  patch(@Param('id') id: string, @Body() body: { source_config: object }): Promise<Deployment> {
    return this.db.transaction(async (manager) => {
      const deployment = await manager.findOne(Deployment, { where: { id }, lock: { mode: 'pessimistic_write' } });
      if (!deployment) throw new NotFoundException();
      Object.assign(deployment.source_config, body.source_config);
      await manager.insert(AuditRow, { id: randomUUID(), deployment_id: id, changed: body });
      return manager.save(deployment);
    });
  }
}

async function serve(url: string): Promise<void> {
  const entities = [Deployment, AuditRow];
  const db = await new DataSource({ type: 'postgres', url, entities, synchronize: true, poolSize: 32 }).initialize();
  const ids = Array.from({ length: ROWS }, () => randomUUID());
  await db.getRepository(Deployment).insert(ids.map((id) => ({ id, source_config: { build_command: 'make' } })));
  class Peer {}
  Module({ controllers: [DeploymentsController], providers: [{ provide: DataSource, useValue: db }] })(Peer);
  const app = await NestFactory.create<NestFastifyApplication>(Peer, new FastifyAdapter(), { logger: false });
  await app.listen(0, '127.0.0.1');
  process.send!({ url: await app.getUrl(), ids });
}

/**
 * A service as one would write it without a log: NestJS on Fastify, TypeORM, a row lock, and a row of an audit table, in
 * a process of its own with the options of Fairlead's. It checks no key, validates nothing and keeps no history.
 */
export async function nestPeer(databaseUrl: string): Promise<{ url: string; ids: string[]; stop(): Promise<void> }> {
  const child: ChildProcess = fork(__filename, [databaseUrl], { execArgv: [...process.execArgv, ...FLAGS] });
  const started = await new Promise<{ url: string; ids: string[] }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { url: string; ids: string[] }));
    child.once('exit', (code) => reject(new Error(`The peer ended with code ${code}.`)));
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return { ...started, stop: () => (child.kill('SIGKILL'), ended) };
}

if (process.send && process.argv[1] === __filename) void serve(process.argv[2]!);
