import type { ExampleAttachment } from './example-rows';
import { AttachmentMismatch } from './example.errors';

export interface AttachmentOperations {
  /** New names by old ones. */
  readonly rename: Readonly<Record<string, string>>;
  readonly retain: readonly string[];
}

/**
 * The attachments of an example after a change: without operations all of the earlier ones stay. One that is added takes
 * the place of one of the same name. Undefined when nothing changes. @throws AttachmentMismatch
 */
export function newAttachments(
  id: string,
  earlier: readonly ExampleAttachment[],
  added: readonly ExampleAttachment[],
  operations: AttachmentOperations | undefined,
): readonly ExampleAttachment[] | undefined {
  if (added.length === 0 && operations === undefined) return undefined;
  const after = new Map<string, ExampleAttachment>();
  const known = new Map(earlier.map((attachment) => [attachment.name, attachment]));
  const names = operations
    ? [...Object.entries(operations.rename), ...operations.retain.map((name) => [name, name] as const)]
    : earlier.map(({ name }) => [name, name] as const);
  for (const [from, to] of names) {
    const attachment = known.get(from);
    if (!attachment) throw new AttachmentMismatch(id, `there is none named '${from}'`);
    if (after.has(to)) throw new AttachmentMismatch(id, `two would be named '${to}'`);
    after.set(to, { ...attachment, name: to });
  }
  for (const attachment of added) after.set(attachment.name, attachment);
  return [...after.values()];
}
