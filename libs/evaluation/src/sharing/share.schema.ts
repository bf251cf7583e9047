import { list, literal, note, nullable, object, timestamp, uuid } from '@fairlead/schema';
import { HIDEABLE, LINK_KINDS } from './share';

const scope = {
  kind: note(literal(LINK_KINDS), 'What the link shows.'),
  dataset_id: note(nullable(uuid()), 'Dataset of the experiments; null for a run.'),
  experiments: note(list(uuid()), 'Experiments that are compared, the baseline first; of a run its session.'),
  run_id: note(nullable(uuid()), 'Run that is shown; null for a comparison.'),
  hidden: note(list(literal(HIDEABLE)), 'What the link does not show.'),
};
const expires_at = note(timestamp(), 'When the link ends.');
export const linkMembers = {
  id: note(uuid(), 'Identifier of the link, not its token.'),
  ...scope,
  created_at: note(timestamp(), 'When the link was made.'),
  expires_at,
};
export const openedLink = object('OpenedShareLink', { ...scope, expires_at });
