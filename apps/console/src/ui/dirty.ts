let isWatching = false;

/** Begins to notice in which forms something is typed. The form itself carries that, so it goes when the form does. */
export function watchForms(): void {
  if (isWatching) return;
  isWatching = true;
  document.addEventListener('input', ({ target }) => {
    (target as Element).closest<HTMLElement>('form')?.setAttribute('data-dirty', '');
  });
}

/** True while a form that is shown holds something that was typed and not sent. */
export function isDirty(): boolean {
  return document.querySelector('form[data-dirty]') !== null;
}
