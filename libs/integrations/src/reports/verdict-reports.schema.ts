import { int, list, literal, note, nullable, object, optional, str, timestamp, uuid } from '@fairlead/schema';
import { REPORT_STATUSES } from './verdict-reports.store';

const integration_id = note(uuid(), 'The `id` of an integration of this workspace.');
export const reportPath = object({
  integration_id,
  revision_id: note(uuid(), 'The `id` of a revision that the code host is told of.'),
});
export const reportsQuery = object({
  limit: note(optional(int({ ge: 1, le: 100 }), 20), 'Largest number of reports in the answer.'),
  cursor: note(optional(uuid()), 'The `next_cursor` of the previous page; absent: the first page.'),
  status: note(optional(literal(REPORT_STATUSES)), 'Only reports in this status.'),
});

export const report = object('VerdictReport', {
  revision_id: note(uuid(), 'Revision whose gates are reported.'),
  deployment_id: note(uuid(), 'The `id` of the deployment that the revision is of.'),
  deployment: note(str(), 'Name of the deployment.'),
  repository: note(str(), 'Address of the repository, in lower case.'),
  commit: note(nullable(str()), 'Commit that gets the status; null before it is known.'),
  standing: note(
    nullable(literal(['held', 'promoted', 'overridden', 'refused', 'superseded', 'ended'])),
    'What has become of the revision; null when no gate has held it.',
  ),
  pulls: note(list(int()), 'Numbers of the pull requests whose comment tells of it.'),
  status: note(
    literal(REPORT_STATUSES),
    '`waiting`: the code host is told, or asked again. `sent`: it was told. `ignored`: there is nothing to tell. `set_aside`: the host has refused, or gave no answer; see `reason`.',
  ),
  reason: note(nullable(str()), 'Why it was not told, or not wholly; null when it was.'),
  attempts: note(int(), 'How often the host was called for it.'),
  sent_at: note(nullable(timestamp()), 'When the host was told last; null before that.'),
  next_attempt_at: note(nullable(timestamp()), 'When it is told again; null when it is not, or at once.'),
});
export const reports = object('VerdictReports', {
  resources: note(list(report), 'Reports of this page, those on the newest revisions first.'),
  next_cursor: note(nullable(uuid()), 'Value for `cursor` to get the next page; null on the last one.'),
});
