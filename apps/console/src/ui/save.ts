/** Saves a text or what was downloaded as a file of this browser. */
export function save(name: string, contents: string | Blob): void {
  const url = URL.createObjectURL(new Blob([contents], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
