import { program } from 'commander';
import { audit } from './audit/audit';
import { migrateStore } from './migrate-store/migrate-store';
import { replay } from './replay/replay';
import { rotateKeys } from './rotate-keys/rotate-keys';

program
  .name('npm run')
  .description('Commands of an operator, for the installation that the same settings would start.')
  .addCommand(audit())
  .addCommand(replay())
  .addCommand(migrateStore())
  .addCommand(rotateKeys());

void program.parseAsync();
