import { idOf, Inapplicable, type Projection, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import type { TenantEvent } from '../tenants/tenant';
import type { ConsoleSessionEvent } from './console-session';

/** Keeps the table `console_sessions`; rows of sessions that have expired go when another session begins. */
export const consoleSessionsProjection: Projection = {
  name: 'console_sessions',
  categories: ['consoleSession', 'tenant'],
  async handle(events: Recorded[], tx: PoolClient) {
    for (const event of events as Recorded<ConsoleSessionEvent | TenantEvent>[]) {
      const { stream, time, version } = event;
      if (event.type === 'TenantRemoved') {
        await tx.query('delete from console_sessions where tenant_id = $1', [idOf(stream)]);
      } else if (event.type === 'ConsoleSessionCreated') {
        const { id, key_id, key_hash, tenant_id, organization_id, hash, address, expires_at } = event.data;
        if (id !== idOf(stream)) throw new Inapplicable(`${stream} creates the session of another id.`);
        await tx.query('delete from console_sessions where expires_at < $1', [time]);
        await tx.query(
          `insert into console_sessions (id, key_id, key_hash, tenant_id, organization_id, hash, address, expires_at,
             created_at, used_at, version) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10)`,
          [id, key_id, key_hash, tenant_id, organization_id, hash, address, expires_at, time, version],
        );
      } else if (event.type === 'ConsoleSessionUsed' || event.type === 'ConsoleSessionRevoked') {
        const column = event.type === 'ConsoleSessionUsed' ? 'used_at' : 'ended_at';
        const text = `update console_sessions set ${column} = $2, version = $3 where id = $1`;
        await tx.query(text, [idOf(stream), time, version]);
      }
    }
  },
};
