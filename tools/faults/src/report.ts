import { appendFileSync } from 'node:fs';

/** Prints figures, and keeps them where `npm run test:faults` gathers them. */
export function report(what: string, figures: Readonly<Record<string, string | number>>): void {
  const line = `${what}: ${Object.entries(figures)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')}`;
  process.stdout.write(`${line}\n`);
  const { FAIRLEAD_FAULTS_REPORT: file } = process.env;
  if (file) appendFileSync(file, `${line}\n`);
}
