// Writes libs/contracts/asyncapi.yaml from the event catalogue, which must have been built.
import { writeFileSync } from 'node:fs';
import { asyncApi } from '@fairlead/contracts';
import { format, resolveConfig } from 'prettier';
import { stringify } from 'yaml';

const path = 'libs/contracts/asyncapi.yaml';
const text = stringify(asyncApi(), { aliasDuplicateObjects: false, lineWidth: 0 });
writeFileSync(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));
