import { shape } from '@fairlead/api';
import { HIDEABLE, LINK_KINDS } from './share';

const { list, noted, nullable, oneOf, time, uuid: id } = shape;

const scope = {
  kind: noted(oneOf(...LINK_KINDS), 'What the link shows.'),
  dataset_id: noted(nullable(id), 'Dataset of the experiments; null for a run.'),
  experiments: noted(list(id), 'Experiments that are compared, the baseline first; of a run its session.'),
  run_id: noted(nullable(id), 'Run that is shown; null for a comparison.'),
  hidden: noted(list(oneOf(...HIDEABLE)), 'What the link does not show.'),
};
const expires_at = noted(time, 'When the link ends.');
export const linkMembers = {
  id: noted(id, 'Identifier of the link, not its token.'),
  ...scope,
  created_at: noted(time, 'When the link was made.'),
  expires_at,
};
export const openedLink = shape.object('OpenedShareLink', { ...scope, expires_at });
