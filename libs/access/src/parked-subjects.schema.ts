import { int, list, literal, note, nullable, object, optional, str, timestamp, uuid } from '@fairlead/schema';

export const parkedSubjectsQuery = object({
  limit: note(optional(int({ ge: 1, le: 1000 }), 100), 'Largest number of parked subjects in the answer.'),
  after: note(optional(uuid()), 'The `after` of the previous page; absent: the first page.'),
});
export const parkedSubjectPath = object({ parked_subject_id: note(uuid(), 'The `id` of an element of the list.') });

export const parkedSubject = object('ParkedSubject', {
  id: note(uuid(), 'Identifier of the parked subject.'),
  consumer: note(str(), 'Consumer that could not handle the event.'),
  subject: note(str(), 'Stream whose events wait.'),
  tenant_id: note(nullable(uuid()), 'Workspace that the stream belongs to; null when it belongs to none.'),
  status: note(
    literal(['retrying', 'parked']),
    '`retrying`: it is tried again by itself. `parked`: only `POST …/retry` tries it again.',
  ),
  event_type: note(str(), 'Type of the event that fails.'),
  version: note(int(), 'Version in the stream of the event that fails; it and those up to `last_version` wait.'),
  last_version: note(int(), 'Version of the newest event that waits.'),
  attempts: note(int(), 'How often the event has been tried.'),
  reason: note(str(), 'Error of the newest attempt.'),
  created_at: note(timestamp(), 'When the first attempt failed.'),
  failed_at: note(timestamp(), 'When the newest attempt failed.'),
  retry_at: note(nullable(timestamp()), 'When it is tried again by itself; null when it is not.'),
});
export const parkedSubjectsPage = object('ParkedSubjectsPage', {
  resources: note(list(parkedSubject), 'The parked subjects of this page.'),
  after: note(nullable(uuid()), 'Value for `after` to get the next page; null on the last one.'),
});
