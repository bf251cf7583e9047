import { Needles } from './needles';

const SECRET = 'Zm4kQ9xT0vLr7sWb';
const needles = new Needles([SECRET, 'somethingelse']);

it.each([
  ['as it is', SECRET],
  ['as hexadecimal digits', Buffer.from(SECRET).toString('hex')],
  ['at the end of what is base64', Buffer.from(`{"a":"${SECRET}`).toString('base64')],
  ['in base64, moved by one', Buffer.from(`x${SECRET}yz`).toString('base64')],
  ['in base64, moved by two', Buffer.from(`xx${SECRET}yz`).toString('base64')],
])('are found %s', (_, text) => {
  expect(needles.in(Buffer.from(`before ${text} after`))).toEqual(new Set([SECRET]));
});

it('are not found in part', () => {
  expect(needles.in(Buffer.from(SECRET.slice(0, -1))).size).toBe(0);
});

it('are found as the bytes that a secret of a webhook stands for', () => {
  const bytes = Buffer.from('0123456789abcdef0123456789abcdef', 'hex');
  const secret = `whsec_${bytes.toString('base64')}`;
  expect(new Needles([secret]).in(Buffer.concat([Buffer.from('x'), bytes]))).toEqual(new Set([secret]));
});
