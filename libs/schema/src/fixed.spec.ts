import { bool, check, datetime, fixed, object, Problems, requireSame, str } from '.';

const schema = object({ name: fixed(str()), kept: fixed(bool()), created_at: fixed(datetime()) });
const present = { name: 'a', kept: false, created_at: '2026-01-01T00:00:00.000000+00:00' };
const change = (sent: object) => () => requireSame(check(schema, sent, [], new Problems())!, present);

it('lets what is fixed be sent as it is, in any spelling, or not at all', () => {
  for (const sent of [present, {}, { name: null, kept: null, created_at: null }, { created_at: '2026-01-01' }]) {
    expect(change(sent)).not.toThrow();
  }
});

it.each([{ name: 'b' }, { kept: true }, { created_at: '2026-01-01T00:00:00.000001Z' }])(
  'refuses %j by name',
  (sent) => {
    expect(change(sent)).toThrow(`${Object.keys(sent)[0]} cannot be changed after creation.`);
  },
);
