import { ask } from './ask';

/** Attribute of a form that holds what was typed: `typed`, or `sent` while a request with it is under way. */
export const DIRTY = 'data-dirty';

/** True while a form below `root` holds something that was typed and not sent. */
export function isDirty(root: ParentNode = document): boolean {
  return root.querySelector(`form[${DIRTY}=typed]`) !== null;
}

/** True while a form holds something that the service has not taken yet. */
export function isUnsaved(): boolean {
  return document.querySelector(`form[${DIRTY}]`) !== null;
}

/** Forgets that something was typed: whoever sees the page has agreed to lose it. */
export function forgetTyped(root: ParentNode = document): void {
  for (const form of root.querySelectorAll(`form[${DIRTY}]`)) form.removeAttribute(DIRTY);
}

/** True when nothing below `root` would be lost, which is what was typed by default, or a person agrees to lose it. */
export async function mayDiscard(root: ParentNode = document, loses = isDirty(root)): Promise<boolean> {
  if (!loses) return true;
  const answer = await ask({
    title: 'Discard what you typed?',
    text: 'It was not sent, and is kept nowhere.',
    answers: { keep: 'Keep editing', discard: 'Discard it' },
    danger: true,
  });
  if (answer === 'keep') return false;
  forgetTyped(root);
  return true;
}
