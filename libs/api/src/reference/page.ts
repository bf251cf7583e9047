/** The page of the reference. It loads files of this server only. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fairlead API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
</head>
<body>
<main id="reference"><noscript>This page needs JavaScript; the document itself is at <a href="/openapi.json">/openapi.json</a>.</noscript></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/page.js"></script>
</body>
</html>
`;

/** Starts the reference in the reader's colour scheme. No part of the document is sent to a validator elsewhere. */
export const SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
follow();
dark.addEventListener('change', follow);
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  layout: 'BaseLayout',
});
`;

/** Hides the schemas of errors, which are all the same; each error has one line. */
export const STYLE = `body { margin: 0; }
.swagger-ui .wrapper { max-width: 1100px; }
.swagger-ui .info { margin: 32px 0 16px; }
.swagger-ui .scheme-container { box-shadow: none; margin: 0; padding: 0 0 16px; background: none; }
.swagger-ui .opblock-tag { font-size: 20px; padding: 6px 16px; }
.swagger-ui .opblock .opblock-summary-path { max-width: 60%; }
.swagger-ui .response-col_links { display: none; }
.swagger-ui .responses-table:not(.live-responses-table) .response[data-code^='4'] .response-col_description > :not(:first-child),
.swagger-ui .responses-table:not(.live-responses-table) .response[data-code^='5'] .response-col_description > :not(:first-child) { display: none; }
`;
