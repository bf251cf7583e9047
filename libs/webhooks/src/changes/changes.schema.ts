import { anyObject, bool, csv, int, list, note, object, optional, str, timestamp } from '@fairlead/schema';
import { subscription } from '../webhook/webhook.schema';

const MOST = 100;
const LONGEST_ID = 128;

export const changesQuery = object({
  types: optional(
    note(
      csv(subscription, { max: MOST }),
      'Only changes of these types, as webhooks name them: whole names, or prefixes such as `deployment.*`; separated by commas, or repeated.',
    ),
  ),
  about: optional(
    note(
      csv(str({ min: 1, max: LONGEST_ID }), { max: MOST }),
      'Only changes whose data names one of these identifiers, such as that of a deployment; separated by commas, or repeated.',
    ),
  ),
  after: optional(
    note(
      str({ pattern: /^\d{1,20}$/ }),
      'The `position` of the previous answer: only what has changed since. Absent: only what changes from now on. The header `Last-Event-ID` does the same.',
    ),
  ),
  wait: optional(
    note(
      int({ ge: 0, le: 60 }),
      'Longest time to wait for a change, in seconds. Absent, and with `Accept: text/event-stream`: a stream.',
    ),
  ),
});

export const changes = object('Changes', {
  changes: note(
    list(
      object('WorkspaceChange', {
        position: note(str(), 'Place in the log; later changes have larger ones.'),
        type: note(str(), 'Type of the event, such as `deployment.created`.'),
        timestamp: note(timestamp(), 'When it happened.'),
        data: note(anyObject(), 'What webhooks are told of it.'),
      }),
    ),
    'What has changed, the oldest first.',
  ),
  position: note(str(), 'Value for `after` in the next request.'),
  reset: note(bool(), 'True when changes may be missing, because they are too long ago: read anew what is shown.'),
});
