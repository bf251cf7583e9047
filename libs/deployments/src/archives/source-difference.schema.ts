import { paging } from '@fairlead/api';
import { int, list, literal, note, nullable, object, optional, str, uuid } from '@fairlead/schema';
import { LARGEST_TEXT } from './archive-files';

const MOST_FILES = 1000;
const LONGEST_PATH = 4096;

export const filesQuery = object({
  offset: paging.offset,
  limit: optional(note(int({ ge: 1, le: MOST_FILES }), 'Largest number of files in the answer.'), 200),
});
export const fileQuery = object({
  path: note(str({ min: 1, max: LONGEST_PATH }), 'Path of the file in the source.'),
});

const side = nullable(
  object('SourceFile', {
    bytes: note(int(), 'Size; 0 for a link.'),
    sha256: note(
      nullable(str()),
      'SHA-256 of the content, or of the place that a link leads to; null for files of secrets, because short values can be guessed by it.',
    ),
  }),
);

const fileChange = {
  path: note(str(), 'Path of the file in the source.'),
  change: note(literal(['added', 'removed', 'changed']), 'How the file of the second revision differs.'),
  kind: note(
    literal(['text', 'large', 'binary', 'link', 'secret']),
    `Only of a \`text\` the contents can be compared. \`large\`: a text of more than ${LARGEST_TEXT / 1024} KiB; \`secret\`: a file that by its name holds values of secrets, such as \`.env\`.`,
  ),
  from: note(side, 'The file of the first revision; null when it has none.'),
  to: note(side, 'The file of the second revision; null when it has none.'),
};

export const sourceDifference = object('SourceDifference', {
  from: note(uuid(), 'The first revision.'),
  to: note(uuid(), 'The second revision.'),
  files: note(list(object('SourceFileChange', fileChange)), 'Files of this page, ordered by path.'),
  offset: note(int(), 'The `offset` of the next page.'),
  total: note(int(), 'Files that differ, on all pages together.'),
  unchanged: note(
    nullable(int()),
    'Files that are the same in both; null when both revisions have one archive, which is not read then.',
  ),
});

export const fileDifference = object('SourceFileDifference', {
  ...fileChange,
  patch: note(
    nullable(str()),
    'Difference of the contents in the unified format; null unless the file is a `text`, and when the two differ too much.',
  ),
});
