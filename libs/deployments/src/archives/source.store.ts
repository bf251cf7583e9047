import { createHash } from 'node:crypto';
import { SourceArchives } from '@fairlead/contracts';
import { StoredBytes } from '@fairlead/eventing';
import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Pool } from 'pg';
import { v7 as uuid } from 'uuid';
import { SourceTaken } from './source.errors';

interface Archive {
  readonly id: string;
  readonly tenant: string;
  readonly deploymentId: string;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

const BLOCK_BYTES = 256 * 1024;
/** No upload takes so long. */
const DAY_MS = 24 * 60 * 60 * 1000;

/** The uploaded source archives of deployments, by the path that was given out. What is there never changes. */
@Injectable()
export class SourceStore extends SourceArchives implements OnApplicationBootstrap {
  private readonly logger = new Logger('SourceStore');

  constructor(
    private readonly pool: Pool,
    private readonly stored: StoredBytes,
  ) {
    super();
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.removeRemains(new Date(Date.now() - DAY_MS)).catch((error: unknown) =>
      this.logger.error(`What uploads left behind could not be removed: ${String(error)}`),
    );
  }

  /**
   * Stores an archive as it comes, all or nothing; the same bytes again are stored once. Nothing of the database is held
   * while more of it is waited for.
   * @throws SourceTaken when others are there, QuotaReached, and what the source throws.
   */
  async save(tenant: string, deploymentId: string, path: string, source: AsyncIterable<Buffer>): Promise<void> {
    const archive = uuid();
    try {
      const hash = createHash('sha256');
      let [bytes, number] = [0, 0];
      for await (const block of inBlocks(source)) {
        hash.update(block);
        bytes += block.length;
        await this.pool.query(
          'insert into source_archive_chunks (archive_id, number, data, tenant_id) values ($1, $2, $3, $4)',
          [archive, number++, block, tenant],
        );
      }
      const sha256 = hash.digest('hex');
      const kept = await this.stored.within(tenant, bytes, () =>
        this.keep({ id: archive, tenant, deploymentId, path, bytes, sha256 }),
      );
      if (!kept) await this.forget(archive);
    } catch (error) {
      await this.forget(archive).catch(() => undefined);
      throw error;
    }
  }

  /** Makes an archive readable; false when the same bytes are there already. @throws SourceTaken */
  private async keep({ id, tenant, deploymentId, path, bytes, sha256 }: Archive): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `insert into source_archives (id, deployment_id, path, bytes, sha256, tenant_id) values ($1, $2, $3, $4, $5, $6)
       on conflict (deployment_id, path) do nothing`,
      [id, deploymentId, path, bytes, sha256, tenant],
    );
    if (rowCount === 1) return true;
    const { rows } = await this.pool.query<{ sha256: string }>(
      'select sha256 from source_archives where deployment_id = $1 and path = $2',
      [deploymentId, path],
    );
    if (rows[0]?.sha256 !== sha256) throw new SourceTaken();
    return false;
  }

  private async forget(archive: string): Promise<void> {
    await this.pool.query('delete from source_archive_chunks where archive_id = $1', [archive]);
  }

  /**
   * Forgets what uploads left behind whose process ended before they did: chunks that belong to no archive and were
   * begun before `time`.
   */
  async removeRemains(time: Date): Promise<void> {
    // Ids of version 7 begin with the milliseconds of their time.
    const hex = time.getTime().toString(16).padStart(12, '0');
    await this.pool.query(
      `delete from source_archive_chunks where archive_id in (
         select archive_id from source_archive_chunks c where number = 0 and archive_id < $1
         and not exists (select from source_archives a where a.id = c.archive_id))`,
      [`${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`],
    );
  }

  async open(_tenantId: string, deploymentId: string, path: string): Promise<AsyncIterable<Buffer> | undefined> {
    const { rows } = await this.pool.query<{ id: string }>(
      'select id from source_archives where deployment_id = $1 and path = $2',
      [deploymentId, path],
    );
    return rows[0] && this.chunks(rows[0].id);
  }

  /** Digests and sizes of archives of a deployment, by path. */
  async digests(deploymentId: string, paths: readonly string[]) {
    if (paths.length === 0) return new Map<string, { sha256: string; bytes: number }>();
    const { rows } = await this.pool.query<{ path: string; sha256: string; bytes: string }>(
      'select path, sha256, bytes from source_archives where deployment_id = $1 and path = any($2)',
      [deploymentId, paths],
    );
    return new Map(rows.map(({ path, sha256, bytes }) => [path, { sha256, bytes: Number(bytes) }]));
  }

  /** Forgets all archives of a deployment. */
  async removeAll(deploymentId: string): Promise<void> {
    await this.pool.query(
      `with gone as (delete from source_archives where deployment_id = $1 returning id)
       delete from source_archive_chunks where archive_id in (select id from gone)`,
      [deploymentId],
    );
  }

  private async *chunks(archive: string): AsyncIterable<Buffer> {
    for (let number = 0; ; number++) {
      const { rows } = await this.pool.query<{ data: Buffer }>(
        'select data from source_archive_chunks where archive_id = $1 and number = $2',
        [archive, number],
      );
      if (!rows[0]) return;
      yield rows[0].data;
    }
  }
}

async function* inBlocks(source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const part of source) {
    parts.push(part);
    size += part.length;
    if (size < BLOCK_BYTES) continue;
    yield Buffer.concat(parts);
    parts = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(parts);
}
