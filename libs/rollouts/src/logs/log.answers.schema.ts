import { shape } from '@fairlead/api';

const { list, noted, nullable, object, oneOf, text, time } = shape;

const line = object('LogLine', {
  id: noted(text, 'Identifier of the line.'),
  timestamp: noted(time, 'When the line was written.'),
  level: noted(
    oneOf('DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'),
    'What the line of a program tells of itself. Else `INFO` for standard output, `WARNING` for standard error.',
  ),
  message: noted(text, 'Text of the line, at most 16,384 characters; values of secrets are `[redacted]`.'),
});

export type LogLine = shape.Shaped<typeof line>;

export const logs = object('LogsPage', {
  logs: noted(list(line), 'Lines in the order that was asked for.'),
  next_offset: noted(nullable(text), 'Value for `offset` to get the next page; null when this one is empty.'),
});
