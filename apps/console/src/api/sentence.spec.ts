import { isOfPath, sentencesOf } from './sentence';

const fault = (msg: string, ...loc: (string | number)[]) => ({ type: 'some', loc, msg });

it('names the value by its place, as a person would', () => {
  const list = 'List should have at most 10 items after validation, not 12';
  expect(sentencesOf([fault(list, 'query', 'experiments')])).toBe('Experiments should have at most 10 items, not 12.');
  expect(sentencesOf([fault('String should have at least 1 character', 'body', 'secrets', 1, 'name')])).toBe(
    'Name of entry 2 of secrets must not be empty.',
  );
  expect(sentencesOf([{ ...fault('Field required', 'body', 'source_config'), type: 'missing' }])).toBe(
    'Source config is missing.',
  );
});

it('uses the labels of the form that was sent, also for what is within', () => {
  const labels = { auth_url: 'Sign-in address', event_types: 'Events', 'source_config.cpu': 'Processors' };
  const url = 'Input should be a valid URL, relative URL without a base';
  expect(sentencesOf([fault(url, 'body', 'auth_url')], labels)).toBe('“Sign-in address” should be a valid URL.');
  const short = 'String should have at least 3 characters';
  expect(sentencesOf([fault(short, 'body', 'event_types', 1)], labels)).toBe(
    'Entry 2 of “Events” should have at least 3 characters.',
  );
  const number = 'Input should be a valid number';
  expect(sentencesOf([fault(number, 'body', 'source_config', 'cpu')], labels)).toBe(
    '“Processors” should be a valid number.',
  );
  expect(sentencesOf([fault(number, 'body', 'cpu')], labels)).toBe('Cpu should be a valid number.');
  expect(sentencesOf([fault(number, 'body', 'constructor')], labels)).toBe('Constructor should be a valid number.');
});

it('leaves out how the value was read', () => {
  const integer = 'Input should be a valid integer, unable to parse string as an integer';
  expect(sentencesOf([fault(integer, 'query', 'limit')])).toBe('Limit should be a whole number.');
  const uuid = 'Input should be a valid UUID, invalid length: expected length 32 for simple format, found 3';
  expect(sentencesOf([fault(uuid, 'path', 'dataset_id')])).toBe('Dataset id is not an id.');
  expect(sentencesOf([fault('Value error, the cron line has 4 fields', 'body', 'schedule')])).toBe(
    'Schedule: the cron line has 4 fields.',
  );
});

it('keeps sentences, says each once, and counts what it leaves out', () => {
  expect(sentencesOf('Deployment not found')).toBe('Deployment not found');
  expect(sentencesOf('Forbidden')).toBe('This key may not do this.');
  const many = ['a', 'a', 'b', 'c', 'd'].map((name) => ({ ...fault('Field required', 'body', name), type: 'missing' }));
  expect(sentencesOf(many)).toBe('A is missing. B is missing. C is missing. And 1 more.');
});

it('takes whatever else a detail is for no sentence', () => {
  for (const detail of [undefined, null, {}, [], [null], [{ loc: 'query' }], 5])
    expect(sentencesOf(detail)).toBe(undefined);
  for (const loc of [undefined, 'query', [{}, null]]) expect(sentencesOf([{ msg: 'odd', loc }])).toContain('odd');
});

it('knows a refusal of an address by its place', () => {
  expect(isOfPath([fault('Input should be a valid UUID', 'path', 'run_id')])).toBe(true);
  expect([undefined, 'not found', [null], [fault('x', 'query', 'limit')]].map(isOfPath)).toEqual(Array(4).fill(false));
});
