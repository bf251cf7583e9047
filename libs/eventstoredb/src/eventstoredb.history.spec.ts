import { join } from 'node:path';
import { historyTests, renamed } from './testing';

historyTests(join(__dirname, 'recorded'), {}, renamed('NameReserved', 'owner', 'holder'));
