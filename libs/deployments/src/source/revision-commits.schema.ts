import { bool, list, note, nullable, object, str, uuid } from '@fairlead/schema';

const commit = object('RevisionCommit', {
  sha: note(str(), 'Full id of the commit.'),
  author: note(nullable(str()), 'Author, as the commit says; null where the host does not tell it.'),
  subject: note(nullable(str()), 'First line of the message, 200 characters of it; null when there is none.'),
});

export const revisionCommits = object('RevisionCommits', {
  from: note(uuid(), 'The first revision.'),
  to: note(uuid(), 'The second revision.'),
  commits: note(list(commit), 'Commits that only the second revision has, the newest first; at most 250.'),
  more: note(bool(), 'True when there are more of them, or may be.'),
  url: note(str(), 'Page of the code host that compares the two commits.'),
});
