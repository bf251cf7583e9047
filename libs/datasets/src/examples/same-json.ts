import { elementSlices, memberSlices, stringValue } from '@fairlead/blobs';

const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * True when two JSON values say the same: white space, the order of members, escapes in strings and the spelling of
 * numbers make no difference. Both must be valid JSON without white space around it.
 */
export function sameJson(one: Buffer, other: Buffer): boolean {
  if (one.equals(other)) return true;
  const [first, second] = [kindOf(one), kindOf(other)];
  if (first !== second) return false;
  switch (first) {
    case '{':
      return sameMembers(memberSlices(one), memberSlices(other));
    case '[': {
      const others = elementSlices(other);
      const elements = elementSlices(one);
      return elements.length === others.length && elements.every((element, place) => sameJson(element, others[place]!));
    }
    case '"':
      return stringValue(one) === stringValue(other);
    case 'number':
      return decimal(one.toString('latin1')) === decimal(other.toString('latin1'));
    default:
      return false;
  }
}

export function sameMembers(members: ReadonlyMap<string, Buffer>, others: ReadonlyMap<string, Buffer>): boolean {
  if (members.size !== others.size) return false;
  return [...members].every(([name, value]) => {
    const other = others.get(name);
    return other !== undefined && sameJson(value, other);
  });
}

function kindOf(json: Buffer): string {
  const first = String.fromCharCode(json[0]!);
  return /[-\d]/.test(first) ? 'number' : first;
}

/** A number with all its digits in one spelling: `1`, `1.0` and `10e-1` are the same, 2^53 and 2^53 + 1 are not. */
function decimal(json: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(json) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const scale = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${json.startsWith('-') ? '-' : ''}${significant}e${scale}`;
}
