import { shape } from '@fairlead/api';

const { list, noted, nullable, object, oneOf, text, time } = shape;

const line = object('LogLine', {
  id: text,
  timestamp: time,
  level: oneOf('DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'),
  message: text,
});

export const logs = object('LogsPage', {
  logs: list(line),
  next_offset: noted(nullable(text), 'Where the next page begins; null when this one is empty.'),
});
