/** For the `ref` of the field of a dialog that has the focus when it opens. */
export function takesFocus(element: HTMLElement | null): void {
  element?.setAttribute('autofocus', '');
}
