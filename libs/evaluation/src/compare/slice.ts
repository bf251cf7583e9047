import { isSliceMember, SLICE_MEMBER } from '@fairlead/contracts';
import { note, optional, refine, str } from '@fairlead/schema';
import { shownMetadataOf } from '@fairlead/runs';

/** Rows whose example has one value in one member: `metadata.topic=billing`, `inputs.language=de` or `split=test`. */
export interface Slice {
  /** Member, as a caller names it: `split`, `metadata.<member>` or `inputs.<member>`. */
  readonly by: string;
  readonly value: string;
}

/** Characters of a value; longer ones make no slice. */
export const MOST_VALUE = 100;
const SLICE_FORM = '<member>=<value>';
const SPLITS = 'metadata.dataset_split';

/** Reads `<member>=<value>`; a `=` within the member is percent-encoded. Undefined for any other text. */
export function parseSlice(text: string): Slice | undefined {
  const [, by = '', value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  const member = decoded(by);
  return value !== undefined && member !== undefined && isSliceMember(member) ? { by: member, value } : undefined;
}

export function sliceText({ by, value }: Slice): string {
  return `${by.replace(/[%=]/g, encodeURIComponent)}=${value}`;
}

/** The member of metadata or inputs that a name stands for. */
export function storedMember(by: string): string {
  return by === 'split' ? SPLITS : by;
}

export function shownMember(stored: string): string {
  return stored === SPLITS ? 'split' : stored;
}

/**
 * SQL for the values of the members of an example `e`, as rows of `member` (`metadata.topic`) and `value` (text): texts,
 * numbers and booleans, and those in lists of the metadata. Inputs are read up to a size in bytes, null for all.
 */
export function valuesOfExample(inputsBytes: string): string {
  return `
    lateral (values ('metadata.', ${shownMetadataOf('e.metadata')}),
                    ('inputs.', case when octet_length(e.inputs) <= coalesce(${inputsBytes}, octet_length(e.inputs)) then searchable_json(e.inputs) end)
    ) as kept(source, json),
    lateral jsonb_each(case when jsonb_typeof(kept.json) = 'object' then kept.json else '{}' end) as each(name, content),
    lateral jsonb_array_elements(case
      when jsonb_typeof(each.content) <> 'array' then jsonb_build_array(each.content)
      when kept.source = 'metadata.' then each.content else '[]' end) as elements(element),
    lateral (select kept.source || each.name as member, elements.element #>> '{}' as value
      where jsonb_typeof(elements.element) in ('string', 'number', 'boolean')) as valued`;
}

export const chosenSlice = optional(
  note(
    refine(str(), (text) => (parseSlice(text) ? undefined : `give ${SLICE_FORM}, with ${SLICE_MEMBER} as member`)),
    '`<member>=<value>`: only rows whose example has this value in a member of its metadata (`metadata.<member>`) or inputs (`inputs.<member>`), or is in a split (`split`). In a member, `=` and `%` are percent-encoded.',
  ),
);

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
