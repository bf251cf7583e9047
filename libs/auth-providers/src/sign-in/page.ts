/** Returns the page that a browser shows at the end of a sign-in. Texts are escaped. */
export function page(title: string, text: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<link rel="icon" href="data:,">
<style>
body { font: 1rem/1.5 system-ui, sans-serif; margin: 20vh auto 0; max-width: 32rem; padding: 0 1rem; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #eee; } }
</style>
</head>
<body>
<main>
<h1>${escape(title)}</h1>
<p>${escape(text)}</p>
</main>
</body>
</html>
`;
}

/** Escapes a text for element content and quoted attributes. */
function escape(text: string): string {
  const names: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39' };
  return text.replaceAll(/[&<>"']/g, (character) => `&${names[character]};`);
}
