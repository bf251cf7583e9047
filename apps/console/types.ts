import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApi, VERSION } from '@fairlead/api';
import { apiRoutes } from '@fairlead/service';

/** Writes the types of the service's API, made of its own OpenAPI document, for the compiler. */
async function write(): Promise<void> {
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const document = openApi(await apiRoutes(), VERSION);
  const types = astToString(await openapiTS(JSON.stringify(document)));
  mkdirSync(join(__dirname, 'generated'), { recursive: true });
  writeFileSync(join(__dirname, 'generated', 'api.d.ts'), types);
}

void write();
