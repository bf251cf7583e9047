import { type EventStore, idOf, type Recorded, streamName } from '@fairlead/eventing';
import type { Pool } from 'pg';
import { v5 as idFrom } from 'uuid';
import { numberedIds } from '../common/ids';
import { uploadedFeedback } from './feedback.queries';
import type { ExperimentFilled, ExperimentUploaded } from '../session/experiment';

/**
 * Most feedback of one upload that is published one by one. Of more, none is: the event that its runs can be read is
 * enough.
 */
export const MOST_TOLD = 1000;
const AT_ONCE = 200;

/**
 * Records `FeedbackUploaded` for each stored feedback of an upload or a fill, in a stream `uploadedFeedback-<session id>`
 * of its own: others are told of it by that. Repeating it records nothing more.
 */
export async function tellUploadedFeedback(
  store: EventStore,
  pool: Pool,
  { stream, data, metadata: { tenant, traceparent } }: Recorded<ExperimentUploaded | ExperimentFilled>,
): Promise<void> {
  const session = idOf(stream);
  const idOfNumber = numberedIds(data.id_seed ?? session, 'feedback');
  const ids = Array.from({ length: MOST_TOLD + 1 }, (_, number) => idOfNumber(number).toString('hex'));
  const rows = await uploadedFeedback(pool, tenant, session, ids);
  if (rows.length > MOST_TOLD) return;
  const events = rows.map((told) => ({ type: 'FeedbackUploaded' as const, data: told, id: idFrom(told.id, session) }));
  const metadata = { tenant, traceparent, actor: 'system:persist-runs' };
  for (let at = 0; at < events.length; at += AT_ONCE) {
    await store.append(streamName('uploadedFeedback', session), 'any', events.slice(at, at + AT_ONCE), metadata);
  }
}
