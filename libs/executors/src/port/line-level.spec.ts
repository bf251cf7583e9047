import { levelOf } from './line-level';

it.each([
  ['{"level":"debug","msg":"x"}', 'DEBUG'],
  ['{"level":20,"msg":"pino"}', 'DEBUG'],
  ['{"level":10,"msg":"pino"}', 'DEBUG'],
  ['{"level":30,"msg":"pino"}', 'INFO'],
  ['{"level":40,"msg":"pino"}', 'WARNING'],
  ['{"level":50,"msg":"pino"}', 'ERROR'],
  ['{"level":60,"msg":"pino"}', 'CRITICAL'],
  ['{"severity":"ERROR","message":"Google Cloud"}', 'ERROR'],
  ['{"levelname":"WARNING","message":"python-json-logger"}', 'WARNING'],
  ['{"log.level":"fatal","message":"ECS"}', 'CRITICAL'],
  ['INFO:root:logging.basicConfig', 'INFO'],
  ['INFO:     127.0.0.1:5000 - "GET /ok HTTP/1.1" 200 OK', 'INFO'],
  ['info:    ▪ Starting server...', 'INFO'],
  ['error: could not connect', 'ERROR'],
  ['Error: no model', 'ERROR'],
  ['npm error code ENOENT', 'INFO'],
  ['2026-11-23T10:28:42.120Z [warning  ] Slow [langgraph_runtime]', 'WARNING'],
  ['2026-11-23 10:28:42,120 ERROR module: message', 'ERROR'],
  ['2026-11-23 10:28:42,120 - agent - CRITICAL - message', 'CRITICAL'],
  ['2026-11-23 10:28:42.120 | DEBUG    | agent:run:1 - message', 'DEBUG'],
  ['[10:28:42] WARN something', 'WARNING'],
  ['[ERROR] something', 'ERROR'],
  ['<error> something', 'ERROR'],
  ['time="2026-11-23" level=warn msg="slow"', 'WARNING'],
  ['trace: entering', 'DEBUG'],
])('%s is of level %s', (line, level) => {
  expect(levelOf(line, 'INFO')).toBe(level);
});

it.each([
  'debug mode is on',
  'Information about errors: see below',
  'errors: 0',
  'it said ERROR once',
  '{"level":"loud"}',
  '{"level":null}',
  '{"level":true}',
  '{ not JSON, ERROR: it only looks like it',
  '[1]',
  '',
  '2026-11-23 nothing',
])('%p does not say its level', (line) => {
  expect(levelOf(line, 'WARNING')).toBe('WARNING');
});

it('takes no long time for any line', () => {
  for (const part of [' ', '1 ', '1   ', '[[ 1 ] ', ' - ', ' level=']) {
    expect(levelOf(part.repeat(5000), 'INFO')).toBe('INFO');
  }
});
