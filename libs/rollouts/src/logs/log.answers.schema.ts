import { type Infer, list, literal, note, nullable, object, str, timestamp } from '@fairlead/schema';

const line = object('LogLine', {
  id: note(str(), 'Identifier of the line.'),
  timestamp: note(timestamp(), 'When the line was written.'),
  level: note(
    literal(['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL']),
    'What the line of a program tells of itself. Else `INFO` for standard output, `WARNING` for standard error.',
  ),
  message: note(str(), 'Text of the line, at most 16,384 characters; values of secrets are `[redacted]`.'),
});

export type LogLine = Infer<typeof line>;

export const logs = object('LogsPage', {
  logs: note(list(line), 'Lines in the order that was asked for.'),
  next_offset: note(nullable(str()), 'Value for `offset` to get the next page; null when this one is empty.'),
});
