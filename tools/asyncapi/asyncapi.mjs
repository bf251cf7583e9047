// Writes libs/contracts/asyncapi.yaml from the event catalogue, which must have been built.
import { readFileSync, writeFileSync } from 'node:fs';
import { asyncApi } from '@fairlead/contracts';
import { format } from 'oxfmt';
import { stringify } from 'yaml';

const path = 'libs/contracts/asyncapi.yaml';
const text = stringify(asyncApi(), { aliasDuplicateObjects: false, lineWidth: 0 });
const { code } = await format(path, text, JSON.parse(readFileSync('.oxfmtrc.json', 'utf8')));
writeFileSync(path, code);
