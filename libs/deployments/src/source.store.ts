import { createHash } from 'node:crypto';
import { SourceArchives } from '@fairlead/contracts';
import { copyIn, copyLine, transaction } from '@fairlead/postgres';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { v7 as uuid } from 'uuid';

/** Something else was uploaded to the path before. */
export class SourceTaken extends Error {
  override name = 'SourceTaken';
  constructor() {
    super('Another archive was already uploaded to this URL; ask for a new one.');
  }
}

const BLOCK_BYTES = 256 * 1024;

/** The uploaded source archives of deployments, by the path that was given out. What is there never changes. */
@Injectable()
export class SourceStore extends SourceArchives {
  constructor(private readonly pool: Pool) {
    super();
  }

  /**
   * Stores an archive as it comes, all or nothing; the same bytes again are stored once.
   * @throws SourceTaken when others are there, and what the source throws.
   */
  async save(deploymentId: string, path: string, source: AsyncIterable<Buffer>): Promise<void> {
    await transaction(this.pool, async (tx) => {
      await tx.query('set local statement_timeout = 0');
      const archive = uuid();
      const hash = createHash('sha256');
      let bytes = 0;
      async function* lines(): AsyncIterable<string> {
        let number = 0;
        for await (const block of inBlocks(source)) {
          hash.update(block);
          bytes += block.length;
          yield copyLine([archive, number++, block]);
        }
      }
      await copyIn(tx, 'copy source_archive_chunks (archive_id, number, data) from stdin', lines());
      const sha256 = hash.digest('hex');
      const { rows } = await tx.query<{ id: string; sha256: string }>(
        `with kept as (
           insert into source_archives (id, deployment_id, path, bytes, sha256) values ($1, $2, $3, $4, $5)
           on conflict (deployment_id, path) do nothing returning id, sha256)
         select id, sha256 from kept
         union all select id, sha256 from source_archives where deployment_id = $2 and path = $3`,
        [archive, deploymentId, path, bytes, sha256],
      );
      // Nothing is seen of one that another upload of this moment has stored.
      if (rows[0]?.sha256 !== sha256) throw new SourceTaken();
      if (rows[0].id !== archive) await tx.query('delete from source_archive_chunks where archive_id = $1', [archive]);
    });
  }

  async open(_tenantId: string, deploymentId: string, path: string): Promise<AsyncIterable<Buffer> | undefined> {
    const { rows } = await this.pool.query<{ id: string }>(
      'select id from source_archives where deployment_id = $1 and path = $2',
      [deploymentId, path],
    );
    return rows[0] && this.chunks(rows[0].id);
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
