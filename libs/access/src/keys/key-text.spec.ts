import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { KEY_RANDOM_BYTES, keyIdOf, keyText } from './key-text';

it('has always the same form and names its id', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uint8Array({ minLength: 20, maxLength: 20 }), (id, random) => {
      const text = keyText(id, Buffer.from(random));
      expect(text).toMatch(/^fl_[0-9A-Za-z]{22}_[0-9A-Za-z]{27}_[0-9A-Za-z]{6}$/);
      expect(keyIdOf(text)).toBe(id);
    }),
  );
});

it('holds every random bit', () => {
  const id = randomUUID();
  expect(keyText(id, Buffer.alloc(KEY_RANDOM_BYTES, 0xff))).not.toBe(keyText(id, Buffer.alloc(KEY_RANDOM_BYTES)));
  expect(keyText(id, Buffer.alloc(KEY_RANDOM_BYTES, 0xff)).split('_')[2]).toHaveLength(27);
});

it('is not recognised with a typing error', () => {
  const text = keyText(randomUUID(), randomBytes(KEY_RANDOM_BYTES));
  for (let index = 0; index < text.length; index++) {
    const typed = text[index] === 'x' ? 'y' : 'x';
    expect(keyIdOf(text.slice(0, index) + typed + text.slice(index + 1))).toBeUndefined();
  }
});

it.each(['', 'fl_', 'some key of another service', 'fl_zzzzzzzzzzzzzzzzzzzzzz_000000000000000000000000000_000000'])(
  'is not %p',
  (text) => expect(keyIdOf(text)).toBeUndefined(),
);
